"""A scripted answerer for the loopback server: one fixed, valid answer a task, which a test may replace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from loopback.answering import TASK

Script = dict[str, Any] | str | Callable[[dict[str, Any]], Any]

ANSWERS: dict[str, Script] = {
    "perception": {"theme": "Somebody spoke of tea", "keywords": ["tea"], "importance": 4},
    "focal_points": {"questions": ["Who likes tea?", "What do I drink?", "Why do they care?"]},
    "memory_filtering": {"reasoning": "It matters.", "keep": True},
    "need_to_talk": {"reasoning": "I might.", "need_to_talk": 5},
    "action": {"reasoning": "There is much to digest.", "action": "reflect"},
    "emotion": {
        "reasoning": "Calm.", "happiness": 3, "sadness": 0, "anger": 0, "fear": 0, "disgust": 0, "surprise": 1
    },  # fmt: skip
    "reflection": {
        "insights": [
            {"theme": f"Insight number {n}", "keywords": ["tea"], "evidence": [1], "importance": n} for n in range(1, 6)
        ]
    },
    "planning": {
        "progress": "It goes on.", "identity": "I am the one who listens.", "react": True, "reaction": "I will answer.",
        "goals": [], "theme": "Find out about tea", "keywords": ["tea"], "importance": 6,
    },  # fmt: skip
    "utterance": "I like tea a lot.",
}  # fmt: skip


def task_of(body: dict[str, Any]) -> str:
    """The name of the task that a request's prompt sets."""
    for message in body["messages"]:
        found = TASK.search(str(message.get("content")))
        if found:
            return found.group(1)
    raise AssertionError(f"a request without a task: {body['messages']}")


def prompt_of(body: dict[str, Any]) -> str:
    """The user's part of a request's prompt."""
    return next(str(m["content"]) for m in body["messages"] if m["role"] == "user")


class Scripted:
    """Answers every task as scripted; records what was asked.

    Args:
        **replaced: task → answer, or a function of the request's body that gives one.
    """

    def __init__(self, **replaced: Script) -> None:
        self.answers = {**ANSWERS, **replaced}
        self.asked: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        task = task_of(body)
        with self._lock:
            self.asked.append((task, prompt_of(body)))
        answer = self.answers[task]
        return answer(body) if callable(answer) else answer

    def prompts(self, task: str) -> list[str]:
        """The prompts of one task, in order of arrival."""
        return [prompt for asked, prompt in self.asked if asked == task]
