"""A network that loses, doubles and mixes datagrams, and datagrams that are none."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from udp_games import UdpGame, a_game

from persimchat.app.companion_udp.server import serve_udp
from persimchat.personas.place_file import load_place
from persimchat.runs.companion.folder import read_world
from persimchat.runs.companion.world import opened_world
from persimchat.state.errors import InputError

HUT = {"world": "Lake", "sector": "Ferry stage", "arena": "ticket hut"}


@pytest.mark.proof
async def test_the_game_of_ten_lines_plays(tmp_path: Path) -> None:
    place = load_place(ROOT / "examples" / "companion" / "ferry.yaml")
    async with opened_world(tmp_path / "ferry", place) as world, serve_udp(world, port=0) as server:
        game = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "examples" / "companion" / "game.py"),
            str(server.address[1]),
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await game.communicate()
    assert game.returncode == 0
    assert told.startswith(b"Oda (")
    assert read_world(tmp_path / "demo").world == "demo"


@pytest.mark.proof
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_taken_port_is_an_error(playing: Any, host: str) -> None:
    async with playing() as (world, _), serve_udp(world, port=0) as server:
        with pytest.raises(InputError, match="cannot be used"):
            async with serve_udp(world, host, server.address[1]):
                pass


SEEDS = [
    {"type": "STARTMESSAGE", "data": {"fork_sim_code": None, "sim_code": "ferry"}},
    {"type": "PROMPTMESSAGE", "id": "7", "data": {"persona_name": "Oda", "user_name": "Petr", "message": "Hello!"}},
    {
        "type": "MOVEMESSAGE",
        "data": [
            {
                "name": "Oda",
                "curr_location": HUT,
                "events": [{"action_event_subject": "Tomasz", "action_event_description": "waves"}],
            }
        ],
    },
    {"type": "UPDATE_META_MESSAGE", "data": {"curr_time": "March 03, 2025, 11:40:00", "sec_per_step": 10}},
    {"type": "UPDATE_PERSONA_MESSAGE", "data": {"name": "Oda", "scratch_data": {"age": 58, "recency_w": 1}}},
    {"type": "UPDATE_USER_MESSAGE", "data": {"old_name": "Petr", "name": "Peter"}},
    {
        "type": "ADD_PERSONA_MESSAGE",
        "data": {"name": "Eva", "scratch_data": {"age": 24}, "spatial_data": {"Lake": {"Village": {"attic": ["bed"]}}}},
    },
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    10**40,
    "",
    "\u202e",
    "../..",
    "Oda",
    [],
    {},
    [[[[[]]]]],
    {"a": {"a": 1}},
]


def mutated(draw: random.Random) -> bytes:
    """A datagram: noise, or a message with values, bytes or its end changed."""
    kind = draw.randrange(10)
    if kind == 0:
        return draw.randbytes(draw.randrange(300))
    if kind == 1:
        return b'{"type":' + b"[" * draw.randrange(8_000)
    message = json.loads(json.dumps(draw.choice(SEEDS)))
    for _ in range(draw.randrange(4)):
        at: Any = message
        while isinstance(at, dict | list) and at:
            key = draw.choice(sorted(at) if isinstance(at, dict) else range(len(at)))
            if draw.random() < 0.3:
                if draw.random() < 0.3:
                    del at[key]
                else:
                    at[key] = draw.choice(VALUES)
                break
            at = at[key]
    datagram = bytearray(json.dumps(message, ensure_ascii=draw.random() < 0.5).encode("utf-8", "replace"))
    if kind < 6:
        for _ in range(draw.randrange(1, 6)):
            datagram[draw.randrange(len(datagram))] = draw.randrange(256)
    if kind < 4:
        del datagram[draw.randrange(len(datagram)) :]
    return bytes(datagram)


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("senders", [20, pytest.param(100, marks=pytest.mark.long)])
async def test_thousands_of_random_datagrams_leave_the_server_answering(playing: Any, senders: int) -> None:
    draw = random.Random(1)
    async with playing() as (world, _), serve_udp(world, port=0) as server:
        heard = 0
        for number in range(senders):
            async with a_game(server.address) as other:  # each sender may hear of five errors a second
                for _ in range(100):
                    other.send(mutated(draw))
                    if draw.random() < 0.1:
                        await asyncio.sleep(0)
                for _ in range(300):  # turns of the loop, each of which takes a datagram, however slow the machine is
                    await asyncio.sleep(0)
                heard += other.answers.qsize()
                assert all(size <= 8_192 for size in other.sizes), number
        assert heard > senders
        async with a_game(server.address) as other:
            data = {"persona_name": "Oda", "user_name": "Ida", "message": "And how are you?"}
            told = await asked_until_answered(other, 1, data)
            assert told["status"] == "Success", told


class BadNetwork(asyncio.DatagramProtocol):
    """Stands between games and a server: loses a fifth, doubles a tenth, and delays, so that datagrams overtake."""

    def __init__(self, server: tuple[str, int], draw: random.Random) -> None:
        self.server, self.draw = server, draw
        self.ways: dict[Any, asyncio.DatagramTransport] = {}
        self.lost = self.doubled = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, datagram: bytes, game: Any) -> None:
        asyncio.ensure_future(self._on(datagram, game))

    async def _on(self, datagram: bytes, game: Any) -> None:
        if game not in self.ways:
            network = self

            class Back(asyncio.DatagramProtocol):
                def datagram_received(self, answer: bytes, _: Any) -> None:
                    network.carry(lambda: network.transport.sendto(answer, game))

            loop = asyncio.get_running_loop()
            way, _ = await loop.create_datagram_endpoint(Back, remote_addr=self.server)
            if game in self.ways:  # another datagram was quicker
                way.close()
            else:
                self.ways[game] = way
        self.carry(lambda: self.ways[game].sendto(datagram))

    def carry(self, send: Any) -> None:
        if self.draw.random() < 0.2:
            self.lost += 1
            return
        times = 1
        if self.draw.random() < 0.1:
            self.doubled += 1
            times = 2
        for _ in range(times):
            asyncio.get_running_loop().call_later(self.draw.random() * 0.02, send)

    def close(self) -> None:
        self.transport.close()
        for way in self.ways.values():
            way.close()


@asynccontextmanager
async def bad_network(server: tuple[str, int], draw: random.Random) -> AsyncIterator[BadNetwork]:
    loop = asyncio.get_running_loop()
    _, network = await loop.create_datagram_endpoint(lambda: BadNetwork(server, draw), local_addr=("127.0.0.1", 0))
    try:
        yield network
    finally:
        network.close()


async def asked_until_answered(game: UdpGame, number: int, data: Any) -> dict[str, Any]:
    """What a careful client does: it sends a message with an id again until the answer with this id is there."""
    for _ in range(200):
        game.tell("PROMPTMESSAGE", data, id=str(number))
        with suppress(asyncio.TimeoutError):
            while True:
                told = await game.hear(within_s=0.1)
                if told.get("id") == str(number) and not str(told["data"]).startswith("busy"):
                    return told
    raise AssertionError("no answer came")


@pytest.mark.long
@pytest.mark.proof
async def test_a_bad_network_loses_and_doubles_no_exchange(playing: Any) -> None:
    draw, exchanges = random.Random(2), 20
    people = ["Petr", "Eva", "Ida"]
    async with playing() as (world, _), serve_udp(world, port=0) as server:
        async with bad_network(server.address, draw) as network:
            address = network.transport.get_extra_info("sockname")

            async def talk(person: str) -> list[str]:
                said = [f"I have seen {number} boats, and {person} counted them." for number in range(exchanges)]
                async with a_game(address) as game:
                    for number, words in enumerate(said):
                        data = {"persona_name": "Oda", "user_name": person, "message": words}
                        told = await asked_until_answered(game, number, data)
                        assert told["status"] == "Success", told
                return said

            spoken = await asyncio.gather(*map(talk, people))
        assert network.lost > 20
        assert network.doubled > 5
        for person, said in zip(people, spoken, strict=True):
            companion = await world.companion("Oda", person)
            await companion.settled()
            assert [one["said"] for one in await companion.exchanges()] == said
