"""What the tests of judged conversations share: runs on disk, and judges on loopback whose scores are planned."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopback.scripted import prompt_of, task_of
from run_folders import PEOPLE, utterance, write_run

TIES = [{"from": PEOPLE[0], "to": PEOPLE[1], "type": "parent_child", "note": "They seldom meet."}]
GOALS = {PEOPLE[0]: ["Win Bo over to tea."]}
REASON = "The people take up what was said."


def run_about(
    out: Path, topic: str = "Tea or coffee?", name: str = "", *, text: str = "I like tea.", turns: int = 3, **about: Any
) -> Path:
    """Write a run's folder about a topic, in which everybody says the same text."""
    said = [utterance(turn, PEOPLE[(turn - 1) % 3], f"{text} ({turn})") for turn in range(1, turns + 1)]
    people = [{"name": person, "description": "Somebody."} for person in PEOPLE]
    scenario = {"topic": topic, "participants": people, **about.pop("scenario", {})}
    run = name or re.sub(r"\W+", "-", topic.lower()).strip("-")
    return write_run(out, said, run=run, scenario=scenario, **about)


def topic_in(body: dict[str, Any]) -> str:
    """The topic in a request."""
    found = re.search(r"<topic>\n(.*?)\n</topic>", prompt_of(body), re.DOTALL)
    assert found
    return found.group(1)


def dimension_in(body: dict[str, Any]) -> str:
    """The name of the dimension in a request."""
    found = re.search(r"on one dimension alone: (.+)\.$", prompt_of(body), re.MULTILINE)
    assert found
    return found.group(1)


def first_words(body: dict[str, Any], tag: str) -> str:
    """What is said in one of the conversations of a request."""
    found = re.search(rf"^<{tag}>\n(.*?)^</{tag}>", prompt_of(body), re.DOTALL | re.MULTILINE)
    assert found
    return found.group(1)


class Planned:
    """A judge that answers as planned, and counts.

    Args:
        score: of a request of the task `dimension`.
        pair: the scores of a request of the task `pair`.
    """

    def __init__(
        self,
        score: Callable[[dict[str, Any]], Any] = lambda _: 7,
        pair: Callable[[dict[str, Any]], Any] = lambda _: (8, 6),
    ) -> None:
        self.score, self.pair = score, pair
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        with self._lock:
            self.bodies.append(body)
        planned = self.score(body) if task_of(body) == "dimension" else self.pair(body)
        if isinstance(planned, int | float):
            return {"reasoning": REASON, "score": planned}
        if isinstance(planned, tuple):
            return {"reasoning": REASON, "first": planned[0], "second": planned[1]}
        return planned

    @property
    def asked(self) -> int:
        """How many requests came."""
        return len(self.bodies)
