"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[..., Result], *given: object, **named: object) -> Result:
    """Do blocking work in a thread. A cancelled caller waits for its end, so no other write runs beside it."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        task.exception()  # looked at, so that nobody is told of it later: the caller is gone
        raise


@asynccontextmanager
async def entered(context: AbstractContextManager[Result]) -> AsyncIterator[Result]:
    """Enter and leave a context whose entering and leaving block, each in a thread.

    Whoever is cancelled while entering has left it. An error of the body is the one that is told, also where leaving
    fails.
    """
    entering = asyncio.ensure_future(asyncio.to_thread(context.__enter__))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        await asyncio.wait([entering])
        if not entering.cancelled() and entering.exception() is None:
            await in_thread(context.__exit__, None, None, None)
        raise
    try:
        yield entering.result()
    except BaseException as error:
        try:
            handled = await in_thread(context.__exit__, type(error), error, error.__traceback__)
        except Exception as later:
            raise error from later
        if not handled:
            raise
    else:
        await in_thread(context.__exit__, None, None, None)
