"""The patterns of what people tell of themselves and theirs, in English."""

from __future__ import annotations

import re
from typing import Final

_NOUN: Final = r"[^\W\d_][\w-]*"
_X: Final = rf"(?P<x>{_NOUN}(?:['’]s)?(?:\s+{_NOUN}(?:['’]s)?){{0,3}}?)"
_STOP: Final = (
    r"(?=\s*(?:[!?;…]|[.:](?!\d)|$|,\s|,$|\(|\s[-–—]\s)"
    r"|\s+(?:but|because|since|so|which|who|while|though|although|if|when I|"
    r"these days|nowadays|now|again|by the way|you know|too|as well)\b"
    r"|\s+and\s+an?\s+[^\W\d_]+\s+(?:called|named)\b"
    r"|\s+(?:and|or)\s+(?:my|I|I['’]\w+|we|she|he|they|you|it|his|her|their|our|that|the name)\b)"
)
_V: Final = r"(?P<v>\S.{0,98}?)" + _STOP
_ADV: Final = (
    r"(?:(?:really|also|still|just|now|actually|only|currently|usually|often|mostly|normally|do|in fact|simply|both|"
    r"always)\s+)*"
)
_BE: Final = r"(?:\s+(?:is|are|was|am)|['’]s|['’]re)"
_IS: Final = r"(?:\s+(?:is|are)|['’]s|['’]re)"
_OWN: Final = r"\b(?:my|our)\s+"
_I: Final = r"\b(?:I|we)"
_AM: Final = rf"(?:{_I}\s+(?:am|is|are)|{_I}['’](?:m|re))\s+{_ADV}"
_WHO: Final = r"\b(?P<p>she|he|it|they)"

_FEW: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen)"

PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (form, re.compile(pattern, re.IGNORECASE))
    for form, pattern in (
        ("name", rf"{_OWN}name(?:\s+is|['’]s)\s+{_V}"),
        ("name", rf"\b(?:call me|people call me|{_I}\s+(?:am|is)\s+called|{_I}['’]m\s+called)\s+{_V}"),
        ("called", rf"{_OWN}{_X}['’]s?\s+name(?:\s+is|['’]s)\s+{_ADV}{_V}"),
        ("called", rf"\bthe\s+names?\s+of\s+my\s+{_X}\s+(?:is|are)\s+{_ADV}{_V}"),
        ("called", rf"{_OWN}{_X}{_BE}\s+{_ADV}(?:called|named)\s+{_V}"),
        ("called", rf"{_I}\s+call\s+my\s+{_X}\s+(?-i:(?P<v>[^\W\d_a-z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*))"),
        (
            "called",
            rf"(?:{_I}\s+{_ADV}(?:have|has|got|own|keep)|{_I}['’]ve)\s+{_ADV}(?:got\s+)?(?:an?|one|two|three|some)\s+"
            rf"{_X}\s+(?:who\s+is\s+|which\s+is\s+|that\s+is\s+|who['’]s\s+)?(?:called|named)\s+{_V}",
        ),
        ("called", rf"\band\s+an?\s+(?P<x>{_NOUN})\s+(?:called|named)\s+{_V}"),
        ("called_pronoun", rf"\b(?P<p>her|his|its|their)\s+names?(?:\s+(?:is|are)|['’]s)\s+{_ADV}{_V}"),
        ("called_pronoun", rf"{_WHO}{_BE}\s+{_ADV}(?:called|named)\s+{_V}"),
        ("age", rf"{_OWN}{_X}{_IS}\s+{_ADV}(?P<v>{_FEW}(?:\s+years?\s+old)?){_STOP}"),
        (
            "age",
            rf"{_OWN}{_X}{_BE}\s+{_ADV}(?P<v>\d{{1,3}}(?:\s+years?\s+old|\s+months?\s+old|\s+weeks?\s+old)?){_STOP}",
        ),
        (
            "home",
            rf"{_OWN}{_X}\s+{_ADV}(?:lives?|moved)\s+(?P<v>(?:in|at|on|near|by|to|with|next to)\s+\S.{{0,90}}?){_STOP}",
        ),
        ("works", rf"{_OWN}{_X}\s+{_ADV}works?\s+(?P<v>(?:as|at|in|for|on|with)\s+\S.{{0,90}}?){_STOP}"),
        ("origin", rf"{_OWN}{_X}(?:{_BE}|\s+comes?)\s+from\s+{_V}"),
        ("likes", rf"{_OWN}{_X}\s+{_ADV}(?:likes?|loves?|adores?)\s+{_V}"),
        ("dislikes", rf"{_OWN}{_X}\s+{_ADV}(?:hates?|dislikes?)\s+{_V}"),
        ("has_of", rf"{_OWN}{_X}\s+(?:has|have)\s+an?\s+(?P<y>{_NOUN})\s+(?:called|named)\s+{_V}"),
        ("plays", rf"{_OWN}{_X}\s+{_ADV}plays?\s+{_V}"),
        ("studies", rf"{_OWN}{_X}\s+{_ADV}stud(?:y|ies)\s+{_V}"),
        ("born", rf"{_OWN}{_X}\s+was\s+born\s+(?P<v>(?:in|on|at|near)\s+\S.{{0,90}}?){_STOP}"),
        (
            "does",
            rf"{_OWN}{_X}\s+(?P<v>(?:leaves?|starts?|begins?|ends?|arrives?|opens?|closes?|goes|runs?|costs?|stands?|means?)"
            rf"\s+\S.{{0,80}}?){_STOP}",
        ),
        ("is", rf"{_OWN}{_X}{_IS}\s+{_ADV}{_V}"),
        ("age", rf"{_AM}(?P<v>\d{{1,3}}(?:\s+years?\s+old)?){_STOP}"),
        ("age", rf"{_I}\s+(?:have\s+)?(?:just\s+)?turned\s+(?P<v>\d{{1,3}}){_STOP}"),
        ("home", rf"{_I}\s+{_ADV}lives?\s+(?P<v>(?:in|at|on|near|by|with|next to)\s+\S.{{0,90}}?){_STOP}"),
        (
            "moved",
            rf"(?:{_I}\s+(?:have\s+)?(?:just\s+)?moved|{_I}['’]ve\s+(?:just\s+)?moved)\s+(?P<v>(?:to|into)\s+\S.{{0,90}}?){_STOP}",
        ),
        ("origin", rf"(?:{_AM}|{_I}\s+{_ADV}comes?\s+)from\s+{_V}"),
        ("born", rf"{_I}\s+was\s+born\s+(?P<v>(?:in|on|at|near)\s+\S.{{0,90}}?){_STOP}"),
        ("grew", rf"{_I}\s+grew\s+up\s+(?P<v>(?:in|on|at|near|with|by)\s+\S.{{0,90}}?){_STOP}"),
        ("learns", rf"{_AM}learning\s+{_V}"),
        ("allergy", rf"{_AM}allergic\s+to\s+{_V}"),
        ("fear", rf"{_AM}(?:afraid|scared|frightened)\s+of\s+{_V}"),
        (
            "family",
            rf"{_AM}(?P<v>(?:married|engaged|single|divorced|widowed)(?:\s+to\s+\S.{{0,60}}?)?){_STOP}",
        ),
        ("works", rf"{_I}\s+{_ADV}works?\s+(?P<v>(?:as|at|in|for|on|with)\s+\S.{{0,90}}?){_STOP}"),
        (
            "dislikes",
            rf"{_I}\s+{_ADV}(?:hates?|dislikes?|can['’]?t stand|cannot stand|"
            rf"(?:do not|don['’]t)\s+(?:really\s+)?like)\s+{_V}",
        ),
        ("likes", rf"{_I}\s+{_ADV}(?:likes?|loves?|adores?|enjoys?)\s+{_V}"),
        ("likes", rf"{_AM}(?:a\s+(?:big|great|huge)?\s*(?:fan|lover)\s+of|fond\s+of|keen\s+on)\s+{_V}"),
        ("speaks", rf"{_I}\s+{_ADV}speaks?\s+(?-i:(?P<v>[A-Z]\w+(?:(?:,| and)\s+[A-Z]\w+)*))"),
        ("plays", rf"{_I}\s+{_ADV}plays?\s+{_V}"),
        ("studies", rf"{_I}\s+{_ADV}stud(?:y|ies)\s+{_V}"),
        ("drives", rf"{_I}\s+{_ADV}drives?\s+(?P<v>an?\s+\S.{{0,60}}?){_STOP}"),
        ("collects", rf"{_I}\s+{_ADV}collects?\s+{_V}"),
        (
            "has_when",
            rf"(?:{_I}\s+{_ADV}(?:have|has)|{_I}['’]ve)\s+(?:got\s+)?an?\s+(?P<x>{_NOUN}(?:\s+{_NOUN}){{0,5}}?)\s+"
            rf"(?P<v>(?:on|at|in|next|this|tomorrow|tonight|today|every)\b.{{0,60}}?){_STOP}",
        ),
        (
            "has",
            rf"(?:{_I}\s+{_ADV}(?:have|has|own)|{_I}['’]ve\s+got)\s+(?:got\s+)?"
            rf"(?P<v>(?:an?|one|two|three|four|five|six|seven|\d+)\s+(?P<x>{_NOUN}(?:\s+{_NOUN}){{0,2}}?)){_STOP}",
        ),
        ("job", rf"{_AM}(?P<v>an?\s+(?!bit\b|little\b|lot\b|fan\b)\S.{{0,60}}?){_STOP}"),
        ("named", rf"{_AM}(?-i:(?P<v>[A-ZÀ-Ž][\w'’-]+(?:\s+[A-ZÀ-Ž][\w'’-]+){{0,2}})){_STOP}"),
        ("home_pronoun", rf"{_WHO}\s+{_ADV}lives?\s+(?P<v>(?:in|at|on|near|by|with)\s+\S.{{0,90}}?){_STOP}"),
        ("works_pronoun", rf"{_WHO}\s+{_ADV}works?\s+(?P<v>(?:as|at|in|for)\s+\S.{{0,90}}?){_STOP}"),
        ("likes_pronoun", rf"{_WHO}\s+{_ADV}(?:likes?|loves?)\s+{_V}"),
        ("age_pronoun", rf"{_WHO}{_BE}\s+{_ADV}(?P<v>\d{{1,3}}(?:\s+years?\s+old)?){_STOP}"),
        ("job_pronoun", rf"\b(?P<p>she|he)(?:\s+is|['’]s)\s+{_ADV}(?P<v>an?\s+\S.{{0,60}}?){_STOP}"),
        (
            "of_other",
            rf"(?-i:\b(?P<o>[A-ZÀ-Ž][\w-]+))['’]s\s+{_X}{_BE}\s+{_ADV}(?:called\s+|named\s+)?{_V}",
        ),
    )
)
APPOSED: Final = re.compile(
    rf"{_OWN}(?P<x>{_NOUN}(?:\s+{_NOUN})?),?\s+(?-i:(?P<v>[A-ZÀ-Ž][\w'’-]+))(?!['’\w-])", re.IGNORECASE
)
"""A name in apposition: "my brother Karel"."""
NATION: Final = re.compile(
    r"\w+(?:ish|ese|ian|ean|can|man)|Czech|Dutch|Greek|Thai|Swiss|French|Slovak|Pole|Welsh|Slovene"
)
OBJECT: Final = re.compile(r"(?:you|it|that|this|them|him|her|me|us|to know|what|how)\b", re.IGNORECASE)
DENIED: Final = re.compile(r"(?:not|no|never|nobody|nothing|none|neither)\b", re.IGNORECASE)
SUPPOSED: Final = re.compile(r"\W*(?:if|suppose|imagine|maybe|perhaps|unless|let['’]s say)\b", re.IGNORECASE)
CORRECTS: Final = re.compile(
    r"\W*(?:(?:oh|well|ah|hm|so|and|but|please|i['’]m|i am|very|or)\W+)*"
    r"(?:actually|no|nope|sorry|wait|correction|not|rather|in fact|my mistake|i was wrong|i meant|i mean|i said|"
    r"to be (?:exact|precise)|"
    r"it(?:['’]s| is) not|(?:that|it) (?:was|is) wrong)\b",
    re.IGNORECASE,
)
_CAPITAL: Final = r"(?-i:[A-ZÀ-Ž0-9])"
INSTEAD: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bnot\s+(?P<old>\S.{0,60}?)\s*,?\s+but(?:\s+rather)?\s+(?P<v>\S.{0,90}?)(?=\s*(?:[.!?;…]|$|,\s))",
        r"\b(?:not|isn['’]t|wasn['’]t)\s+(?P<old>[^,.;!?]{1,60}),\s+"
        r"(?:it(?:['’]s| is)\s+|(?:s?he|they)(?:['’]s| is| are)\s+)?"
        r"(?:called\s+)?(?P<v>\S.{0,90}?)(?=\s*(?:[.!?;…]|$|,\s))",
        r"\b(?:is|it['’]s|meant|called|mean)\s+(?P<v>[^,.;!?]{1,90}?),?\s+(?:and\s+)?not\s+(?P<old>[^,.;!?]{1,60})",
    )
)
BARE: Final = re.compile(
    rf"\b(?:(?:it|that|name)(?:\s+is|['’]s)|i meant|i mean|(?:actually|no|sorry|wait|correction)[,:]?)\s+{_ADV}"
    rf"(?:called\s+)?(?P<v>(?:(?!I\b){_CAPITAL}|on |in |at |an? |next )\S*.{{0,90}}?)(?=\s*(?:[.!?;…]|$|,\s|,$))",
    re.IGNORECASE,
)
MENTIONED: Final = re.compile(rf"\b(?:my|your|our)\s+(?P<x>{_NOUN}(?:['’]s\s+{_NOUN})?(?:\s+{_NOUN})?)", re.IGNORECASE)
