"""Words of a text: content words, contractions, 4-grams, articles. Pure string arithmetic without a dictionary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from persimchat.models.offline.lexicon import word_list
from persimchat.state.normalise import folded
from persimchat.state.speech import addressees

_WORD: Final = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+(?:['’-](?:[^\W_]|[\u0300-\u036f])+)*")
"""A word; separate combining marks (as in ọ̀) belong to it."""
_NEGATED: Final = re.compile(r"\b(ca|wo|sha|\w+)n['’]t\b", re.IGNORECASE)
_IRREGULAR: Final = {"ca": "cannot", "wo": "will not", "sha": "shall not"}
_IS: Final = re.compile(r"\b(it|that|there|what|here|who|he|she|where|how|everything|nobody)['’]s\b", re.IGNORECASE)
_OTHERS: Final = (
    (re.compile(r"\b([Ll])et['’]s\b"), r"\1et us"),
    (re.compile(r"\bI['’]m\b"), "I am"),
    (re.compile(r"(\w)['’]re\b"), r"\1 are"),
    (re.compile(r"(\w)['’]ve\b"), r"\1 have"),
    (re.compile(r"(\w)['’]ll\b"), r"\1 will"),
    (re.compile(r"(\w)['’]d\b"), r"\1 would"),
)


def expanded(text: str) -> str:
    """The text without contractions: "I'd say it's late" becomes "I would say it is late"."""
    if "'" not in text and "’" not in text:
        return text
    text = _NEGATED.sub(_expand_negation, text)
    text = _IS.sub(r"\1 is", text)
    for pattern, full in _OTHERS:
        text = pattern.sub(full, text)
    return text


def _expand_negation(found: re.Match[str]) -> str:
    stem = found.group(1)
    full = _IRREGULAR.get(stem.casefold())
    if full is None:
        return f"{stem} not"
    return full.capitalize() if stem[0].isupper() else full


@lru_cache(maxsize=16384)
def normalised(text: str) -> str:
    """Text for comparison: lower case, contractions expanded, single spaces, no punctuation."""
    return " ".join(re.findall(r"\w+", expanded(text).lower()))


def content_words(text: str, limit: int = 8) -> list[str]:
    """The content words of a text, unchanged, each once, in their order.

    If a text has no such word, any of its words; if it has no words, its first characters.
    """
    found = _WORD.findall(text)
    unique = dict.fromkeys(w for w in found if len(w) <= 40)
    seen: set[str] = set()
    chosen = []
    for word in unique:
        key = word.casefold().replace("’", "'")
        plain = len(word) > 3 or not word.isascii()
        if plain and not word.isdigit() and key not in word_list("stopwords") and key not in seen and "'" not in key:
            seen.add(key)
            chosen.append(word)
    if not chosen:
        chosen = list(unique)
    return chosen[:limit] or [text.strip()[:40] or "words"]


def four_grams(text: str) -> set[tuple[str, ...]]:
    """The sequences of four neighbouring words in a text, lower case."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


def overlap(first: str, second: str) -> float:
    """Shared 4-grams of two texts as a share of those of the shorter text, 0 to 1."""
    a, b = four_grams(first), four_grams(second)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def count(text: str) -> int:
    """Number of words."""
    return len(text.split())


def with_article(noun: str) -> str:
    """A noun phrase with its indefinite article: "an engineer", "a university teacher"."""
    lower = noun.lower()
    vowel = lower[:1] in "aeiou" and not re.match(r"(uni|use|usu|eur|one\b|once\b|u[ks]\b)", lower)
    return ("an " if vowel or re.match(r"(hon(est|our|or)|hour|heir|mp\b|mba\b)", lower) else "a ") + noun


def gerund(verb: str) -> str:
    """The -ing form of a verb: "build" to "building", "make" to "making", "run" to "running"."""
    lower = verb.lower()
    if lower in ("be", "see", "flee", "agree", "dye") or lower.endswith(("ee", "oe", "ye")):
        return verb + "ing"
    if lower.endswith("ie"):
        return verb[:-2] + "ying"
    if lower.endswith("e"):
        return verb[:-1] + "ing"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", lower) or lower in ("begin", "forget", "admit", "prefer")
    return verb + verb[-1] + "ing" if doubled else verb + "ing"


def listed(items: Sequence[str]) -> str:
    """Items as an enumeration: "a", "a and b", "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def without_markup(text: str) -> str:
    """Text without characters that do not belong in speech."""
    return re.sub(r"[{}<>\[\]|*_`#‹›\\]", "", text)


def spoken_to(text: str, speaker: str, names: Sequence[str]) -> list[str]:
    """The names that words address, as `state.speech.addressees` finds them; names without a letter are left out."""
    return addressees(text, speaker, [name for name in names if folded(name).strip()])


def short_name(name: str, instead: str = "somebody") -> str:
    """A name for use in a sentence: on one line, at most 60 characters; `instead` if it is empty."""
    return " ".join(name.split())[:60].strip() or instead
