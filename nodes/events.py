"""Events: what an agent perceives around it, and how much that matters (design, 1.6).

One question for all events of a batch whose importance nobody has given. Its prompt has nothing that a person has said,
because everybody in the world may hear of an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question
from persimchat.prompts import companion_blocks
from persimchat.state.companion import Happening
from persimchat.state.companion_judgement import RatedEvents
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import ModelError
from persimchat.state.happenings import sentence_of
from persimchat.state.memory import Circumstance, new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import NEUTRAL, Judged, judged
from persimchat.state.settings import Settings


@dataclass(frozen=True)
class Event:
    """An event as an agent sees it.

    Attributes:
        happening: what was perceived.
        sentence: the event in one sentence.
        importance: 0–10.
    """

    happening: Happening
    sentence: str
    importance: int


async def rate_events(mind: Step, settings: Settings, new: Sequence[Happening]) -> tuple[list[Event], Step]:
    """What new events mean to the agent, and the memories that they become; a model that fails loses no event.

    Args:
        mind: with the talk as its situation.
        settings: of the companion.
        new: events that are new, in the order in which they are perceived.
    """
    open_ones = [one for one in new if one.importance is None]
    found, outcomes = await _asked(mind, settings, open_ones) if open_ones else (None, [])
    answers = {one.number: one for one in found.events} if found is not None else {}
    rated = []
    for one in new:
        answer = answers.get(open_ones.index(one) + 1) if one.importance is None else None
        given = NEUTRAL if one.importance is None else one.importance
        importance, sentence = (answer.importance, answer.sentence) if answer else (given, sentence_of(one))
        rated.append(Event(one, sentence, importance))
    return rated, {"arriving": [_memory(mind, one, n) for n, one in enumerate(rated)], "outcomes": outcomes}


async def _asked(
    mind: Step, settings: Settings, events: Sequence[Happening]
) -> tuple[RatedEvents | None, list[Judged]]:
    """The model's answer; None if it is of no use."""
    companion = mind["situation"]["companion"]
    values = {
        **common_blocks(mind),
        "events": companion_blocks.events({**companion, "happened": [sentence_of(one) for one in events]}),
    }
    try:
        answer = await appraise(
            "events", RatedEvents, **question(mind, settings, "events"), part=companion["exchange"], **values
        )
    except ModelError:
        return None, []
    return answer.value, judged([answer.call])


def _memory(mind: Step, event: Event, index: int) -> dict[str, object]:
    """The memory of an event; all may hear of it."""
    companion, subject = mind["situation"]["companion"], event.happening.subject.rsplit(":", 1)[-1]
    return new_memory(
        mind["name"],
        mind["situation"]["turn"],
        "event",
        event.sentence,
        [subject],
        event.importance,
        [mind["emotion"][name] for name in EMOTIONS],
        index=index,
        circumstance=Circumstance(at=companion["at"], place=companion["place"], subject=subject[:80]),
    ).model_dump()
