"""Answers that go wrong for a while: of some tasks, after so many utterances, for so many requests or until told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import pytest

from loopback.answering import Fault, Reply, natural_answer
from loopback.scripted import task_of
from persimchat.graph import conversation
from persimchat.graph.companion import companion
from persimchat.graph.minds import building
from persimchat.graph.node import TRANSIENT

HEARING = frozenset({"perception", "focal_points"})
"""What is asked first of everybody who hears an utterance."""


class Failing:
    """An answerer for the loopback server, which fails for a while.

    Args:
        fault: what goes wrong; None for nothing.
        after: utterances that are answered before it begins.
        tasks: whose requests fail; all where it is empty.
        count: how many requests fail; until `heal` where it is None.
        answer: what is answered otherwise.
    """

    def __init__(
        self,
        fault: Fault | None = None,
        *,
        after: int = 0,
        tasks: Collection[str] = (),
        count: int | None = None,
        answer: Callable[[dict[str, Any]], Any] = natural_answer,
    ) -> None:
        self.fault, self.after, self.tasks, self.count, self.answer = fault, after, tasks, count, answer
        self.asked: list[str] = []
        self.failed: list[str] = []
        self._uttered = 0
        self._lock = threading.Lock()

    def heal(self) -> None:
        """Nothing fails from now on."""
        self.fault = None

    def __call__(self, body: dict[str, Any]) -> Reply | Fault | dict[str, Any] | str | None:
        task = task_of(body)
        with self._lock:
            self.asked.append(task)
            fails = self.fault is not None and self._uttered >= self.after and (not self.tasks or task in self.tasks)
            if fails and (self.count is None or len(self.failed) < self.count):
                self.failed.append(task)
                return self.fault
            self._uttered += task == "utterance"
        return self.answer(body)  # type: ignore[no-any-return]


def retry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that are built from now on try again as often as ever, but wait for next to nothing in between."""
    quick = TRANSIENT._replace(initial_interval=0.001, max_interval=0.002, jitter=False)
    for module in (conversation, building, companion):
        monkeypatch.setattr(module, "TRANSIENT", quick)
