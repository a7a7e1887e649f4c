"""Fixtures of the models' tests: no keys, nothing remembered, no sockets but loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loopback.server import LoopbackServer
from pytest_socket import socket_allow_hosts

from persimchat.models import capacity, ladder
from persimchat.state.settings import Settings

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_API_VERSION",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "PERSIMCHAT_API_KEY",
    "OLLAMA_HOST",
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)
    ladder.forget()
    capacity.forget()
    yield
    ladder.forget()
    capacity.forget()


@pytest.fixture
def serve() -> Iterator[Callable[..., LoopbackServer]]:
    """Start loopback servers that stop with the test."""
    running: list[LoopbackServer] = []

    def start(answer: Any = None, **options: Any) -> LoopbackServer:
        answerer = answer if answer is None or callable(answer) else scripted(answer)
        running.append(LoopbackServer(answer=answerer, **options).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


def scripted(answers: list[Any]) -> Callable[[dict[str, Any]], Any]:
    """An answerer that gives these answers in order, and has none after that."""
    left = list(answers)

    def answer(_: dict[str, Any]) -> Any:
        if not left:
            raise AssertionError("asked more often than there are answers")
        return left.pop(0)

    return answer


@pytest.fixture
def settings_for() -> Callable[..., Settings]:
    """Settings whose model is a loopback server's."""
    return lambda server, **options: Settings(model=server.model(), **options)
