"""Arithmetic of the setting `listeners`: whose models are asked about an utterance, and how the other minds change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from typing_extensions import TypedDict

from ..outcomes import NEUTRAL

_GREATEST: Final = 10


class Listening(TypedDict):
    """A mind's record of its listening, kept if the setting `listeners` is a number."""

    asked: int
    """The last utterance about which its model was asked, 0 if none."""
    overheard: int
    """The last utterance that it remembered without asking its model, 0 if none."""
    missed: int
    """Utterances overheard since its model was asked last."""
    temper: dict[str, int]
    """Its emotional state at awakening; in a branch of a run that asks all agents, that at the branch's beginning."""


class Concern(NamedTuple):
    """How much an utterance concerns one agent.

    Attributes:
        name: the agent's name.
        named: whether the words address or name the agent.
        nearness: of the words to the agent's persona and thoughts; greater is nearer.
        asked: the last utterance about which the agent's model was asked.
    """

    name: str
    named: bool
    nearness: float
    asked: int


def most_concerned(concerns: Sequence[Concern], count: int) -> list[str]:
    """The names of the agents that an utterance concerns most, in order of listing.

    Agents that it names come first, then the nearest, then those asked longest ago, then those listed first.

    Args:
        concerns: one for each agent that may be asked, in order of listing, with distinct names.
        count: the most agents to choose.
    """
    # sorted() is stable, so remaining ties keep the order of listing.
    ranked = sorted(concerns, key=lambda concern: (not concern.named, -concern.nearness, concern.asked))
    chosen = {concern.name for concern in ranked[:count]}
    return [concern.name for concern in concerns if concern.name in chosen]


def noticed(before: Listening | None, turn: int, emotion: Mapping[str, int], *, asked: bool) -> Listening:
    """A mind's record of its listening after an utterance.

    Args:
        before: the record so far; None for the first utterance.
        turn: the utterance's number.
        emotion: its emotional state now, which becomes its temper if there is no record yet.
        asked: whether its model is asked about the utterance.
    """
    known = before or Listening(asked=0, overheard=0, missed=0, temper=dict(emotion))
    if asked:
        return {**known, "asked": turn, "missed": 0}
    return {**known, "overheard": turn, "missed": known["missed"] + 1}


def was_asked(mind: Mapping[str, Any], turn: int) -> bool | None:
    """Whether a mind's model was asked about an utterance that it heard; None if all models were asked.

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

    It grows by one every `agents / listeners` utterances (rounded, at least one), as often as each agent would be asked
    in turn. So no agent stays silent for ever.

    Args:
        need: so far.
        missed: utterances overheard since its model was asked last, this one included.
        agents: number of agents in the conversation.
        listeners: the setting: number of agents asked about an utterance, beside its speaker.
    """
    return min(_GREATEST, need + (missed % max(1, round(agents / listeners)) == 0))


def faded(emotion: Mapping[str, int], temper: Mapping[str, int]) -> dict[str, int]:
    """An emotional state with each emotion one step nearer to the temper.

    Args:
        emotion: intensities by name, 0–10.
        temper: the levels at which they come to rest; a missing emotion rests at 0.
    """
    rest = {name: temper.get(name, 0) for name in emotion}
    return {name: level + (rest[name] > level) - (rest[name] < level) for name, level in emotion.items()}


def importance_unasked(nearness: float) -> int:
    """The importance, 0–10, of words to an agent that was not asked: neutral, and greater the nearer they are.

    Args:
        nearness: of the words to its persona and goals, −1 to 1; 0 or less gives the neutral importance.
    """
    return NEUTRAL + round((_GREATEST - NEUTRAL) * max(0.0, min(1.0, nearness)))
