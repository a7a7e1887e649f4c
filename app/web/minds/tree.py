"""The reflection tree: insights, and the memories that they rest on, down to what was heard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from persimchat.app.web.minds.mind_file import MindFile
from persimchat.app.web.minds.records import SeenMind, SeenThought

DEPTH: Final = 4
"""Levels below an insight; what is deeper stands in the tree of an earlier reflection."""


@dataclass(frozen=True)
class Known:
    """What is known of a memory: kind, turn at which it was made, theme."""

    kind: str
    turn: int
    theme: str


@dataclass(frozen=True)
class Node:
    """A memory in the tree.

    Attributes:
        memory: what it is; None where the minds that were kept do not say it.
        rests_on: the memories below it.
        elsewhere: whether what it rests on stands at another place of the tree already, or too deep.
    """

    memory: Known | None
    rests_on: list[Node] = field(default_factory=list)
    elsewhere: bool = False


class Tree:
    """Grows the tree of one reflection; blocks.

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

    def of(self, mind: SeenMind) -> list[Node]:
        """The tree of the insights that a mind drew at its turn."""
        self._learn_of(mind.turn)
        return [self._insight(insight) for insight in mind.insights]

    def _insight(self, insight: SeenThought) -> Node:
        known = Known(insight.kind or "reflection", insight.turn or 0, insight.theme)
        if insight.id in self._grown:
            return Node(known, elsewhere=bool(insight.evidence))
        self._grown.add(insight.id)
        return Node(known, [self._node(key, 1) for key in insight.evidence])

    def _node(self, key: str, depth: int) -> Node:
        known = self._known.get(key)
        if known is None or known.kind != "reflection":
            return Node(known)
        self._learn_of(known.turn + 1)  # it was drawn while the next utterance was made
        evidence = self._evidence.get(key, [])
        if key in self._grown or depth >= DEPTH:
            return Node(known, elsewhere=bool(evidence))
        self._grown.add(key)
        return Node(known, [self._node(below, depth + 1) for below in evidence])

    def _learn_of(self, turn: int) -> None:
        """Learn what the mind says that reflected at a turn, and the one before, with which it reflected."""
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
