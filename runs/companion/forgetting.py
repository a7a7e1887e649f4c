"""Forgets a person: with one agent or with all, in every file of a world that nobody works on.

Files that hold words are written anew without them (runs/companion/renewing.py); what belongs to a person is decided in
runs/companion/belonging.py.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from persimchat.graph.companion.records import ties_of
from persimchat.memory.recollection import discard
from persimchat.memory.store import release
from persimchat.personas.names import full_name
from persimchat.runs.companion.belonging import (
    Person,
    carried,
    memories_of,
    mentioning,
    with_what_rests_on,
    without,
    without_entries,
)
from persimchat.runs.companion.budget import PERSON
from persimchat.runs.companion.exchanges import EXCHANGES
from persimchat.runs.companion.keys import KEYS
from persimchat.runs.companion.reading import memories_in, person_in, records_in
from persimchat.runs.companion.reembedding import MEMORIES
from persimchat.runs.companion.renewing import Row, copy_database, copy_lines, copy_memories, renewed, settle
from persimchat.runs.companion.stores import MINDS
from persimchat.runs.companion.worldfile import PLACE, WORLD, WorldFile, read_world
from persimchat.runs.folder.calls import CALLS, EMBEDDINGS
from persimchat.runs.folder.jsonl import json_lines
from persimchat.runs.folder.lock import held
from persimchat.state.companion import DIGESTED, Tie, exchange_id, new_person_id, thread_id

EVENTS: Final = "events.jsonl"
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
        file = read_world(folder)
        work = _Work(folder, file, person, agent, mentions)
        release(str(folder / MEMORIES))
        with renewed(folder) as new:
            work.write(new)
        discard(file.world)
        return work.result()


class _Work:
    """What is to go from a world, and how its files are written without it."""

    def __init__(self, folder: Path, file: WorldFile, person: str, agent: str | None, mentions: bool) -> None:
        self._folder, self._world, self._embedding, self._mentions = folder, file.world, file.embedding, mentions
        self._records = records_in(folder)
        self._person = person_in(self._records, folder, file.world, person)
        names = [key for (prefix, key) in self._records if prefix == f"{self._world}.minds"]
        self._agents = sorted(names) if agent is None else [full_name(agent, names, what="agent", where=str(folder))]
        self._ties = {name: tie for name in names if (tie := self._tie(name)) is not None}
        self._counts: Counter[str] = Counter()
        self._memories = memories_in(folder, file)
        self._mentioned: list[tuple[str, str]] = []
        self._gone = {name: self._gone_from(name) for name in self._agents}
        self._everywhere = not self._ties.keys() - set(self._agents)
        self._threads = {thread_id(self._world, name, self._person.id) for name in self._agents}

    def _tie(self, agent: str) -> Tie | None:
        found = self._records.get((".".join(ties_of(self._world, agent)), self._person.id))
        return None if found is None else Tie.model_validate(found)

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

    def write(self, new: Path) -> None:
        """Write the files that hold words anew, into a folder.

        Raises:
            OSError: a file cannot be read or written.
            MachineError: Chroma failed.
        """
        copy_database(self._folder / MINDS, new / MINDS, self._row)
        if (self._folder / MEMORIES).is_dir():
            stay = {
                (self._world, agent, self._embedding): [
                    one.id for one in memories if one.id not in self._gone.get(agent, ())
                ]
                for agent, memories in self._memories.items()
            }
            copy_memories(self._folder / MEMORIES, new / MEMORIES, stay)
        for name, change in ((EXCHANGES, self._exchange), (EVENTS, self._event), (CALLS, self._call)):
            if (self._folder / name).is_file():
                gone = copy_lines(self._folder / name, new / name, change)
                self._counts[Path(name).stem] += gone
        if (self._folder / EMBEDDINGS).is_file():
            (new / EMBEDDINGS).write_bytes(b"")  # vectors by the digest of a text, which may be the person's
        if self._everywhere:
            for name in (PLACE, KEYS, WORLD):
                if (self._folder / name).is_file():
                    self._write_without_entries(self._folder / name, new / name)

    def result(self) -> Forgotten:
        """What was done."""
        counts = {what: number for what, number in self._counts.items() if number}
        left = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and _names(path, self._person)]
        named = [str(path.relative_to(self._folder)) for path in left]
        return Forgotten(self._person.name, self._agents, counts, self._mentioned, named)

    def _row(self, table: str, row: Row) -> Row | None:
        """What becomes of a row of the database."""
        if row.get("thread_id") in self._threads:
            self._counts["threads"] += table == "checkpoints"
            return None
        if table == "store":
            value = json.loads(row["value"])
            left = self._record(str(row["prefix"]), str(row["key"]), value)
            if left is None or left == value:
                return None if left is None else row
            return {**row, "value": json.dumps(left, ensure_ascii=False)}
        return row

    def _record(self, prefix: str, key: str, value: Any) -> Any:
        """A record of the store; None: it goes."""
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
        if kind == "people" and self._everywhere and self._is_or_was(value):
            return None
        return without_entries(value, self._person) if kind == "place" and self._everywhere else value

    def _exchanges_with(self, agent: str) -> set[str]:
        """Ids of an agent's exchanges with the person."""
        path, thread = self._folder / EXCHANGES, thread_id(self._world, agent, self._person.id)
        rows = json_lines(path, lambda line: line.value, lenient=True)
        found = {row["id"] for row in rows if (row["agent"], row["person"]) == (agent, self._person.id)}
        return found | {exchange_id(thread, number) for number in range(1, len(found) + DIGESTED + 1)}

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

    def _exchange(self, line: Row) -> Row | None:
        """A line of exchanges.jsonl."""
        return None if line.get("person") == self._person.id and line.get("agent") in self._agents else line

    def _event(self, line: Row) -> Row | None:
        """A line of events.jsonl; one of nobody's talk goes if it names the person."""
        if line.get("agent") not in (None, *self._agents):
            return line
        theirs = self._person.is_meant_by(line.get("person"))
        return None if theirs or (not line.get("person") and self._person.is_in(line)) else line

    def _call(self, line: Row) -> Row | None:
        """A line of calls.jsonl: one for the person stays as a number, without words and without the person."""
        if line.get("agent") not in self._agents:
            return line
        if line.get(PERSON) == self._person.id or (not line.get(PERSON) and self._person.is_in(line)):
            self._counts["calls"] += 1
            return {key: item for key, item in line.items() if key not in ("answer", "failed", PERSON)}
        return line

    def _write_without_entries(self, old: Path, new: Path) -> None:
        """Write a file that lists people without this one; one that does not list them stays as it is."""
        text, is_json = old.read_text(encoding="utf-8"), old.suffix == ".json"
        value = json.loads(text) if is_json else yaml.safe_load(text)
        left = without_entries(value, self._person)
        if left == value:
            return
        self._counts[f"entries in {old.name}"] += 1
        dumped = json.dumps(left, ensure_ascii=False, indent=2) + "\n" if is_json else _as_yaml(left)
        new.touch(mode=0o600)
        new.write_text(dumped, encoding="utf-8")
        new.chmod(old.stat().st_mode & 0o777)


def _plans(mind: Mapping[str, Any]) -> int:
    return len(mind.get("companion", {}).get("plan", []))


def _as_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def _names(path: Path, person: Person) -> bool:
    """Whether a file has a person's name as words of their own, as UTF-8 or escaped as in JSON."""
    data = path.read_bytes()
    forms = {form for name in (person.name, person.key) for form in (name, json.dumps(name)[1:-1])}
    found = "|".join(re.escape(form) for form in sorted(forms)).encode()
    return re.search(rb"(?<![A-Za-z0-9])(?:" + found + rb")(?![A-Za-z0-9])", data, re.IGNORECASE) is not None
