"""An application that is made when somebody asks it, so that the server is up before it is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send


class Later(BaseRoute):
    """All addresses that begin alike, answered by another application. It gets them whole.

    Args:
        begin: with what they begin.
        make: makes the other application. Blocks; runs in a thread, once.
    """

    def __init__(self, begin: str, make: Callable[[], ASGIApp]) -> None:
        self._begin = begin
        self._make = make
        self._made: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def ready(self) -> ASGIApp:
        """The other application."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return self._made

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for it."""
        ours = scope["type"] == "http" and scope["path"].startswith(self._begin)
        return Match.FULL if ours else Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await (self._made or await self.ready())(scope, receive, send)
