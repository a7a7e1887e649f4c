"""Forgets a person: with one agent or with all, in every file of a world that nobody works on.

Files that hold words are written anew without them (runs/companion/renewing.py); what belongs to a person is decided in
runs/companion/belonging.py.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from persimchat.graph.companion.records import ties_of
from persimchat.memory.recollection import discard
from persimchat.memory.store import MemoryStore, release
from persimchat.runs.companion.belonging import Person, memories_of, mentioning, texts_in, with_what_rests_on, without
from persimchat.runs.companion.renewing import Row, copy_database, copy_lines, copy_memories, renewed, settle
from persimchat.runs.folder.checkpoint_file import sealed
from persimchat.runs.folder.checkpoint_values import Dictionaries, Serializer
from persimchat.runs.folder.lock import held
from persimchat.state.companion import Tie, person_key, thread_id
from persimchat.state.errors import InputError, suggestion
from persimchat.state.memory import Memory
from persimchat.state.names import matching

DATABASE: Final = "mind.sqlite"
"""A world's checkpoints, minds and ties."""
MEMORIES: Final = "memory"
"""A world's Chroma folder."""
EXCHANGES, EVENTS, CALLS, EMBEDDED = "exchanges.jsonl", "events.jsonl", "calls.jsonl", "embeddings.jsonl"
PEOPLE_FILES: Final = ("place.yaml", "keys.yaml", "world.json")
"""Files that may list people."""

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
        left: files of the world that still have the name.
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
        InputError: there is no such person or agent, or somebody works on the world.
        MachineError: a file cannot be written; the folder is as it was.
    """
    with held(folder):
        settle(folder)
        work = _Work(folder, person, agent, mentions)
        release(str(folder / MEMORIES))
        with renewed(folder) as new:
            work.write(new)
        for world in work.worlds:
            discard(world)
    return work.result()


class _Work:
    """What is to go from one world, and how its files are written without it."""

    def __init__(self, folder: Path, person: str, agent: str | None, mentions: bool) -> None:
        self._folder, self._mentions = folder, mentions
        self._records = _records(folder)
        self.worlds = sorted({prefix.split(".")[0] for prefix, _ in self._records})
        self._person = _person(self._records, person)
        self._agents = _agents(self._records, agent)
        self._counts: Counter[str] = Counter()
        self._memories = _memories(folder)
        self._gone: dict[str, set[str]] = {name: self._gone_from(name) for name in self._agents}
        self._named = [(name, memory.theme) for name in self._agents for memory in self._mentioned[name]]
        others = [key for prefix, key in self._records if _kind(prefix) == "ties" and key == self._person.id]
        self._known_to_nobody = len(others) == len(self._ties)
        self._threads = {thread_id(world, name, self._person.id) for world in self.worlds for name in self._agents}
        self._serializer = _serializer(folder / DATABASE)

    @property
    def _ties(self) -> dict[str, Tie]:
        """What those who forget know of the person, by agent."""
        found = {}
        for (prefix, key), value in self._records.items():
            owner = self._owner(prefix) if _kind(prefix) == "ties" and key == self._person.id else None
            if owner is not None:
                found[owner] = Tie.model_validate(value)
        return found

    def _owner(self, prefix: str) -> str | None:
        """The agent of a namespace of ties, if it is one of those who forget."""
        return next((name for name in self._agents if prefix.split(".", 1)[1] == ".".join(ties_of(name))), None)

    def _gone_from(self, agent: str) -> set[str]:
        """Ids of the memories that an agent is to lose."""
        mind = next((v for (p, key), v in self._records.items() if _kind(p) == "minds" and key == agent), {})
        carried = [*mind.get("unsaved", []), *([mind["stm"]] if mind.get("stm") else [])]
        known = {memory.id: memory for memory in map(Memory.model_validate, carried)}
        for (_, owner, _), memories in self._memories.items():
            known |= {memory.id: memory for memory in memories if owner == agent}
        tie = self._ties.get(agent)
        private = mind.get("companion", {}).get("private", {})
        besides = {one for one, hearers in private.items() if hearers == [self._person.id]}
        besides |= {fact.id for fact in tie.facts} if tie else set()
        gone = memories_of(self._person, known.values(), besides)
        mentioned = mentioning(self._person, known.values(), gone)
        self._mentioned = {**getattr(self, "_mentioned", {}), agent: mentioned}
        if self._mentions:
            gone = with_what_rests_on(gone | {memory.id for memory in mentioned}, known.values())
        for one in gone & known.keys():
            self._counts["insights" if known[one].kind == "reflection" else "memories"] += 1
        self._counts["facts"] += len(tie.facts) if tie else 0
        return gone

    def write(self, new: Path) -> None:
        """Write the files that hold words anew, into a folder."""
        copy_database(self._folder / DATABASE, new / DATABASE, self._row)
        if (self._folder / MEMORIES).is_dir():
            stay = {
                key: [memory.id for memory in memories if memory.id not in self._gone.get(key[1], ())]
                for key, memories in self._memories.items()
            }
            copy_memories(self._folder / MEMORIES, new / MEMORIES, stay)
            (new / MEMORIES).mkdir(exist_ok=True)
        for name, change in ((EXCHANGES, self._exchange), (EVENTS, self._event), (CALLS, self._call)):
            if (self._folder / name).is_file():
                self._counts[name] += copy_lines(self._folder / name, new / name, change)
        if (self._folder / EMBEDDED).is_file():
            (new / EMBEDDED).write_bytes(b"")  # vectors by the digest of a text, which may be the person's
        if self._known_to_nobody:
            for name in PEOPLE_FILES:
                if (self._folder / name).is_file():
                    self._write_people(self._folder / name, new / name)

    def result(self) -> Forgotten:
        """What was done."""
        left = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and _holds(path, self._person.name)]
        return Forgotten(
            self._person.name,
            self._agents,
            {what: number for what, number in self._counts.items() if number},
            self._named,
            [str(path.relative_to(self._folder)) for path in left],
        )

    def _row(self, table: str, row: Row) -> Row | None:
        """What becomes of a row of the database."""
        if row.get("thread_id") in self._threads:
            self._counts["checkpoints"] += table == "checkpoints"
            return None
        match table:
            case "dictionaries":
                return None  # made of values of all threads
            case "checkpoints":
                return self._value(table, row, "checkpoint")
            case "writes":
                return self._value(table, row, "value")
            case "store":
                value = self._record(str(row["prefix"]), str(row["key"]), json.loads(row["value"]))
                return None if value is None else {**row, "value": json.dumps(value, ensure_ascii=False)}
        return row

    def _value(self, table: str, row: Row, column: str) -> Row:
        """A value of another person's thread: without what it could take back of this person's."""
        loads = self._serializer.loads_typed
        value = loads((row["type"], row[column])) if row[column] is not None else None
        if table == "checkpoints":
            channels = value["channel_values"]
            if self._is_of_gone(channels.get("undo")):
                value = {**value, "channel_values": {**channels, "undo": None}}
        elif row["channel"] == "undo" and self._is_of_gone(value):
            value = None
        elif row[column] is None:
            return row
        kind, data = Serializer(DATABASE).dumps_typed(value)
        return sealed(table, {**row, "type": kind, column: data})

    def _is_of_gone(self, undo: Any) -> bool:
        stm = undo.get("stm") if isinstance(undo, Mapping) else None
        return bool(stm) and any(stm["id"] in gone for gone in self._gone.values())

    def _record(self, prefix: str, key: str, value: Any) -> Any:
        """A record of the store; None: it goes."""
        match _kind(prefix):
            case "minds" if key in self._agents:
                left = without(value, self._gone[key], self._person)
                plans = [len(mind.get("companion", {}).get("plan", [])) for mind in (value, left)]
                self._counts["plan entries"] += plans[0] - plans[1]
                return left
            case "ties" if self._owner(prefix) is not None:
                if key == self._person.id:
                    self._counts["ties"] += 1
                    return None
                return self._other_tie(value)
            case "people" if self._known_to_nobody and key == self._person.key:
                return None
            case "place" if self._known_to_nobody:
                return self._without_person(value)
        return value

    def _other_tie(self, value: Any) -> Any:
        """Another person's tie without promises that name this person; with `mentions`, nothing in it does."""
        promises = [text for text in value["promises"] if not self._person.is_named_in(text)]
        self._counts["promises"] += len(value["promises"]) - len(promises)
        left = {**value, "promises": promises}
        if self._mentions:
            summary = [line for line in value["summary"].splitlines() if not self._person.is_named_in(line)]
            left["summary"] = "\n".join(summary)
            left["note"] = "" if self._person.is_named_in(value["note"]) else value["note"]
            left["facts"] = [fact for fact in value["facts"] if not self._person.is_in(fact)]
        return left

    def _exchange(self, line: Any) -> Any:
        """A line of exchanges.jsonl."""
        return None if self._is_theirs(line) else line

    def _event(self, line: Any) -> Any:
        """A line of events.jsonl; one of nobody's talk goes if it names the person."""
        if self._is_theirs(line):
            return None
        of_another = isinstance(line, Mapping) and bool(line.get("person"))
        return line if of_another or not self._person.is_in(line) else None

    def _call(self, line: Any) -> Any:
        """A line of calls.jsonl: the agent's stay as accounts, without the words."""
        if not isinstance(line, Mapping) or line.get("agent") not in self._agents:
            return line
        return {key: value for key, value in line.items() if key not in ("answer", "failed")}

    def _is_theirs(self, line: Any) -> bool:
        if not isinstance(line, Mapping):
            return True
        agent = line.get("agent")
        if agent is not None and agent not in self._agents:
            return False
        if "person" in line:
            return self._person.is_meant_by(line["person"])
        return line.get("thread") in self._threads

    def _write_people(self, old: Path, new: Path) -> None:
        is_json = old.suffix == ".json"
        text = old.read_text(encoding="utf-8")
        value = json.loads(text) if is_json else yaml.safe_load(text)
        left = self._without_person(value)
        if left == value:
            return
        self._counts["entries of people"] += 1
        made = (
            json.dumps(left, ensure_ascii=False, indent=2)
            if is_json
            else yaml.safe_dump(left, allow_unicode=True, sort_keys=False)
        )
        new.write_text(made, encoding="utf-8")
        new.chmod(old.stat().st_mode & 0o777)

    def _without_person(self, value: Any) -> Any:
        """A value without entries that are this person, in the lists `people` and `keys` and wherever one is named."""
        if isinstance(value, list):
            return [self._without_person(item) for item in value if not self._is_entry(item)]
        if not isinstance(value, Mapping):
            return value
        return {
            key: self._without_person(item) if key in ("people", "keys", "settings", "companion") else item
            for key, item in value.items()
            if not (self._is_entry(item) or (key == "person" and self._person.is_meant_by(item)))
        }

    def _is_entry(self, item: Any) -> bool:
        if isinstance(item, Mapping):
            return any(self._person.is_meant_by(item.get(key)) for key in ("name", "person", "id"))
        return self._person.is_meant_by(item)
