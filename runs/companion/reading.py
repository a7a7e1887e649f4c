"""Reads the files of a world without opening it: nothing is written, and no model is asked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persimchat.graph.companion.records import ties_of
from persimchat.memory.store import held_store
from persimchat.runs.companion.belonging import Person
from persimchat.runs.companion.exchanges import EXCHANGES
from persimchat.runs.companion.reembedding import MEMORIES
from persimchat.runs.companion.stores import MINDS
from persimchat.runs.companion.worldfile import WorldFile, is_world, read_world
from persimchat.runs.folder.checkpoint_values import Serializer
from persimchat.runs.folder.jsonl import json_lines
from persimchat.runs.folder.lock import is_held
from persimchat.state.companion import Exchange, Tie, person_key, thread_id
from persimchat.state.errors import InputError, PerSimChatError, suggestion
from persimchat.state.folders import WORLDS
from persimchat.state.memory import Memory

Records = dict[tuple[str, str], Any]
"""Records of LangGraph's store: by namespace (joined by full stops) and key."""


@dataclass(frozen=True)
class ListedWorld:
    """A world and who is known there.

    Attributes:
        folder: where it is.
        agents: names of those who have a mind.
        ties: agent, and what it knows of a person.
        in_use: whether a process works on it.
    """

    folder: Path
    agents: list[str]
    ties: list[tuple[str, Tie]]
    in_use: bool


def list_worlds(root: Path = WORLDS) -> tuple[list[ListedWorld], list[str]]:
    """The worlds below a folder, by name, and why others could not be read.

    Args:
        root: a folder of worlds, or a world.
    """
    folders = [root] if is_world(root) else sorted(path for path in root.glob("*") if is_world(path))
    found, unread = [], []
    for folder in folders:
        try:
            found.append(_listed(folder))
        except PerSimChatError as error:
            unread.append(str(error))
    return found, unread


def _listed(folder: Path) -> ListedWorld:
    file, records = read_world(folder), records_in(folder)
    agents = sorted(key for prefix, key in records if prefix == f"{file.world}.minds")
    ties = [(agent, tie) for agent in agents for tie in _ties(records, file.world, agent)]
    return ListedWorld(folder, agents, ties, is_held(folder))


def _ties(records: Records, world: str, agent: str) -> Iterable[Tie]:
    namespace = ".".join(ties_of(world, agent))
    found = [Tie.model_validate(value) for (prefix, _), value in records.items() if prefix == namespace]
    return sorted(found, key=lambda tie: tie.name.casefold())


def records_in(folder: Path) -> Records:
    """All records of a world's store; none if nobody has talked there yet.

    Raises:
        InputError: the file is no database of a world.
    """
    path = folder / MINDS
    if not path.exists():
        return {}
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection:
            rows = connection.execute("SELECT prefix, key, value FROM store").fetchall()
            return {(prefix, key): json.loads(value) for prefix, key, value in rows}
    except (sqlite3.Error, ValueError) as error:
        raise InputError(
            f"the world's minds cannot be read: {error}", where=str(path), remedy="Restore the file from a backup."
        ) from error


def person_in(records: Records, folder: Path, world: str, name: str) -> Person:
    """A person of a world.

    Raises:
        InputError: nobody there has this name; the error names the nearest.
    """
    people = {key: value for (prefix, key), value in records.items() if prefix == f"{world}.people"}
    found = people.get(person_key(name))
    if found is None:
        names = [value["name"] for value in people.values()]
        remedy = suggestion(name, names, otherwise="See who is known: persimchat companion list.")
        raise InputError(f"nobody here is called {name!r}", where=f"world {folder}", remedy=remedy)
    return Person(found["id"], found["name"])


def memories_in(folder: Path, file: WorldFile) -> dict[str, list[Memory]]:
    """All memories in a world's Chroma folder, alive or not, by agent."""
    found: dict[str, list[Memory]] = {}
    if (folder / MEMORIES).is_dir():
        with held_store(str(folder / MEMORIES)) as store:
            for agent in store.agents(file.world):
                kept = store.load(file.world, agent, file.embedding, store.ids(file.world, agent))
                found[agent] = [memory for memory, _ in kept.values()]
    return found


def exchanges_in(folder: Path, world: str, agent: str, person: str) -> list[Exchange]:
    """The exchanges of a pair in their order, without those taken back; the last ones may not be appraised yet.

    Args:
        folder: the world's.
        world: its id.
        agent: the agent's name.
        person: id of the person.
    """
    rows = [
        row for row in json_lines(folder / EXCHANGES, lambda line: line.value, lenient=True) if isinstance(row, dict)
    ]
    own = [row for row in rows if (row.get("agent"), row.get("person")) == (agent, person)]
    known = {row["id"] for row in own}
    pending = [one for one in _pending(folder, thread_id(world, agent, person)) if one["id"] not in known]
    said: Any = [{key: item for key, item in row.items() if key not in ("agent", "person")} for row in own]
    return [one for one in [*said, *pending] if not one.get("retracted")]


def _pending(folder: Path, thread: str) -> list[Any]:
    """Exchanges of a thread that are spoken and not digested yet."""
    where = "thread_id = ? AND checkpoint_ns = ''"
    query = f"SELECT type, checkpoint FROM checkpoints WHERE {where} ORDER BY checkpoint_id DESC LIMIT 1"
    with closing(sqlite3.connect(folder / MINDS)) as connection:
        row = connection.execute(query, (thread,)).fetchone()
    values = Serializer(str(folder / MINDS)).loads_typed(row)["channel_values"] if row else {}
    return list(values.get("pending") or [])
