"""A companions' world beside the pages: opened, served to clients of `/v1` and to games, looked after, and left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fastapi import FastAPI

from ...runs.companion.folder import served
from ...runs.companion.world import World, opened_world
from ...state.companion.place import Place
from ...state.settings import Settings
from ..companion_udp.server import serve_udp
from .v1.app import Manner, v1_app

_CLOSING_S: Final = 10
"""Seconds that a world has for what is under way when the server ends; the next opening goes on with the rest."""


@dataclass(frozen=True)
class Opened:
    """A world that is open.

    Attributes:
        world: it.
        v1: the application for clients.
        lines: what to tell of it, a line each.
    """

    world: World
    v1: FastAPI
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ServedWorld:
    """A companions' world to be served beside the pages.

    Attributes:
        folder: the world's.
        place: for a new world.
        settings: of its talks; None: those with which it was last opened.
        manner: how clients of `/v1` are taken.
        games: host and port for games over UDP; None for none.
        games_reply: the port that answers to games go to; None: the sender's own.
    """

    folder: Path
    place: Place | None = None
    settings: Settings | None = None
    manner: Manner = Manner()
    games: tuple[str, int] | None = None
    games_reply: int | None = None

    @asynccontextmanager
    async def opened(self, address: str, *, local: bool) -> AsyncIterator[Opened]:
        """Open it, and leave it at the end.

        Args:
            address: of the server, with a slash at its end.
            local: whether the server listens on loopback only.

        Raises:
            InputError: it cannot be opened, or games cannot be served there.
        """
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(opened_world(self.folder, self.place, self.settings))
            stack.enter_context(served(world.folder, address))
            stack.push_async_callback(_left, world)
            lines = []
            if self.games is not None:
                games = await stack.enter_async_context(serve_udp(world, *self.games, self.games_reply))
                lines.append(f"Games: udp {games.address[0]}:{games.address[1]}")
            lines.append(f"World {world.name}: {address}v1" + ("" if local else "   (asks for keys of its own)"))
            yield Opened(world, v1_app(world, replace(self.manner, local=local)), tuple(lines))


async def _left(world: World) -> None:
    """Wait for what is under way in a world, but not for long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_S):
            await world.settled()
    await world.stop()
