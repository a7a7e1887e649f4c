"""A small group and a way to run it against a scripted server."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from loopback.scripted import Scripted
from loopback.server import LoopbackServer

from persimchat.graph import build_conversation
from persimchat.graph.situation import situation_of
from persimchat.models.asking import Answer
from persimchat.nodes.assembling import assemble as assembled
from persimchat.state.settings import Settings

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lind", "description": "A baker who gets up at three.", "traits": ["talkative"]},
    {
        "name": "Bo Říha",
        "description": "A bus driver.",
        "characteristics": {"age": 61, "education": "vocational school"},
    },
    {
        "name": "李雷",
        "description": "A student of chemistry.",
        "characteristics": {"age": 9},
        "social_goals": ["Be heard."],
    },
]


class Group:
    """Runs a conversation and keeps its final state."""

    def __init__(self, server: LoopbackServer, scripted: Scripted) -> None:
        self.server, self.scripted = server, scripted

    def talk(self, *, given: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        """The final channels of a conversation of three messages (unless the settings say otherwise)."""
        conversation = build_conversation(InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t"}}
        context = Settings(**{"model": self.server.model(), "max_messages": 3, **settings})
        conversation.invoke({"topic": "Tea?", "participants": PEOPLE, **(given or {})}, config, context=context)
        return dict(conversation.get_state(config).values)


@pytest.fixture
def group(serving: Callable[..., LoopbackServer]) -> Any:
    """`group(task=answer, …)` starts a server with these answers; it is stopped after the test."""

    def start(**replaced: Any) -> Group:
        scripted = Scripted(**replaced)
        return Group(serving(scripted), scripted)

    return start


StartGroup = Callable[..., Group]


CALL: Any = {"agent": "Ada Lind", "module": "", "model": "none", "turn": 1}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`await alone(node, answer, **mind)` is what one node makes of one answer (None: of no use), without a model."""

    async def run(node: Any, answer: Any, **mind: Any) -> dict[str, Any]:
        async def appraise(*_: Any, **__: Any) -> Answer[Any]:
            return Answer(answer, CALL)

        monkeypatch.setattr(sys.modules[node.__module__], "appraise", appraise)
        state: Any = assembled({"topic": "Tea?", "participants": PEOPLE}, Settings(), "t")
        situation = situation_of({**state, "agents": state["agents"][1], "messages": [], "turn": 1}, "", Settings())
        heard = {"turn": 1, "speaker": "Bo Říha", "text": "Tea warms. Always.", "addressees": [], "emotion": {}}
        own = {**state["agents"][1]["Ada Lind"], "situation": situation, "heard": heard, **mind}
        return dict(await node(own, Settings(model="offline")))

    return run
