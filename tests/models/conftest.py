"""Fixtures of the models' tests: no keys, nothing remembered, no sockets but loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ledgers import Kept
from loopback.scripted import in_turn
from loopback.server import LoopbackServer
from pytest_socket import socket_allow_hosts

from persimchat.models import capacity, ladder

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
def serve(serving: Callable[..., LoopbackServer]) -> Callable[..., LoopbackServer]:
    """Start loopback servers that stop with the test; their answer may be a list, to be given in order."""

    def start(answer: Any = None, **options: Any) -> LoopbackServer:
        return serving(answer if answer is None or callable(answer) else in_turn(*answer), **options)

    return start


@pytest.fixture
def sink() -> Kept:
    """Keeps what a ledger writes."""
    return Kept()
