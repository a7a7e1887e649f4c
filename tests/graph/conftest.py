"""What the tests of the baselines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loopback.planned import Baseline, Planned
from loopback.scripted import Scripted
from loopback.server import LoopbackServer


@pytest.fixture
def baseline() -> Iterator[Callable[..., Baseline]]:
    """`baseline(plan, task=answer, …)` starts a server with these answers; it is stopped after the test."""
    started: list[LoopbackServer] = []

    def start(plan: dict[str, list[Any]] | None = None, **replaced: Any) -> Baseline:
        scripted = Scripted(**({"answering": Planned(plan)} if plan else {}), **replaced)
        server = LoopbackServer(answer=scripted)
        server.__enter__()
        started.append(server)
        return Baseline(server, scripted)

    yield start
    for server in started:
        server.__exit__()
