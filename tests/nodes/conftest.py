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
from persimchat.models.ledger import LEDGER, Ledger
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

    def talk(
        self, *, given: dict[str, Any] | None = None, ledger: Ledger | None = None, **settings: Any
    ) -> dict[str, Any]:
        """The final channels of a conversation of three messages (unless the settings say otherwise)."""
        conversation = build_conversation(InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t", **({LEDGER: ledger} if ledger else {})}}
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


CALL: Any = {"agent": "Ada Lind", "module": "", "model": "none", "turn": 1, "input_tokens": 30, "output_tokens": 4}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`answered(node, answer)`: whatever this node asks has this answer (None: of no use), without a model."""

    def put(node: Any, answer: Any) -> None:
        outcome = "failed" if answer is None else "valid"

        async def asker(*_: Any, module: str, **__: Any) -> Answer[Any]:
            return Answer(answer, {**CALL, "module": module, "outcome": outcome})

        for name in {"ask", "appraise", "appraise_in_parts"} & vars(sys.modules[node.__module__]).keys():
            monkeypatch.setattr(sys.modules[node.__module__], name, asker)

    return put


def mind_of(name: str = "Ada Lind", settings: Settings | None = None, **mind: Any) -> Any:
    """The mind of one of `PEOPLE` who has just heard Bo, before it awakens."""
    settings = settings or Settings()
    state: Any = assembled({"topic": "Tea?", "participants": PEOPLE}, settings, "t")
    situation = situation_of({**state, "agents": state["agents"][1], "messages": [], "turn": 1}, "", settings)
    heard = {"turn": 1, "speaker": "Bo Říha", "text": "Tea warms. Always.", "addressees": [], "emotion": {}}
    return {**state["agents"][1][name], "situation": situation, "heard": heard, **mind}


@pytest.fixture
def alone(answered: Callable[..., None]) -> Callable[..., Any]:
    """`await alone(node, answer, **mind)` is what one node makes of one answer (None: of no use), without a model."""

    async def run(node: Any, answer: Any, settings: Settings | None = None, **mind: Any) -> dict[str, Any]:
        settings = settings or Settings(model="offline")
        answered(node, answer)
        return dict(await node(mind_of(settings=settings, **mind), settings))

    return run
