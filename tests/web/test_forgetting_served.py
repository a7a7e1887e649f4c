"""A person is forgotten while others talk with the agents of the world: nobody is kept waiting, and no word is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from companion_talks import FERRY
from companion_worlds import files_with
from udp_games import a_game

from persimchat.app.companion_udp.server import serve_udp
from persimchat.app.web.served_world import look_after
from persimchat.app.web.v1.app import Manner, v1_app
from persimchat.runs.companion.world import World, opened_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """The ferry stage."""
    async with opened_world(tmp_path / "ferry", FERRY) as opened:
        yield opened


@asynccontextmanager
async def talking(world: World) -> AsyncIterator[Any]:
    """Says something as somebody, and gives the answer's status."""
    transport = httpx.ASGITransport(v1_app(world, Manner()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def say(person: str, text: str) -> int:
            body = {"model": "Oda", "user": person, "messages": [{"role": "user", "content": text}]}
            return (await client.post("/chat/completions", json=body)).status_code

        yield say


async def test_words_that_come_while_a_person_is_forgotten_wait_and_are_answered(world: World) -> None:
    async with talking(world) as say, asyncio.timeout(20):
        assert [await say("Petr", "My sister is called Mira."), await say("Eva", "Hello!")] == [200, 200]
        forgetting = asyncio.create_task(world.forget("Petr", "Oda"))
        said = []
        for number in range(4):
            said.append(asyncio.create_task(say("Eva", f"The boat has number {number}.")))
            await asyncio.sleep(0.02)
        await look_after(world)
        assert (await forgetting).counts["exchanges"] == 1
        assert await asyncio.gather(*said) == [200] * 4
        kept = await (await world.companion("Oda", "Eva")).exchanges()
    assert len(kept) == 5
    assert files_with(world.folder, "Petr", "Mira") == []


async def test_a_game_names_nobody_who_was_forgotten(world: World) -> None:
    async with serve_udp(world, port=0) as server, a_game(server.address) as game:
        await game.ask("PROMPTMESSAGE", {"persona_name": "Oda", "user_name": "Petr", "message": "Hello, I am Petr."})
        await world.forget("Petr", "Oda")
        event = {"action_event_subject": "kettle", "action_event_object": "boiling"}
        moved = await game.ask("MOVEMESSAGE", [{"name": "Oda", "events": [event]}])
    assert moved["status"] == "Success"
    assert files_with(world.folder, "Petr") == []
