"""Who listens where not everybody's model is asked (the setting `listeners`), and what silence does: arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from typing_extensions import TypedDict

from persimchat.state.outcomes import NEUTRAL

_GREATEST: Final = 10


class Listening(TypedDict):
    """What a mind keeps of its listening, where the setting `listeners` is a number."""

    asked: int
    """The last utterance about which its model was asked, 0 if none."""
    overheard: int
    """The last utterance of which it remembers the words without a model, 0 if none."""
    missed: int
    """Utterances overheard since it was asked last."""
    temper: dict[str, int]
    """Its emotional state at awakening; in a branch of a run in which all are asked, that at the branch's beginning."""


class Concern(NamedTuple):
    """How much an utterance concerns somebody.

    Attributes:
        name: whom.
        named: whether the words address or name them.
        nearness: of the words to what they are and have in mind; greater is nearer.
        asked: the last utterance about which they were asked.
    """

    name: str
    named: bool
    nearness: float
    asked: int


def most_concerned(concerns: Sequence[Concern], count: int) -> list[str]:
    """Those whom an utterance concerns most, in order of listing.

    First whoever is named, then by nearness; among equals whoever was asked longest ago, then order of listing.

    Args:
        concerns: of everybody who may be asked, in order of listing; names are different.
        count: how many at most.
    """
    # sorted() is stable, so the rest of the ties go to order of listing.
    ranked = sorted(concerns, key=lambda concern: (not concern.named, -concern.nearness, concern.asked))
    chosen = {concern.name for concern in ranked[:count]}
    return [concern.name for concern in concerns if concern.name in chosen]


def noticed(before: Listening | None, turn: int, emotion: Mapping[str, int], *, asked: bool) -> Listening:
    """What a mind keeps of its listening once an utterance is out.

    Args:
        before: what it has kept so far; None for the first utterance.
        turn: the utterance's number.
        emotion: its emotional state now: its temper, where none is known yet.
        asked: whether its model is asked.
    """
    known = before or Listening(asked=0, overheard=0, missed=0, temper=dict(emotion))
    if asked:
        return {**known, "asked": turn, "missed": 0}
    return {**known, "overheard": turn, "missed": known["missed"] + 1}


def was_asked(mind: Mapping[str, Any], turn: int) -> bool | None:
    """Whether a mind's model was asked about an utterance that it heard; None where nobody was left out.

    Args:
        mind: `listening` is read.
        turn: the utterance's number.
    """
    listening: Listening | None = mind.get("listening")
    if not turn or listening is None or turn not in (listening["asked"], listening["overheard"]):
        return None
    return listening["asked"] == turn


def need_unasked(need: int, missed: int, agents: int, listeners: int) -> int:
    """The need to talk, 0–10, of an agent that was not asked.

    It grows by one every `agents / listeners` utterances (rounded, at least one), which is how often everybody would
    be asked if it were in turn; so nobody is forgotten for ever.

    Args:
        need: so far.
        missed: utterances overheard since it was asked last, this one included.
        agents: how many take part.
        listeners: how many are asked about an utterance.
    """
    return min(_GREATEST, need + (missed % max(1, round(agents / listeners)) == 0))


def faded(emotion: Mapping[str, int], temper: Mapping[str, int]) -> dict[str, int]:
    """An emotional state one step nearer to the temper, each emotion by itself.

    Args:
        emotion: intensities by name, 0–10.
        temper: where they come to rest; an emotion that is missing there rests at 0.
    """
    rest = {name: temper.get(name, 0) for name in emotion}
    return {name: level + (rest[name] > level) - (rest[name] < level) for name, level in emotion.items()}


def importance_unasked(nearness: float) -> int:
    """The importance, 0–10, of words to an agent that was not asked: neutral, and more the nearer they are to it.

    Args:
        nearness: of the words to its persona and goals, −1 to 1; what is not near at all leaves it neutral.
    """
    return NEUTRAL + round((_GREATEST - NEUTRAL) * max(0.0, min(1.0, nearness)))
