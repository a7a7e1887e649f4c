"""Baselines of the literature, run against a scripted server with answers planned for everybody and every round."""

from __future__ import annotations

import re
import threading
from typing import Any

from loopback.scripted import Scripted, prompt_of
from loopback.server import LoopbackServer
from persimchat.graph.kinds import GRAPHS, Build
from persimchat.state.conversation import utterances
from persimchat.state.settings import Settings

BUILDERS: dict[str, Build] = {
    kind.CHOSEN["baseline"]: build for kind, build in GRAPHS.items() if "baseline" in kind.CHOSEN
}
"""The builders of the baselines' graphs, by name."""

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lind", "description": "A baker who gets up at three.", "social_goals": ["Be heard."]},
    {"name": "Bo Říha", "description": "A bus driver near retirement."},
    {"name": "李雷", "description": "A student of chemistry."},
]
NAMES = [str(person["name"]) for person in PEOPLE]


def name_in(prompt: str) -> str:
    """Whose prompt it is."""
    return re.findall(r"^- Name: (.*)$", prompt, re.MULTILINE)[0]


def section(prompt: str, tag: str) -> str:
    """What stands in a section of a prompt; empty where it has none."""
    found = re.search(rf"^<{tag}>\n(.*?)\n</{tag}>$", prompt, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def round_in(prompt: str) -> int:
    """The round for which it asks, from 1: how often the one who answers has spoken, and one."""
    return int(re.findall(r"- I have spoken: (\d+) times", prompt)[0]) + 1


class Planned:
    """Answers of the task `answering`, by name: one a round, the last again and again.

    Args:
        plan: name → answers; an answer is the answer alone, or a pair of answer and confidence.
    """

    def __init__(self, plan: dict[str, list[Any]]) -> None:
        self.plan = plan

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = prompt_of(body)
        name, number = name_in(prompt), round_in(prompt)
        planned = self.plan[name][min(number, len(self.plan[name])) - 1]
        answer, confidence = planned if isinstance(planned, tuple) else (planned, 0.7)
        return {"reasoning": f"{name} thinks so in round {number}.", "answer": answer, "confidence": confidence}


class Together:
    """Lets nobody pass until as many have come as belong to one step; a step in sequence would never be complete."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=60)

    def __call__(self) -> None:
        self.barrier.wait()


class Baseline:
    """Runs baselines against one scripted server."""

    def __init__(self, server: LoopbackServer, scripted: Scripted) -> None:
        self.server, self.scripted = server, scripted

    def settings(self, baseline: str, **settings: Any) -> Settings:
        """Settings of a run; the mode is that of the baseline, a discussion if it holds both."""
        mode = "discussion" if baseline in ("single_agent", "group_chat") else "debate"
        return Settings(**{"model": self.server.model(), "mode": mode, "baseline": baseline, **settings})

    def hold(self, baseline: str, *, given: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        """The output of a run, on "Tea?" where nothing else is given."""
        graph = BUILDERS[baseline](None)
        topic = {"topic": "Tea?", "participants": PEOPLE, "simulation": "test", **(given or {})}
        return dict(graph.invoke(topic, context=self.settings(baseline, **settings)))

    def said(self, output: dict[str, Any]) -> list[tuple[str, str]]:
        """Who gave which answer, in order."""
        return [(u["speaker"], u["answer"]) for u in utterances(output["messages"])]

    def answering(self, name: str, number: int) -> str:
        """The prompt in which somebody was asked for the answer of a round."""
        prompts = [p for p in self.scripted.prompts("answering") if name_in(p) == name and round_in(p) == number]
        assert len(prompts) == 1
        return prompts[0]
