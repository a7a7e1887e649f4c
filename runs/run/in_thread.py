"""Blocking work in a thread, which is done to its end whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[..., Result], *given: object) -> Result:
    """Do blocking work in a thread; a cancelled caller waits for its end, so nobody writes beside it."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
