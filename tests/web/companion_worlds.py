"""A world for tests of the companion's page: two agents at a lake, and the offline model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from persimchat.runs.companion.folder import companion_settings
from persimchat.runs.companion.world import World, opened_world
from persimchat.state.companion.place import Place

LAKE = Place.model_validate(
    {
        "world": "Lake",
        "occasion": "waiting for the noon boat",
        "places": {"Ferry stage": {"ticket hut": {"stove": "lit"}, "tea stall": {"kettle": "idle"}}},
        "agents": [
            {
                "persona": {
                    "name": "Oda Brandvik",
                    "description": "Sells tickets and keeps the boats' log.",
                    "traits": ["dry", "loyal"],
                },
                "at": "Ferry stage/ticket hut",
                "lifestyle": "Up at half past five, in bed by ten.",
            },
            {
                "persona": {"name": "Tomasz Wrona", "description": "Sells tea.", "traits": ["chatty"]},
                "at": "Ferry stage/tea stall",
            },
        ],
    }
)
ODA = "Oda Brandvik"


@asynccontextmanager
async def lake(folder: Path) -> AsyncIterator[World]:
    """The world, open."""
    async with opened_world(folder, LAKE, companion_settings(LAKE, model="offline")) as world:
        yield world
