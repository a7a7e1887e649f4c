"""Planning a day: one question at its first occurrence, and one for each entry that begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ...models.asking import appraise
from ...prompts import companion_blocks
from ...prompts.blocks import Block, Item
from ...state.companion import CompanionMind
from ...state.companion.clock import in_words
from ...state.companion.day import (
    FREE,
    QUARTER,
    Day,
    Entry,
    checked,
    chunks_of,
    day_by_habit,
    entry_at,
    needs_plan,
    plan_for,
)
from ...state.companion.judgement import Chunks, DayPlan
from ...state.companion.place import Agent, Place
from ...state.errors import ModelError
from ...state.minds.mind import Step
from ...state.outcomes import Judged, judged
from ...state.settings import Settings
from ..minds.context import common_blocks, persona_of, question

WEIGHTY: Final = 7
"""The least importance of a fact that a day plan takes into account."""
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


async def plan_day(
    mind: Step, settings: Settings, agent: Agent, places: Sequence[str], home: str
) -> tuple[CompanionMind, list[Judged]]:
    """Day, wake-up, bedtime and plan; after an unusable answer, the day as lifestyle and appointments have it.

    What the person has told or been promised goes into the plan. Others may not hear of an entry that may come from it:
    one that shares words with it, or none with what everybody may know.

    Args:
        mind: with the talk as its situation.
        settings: of the companion.
        agent: with lifestyle and appointments.
        places: which the agent knows, sector/arena.
        home: where it is if it is nowhere else.
    """
    companion = mind["situation"]["companion"]
    told = [fact for fact in companion["facts"] if fact["importance"] >= WEIGHTY]
    before = plan_for(mind["companion"], companion["person"])
    values = {
        **common_blocks(mind),
        "place": Block(
            "place", tuple(Item("known_place", {"number": n, "address": one}) for n, one in _numbered(places))
        ),
        "facts": companion_blocks.facts({**companion, "facts": told}),
        "day": in_words(companion["at"])[0],
        "lifestyle": agent.lifestyle,
        "appointments": list(agent.appointments),
        "yesterday": [f"{entry['start']} {entry['activity']}" for entry in before if entry["activity"] != FREE],
        "promises": list(companion["promises"]),
    }
    made, outcomes = await _asked("day_plan", DayPlan, mind, settings, values)
    day = day_by_habit(agent.lifestyle, agent.appointments, home) if made is None else checked(made, places, home)
    confided = [entry["activity"] for entry in before if entry.get("heard_by") is not None]
    private = [*companion["promises"], *(f"{fact['statement']} {fact['quote']}" for fact in told), *confided]
    if made is not None and any(private) and not companion["share"]:
        persona = persona_of(mind)
        public = [
            *(agent.lifestyle, *agent.appointments, persona.description, *persona.traits),
            *(str(value) for value in persona.characteristics.values()),
            *(entry["activity"] for entry in before if entry.get("heard_by") is None),
        ]
        day = _with_hearers(day, _words(private), _words(public), companion["person"])
    own: CompanionMind = {
        "day": companion["at"][:10],
        "wakes": day.wakes,
        "sleeps": day.sleeps,
        "plan": day.entries,
    }
    return own, outcomes


def _numbered(places: Sequence[str]) -> Iterable[tuple[int, str]]:
    return enumerate(places, start=1)


def _with_hearers(day: Day, private: set[str], public: set[str], person: str) -> Day:
    """The day whose entries say who may hear of them."""

    def marked(entry: Entry) -> Entry:
        words = _words([entry["activity"]])
        is_public = entry["activity"] == FREE or (not words & private and bool(words & public))
        return entry if is_public else {**entry, "heard_by": [person]}

    return Day(day.wakes, day.sleeps, [marked(entry) for entry in day.entries])


def _words(texts: Iterable[str]) -> set[str]:
    """The words of four letters or more, without a plural's s."""
    return {word.casefold().removesuffix("s") for text in texts for word in _WORD.findall(text)}


def is_behind(own: CompanionMind, place: Place, agent: Agent, at: str) -> bool:
    """Whether a plan is to be made, or the entry that has begun is to be divided.

    Args:
        own: what the mind carries.
        place: of the world.
        agent: the agent.
        at: ISO time.
    """
    if needs_plan(own, at):
        return has_days(place, agent)
    entry = entry_at(own, at)
    return entry is not None and worth_chunks(entry)


def has_days(place: Place, agent: Agent) -> bool:
    """Whether an agent's days are planned: something is known of where or how it lives."""
    return bool(place.places or agent.lifestyle or agent.appointments)


def worth_chunks(entry: Entry) -> bool:
    """Whether an entry that begins is to be divided: it has not been, and there is something to divide."""
    return "chunks" not in entry and entry["activity"] != FREE and entry["minutes"] > QUARTER


async def chunk_entry(mind: Step, settings: Settings, entry: Entry) -> tuple[Entry, list[Judged]]:
    """The entry with its parts; after an unusable answer, all parts are equal.

    Args:
        mind: with the talk as its situation.
        settings: of the companion.
        entry: of the day plan, which has just begun.
    """
    values = {**common_blocks(mind), **{key: entry[key] for key in ("activity", "minutes", "start")}}
    made, outcomes = await _asked("chunks", Chunks, mind, settings, values)
    return {**entry, "chunks": chunks_of(made, entry)}, outcomes


async def _asked(
    task: str, schema: Any, mind: Step, settings: Settings, values: dict[str, Any]
) -> tuple[Any, list[Judged]]:
    """A usable answer, or None; a model that fails is no reason not to have a day."""
    part = mind["situation"]["companion"]["exchange"]
    try:
        answer = await appraise(task, schema, **question(mind, settings, task), part=part, **values)
    except ModelError:
        return None, []
    return answer.value, judged([answer.call])
