"""Events: what an agent perceives around it, how much that matters, and what it does about it unasked.

One question for all events of a batch whose importance nobody has given. Its prompt has nothing that a person has said,
because everybody in the world may hear of an event.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ...models.asking import appraise
from ...prompts import companion_blocks
from ...state.companion import Happening, Tie
from ...state.companion.events import is_idle, sentence_of
from ...state.companion.judgement import RatedEvents, Reaction
from ...state.companion.trust import bounds
from ...state.errors import ModelError
from ...state.minds.memory import Circumstance
from ...state.minds.mind import Step
from ...state.outcomes import NEUTRAL, Judged, judged
from ...state.settings import Settings
from ..minds.context import common_blocks, made_now, question, shown_memories


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
    return made_now(
        mind,
        "event",
        event.sentence,
        [subject],
        event.importance,
        index=index,
        circumstance=Circumstance(at=companion["at"], place=companion["place"], subject=subject[:80]),
    ).model_dump()


INTERRUPTS: Final = 8
"""The least importance of an event that interrupts a talk."""
REASON: Final = 4
"""The least importance of an event that is a reason to speak to somebody who is not much trusted."""
_LATE: Final = 23
"""From this hour to midnight, an agent begins no talk."""


def least_importance(tie: Tie, settings: Settings, *, tick: int, at: str, asleep: bool) -> int | None:
    """The least importance of an event to which the agent may react with this person; None if it reacts to none.

    Args:
        tie: what it knows of the person.
        settings: of the companion.
        tick: of the memory clock.
        at: ISO time.
        asleep: whether the agent sleeps.
    """
    if tie.talk is not None:
        return INTERRUPTS
    if asleep or datetime.fromisoformat(at).hour >= _LATE:
        return None
    if tie.talked is not None and tick - tie.talked < settings.companion.talk_cooldown_ticks:
        return None
    return {"never": None, "reason": REASON, "freely": 1}[bounds(tie.trust).begins]


def focused(events: Sequence[Event], least: int, seed: int, tick: int) -> Event | None:
    """The one event that has the agent's attention: one of a person if there is any; None if none is important enough.

    Args:
        events: what was perceived.
        least: the least importance.
        seed: of the world.
        tick: of the memory clock; with the seed it decides between several.
    """
    able = [one for one in events if one.importance >= least and not is_idle(one.happening)]
    people = [one for one in able if one.happening.person]
    return random.Random(f"{seed}/{tick}/event").choice(people or able) if able else None


async def react(mind: Step, settings: Settings, event: Event, *, in_talk: bool) -> tuple[Reaction | None, Step]:
    """Ask what the agent does about an event; None after an unusable answer, or if it does nothing.

    Args:
        mind: with the talk as its situation.
        settings: of the companion.
        event: the one that has its attention.
        in_talk: whether it is talking with the person: then it may only interrupt, else only begin to speak.
    """
    companion = mind["situation"]["companion"]
    may = ["none", "interrupt"] if in_talk else ["none", "comment", "start_talk"]
    shown = await shown_memories(mind, settings)
    values = {
        **common_blocks(mind, shown),
        "events": companion_blocks.events({**companion, "happened": [event.sentence]}),
        "may": may,
    }
    try:
        answer = await appraise(
            "reacting", Reaction, **question(mind, settings, "reacting"), part=companion["exchange"], **values
        )
    except ModelError:
        return None, {}
    return _possible(answer.value, in_talk=in_talk), {"outcomes": judged([answer.call])}


def _possible(reaction: Reaction | None, *, in_talk: bool) -> Reaction | None:
    """The reaction as it can be: a talk can only be interrupted; without one, an interruption is a comment."""
    if reaction is None or reaction.react == "none" or (in_talk and reaction.react != "interrupt"):
        return None
    return reaction if in_talk or reaction.react != "interrupt" else reaction.model_copy(update={"react": "comment"})
