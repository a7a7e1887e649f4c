"""Lets work go on side by side, and some of it alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turnstile:
    """Lets some work side by side and others alone, in order of arrival; nobody may go in twice."""

    def __init__(self) -> None:
        self._gate, self._inside, self._empty = asyncio.Lock(), 0, asyncio.Event()
        self._empty.set()

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Once all changes that came before are over."""
        async with self._gate:
            self._inside += 1
            self._empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Once everything that came before is over; what comes after waits."""
        async with self._gate:
            await self._empty.wait()
            yield
