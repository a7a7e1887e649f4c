"""A world of the ferry stage, served to games."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from udp_games import UdpGame, a_game

from persimchat.app.companion_udp.server import serve_udp
from persimchat.runs.companion.world import World, opened_world
from persimchat.state.companion.place import Place

LAKE = Place.model_validate(
    {
        "world": "Lake",
        "occasion": "waiting for the noon boat",
        "clock": {"mode": "game", "start": "2025-03-03 11:30"},
        "places": {
            "Ferry stage": {"ticket hut": {"stove": "lit", "bench": "idle"}, "tea stall": {"kettle": "idle"}},
            "Boat house": {"upper room": {"bed": "made"}},
        },
        "agents": [
            {
                "persona": {
                    "name": "Oda Brandvik",
                    "description": "Sells tickets and keeps the boats' log.",
                    "characteristics": {"age": 58},
                },
                "at": "Ferry stage/ticket hut",
            },
            {"persona": {"name": "Tomasz Wrona", "description": "Sells tea."}, "at": "Ferry stage/tea stall"},
        ],
    }
)

Playing = Callable[[], AbstractAsyncContextManager[tuple[World, UdpGame]]]
"""Opens the world "ferry" and a game that talks with its agents."""


@pytest.fixture
def playing(tmp_path: Path) -> Playing:
    """The world is in the folder ferry of the test's own folder, and stays there when it is closed."""

    @asynccontextmanager
    async def _playing() -> AsyncIterator[tuple[World, UdpGame]]:
        async with (
            opened_world(tmp_path / "ferry", LAKE) as world,
            serve_udp(world, port=0) as server,
            a_game(server.address) as game,
        ):
            yield world, game

    return _playing
