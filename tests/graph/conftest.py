"""What the tests of the baselines share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback.planned import Baseline, Planned
from loopback.scripted import Scripted
from loopback.server import LoopbackServer


@pytest.fixture
def baseline(serving: Callable[..., LoopbackServer]) -> Callable[..., Baseline]:
    """`baseline(plan, task=answer, …)` starts a server with these answers; it is stopped after the test."""

    def start(plan: dict[str, list[Any]] | None = None, **replaced: Any) -> Baseline:
        scripted = Scripted(**({"answering": Planned(plan)} if plan else {}), **replaced)
        return Baseline(serving(scripted), scripted)

    return start
