"""Judgements that begin before their step, with the first word of the answer.

A cancelled step does not cancel them: the next step that needs one takes it, or asks itself if there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from ...models.limits import PerLoop

_MOST: Final = 256
"""The most judgements that wait for their step; then the oldest are dropped."""
_TURNS: Final = 24
"""So many turns of the event loop a judgement waits at its beginning: then the first word has reached its reader."""
_BEGUN: PerLoop[dict[str, tuple[int, asyncio.Task[Any]]]] = PerLoop()


def _begun() -> dict[str, tuple[int, asyncio.Task[Any]]]:
    return _BEGUN.get("companion", dict)


def begin(key: str, version: int, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Begin work for a later step, as soon as what is under way has come to its reader.

    Work that has begun on the same version goes on: an answer that is asked for again begins a second time.

    Args:
        key: what it is about: world, agent and exchange.
        version: of the mind on which it rests.
        work: the judgements.
    """
    waiting = _begun()
    if key in waiting and waiting[key][0] == version:
        return
    task = asyncio.get_running_loop().create_task(_behind(work))
    task.add_done_callback(_seen)
    waiting[key] = (version, task)
    while len(waiting) > _MOST:
        _, old = waiting.pop(next(iter(waiting)))
        old.cancel()


def is_begun(key: str) -> bool:
    """Whether work has begun for this key, and nobody has taken its result."""
    return key in _begun()


async def taken(key: str, version: int) -> Any:
    """The result of work that was begun for this key on this version of the mind; None if there is none.

    A step that is cancelled while it waits leaves the work where it is.

    Raises:
        PerSimChatError: the work failed.
    """
    found = _begun().get(key)
    if found is None:
        return None
    rests_on, task = found
    if rests_on != version:
        _begun().pop(key, None)
        task.cancel()
        return None
    try:
        return await asyncio.shield(task)
    finally:
        if task.done():
            _begun().pop(key, None)


async def _behind(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    return await work()


def _seen(task: asyncio.Task[Any]) -> None:
    """Look at an error that nobody may ask for, so that asyncio does not report it."""
    with suppress(asyncio.CancelledError):
        task.exception()
