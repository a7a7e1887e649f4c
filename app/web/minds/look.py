"""Reads one mind at one turn: its record, its reflection tree, and its last plan and reflection."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final, Literal
from weakref import WeakKeyDictionary

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing
from persimchat.runs.folder.jsonl import checked, is_torn, parsed, unreadable
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.runs.folder.mind_record import MindRecord, Thought
from persimchat.runs.folder.run_folder import JUDGE_MIND, MINDS
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import InputError

Thinking = Literal["plan", "insights"]

_HEAD: Final = re.compile(rb'\{"turn":\s*(\d+),\s*"agent":\s*("(?:[^"\\]|\\.)*")')
_NOTHING: Final[dict[Thinking, tuple[bytes, bytes]]] = {
    "plan": (b'"plan":null', b'"plan": null'),
    "insights": (b'"insights":[]', b'"insights": []'),
}
"""Bytes of a line without plan and insights, now and in earlier versions; within a text they would have a backslash."""

_TELLS: Final = b'"memories":['
"""Bytes of a line that describes memories."""


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    length: int
    line: int
    may_have: frozenset[str]


class MindFile:
    """The minds of a file, by agent and turn. Every method blocks, and may be called from any thread.

    Args:
        path: the file; it may still be missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._forget()

    def agents(self) -> list[str]:
        """The agents with minds, in order of their first records."""
        with self._lock:
            self._extend()
            return list(self._places)

    def read(self, agent: str, turn: int) -> MindRecord | None:
        """One mind; None if there is none of this agent at this turn.

        Raises:
            InputError: the file cannot be read, or the line is damaged.
        """
        with self._lock:
            self._extend()
            place = self._places.get(agent, {}).get(turn)
            return None if place is None else self._mind(place)

    def before(self, agent: str, turn: int) -> MindRecord | None:
        """An agent's last mind before a turn; None if there is none."""
        with self._lock:
            self._extend()
            found = self._places.get(agent, {})
            last = max((known for known in found if known < turn), default=None)
            return None if last is None else self._mind(found[last])

    def thoughts(self, agent: str, turn: int, what: Thinking) -> Iterator[int]:
        """Turns up to `turn` at which an agent may have reflected or planned, the latest first; the line decides."""
        with self._lock:
            self._extend()
            known = [at for at, place in self._places.get(agent, {}).items() if at <= turn and what in place.may_have]
        yield from sorted(known, reverse=True)

    def _forget(self) -> None:
        self._places: dict[str, dict[int, _Place]] = {}
        self._told = MindLines()
        self._file = 0
        self._end = self._lines = 0

    def _extend(self) -> None:
        """Read the lines written since the last call; a replaced file is read from its start."""
        try:
            about = self.path.stat()
            if about.st_ino != self._file or about.st_size < self._end:
                self._forget()
                self._file = about.st_ino
            if about.st_size == self._end:
                return
            with self.path.open("rb") as file:
                file.seek(self._end)
                for row in file:
                    if is_torn(row):
                        break
                    self._take(row)
        except FileNotFoundError:
            self._forget()
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _take(self, row: bytes) -> None:
        if row.strip():
            turn, agent = self._head(row)
            if _TELLS in row:
                self._learn(row)
            may_have = frozenset(what for what, nothing in _NOTHING.items() if not any(n in row for n in nothing))
            self._places.setdefault(agent, {})[turn] = _Place(self._end, len(row), self._lines + 1, may_have)
        self._lines += row.endswith(b"\n")
        self._end += len(row)

    def _learn(self, row: bytes) -> None:
        with suppress(InputError):  # reading that line raises the error
            self._told.learn(parsed(row, str(self.path)))

    def _head(self, row: bytes) -> tuple[int, str]:
        """Turn and agent of a line, read from its beginning if it has the present form."""
        found = _HEAD.match(row)
        if found:
            try:
                return int(found[1]), json.loads(found[2])
            except ValueError:
                pass  # damaged: reading the whole line raises the error
        mind = self._checked(row, self._lines + 1)
        return mind.turn, mind.agent

    def _mind(self, place: _Place) -> MindRecord:
        try:
            with self.path.open("rb") as file:
                file.seek(place.start)
                row = file.read(place.length)
        except OSError as error:
            raise unreadable(self.path, error) from error
        return self._checked(row, place.line)

    def _checked(self, row: bytes, line: int) -> MindRecord:
        where = f"{self.path}, line {line}"
        return checked(MindRecord, self._told.filled(parsed(row, where), where), where)


DEPTH: Final = 4
"""Levels below an insight; deeper ones are in the tree of an earlier reflection."""


MOST_REFLECTIONS: Final = 12
"""The most earlier reflections that are linked."""


@dataclass(frozen=True)
class Known:
    """A memory: its kind, the turn at which it was made, and its theme."""

    kind: str
    turn: int
    theme: str


@dataclass(frozen=True)
class Node:
    """A memory in the tree.

    Attributes:
        memory: its description; None if no recorded mind describes it.
        rests_on: the memories that support it.
        elsewhere: whether its supporting memories are shown elsewhere in the tree, or would be too deep.
    """

    memory: Known | None
    rests_on: list[Node] = field(default_factory=list)
    elsewhere: bool = False


