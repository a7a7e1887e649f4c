"""What a person asks about what they have told: of whom, and what; and the claims that answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from persimchat.models.offline.companion.claims import (
    FORMS,
    Claim,
    claims_alone,
    claims_in,
    first_person,
    in_force,
    mentions,
    replaced,
    sentences,
)
from persimchat.models.offline.companion.known import STRANGER, Known, KnownFact
from persimchat.models.offline.companion.nouns import last_meant, one_word, same_thing


@dataclass(frozen=True)
class Asked:
    """A question about what a person has told.

    Attributes:
        path: of whom or what, as in `Claim`.
        form: a key of `FORMS`; "any" for whatever was told of it, "all" for all that was told.
        when: whether the time is asked at which it was told.
        name: somebody who is asked about by name; empty for none.
    """

    path: tuple[str, ...] = ()
    form: str = "any"
    when: bool = False
    name: str = ""


_NOUN: Final = r"[^\W\d_][\w-]*"
_X: Final = (
    rf"(?P<x>{_NOUN}(?:['’]s)?(?:\s+(?!is\b|are\b|was\b|called\b){_NOUN}(?:['’]s)?){{0,3}}?"
    rf"(?:,?\s+and\s+(?:of\s+)?(?:my\s+)?{_NOUN}(?:\s+(?!is\b|are\b|called\b){_NOUN})?)?)"
)
_IS: Final = r"(?:\s+(?:is|are|was|were)|['’]s|['’]re)"
_DO: Final = r"(?:do|does|did)"
_END: Final = r"(?:\s+(?:again|now|then|please|by the way|today|really|exactly|for a living))*\s*[?.!,]*$"
_ASK: Final = re.compile(
    r"^\W*(?:(?:and|but|so|well|ok|okay|hey|please|oda|now|tell me|by the way|hello|hi)\W+)*"
    r"(?:(?:do|can|could|would|will|did) you\s+(?:still\s+|even\s+|perhaps\s+|also\s+)*"
    r"(?:remember|recall|know|guess|tell me|say|remind me|forget|repeat)(?:\s+(?:of|about|again))?|"
    r"remind me(?:\s+(?:of|about))?|"
    r"tell me(?:\s+again)?|you (?:surely\s+)?(?:remember|know)|"
    r"what (?:did i|have i) (?:tell|told|say|said|mention|mentioned)"
    r"(?:\s+(?:you|to you))?(?:\s+(?:about|of))?|i (?:told|have told) you)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"^\W*(?:(?:and|but|so)\W+)*when (?:did|have) i (?:first\s+|last\s+)?"
    r"(?:tell|told|say|said|mention|mentioned)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_QUESTIONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (form, re.compile(rf"^\W*(?:(?:and|but|so|well|then|ok|now)\W+)*{pattern}{_END}", re.IGNORECASE))
    for form, pattern in (
        ("name", r"(?:what(?:\s+is|['’]s) my name|who am i|my name|what my name is|who i am|what am i called)"),
        ("called", rf"(?:what|how|who)(?:\s+(?:is|are)|['’]s|['’]re)\s+my\s+{_X}\s+(?:called|named)"),
        ("called", rf"(?:what|how)\s+my\s+{_X}{_IS}\s+(?:called|named)"),
        ("called", rf"(?:what(?:\s+(?:is|are)|['’]s)\s+)?(?:the\s+)?names?\s+of\s+my\s+{_X}(?:\s+is)?"),
        ("called", rf"(?:(?:what|who)(?:\s+(?:is|are)|['’]s)\s+)?my\s+{_X}['’]s?\s+names?(?:\s+is)?"),
        ("called", rf"what\s+my\s+{_X}['’]s?\s+names?\s+(?:is|are)"),
        ("called", rf"(?:what|how)\s+do\s+i\s+call\s+my\s+{_X}"),
        ("age", rf"how\s+old(?:\s+(?:is|are)|['’]s)\s+my\s+{_X}"),
        ("age", rf"how\s+old\s+my\s+{_X}{_IS}"),
        ("home", rf"where\s+{_DO}\s+my\s+{_X}\s+live(?:\s+in)?"),
        ("home", rf"where\s+my\s+{_X}\s+lives?"),
        ("works", rf"where\s+{_DO}\s+my\s+{_X}\s+work(?:\s+at)?"),
        ("works", rf"where\s+my\s+{_X}\s+works?"),
        ("job", rf"what\s+{_DO}\s+my\s+{_X}\s+(?:do|work\s+as)"),
        ("job", rf"what\s+my\s+{_X}\s+does"),
        ("job", rf"what(?:\s+is|['’]s)\s+my\s+{_X}['’]s\s+(?:job|profession|occupation|work)"),
        ("likes", rf"what\s+{_DO}\s+my\s+{_X}\s+(?:like|love)"),
        ("origin", rf"where(?:\s+(?:is|are)|['’]s)\s+my\s+{_X}\s+from"),
        ("state", rf"how(?:\s+(?:is|are)|['’]s)\s+my\s+{_X}"),
        ("age", r"(?:how\s+old\s+(?:am\s+i|i\s+am)|(?:what(?:\s+is|['’]s)\s+)?my\s+age)"),
        ("home", r"(?:where\s+(?:do\s+)?i\s+live|(?:where|what)(?:\s+is|['’]s)\s+my\s+(?:home|house|address|city))"),
        ("origin", r"where\s+(?:am\s+i|i\s+am|do\s+i\s+come|i\s+come)\s+from"),
        ("origin", r"what(?:\s+is|['’]s)\s+my\s+home\s?town"),
        ("works", r"where\s+(?:do\s+)?i\s+work"),
        ("job", r"(?:what\s+(?:do\s+)?i\s+(?:do|work\s+as)|what\s+am\s+i|am\s+i\s+an?\s+.+)"),
        ("job", r"(?:what(?:\s+is|['’]s)\s+)?my\s+(?:job|profession|occupation|work)"),
        ("likes", r"what\s+(?:do\s+)?i\s+(?:like|love|enjoy)(?:\s+(?:to\s+)?\w+)?"),
        ("dislikes", r"what\s+(?:do\s+)?i\s+(?:hate|dislike|not\s+like)"),
        ("plays", r"(?:what|which)(?:\s+\w+)?\s+(?:do\s+)?i\s+play"),
        ("studies", r"(?:what|which)(?:\s+\w+)?\s+(?:do\s+|am\s+)?i\s+study(?:ing)?"),
        ("speaks", r"(?:what|which)\s+languages?\s+(?:do\s+)?i\s+speak"),
        ("learns", r"(?:what|which)(?:\s+\w+)?\s+(?:am\s+i|i\s+am)\s+learning"),
        ("born", r"where\s+(?:was\s+i|i\s+was)\s+born"),
        ("born", rf"where\s+was\s+my\s+{_X}\s+born"),
        ("grew", r"where\s+(?:did\s+)?i\s+gr[eo]w\s+up"),
        ("plays", rf"(?:what|which)(?:\s+\w+)?\s+{_DO}\s+my\s+{_X}\s+play"),
        ("studies", rf"(?:what|which)(?:\s+\w+)?\s+{_DO}\s+my\s+{_X}\s+study"),
        (
            "any",
            rf"(?:when|where|what|how|which)(?:\s+\w+)?\s+{_DO}\s+my\s+{_X}\s+(?:leave|start|begin|end|arrive|open|"
            r"close|go|run|cost|come|stand|mean)",
        ),
        ("any", rf"how\s+many\s+(?P<x>{_NOUN})\s+(?:do\s+)?i\s+have"),
        ("any", rf"(?:what|which)(?:\s+kind\s+of)?\s+(?P<x>{_NOUN}(?:\s+{_NOUN})?)\s+do\s+i\s+(?:have|own)"),
        ("any", rf"(?:what|which)\s+\w+\s+(?:is|are)\s+my\s+{_X}"),
        ("drives", r"what(?:\s+car)?\s+(?:do\s+)?i\s+drive"),
        ("collects", r"(?:what|which)(?:\s+\w+)?\s+(?:do\s+)?i\s+collect"),
        ("allergy", r"what\s+(?:am\s+i|i\s+am|i['’]m)\s+allergic\s+to"),
        ("fear", r"what\s+(?:am\s+i|i\s+am|i['’]m)\s+(?:afraid|scared|frightened)\s+of"),
        ("family", r"am\s+i\s+(?:married|single|engaged|divorced)(?:\s+to\s+.+)?"),
        ("any", rf"(?:what|who|when|where|which|how){_IS}\s+my\s+{_X}"),
        ("any", rf"(?:what|who|when|where|which|how)\s+my\s+{_X}{_IS}"),
        ("any", rf"(?:about\s+|of\s+)?my\s+{_X}"),
        ("any", rf"(?:is|are|was|does|do|did|has|have)\s+my\s+{_X}\s+\S.*"),
        ("any", rf"do\s+i\s+have\s+(?:an?|any|the)\s+{_X}"),
        ("all", r"(?:what\s+(?:do\s+you\s+know|i\s+told\s+you)\s+)?about\s+me"),
        ("all", r"(?:what\s+(?:have\s+i|did\s+i)\s+(?:told?|tell)\s+you|what\s+i\s+(?:told|said)(?:\s+you)?|me)"),
    )
)  # fmt: skip
_WHO: Final = re.compile(
    r"^\W*(?:(?:and|but|so)\W+)*(?:who|Who)(?:\s+is|['’]s|\s+was)\s+(?P<n>[A-ZÀ-Ž][\w'’-]+)\s*\?*$"
)
_PRONOUN: Final = re.compile(
    r"^\W*(?:(?:and|but|so)\W+)*(?:what(?:\s+is|['’]s)\s+(?P<p>her|his|its|their)\s+name|"
    r"what(?:\s+is|['’]s|\s+are)\s+(?P<q>she|he|it|they)\s+called)" + _END,
    re.IGNORECASE,
)


def asked_in(text: str, mentioned: Sequence[tuple[str, ...]] = ()) -> list[Asked]:
    """The questions of a text about what the speaker has told.

    Args:
        text: the speaker's words.
        mentioned: what was spoken of before, oldest first.
    """
    return [one for sentence in sentences(text) for one in _asked(" ".join(sentence.split()), mentioned)]


def _asked(sentence: str, mentioned: Sequence[tuple[str, ...]]) -> list[Asked]:
    when = _WHEN.match(sentence)
    if when:
        paths = mentions(when["rest"]) or list(mentioned[-1:])
        own = claims_in(when["rest"].strip(" ?").removeprefix("you ").removeprefix("that ") + ".")
        told = [Asked(claim.path, claim.form, when=True) for claim in own]
        return told or [Asked(path, "any", when=True) for path in paths]
    embedded = _ASK.match(sentence)
    rest = embedded["rest"] if embedded else sentence
    for form, pattern in _QUESTIONS:
        match = pattern.match(rest)
        if match and (
            embedded or "?" in sentence or re.match(r"\W*(?:\w+\W+)?(?:what|who|where|how|when)", rest, re.I)
        ):
            named = match.groupdict().get("x")
            return [Asked(path, form) for path in _paths(named)] if named else [Asked((), form)]
    who = _WHO.match(rest)
    if who:
        return [Asked(name=who["n"])]
    pronoun = _PRONOUN.match(rest)
    if pronoun:
        meant = last_meant(pronoun["p"] or pronoun["q"], mentioned)
        return [Asked(meant, "called")] if meant else []
    if embedded and "?" in sentence:
        return [Asked(path) for path in mentions(rest)]
    return []


def _paths(text: str) -> list[tuple[str, ...]]:
    """Whom or what a question is about: "sister", or "sister and my dog", each as a path."""
    owned = re.split(r",?\s+and\s+(?:of\s+)?(?:my\s+)?", text)
    return [tuple(" ".join(p.split()) for p in re.split(r"['’]s\s+", one) if p.strip()) for one in owned if one.strip()]


def claim_of(fact: KnownFact, person: str) -> Claim:
    """A fact of a prompt as a claim: by its statement, else by its quote, else as it is told."""
    teller = fact.source or person
    for text in (first_person(fact.statement, teller), fact.quote):
        found = claims_alone(text if text.endswith((".", "!")) else f"{text}.")
        same = [claim for claim in found if claim.subject.casefold() == fact.subject.casefold()]
        if same or found:
            return replace((same or found)[0], correction=False)
    subject = fact.subject or fact.statement
    return Claim((), "told", fact.statement, fact.quote, told_of=subject, statement=fact.statement, teller=teller)


@dataclass(frozen=True)
class Told:
    """A claim and when it was made, in words; empty for in this talk."""

    claim: Claim
    when: str


def told_by(known: Known) -> list[Told]:
    """All that the prompt tells of what the person has told, oldest first; what was taken back is missing."""
    told = [Told(claim_of(fact, known.person), fact.when) for fact in known.facts if fact.about != "agent"]
    mentioned = [one.claim.path for one in told if one.claim.path]
    for line in known.lines:
        if not line.own:
            new = claims_in(line.text, [one.claim for one in told], mentioned)
            told += [Told(claim, "") for claim in new if not _is_known(claim, told)]
        mentioned += mentions(line.text)
    left = {id(claim) for claim in in_force(one.claim for one in told)}
    return [one for one in told if id(one.claim) in left]


def _is_known(claim: Claim, told: Sequence[Told]) -> bool:
    """Whether the last that was told of it says the same: lines of an earlier talk, which facts date."""
    last = next((one.claim for one in reversed(told) if replaced(one.claim, claim)), None)
    return last is not None and (last.form, last.value) == (claim.form, claim.value)


def spoken_of(known: Known) -> list[tuple[str, ...]]:
    """What was spoken of, oldest first, by facts and lines before the last one."""
    facts = [claim.path for fact in known.facts if (claim := claim_of(fact, known.person)).path]
    return facts + [path for line in known.lines[:-1] for path in mentions(line.text)]


def answers_to(asked: Asked, told: Sequence[Told], person: str = STRANGER) -> list[Told]:
    """What answers a question, best last; empty if it was never told."""
    if asked.form == "all":
        return list(told)
    if asked.name:
        return [one for one in told if asked.name.casefold() in re.findall(r"[\w-]+", one.claim.value.casefold())]
    exact = [one for one in told if _fits(asked, one.claim)]
    return exact or [one for one in told if one.claim.form == "told" and _shares(asked, one.claim, person)]


def _fits(asked: Asked, claim: Claim) -> bool:
    if claim.other or claim.form == "told":
        return False
    if len(asked.path) != len(claim.path):
        return _same_by_name(asked, claim)
    if not all(map(_near, asked.path, claim.path)):
        return False
    if asked.form == "any":
        return True
    kinds = {"called": ("called", "is"), "job": ("job", "works"), "works": ("works",)}
    return claim.form in kinds.get(asked.form, (asked.form,))


def _same_by_name(asked: Asked, claim: Claim) -> bool:
    """Whether a question names by a noun what was told by a verb, or the other way round: "home town", "I'm from"."""
    if not claim.path and asked.form == "any":
        (*owners, noun) = asked.path
        return not owners and same_thing(noun, FORMS[claim.form][0])
    if not asked.path and claim.form == "is":
        (*owners, noun) = claim.path
        return not owners and same_thing(noun, FORMS.get(asked.form, ("",))[0])
    return False


def _near(asked: str, told: str) -> bool:
    """Whether a noun phrase of a question is one that was told: the same, or its last words ("dog" for "old dog")."""
    if same_thing(asked, told):
        return True
    words, whole = asked.split(), told.split()
    return len(words) < len(whole) and same_thing(asked, " ".join(whole[-len(words) :]))


_CUES: Final = {
    "called": "called name named",
    "name": "called name",
    "home": "lives live home house town city moved residence",
    "job": "job work works profession occupation",
    "works": "job work works company",
    "age": "age old years",
    "origin": "from born home town",
}


def _shares(asked: Asked, claim: Claim, person: str) -> bool:
    """Whether a statement that no pattern fits is about what is asked."""
    names = {one_word(word) for word in re.findall(r"[\w-]+", f"{person} {claim.teller}")}
    subject = {one_word(word) for word in re.findall(r"[\w-]+", claim.subject.replace("'s", ""))} - names
    whole = subject | {one_word(word) for word in re.findall(r"[\w-]+", claim.statement.replace("'s", ""))}
    wanted = {one_word(word) for noun in asked.path for word in noun.split()}
    cues = {one_word(word) for word in _CUES.get(asked.form, FORMS.get(asked.form, ("",))[0]).split()}
    if not wanted:
        return bool(subject) and bool(cues) and subject <= cues
    return wanted <= whole and bool(wanted & subject) and (asked.form == "any" or not cues or bool(cues & whole))
