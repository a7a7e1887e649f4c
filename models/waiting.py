"""Says which server is waited for, once it has said nothing for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

TOLD_AFTER_S: Final = 3.0
"""Seconds of silence after which a wait is told."""
_AGAIN_S: Final = 1.0
"""Seconds until it is told again."""


@dataclass(frozen=True)
class Waiting:
    """A wait.

    Attributes:
        whom: the address of a server, or a model's name.
        seconds: since it began.
    """

    whom: str
    seconds: int

    def __str__(self) -> str:
        return f"{self.whom} ({self.seconds} s)"


Tell = Callable[[list[Waiting]], object]
"""Is told all waits of a piece of work whenever they change; an empty list once there is none."""


class _Work:
    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.waits: dict[object, Waiting] = {}


_WORK: ContextVar[_Work | None] = ContextVar("work", default=None)
_ALL: Final[dict[object, Waiting]] = {}


def waits() -> list[Waiting]:
    """All waits of this process that are long enough to be told, one for each server."""
    return _longest(_ALL.values())


@contextmanager
def waits_told(tell: Tell) -> Iterator[None]:
    """Tell of the waits of what is done within."""
    token = _WORK.set(_Work(tell))
    try:
        yield
    finally:
        _WORK.reset(token)


@contextmanager
def waiting_for(whom: str) -> Iterator[None]:
    """Tell that the body waits, if it takes long.

    Args:
        whom: the address of a server, or a model's name.
    """
    key, work, loop = object(), _WORK.get(), asyncio.get_running_loop()
    began = loop.time()

    def told() -> None:
        timers[:] = [loop.call_later(_AGAIN_S, told)]
        _ALL[key] = Waiting(whom, round(loop.time() - began))
        if work is not None:
            work.waits[key] = _ALL[key]
            work.tell(_longest(work.waits.values()))

    timers = [loop.call_later(TOLD_AFTER_S, told)]
    try:
        yield
    finally:
        timers[0].cancel()
        _ALL.pop(key, None)
        if work is not None and work.waits.pop(key, None) is not None:
            work.tell(_longest(work.waits.values()))


def _longest(found: Iterable[Waiting]) -> list[Waiting]:
    """The longest wait for each server, by address."""
    by_server = {one.whom: one for one in sorted(found, key=lambda one: one.seconds)}
    return [by_server[whom] for whom in sorted(by_server)]
