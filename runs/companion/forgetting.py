"""Forgets a person: with one agent or with all, in everything that a world keeps.

The world is written anew without them (`renewed`); what belongs to a person is decided in
runs/companion/personal_data.py.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...graph.companion.records import PLACE, ties_of
from ...memory.chroma_client import blank_spare
from ...memory.recollection import discard
from ...memory.store import MemoryStore, release
from ...personas.names import full_name
from ...state.companion import DIGESTED, Tie, exchange_id, new_person_id, person_key, thread_id
from ...state.errors import InputError, MachineError
from ..folder.lock import held
from ..folder.validation import as_text
from ..log import Log, seal
from .events import KINDS, Opened
from .folder import WORLD, agents_in, memories_in, person_in, read_world, records_in, renewed, settle
from .keys import KEYS as OF_KEYS
from .personal_data import Person, carried, memories_of, mentioning, with_what_rests_on, without

BEYOND: Final = (
    "copies and backups of the world's folder",
    "what model and embedding servers keep of requests",
    "traces that were sent elsewhere",
    "what chat programs and games keep of their side of the talk",
)
"""What forgetting cannot reach."""


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten, and what was not.

    Attributes:
        person: the name.
        agents: who has forgotten the person.
        counts: how much of what was deleted.
        mentions: other people's memories that have the name, as agent and theme; deleted if that was wanted.
        left: files of the world that still have the name, in others' words or in the place.
        beyond: what cannot be reached.
    """

    person: str
    agents: list[str]
    counts: dict[str, int]
    mentions: list[tuple[str, str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    beyond: tuple[str, ...] = BEYOND


def forget(folder: Path, person: str, agent: str | None, *, mentions: bool = False) -> Forgotten:
    """Delete what a world's files hold of a person. Blocks: in an event loop, call it in a thread.

    Args:
        folder: of a world that nobody works on: its session is closed.
        person: the person's name.
        agent: who forgets, a name in full or in part; None: all agents.
        mentions: whether other people's memories that have the name go too.

    Raises:
        InputError: there is no such world, person or agent, or somebody works on the world.
        MachineError: a file cannot be written; the folder is as it was.
    """
    read_world(folder)
    with held(folder, "world"):
        settle(folder)
        known = read_world(folder)
        work = _Work(folder, known, person, agent, mentions)
        release(str(folder / known.memories))
        with renewed(folder) as (copy, memories):
            work.write(copy, memories)
        discard(known.world)
        return work.result()


_NOBODY: Final = "nobody"
"""The id of a person who has none."""


class _Work:
    """What is to go from a world, and how it is written without it."""

    def __init__(self, folder: Path, known: Opened, person: str, agent: str | None, mentions: bool) -> None:
        self._folder, self._known, self._world, self._mentions = folder, known, known.world, mentions
        with Log(folder / WORLD, KINDS, read_only=True) as log:
            self._records = records_in(log)
            own = log.rows("SELECT agent, body ->> '$.person', body ->> '$.id' FROM events WHERE kind = 'exchange'")
        self._memories = memories_in(folder, known)
        self._person = self._wanted(person)
        names = agents_in(self._records, self._world)
        self._agents = names if agent is None else [full_name(agent, names, what="agent", where=str(folder))]
        found = {name: self._records.get((".".join(ties_of(self._world, name)), self._person.id)) for name in names}
        self._ties = {name: Tie.model_validate(value) for name, value in found.items() if value is not None}
        self._counts: Counter[str] = Counter()
        self._mentioned: list[tuple[str, str]] = []
        self._gone = {name: self._gone_from(name) for name in self._agents}
        self._everywhere = not self._ties.keys() - set(self._agents)
        self._threads = {name: thread_id(self._world, name, self._person.id) for name in self._agents}
        self._exchanges = {
            name: {id_ for who, person_id, id_ in own if (who, person_id) == (name, self._person.id)}
            for name in self._agents
        }

    def _wanted(self, name: str) -> Person:
        """The person; with `mentions` also somebody who is forgotten, and of whom others have told."""
        try:
            return person_in(self._records, self._folder, self._world, name)
        except InputError:
            stranger = Person(_NOBODY, name)
            told = [memory.text for memories in self._memories.values() for memory in memories]
            if self._mentions and stranger.is_in([told, *self._records.values()]):
                return stranger
            raise

    def _gone_from(self, agent: str) -> set[str]:
        """Ids of the memories that an agent is to lose."""
        mind = self._records[f"{self._world}.minds", agent]
        known = {memory.id: memory for memory in (*self._memories.get(agent, ()), *carried(mind))}
        facts = self._ties[agent].facts if agent in self._ties else []
        private = mind["companion"].get("private", {})
        besides = {one for one, hearers in private.items() if hearers == [self._person.id]}
        gone = memories_of(self._person, known.values(), {*besides, *(fact.id for fact in facts)})
        named = mentioning(self._person, known.values(), gone)
        self._mentioned += [(agent, memory.theme) for memory in named]
        if self._mentions:
            gone = with_what_rests_on(gone | {memory.id for memory in named}, known.values())
        insights = sum(known[one].kind == "reflection" for one in gone & known.keys())
        self._counts += Counter(facts=len(facts), memories=len(gone & known.keys()) - insights, insights=insights)
        return gone

    def write(self, copy: sqlite3.Connection, memories: Path) -> None:
        """Delete it from a copy of the world's file, and write the memories that stay into a new folder.

        Raises:
            sqlite3.Error: the copy cannot be written.
            MachineError: Chroma failed.
        """
        for agent, thread in self._threads.items():
            ours = (agent, self._person.id)
            self._counts["threads"] += copy.execute("DELETE FROM checkpoints WHERE thread_id = ?", [thread]).rowcount
            copy.execute("DELETE FROM writes WHERE thread_id = ?", [thread])
            query = "DELETE FROM events WHERE kind = ? AND agent = ? AND body ->> '$.person' = ?"
            self._counts["exchanges"] += copy.execute(query, ("exchange", *ours)).rowcount
            copy.execute(query, ("retracted", *ours))
            self._write_requests(copy, agent)
        for (prefix, key), value in self._records.items():
            left = self._record(prefix, key, value)
            if left is None:
                copy.execute("DELETE FROM store WHERE prefix = ? AND key = ?", (prefix, key))
            elif left != value:
                text = json.dumps(left, ensure_ascii=False)
                copy.execute("UPDATE store SET value = ? WHERE prefix = ? AND key = ?", (text, prefix, key))
        self._copy_memories(memories)

    def _write_requests(self, copy: sqlite3.Connection, agent: str) -> None:
        """Requests for the person stay as numbers, without words and without the person."""
        query = "SELECT number, turn, checkpoint, body FROM events WHERE kind = 'asked_model' AND agent = ?"
        for number, turn, checkpoint, body in copy.execute(query, [agent]).fetchall():
            asked = json.loads(body)
            whose = asked.get("person")
            if whose == self._person.id or (not whose and self._person.is_in(asked)):
                self._counts["calls"] += 1
                bare = as_text({name: it for name, it in asked.items() if name not in ("answer", "failed", "person")})
                sealed = seal("asked_model", turn, agent, checkpoint, bare)
                copy.execute("UPDATE events SET body = ?, seal = ? WHERE number = ?", (bare, sealed, number))

    def _record(self, prefix: str, key: str, value: Any) -> Any:
        """What is left of a record of the store; None: it goes."""
        kind, _, owner = prefix.removeprefix(f"{self._world}.").partition(".")
        if kind == "minds" and key in self._agents:
            left = without(value, self._gone[key], self._person, self._exchanges_with(key))
            self._counts["plan entries"] += _plans(value) - _plans(left)
            return left
        if kind == "ties" and any(owner == ties_of(self._world, agent)[-1] for agent in self._agents):
            if key == self._person.id:
                self._counts["ties"] += 1
                return None
            return self._tie_of_another(value)
        if self._everywhere:
            match kind:
                case "people" if self._is_or_was(value):
                    return None
                case _ if kind == OF_KEYS and person_key(value["person"]) == self._person.key:
                    self._counts["keys"] += 1
                    return None
                case _ if kind == PLACE and key == PLACE:
                    people = [one for one in value["people"] if person_key(one["name"]) != self._person.key]
                    self._counts["people of the place"] += len(value["people"]) - len(people)
                    return {**value, "people": people}
        return value

    def _exchanges_with(self, agent: str) -> set[str]:
        """Ids of an agent's exchanges with the person."""
        found = self._exchanges[agent]
        numbers = range(1, len(found) + DIGESTED + 1)
        return found | {exchange_id(self._threads[agent], number) for number in numbers}

    def _is_or_was(self, known: Mapping[str, str]) -> bool:
        """Whether an entry of the people is the person's, or keeps an earlier name free for nobody else."""
        if known["id"] == self._person.id:
            return True
        has_tie = any(key == known["id"] and ".ties." in prefix for prefix, key in self._records)
        numbers = range(len(self._records))
        return not has_tie and any(new_person_id(known["name"], number) == self._person.id for number in numbers)

    def _tie_of_another(self, value: Any) -> Any:
        """Another person's tie without promises that name this person; with `mentions`, nothing in it does."""
        named = self._person.is_named_in
        promises = [text for text in value["promises"] if not named(text)]
        self._counts["promises"] += len(value["promises"]) - len(promises)
        left = {**value, "promises": promises}
        if self._mentions:
            left["summary"] = "\n".join(line for line in value["summary"].splitlines() if not named(line))
            left["note"] = "" if named(value["note"]) else value["note"]
            left["facts"] = [fact for fact in value["facts"] if not self._person.is_in(fact)]
        return left

    def _copy_memories(self, target: Path) -> None:
        """Copy the memories that stay; Chroma keeps deleted ones in its log and its indexes."""
        if not self._memories:
            return
        source = MemoryStore(str(self._folder / self._known.memories))
        with closing(source), closing(MemoryStore(str(target))) as new:
            for agent, memories in self._memories.items():
                stay = [one.id for one in memories if one.id not in self._gone.get(agent, ())]
                source.copy_to(new, self._world, self._world, agent, self._known.embedding, stay)
        if strange := blank_spare(target):
            raise MachineError(
                "an index of memories has a form that is not known, so nobody can say what is in it",
                where=str(strange[0]),
                remedy="Install the version of Chroma that PerSimChat was tested with, and try again.",
            )

    def result(self) -> Forgotten:
        """What was done."""
        counts = {what: number for what, number in self._counts.items() if number}
        forms = {form for name in (self._person.name, self._person.key) for form in (name, json.dumps(name)[1:-1])}
        found = "|".join(re.escape(form) for form in sorted(forms)).encode()
        named = re.compile(rb"(?<![A-Za-z0-9])(?:" + found + rb")(?![A-Za-z0-9])", re.IGNORECASE)
        paths = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and named.search(path.read_bytes())]
        left = [str(path.relative_to(self._folder)) for path in paths]
        return Forgotten(self._person.name, self._agents, counts, self._mentioned, left)


def _plans(mind: Mapping[str, Any]) -> int:
    return len(mind.get("companion", {}).get("plan", []))
