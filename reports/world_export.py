"""What an agent remembers of a person, to read and to take away: as data, and as Markdown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..graph.companion.records import ties_of
from ..models.redaction import keys_in_words, without_keys
from ..personas.names import full_name
from ..runs.companion.folder import (
    WORLD,
    agents_in,
    exchanges_in,
    locked,
    memories_in,
    opened_file,
    pending_in,
    person_in,
    records_in,
)
from ..runs.companion.personal_data import Person, carried, memories_of
from ..runs.companion.session import Companion
from ..state.companion import Exchange, Tie, thread_id
from ..state.errors import InputError
from ..state.minds.memory import Memory
from .tables import markdown, tidy

Remembered = dict[str, Any]
"""What is remembered: `world`, `agent`, `person`, `relationship`, `facts`, `talks`, `insights`, `impressions`, `trust`,
`transcript`."""


async def remembered(companion: Companion) -> Remembered:
    """What an agent of an open world remembers of a person; asks no model.

    Args:
        companion: the session of the two.

    Raises:
        InputError: they have never talked.
    """
    world, who = companion.world, companion.agent
    tie, mind = await companion.tie(), await world.mind(who)
    if tie is None or mind is None:
        raise _strangers(who, companion.person, world.folder)
    memories = await asyncio.to_thread(world.memories, mind)
    return _told(world.name, who, tie, memories, await companion.exchanges())


def remembered_in(folder: Path, agent: str, person: str) -> Remembered:
    """What an agent of a world that nobody works on remembers of a person; asks no model. Blocks.

    Args:
        folder: the world's.
        agent: its name, in full or in part.
        person: the person's name.

    Raises:
        InputError: there is no such world or agent, it has never talked with this person, or somebody works on it.
    """
    with locked(folder) as known, opened_file(folder / WORLD) as kept:
        records = records_in(kept.log)
        whose = person_in(records, folder, known.world, person)
        who = full_name(agent, agents_in(records, known.world), what="agent", where=f"world {folder}")
        tie = records.get((".".join(ties_of(known.world, who)), whose.id))
        if tie is None:
            raise _strangers(who, whose.name, folder)
        mind = records[f"{known.world}.minds", who]
        memories = {memory.id: memory for memory in (*memories_in(folder, known).get(who, ()), *carried(mind))}
        said = exchanges_in(kept.log, who, whose.id)
        said += pending_in(kept.threads, thread_id(known.world, who, whose.id))
    return _told(known.world, who, Tie.model_validate(tie), memories, said)


def _strangers(agent: str, person: str, folder: Path) -> InputError:
    return InputError(
        f"{agent} has never talked with {person!r}",
        where=f"world {folder}",
        remedy="See who is known: persimchat companion list.",
    )


def _told(world: str, agent: str, tie: Tie, every: Mapping[str, Memory], said: Sequence[Exchange]) -> Remembered:
    theirs = memories_of(Person(tie.person, tie.name), every.values(), [fact.id for fact in tie.facts])
    own = [memory for memory in every.values() if memory.id in theirs]
    statements = {fact.id: fact.statement for fact in tie.facts}
    bare = {"person", "name", "facts", "talk", "over"}
    return _clean(
        {
            "world": world,
            "agent": agent,
            "person": tie.name,
            "relationship": tie.model_dump(mode="json", exclude=bare),
            "facts": [
                {
                    **fact.model_dump(mode="json", exclude={"replaced_by"}),
                    "in_force": fact.in_force,
                    "replaced_by": statements.get(fact.replaced_by, fact.replaced_by),
                }
                for fact in tie.facts
            ],
            "talks": [_one(memory) for memory in _in_order(own) if memory.kind == "talk"],
            "insights": [
                {**_one(memory), "rests_on": [every[one].theme for one in memory.evidence if one in every]}
                for memory in _in_order(own)
                if memory.kind == "reflection"
            ],
            "impressions": [
                _one(memory) for memory in _in_order(own) if memory.kind not in ("talk", "reflection", "fact")
            ],
            "trust": [{key: one[key] for key in ("at", "id", "trust")} for one in said],
            "transcript": [dict(one) for one in said],
        }
    )


def _one(memory: Memory) -> dict[str, Any]:
    about = memory.circumstance
    return {
        "id": memory.id,
        "kind": memory.kind,
        "at": about.at if about else "",
        "theme": memory.theme,
        "importance": memory.importance,
    }


def _in_order(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda one: (one.turn, one.circumstance.at if one.circumstance else "", one.id))


def _clean(value: Remembered) -> Remembered:
    """All texts without control characters, and without known keys."""
    keys = keys_in_words()

    def cleaned(part: Any) -> Any:
        if isinstance(part, str):
            return without_keys(part, keys)
        if isinstance(part, dict):
            return {key: cleaned(item) for key, item in part.items()}
        return [cleaned(item) for item in part] if isinstance(part, list) else part

    found: Remembered = cleaned(tidy(value))
    return found


def as_markdown(found: Remembered) -> str:
    """What is remembered, as a document; nothing in it is markup but its own."""
    agent, person, tie = markdown(found["agent"]), markdown(found["person"]), found["relationship"]
    parts = [
        f"# What {agent} remembers of {person}",
        "Somebody simulated remembers this: it may be wrong.",
        "\n".join(
            [
                f"- Relationship: {_words(tie['type'])}{_more(tie['note'])}",
                f"- Trust: {tie['trust']} of 10",
                f"- Talks: {tie['talks']}; first {_time(tie['first_met'])}, last {_time(tie['last_met'])}",
                *(f"- Promised: {markdown(text)}" for text in tie["promises"]),
            ]
        ),
        _section("Facts", map(_fact, found["facts"])),
        _section("Talks", (f"{_time(one['at'])}: {markdown(one['theme'])}" for one in found["talks"])),
        _section("Insights that rest on this", map(_insight, found["insights"])),
        _section("Impressions", (f"{_time(one['at'])}: {markdown(one['theme'])}" for one in found["impressions"])),
        _course(found["trust"]),
        _transcript(found["transcript"], agent, person),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    listed = [f"- {line}" for line in lines]
    return "\n".join([f"## {title}", "", *listed]) if listed else ""


def _fact(fact: Mapping[str, Any]) -> str:
    words = markdown(fact["statement"])
    about = [markdown(fact["subject"]), _time(fact["at"])]
    about += [f"“{markdown(fact['quote'])}”"] if fact["quote"] else []
    about += [f"edited by {markdown(fact['edited_by'])}"] if fact["edited_by"] else []
    about += ["pinned"] if fact["pinned"] else []
    if not fact["in_force"]:
        dropped = fact["replaced_by"] == "dropped"
        by = "dropped, there were too many" if dropped else f"replaced by: {markdown(fact['replaced_by'])}"
        words, about = f"~~{words}~~", [*about, f"{_time(fact['replaced_at'])} {by}"]
    return f"{words} ({'; '.join(about)})"


def _insight(insight: Mapping[str, Any]) -> str:
    rests = "; ".join(markdown(text) for text in insight["rests_on"])
    return f"{markdown(insight['theme'])} (rests on: {rests})"


def _course(course: Sequence[Mapping[str, Any]]) -> str:
    if not course:
        return ""
    before = [None, *(one["trust"] for one in course)]
    rows = [
        f"| {_time(one['at'])} | {one['trust']} |"
        for one, last in zip(course, before, strict=False)
        if one["trust"] != last
    ]
    return "\n".join(["## Trust", "", "| when | trust |", "| --- | --- |", *rows])


def _transcript(said: Sequence[Mapping[str, Any]], agent: str, person: str) -> str:
    rows = []
    for one in said:
        words = ((person, one["said"]), (agent, one["utterance"]))
        rows += [f"| {_time(one['at'])} | {name} | {markdown(text)} |" for name, text in words if text]
    return "\n".join(["## Transcript", "", "| when | who | words |", "| --- | --- | --- |", *rows]) if rows else ""


def _words(name: str) -> str:
    return markdown(name.replace("_", " "))


def _more(note: str) -> str:
    return f" ({markdown(note)})" if note else ""


def _time(moment: str) -> str:
    return markdown(moment.replace("T", " ")[:16]) or "never"
