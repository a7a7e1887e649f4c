"""An application that is made when somebody asks it, so that the server is up before it is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class Later:
    """Stands for another application until the first request, and passes all requests on.

    Args:
        make: makes the other one. Blocks; runs in a thread, once.
    """

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def ready(self) -> ASGIApp:
        """The other application."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return self._made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await (self._made or await self.ready())(scope, receive, send)