class Tree:
    """Builds the tree of one reflection; blocks.

    Args:
        file: the minds.
        agent: whose reflection.
    """

    def __init__(self, file: MindFile, agent: str) -> None:
        self._file = file
        self._agent = agent
        self._known: dict[str, Known] = {}
        self._evidence: dict[str, list[str]] = {}
        self._read: set[int] = set()
        self._grown: set[str] = set()

    def of(self, mind: MindRecord) -> list[Node]:
        """The tree of the insights that a mind drew at its turn."""
        self._learn_of(mind.turn)
        return [self._insight(insight) for insight in mind.insights]

    def _insight(self, insight: Thought) -> Node:
        known = Known(insight.kind or "reflection", insight.turn or 0, insight.theme)
        if insight.id in self._grown:
            return Node(known, elsewhere=bool(insight.evidence))
        self._grown.add(insight.id)
        return Node(known, [self._node(key, 1) for key in insight.evidence])

    def _node(self, key: str, depth: int) -> Node:
        known = self._known.get(key)
        if known is None or known.kind != "reflection":
            return Node(known)
        self._learn_of(known.turn + 1)  # the insight was drawn while the next utterance was made
        evidence = self._evidence.get(key, [])
        if key in self._grown or depth >= DEPTH:
            return Node(known, elsewhere=bool(evidence))
        self._grown.add(key)
        return Node(known, [self._node(below, depth + 1) for below in evidence])

    def _learn_of(self, turn: int) -> None:
        """Read the memories that are described by the mind at a turn of reflection, and by the one before it."""
        if turn in self._read:
            return
        self._read.add(turn)
        for mind in (self._file.read(self._agent, turn), self._file.before(self._agent, turn)):
            if mind is None:
                continue
            for recalled in mind.recalled:
                self._known[recalled.id] = Known(recalled.kind, recalled.turn, recalled.theme)
            held = mind.short_term_memory
            for memory in [*([held] if held else []), *mind.insights]:
                if memory.id:
                    self._known[memory.id] = Known(memory.kind, memory.turn or 0, memory.theme)
            self._evidence |= {insight.id: insight.evidence for insight in mind.insights if insight.id}


@dataclass(frozen=True)
class Look:
    """The data of a mind at a turn, as the page shows it.

    Attributes:
        mind: as it was recorded at the turn.
        before: the previous record; None at the first one.
        plan: the last plan made so far; None without one.
        planned: the turn at which it was made.
        tree: of the last reflection so far; empty without one.
        reflected: the turn at which that was.
        reflections: turns of reflections before it, the latest first.
    """

    mind: MindRecord
    before: MindRecord | None
    plan: Thought | None
    planned: int
    tree: list[Node]
    reflected: int
    reflections: list[int]


def look(file: MindFile, agent: str, turn: int, *, or_before: bool = False) -> Look | None:
    """Read a mind; blocks. None if nothing is recorded of it at this turn.

    Args:
        file: the minds.
        agent: whose mind.
        turn: the turn.
        or_before: whether to take the last record before it in its place: a story's minds change once a round.

    Raises:
        InputError: the file is damaged.
    """
    mind = file.before(agent, turn + 1) if or_before else file.read(agent, turn)
    if mind is None:
        return None
    planning = _last(file, agent, turn, "plan")
    reflecting = _last(file, agent, turn, "insights")
    earlier = file.thoughts(agent, reflecting.turn - 1, "insights") if reflecting else iter(())
    return Look(
        mind=mind,
        before=file.before(agent, mind.turn),
        plan=planning.plan if planning else None,
        planned=planning.turn if planning else 0,
        tree=Tree(file, agent).of(reflecting) if reflecting else [],
        reflected=reflecting.turn if reflecting else 0,
        reflections=list(islice(earlier, MOST_REFLECTIONS)),
    )


def _last(file: MindFile, agent: str, turn: int, what: Thinking) -> MindRecord | None:
    for at in file.thoughts(agent, turn, what):
        mind = file.read(agent, at)
        if mind is not None and (mind.plan if what == "plan" else mind.insights):
            return mind
    return None


def felt(now: MindRecord, before: MindRecord | None) -> list[tuple[str, int, int | None]]:
    """Emotions in the order of `EMOTIONS`: name, level, and change since the previous record (None if not known).

    Empty if its emotions are not known.
    """
    if not now.emotion:
        return []
    known = before.emotion if before else {}
    return [
        (name, now.emotion.get(name, 0), now.emotion.get(name, 0) - known.get(name, 0) if known else None)
        for name in EMOTIONS
    ]


@dataclass(frozen=True)
class Minds:
    """The files of a run's minds."""

    participants: MindFile
    judge: MindFile


_minds: WeakKeyDictionary[Board, Minds] = WeakKeyDictionary()


async def minds_of(viewing: Viewing) -> Minds:
    """The minds of a run, shared by all tabs.

    Raises:
        InputError: the run's folder is gone.
    """
    if viewing.board not in _minds:
        folder: Path = await asyncio.to_thread(viewing.web.runs.folder, viewing.run)
        _minds.setdefault(viewing.board, Minds(MindFile(folder / MINDS), MindFile(folder / JUDGE_MIND)))
    return _minds[viewing.board]
