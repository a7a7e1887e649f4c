"""Reads one mind at one turn: its record, its reflection tree, and its last plan and reflection."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from ....runs.folder.parts import MindRecord, Thought
from ....runs.folder.reading import minds_in, opened
from ....state.minds.emotion import EMOTIONS

Thinking = Literal["plan", "insights"]


class MindFile:
    """The minds of a run, by agent and turn. Every method blocks, and may be called from any thread.

    Args:
        folder: of the run.
        kind: `mind` for the participants, `judge_mind` for a persona judge.
    """

    def __init__(self, folder: Path, kind: Literal["mind", "judge_mind"] = "mind") -> None:
        self._folder, self._kind = folder, kind

    def agents(self) -> list[str]:
        """The agents with minds, in order of their first records."""
        query = "SELECT agent FROM events WHERE kind = ? GROUP BY agent ORDER BY min(number)"
        with opened(self._folder) as log:
            return [agent for (agent,) in log.rows(query, self._kind)]

    def read(self, agent: str, turn: int) -> MindRecord | None:
        """One mind; None if there is none of this agent at this turn.

        Raises:
            InputError: the log cannot be read, or is damaged.
        """
        with opened(self._folder) as log:
            found = list(minds_in(log, agent=agent, where="kind = ? AND turn = ?", values=[self._kind, turn]))
        return found[-1].record if found else None

    def before(self, agent: str, turn: int) -> MindRecord | None:
        """An agent's last mind before a turn; None if there is none."""
        query = "SELECT max(turn) FROM events WHERE kind = ? AND agent = ? AND turn < ?"
        with opened(self._folder) as log:
            ((last,),) = log.rows(query, self._kind, agent, turn)
        return None if last is None else self.read(agent, last)

    def thoughts(self, agent: str, turn: int, what: Thinking) -> list[int]:
        """Turns up to `turn` at which an agent has reflected or planned, the latest first."""
        has = "body ->> '$.plan' IS NOT NULL" if what == "plan" else "body ->> '$.insights' != '[]'"
        query = f"SELECT turn FROM events WHERE kind = ? AND agent = ? AND turn <= ? AND {has} ORDER BY turn DESC"
        with opened(self._folder) as log:
            return [at for (at,) in log.rows(query, self._kind, agent, turn)]


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
    earlier = file.thoughts(agent, reflecting.turn - 1, "insights") if reflecting else []
    return Look(
        mind=mind,
        before=file.before(agent, mind.turn),
        plan=planning.plan if planning else None,
        planned=planning.turn if planning else 0,
        tree=Tree(file, agent).of(reflecting) if reflecting else [],
        reflected=reflecting.turn if reflecting else 0,
        reflections=earlier[:MOST_REFLECTIONS],
    )


def _last(file: MindFile, agent: str, turn: int, what: Thinking) -> MindRecord | None:
    found = file.thoughts(agent, turn, what)
    return file.read(agent, found[0]) if found else None


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
