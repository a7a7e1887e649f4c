"""Checks a generated persona: it must not contradict itself, or be too similar to an earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona

MOST_OVERLAP: Final = 0.3
"""The greatest share of a description's runs of four words that another description may have, too."""
MOST_SIMILARITY: Final = 0.85
"""The greatest cosine of the lexical embeddings of two descriptions, names left out."""
_RUN: Final = 4

_SHE: Final = frozenset({"she", "her", "hers", "herself"})
_HE: Final = frozenset({"he", "him", "his", "himself"})
_WOMEN: Final = frozenset({"woman", "female", "girl", "f", "w", "lady"})
_MEN: Final = frozenset({"man", "male", "boy", "m", "gentleman"})


@dataclass(frozen=True)
class Problem:
    """Why a persona is asked for again; the words for the model are in the prompt's template.

    Attributes:
        kind: what is wrong.
        value: the part of the persona that is wrong.
        other: the name of the too similar persona, or the value that the part should agree with.
    """

    kind: Literal["name", "traits", "description", "age", "gender"]
    value: str
    other: str

    def __str__(self) -> str:
        """The problem in words, for the user."""
        match self.kind:
            case "name":
                return f"it is called {self.value!r}, like {self.other!r}"
            case "age":
                return f"its description speaks of the age {self.value}, but the age is {self.other}"
            case "gender":
                return f"its description speaks of {self.value!r}, but the gender is {self.other!r}"
        return f"its {self.kind} {'are' if self.kind == 'traits' else 'is'} nearly those of {self.other!r}"


def problems(persona: Persona, others: Sequence[Persona]) -> list[Problem]:
    """All that is wrong with a persona.

    Args:
        persona: the new one.
        others: those made before.
    """
    return [*_contradictions(persona), *_likenesses(persona, others)]


def _contradictions(persona: Persona) -> list[Problem]:
    """Contradictions between the description and the characteristics in age or gender.

    Only unambiguous statements count: the age right after the persona's own name, and pronouns of one gender
    throughout.
    """
    found = []
    names = "|".join(re.escape(name) for name in dict.fromkeys((persona.name, persona.name.split()[0])))
    said = re.match(rf"(?:{names})(?:,| is)(?: an?| now| only| already)? (\d{{1,3}})\b", persona.description)
    if said and persona.age is not None and int(said[1]) != persona.age:
        found.append(Problem("age", said[1], str(persona.age)))
    gender = persona.characteristic("gender") or ""
    words = re.findall(r"\w+", persona.description.casefold())
    she, he = (next((w for w in words if w in pronouns), None) for pronouns in (_SHE, _HE))
    wrong = he if gender.casefold() in _WOMEN and not she else she if gender.casefold() in _MEN and not he else None
    if wrong:
        found.append(Problem("gender", wrong, gender))
    return found


def _likenesses(persona: Persona, others: Sequence[Persona]) -> list[Problem]:
    """Similarities between the persona and an earlier one."""
    found = []
    traits = {folded(trait) for trait in persona.traits}
    for other in others:
        if folded(persona.name) == folded(other.name):
            found.append(Problem("name", persona.name, other.name))
        if traits == {folded(trait) for trait in other.traits}:
            found.append(Problem("traits", ", ".join(persona.traits), other.name))
        first, second = _nameless(persona), _nameless(other)
        if overlap(first, second) > MOST_OVERLAP or similarity(first, second) > MOST_SIMILARITY:
            found.append(Problem("description", persona.description, other.name))
    return found


def overlap(text: str, other: str) -> float:
    """The share of a text's runs of four words that another text has, too, 0 to 1."""
    runs, known = (_runs(words) for words in (text, other))
    return len(runs & known) / len(runs) if runs else 0.0


def similarity(text: str, other: str) -> float:
    """Cosine of the lexical embeddings of two texts, -1 to 1."""
    first, second = np.asarray(LexicalEmbeddings().embed_documents([text, other]))
    return float(first @ second)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", folded(text))
    return {tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1)}


def _nameless(persona: Persona) -> str:
    """The description without the persona's own names, which always differ."""
    own = "|".join(re.escape(part) for part in persona.name.split())
    return re.sub(rf"\b(?:{own})\b", "", persona.description)
