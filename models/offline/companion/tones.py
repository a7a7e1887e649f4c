"""The tone of a person's words, by lexicons; what it does to trust and to feelings."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from persimchat.models.offline.companion.claims import claims_in, sentences
from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.nouns import FILE
from persimchat.models.offline.feeling import feeling
from persimchat.models.offline.lexicon import read
from persimchat.models.offline.prompt import MemoryLine, Prompt
from persimchat.models.offline.words import content_words, count, short_name
from persimchat.state.trust import START, WALKS_OFF

TELLS: Final = "told something of themselves:"
"""With these words the percept of a disclosure begins; later ones are not the first."""
HOSTILE: Final = ("threat", "insult", "swearing")
_SHORT: Final = 6
"""Words of a sentence in which an insult without "you" counts: "Idiot!"."""
_GREETING: Final = re.compile(
    r"^\W*(?:hello|hi|hey|hiya|good (?:morning|day|afternoon|evening)|greetings|morning|evening|howdy|ahoy)\b",
    re.IGNORECASE,
)
_GREETED: Final = 6
"""Words of a message that is nothing but a greeting, at most."""
_CAUSES: Final[dict[str, tuple[str, int, str]]] = {
    # tone: (cause, change of trust, reason)
    "threat": ("threat", -3, "{who} threatened {me}."),
    "insult": ("insult", -2, "{who} insulted {me}."),
    "swearing": ("contempt", -1, "{who} swore at {me}."),
    "presses": ("pressure", 0, "{who} asks for trust, and asking changes nothing."),
    "apology": ("apology", 1, "{who} apologised."),
    "thanks": ("kindness", 1, "{who} thanked {me}."),
    "praise": ("kindness", 1, "{who} was kind to {me}."),
    "shared": ("shared_interest", 1, "{who} and {me} care for the same: {word}."),
    "disclosure": ("disclosure", 1, "{who} told something of themselves for the first time."),
    "": ("none", 0, "Nothing in the words of {who} changes trust."),
}
_FELT: Final[dict[str, dict[str, int]]] = {
    # tone: how it moves an emotion
    "threat": {"anger": 2, "fear": 4, "happiness": -3},
    "insult": {"anger": 3, "sadness": 1, "happiness": -3},
    "swearing": {"anger": 2, "disgust": 2, "happiness": -2},
    "apology": {"anger": -2, "disgust": -1, "fear": -1},
    "thanks": {"happiness": 1, "anger": -1},
    "praise": {"happiness": 2, "anger": -1},
    "shared": {"happiness": 1},
}


@cache
def _pattern(tone: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{read(FILE)['tones'][tone]})(?!\w)", re.IGNORECASE)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of the file of words."""
    return re.compile(rf"(?<!\w)(?:{read(FILE)[name]})", re.IGNORECASE)


def greets(text: str) -> bool:
    """Whether words are a greeting and nothing else."""
    return bool(_GREETING.match(text)) and count(text) <= _GREETED


def grieves(text: str) -> bool:
    """Whether somebody tells of a loss, or of being unwell."""
    return bool(pattern("sorrow").search(text)) and "?" not in text


def tone_of(text: str) -> str:
    """The tone of words: the first of threat, insult, swearing, presses, apology, thanks, praise; empty for none."""
    spoken = [pattern("own_fault").sub(" ", sentence) for sentence in sentences(text)]
    if any(_pattern("threat").search(one) for one in spoken):
        return "threat"
    if any(_pattern("insult").search(one) or _called_names(one) for one in spoken):
        return "insult"
    return next(
        (tone for tone in ("swearing", "presses", "apology", "thanks", "praise") if _pattern(tone).search(text)), ""
    )


def _called_names(sentence: str) -> bool:
    words = sentence.split()
    bare = re.sub(r"^\W*(?:oh|what|you|well|such|an?|so)\W+", "", sentence, flags=re.IGNORECASE)
    return len(words) <= _SHORT and bool(re.fullmatch(rf"\W*{_pattern('vocative').pattern}\W*", bare, re.IGNORECASE))


def _appraised(prompt: Prompt, known: Known) -> tuple[str, str]:
    """The tone of the last words, with what they share or tell; and the word that is shared."""
    heard = prompt.heard
    text = heard.words if heard is not None and not heard.own else ""
    tone = tone_of(text)
    if tone:
        return tone, ""
    shared = shared_word(prompt, known)
    if shared:
        return "shared", shared[0]
    earlier = known.facts or any(TELLS in memory.theme or memory.kind == "fact" for memory in _remembered(prompt))
    return ("disclosure", "") if claims_in(text) and not earlier else ("", "")


def _remembered(prompt: Prompt) -> list[MemoryLine]:
    return [*prompt.memories, *([prompt.stm] if prompt.stm else [])]


def shared_word(prompt: Prompt, known: Known) -> list[str]:
    """A word that the person says of themselves and that stands in the persona; it counts once, as far as is known."""
    text = prompt.heard.words if prompt.heard is not None and not prompt.heard.own else ""
    told = [one for one in sentences(text) if not one.endswith("?") and re.search(r"\b(?:i|my|we|our)\b", one, re.I)]
    own = " ".join((*prompt.traits, *prompt.characteristics.values()))
    if not told or not own:
        return []
    cares = {word.casefold() for word in content_words(own, 200)}
    used = {keyword.casefold() for memory in _remembered(prompt) for keyword in memory.keywords}
    words = (word for word in content_words(" ".join(told), 40) if word.casefold() in cares - used)
    return [word for word in words if not word.isdigit()][:1]


def trust(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`TrustChange`: by lexicons; words about trust change nothing."""
    prompt.need_section(prompt.heard, "heard")
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    tone, word = _appraised(prompt, known)
    cause, change, reason = _CAUSES[tone]
    values = {"who": short_name(known.person), "me": short_name(prompt.name), "word": word}
    ends = tone in HOSTILE and (START if known.trust is None else known.trust) + change <= WALKS_OFF
    text = reason.format(**values)
    return {"reasoning": text[:1].upper() + text[1:], "cause": cause, "change": change, "wants_to_end": ends}


def emotion(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Feeling`: as in a conversation, moved further by the tone of the words."""
    known = prompt.companion
    assert known is not None  # only a companion's prompts come here
    state, reason = feeling(prompt, seed)
    tone, _ = _appraised(prompt, known)
    moved = {name: max(0, min(10, level + _FELT.get(tone, {}).get(name, 0))) for name, level in state.items()}
    if tone in HOSTILE:
        reason = _CAUSES[tone][2].format(who=short_name(known.person), me=short_name(prompt.name), word="")
    return {"reasoning": reason[:1].upper() + reason[1:], **moved}
