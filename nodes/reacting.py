"""Reacting: what an agent does about an event, without being asked (design, 1.6)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.nodes.events import Event
from persimchat.prompts import companion_blocks
from persimchat.state.companion import Tie
from persimchat.state.companion_judgement import Reaction
from persimchat.state.errors import ModelError
from persimchat.state.happenings import is_idle
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings
from persimchat.state.trust import bounds

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
