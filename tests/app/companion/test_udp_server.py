"""The UDP server's bookkeeping: duplicates, errors, haste, sizes. What is answered has tests of its own."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from udp_games import UdpGame, a_game

from persimchat.app.companion_udp.answering import AIMED, MOST, divided, within
from persimchat.app.companion_udp.server import (
    ERRORS,
    KEPT,
    KEPT_S,
    PEERS,
    PROMPTS,
    SAME_S,
    GameServer,
    Peer,
    Peers,
    serve_udp,
    unnamed,
)
from persimchat.runs.companion.open_world import Gate
from persimchat.state.companion.game_messages import GameMessage
from persimchat.state.errors import InputError, ModelError

HELLO = {"persona_name": "Oda", "user_name": "Petr", "message": "Hello!"}


class Answers:
    """Counts the messages, and answers each once it may."""

    def __init__(self) -> None:
        self.asked: list[GameMessage] = []
        self.may = asyncio.Event()
        self.may.set()
        self.fails = 0

    async def __call__(self, message: GameMessage) -> Sequence[dict[str, Any]]:
        self.asked.append(message)
        await self.may.wait()
        if self.fails:
            self.fails -= 1
            raise ModelError("the server is down", model="m", remedy="Start it.")
        return [{"number": len(self.asked)}]


@asynccontextmanager
async def serving(answer: Callable[[GameMessage], Awaitable[Any]], **options: Any) -> AsyncIterator[GameServer]:
    loop = asyncio.get_running_loop()
    _, server = await loop.create_datagram_endpoint(lambda: GameServer(answer, **options), local_addr=("127.0.0.1", 0))
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture
async def talk() -> AsyncIterator[tuple[Answers, UdpGame]]:
    answers = Answers()
    async with serving(answers) as server, a_game(server.address) as game:
        yield answers, game


async def test_an_answer_carries_the_codes_words_and_the_id(talk: tuple[Answers, UdpGame]) -> None:
    _, game = talk
    assert await game.ask("PROMPTMESSAGE", HELLO, id="a") == {
        "type": "PromptResponse",
        "status": "Success",
        "data": {"number": 1},
        "id": "a",
    }
    assert "id" not in await game.ask("UpdateMetaMessage", {"sec_per_step": 5})


async def test_an_id_is_answered_once_and_its_answer_sent_again(talk: tuple[Answers, UdpGame]) -> None:
    answers, game = talk
    answers.may.clear()
    game.tell("PROMPTMESSAGE", HELLO, id="a")
    game.tell("PROMPTMESSAGE", HELLO, id="a")
    game.tell("UPDATE_META_MESSAGE", {"sec_per_step": 5}, id="b")
    while len(answers.asked) < 2:
        await asyncio.sleep(0)
    answers.may.set()
    first = {answer["id"]: answer for answer in (await game.hear(), await game.hear())}
    assert await game.ask("PROMPTMESSAGE", HELLO, id="a") == first["a"]
    assert len(answers.asked) == 2
    refused = await game.ask("PROMPTMESSAGE", {**HELLO, "message": "Bye!"}, id="a")
    assert (refused["type"], refused["id"]) == ("ErrorResponse", "a")
    assert "field id" in refused["data"]


async def test_equal_prompts_without_an_id_count_as_one(talk: tuple[Answers, UdpGame]) -> None:
    answers, game = talk
    for _ in range(3):
        game.tell("PROMPTMESSAGE", HELLO)
    assert (await game.hear())["data"] == {"number": 1}
    await game.ask("PROMPTMESSAGE", {**HELLO, "message": "And you?"})
    assert len(answers.asked) == 2
    await game.ask("STARTMESSAGE", {"sim_code": "other"})
    await game.ask("PROMPTMESSAGE", HELLO)
    assert len(answers.asked) == 4


@pytest.mark.parametrize("more", [{}, {"id": "a"}])
async def test_what_failed_may_come_again(talk: tuple[Answers, UdpGame], more: dict[str, str]) -> None:
    answers, game = talk
    answers.fails = 1
    failed = await game.ask("PROMPTMESSAGE", HELLO, **more)
    assert (failed["type"], failed["status"]) == ("ErrorResponse", "Failed")
    assert "the server is down" in failed["data"]
    assert (await game.ask("PROMPTMESSAGE", HELLO, **more))["status"] == "Success"


async def test_a_start_that_fails_is_told_as_such(talk: tuple[Answers, UdpGame]) -> None:
    answers, game = talk
    answers.fails = 1
    failed = await game.ask("STARTMESSAGE", {"sim_code": "demo"})
    assert (failed["type"], failed["status"]) == ("StartResponse", "Failed")


async def test_errors_are_told_so_often_and_then_counted(
    talk: tuple[Answers, UdpGame], caplog: pytest.LogCaptureFixture
) -> None:
    answers, game = talk
    with caplog.at_level(logging.WARNING):
        for _ in range(ERRORS + 3):
            game.send(b"hello")
        assert (await game.ask("PROMPTMESSAGE", HELLO))["type"] == "ErrorResponse"
        told = [await game.hear() for _ in range(ERRORS)]
    assert [answer["type"] for answer in told] == ["ErrorResponse"] * (ERRORS - 1) + ["PromptResponse"]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["1", "2"]
    assert game.answers.empty()
    assert len(answers.asked) == 1


async def test_an_error_names_the_field_and_the_id(talk: tuple[Answers, UdpGame]) -> None:
    _, game = talk
    wrong = await game.ask("PROMPTMESSAGE", {**HELLO, "message": 7}, id="a")
    assert (wrong["type"], wrong["status"], wrong["id"]) == ("ErrorResponse", "Failed", "a")
    assert "data.message" in wrong["data"]
    game.send(b" " * 20_000)
    assert "16384" in (await game.hear())["data"]


async def test_with_many_prompts_waiting_it_is_busy(talk: tuple[Answers, UdpGame]) -> None:
    answers, game = talk
    answers.may.clear()
    for number in range(PROMPTS):
        game.tell("PROMPTMESSAGE", {**HELLO, "message": str(number)})
    busy = await game.ask("PROMPTMESSAGE", HELLO, id="late")
    assert (busy["status"], busy["data"].split(".")[0], busy["id"]) == ("Failed", "busy", "late")
    answers.may.set()
    for _ in range(PROMPTS):
        assert (await game.hear())["status"] == "Success"
    assert (await game.ask("PROMPTMESSAGE", HELLO, id="late"))["status"] == "Success"


async def test_answers_go_to_one_port_if_that_is_wished() -> None:
    answers = Answers()
    loop = asyncio.get_running_loop()
    transport, ear = await loop.create_datagram_endpoint(UdpGame, local_addr=("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    async with serving(answers, reply_port=port) as server:
        for _ in range(2):
            async with a_game(server.address) as mouth:
                mouth.tell("PROMPTMESSAGE", HELLO, id="a")
                assert (await ear.hear())["id"] == "a"
    transport.close()
    assert len(answers.asked) == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org", ""])
async def test_only_loopback_is_served(host: str) -> None:
    with pytest.raises(InputError, match="loopback"):
        async with serve_udp(None, host):
            pass


def test_finished_answers_are_kept_for_a_time_and_a_number() -> None:
    peer = Peer()
    for number in range(KEPT + 1):
        assert peer.begin(str(number), b"x", 0.0) is None
        assert peer.begin(str(number), b"x", 0.0) == []
        peer.finish(str(number), [b"answer"], 0.0)
    assert "0" not in peer.seen
    assert peer.begin("1", b"x", KEPT_S - 1) == [b"answer"]
    assert peer.begin("1", b"x", KEPT_S) is None


def test_equal_prompts_count_as_one_for_a_moment() -> None:
    peer = Peer()
    assert peer.begin(unnamed(b"x"), b"x", 0.0) is None
    assert peer.begin(unnamed(b"x"), b"x", SAME_S / 2) == []
    assert peer.begin(unnamed(b"x"), b"x", SAME_S) is None


def test_peers_that_are_silent_for_longest_go_first() -> None:
    peers = Peers()
    first = peers["127.0.0.1", 0]
    first.begin("a", b"x", 0.0)
    for port in range(1, PEERS + 2):
        peers["127.0.0.1", port].silenced = port
    assert peers["127.0.0.1", 0] is first
    assert peers["127.0.0.1", 1].silenced == 0


async def test_changes_wait_for_talks_and_talks_for_changes() -> None:
    turnstile, done, may = Gate(), list[str](), asyncio.Event()

    async def talk(name: str) -> None:
        async with turnstile.beside():
            await may.wait()
            done.append(name)

    async def change() -> None:
        async with turnstile.alone():
            done.append("change")

    tasks = [asyncio.create_task(work) for work in (talk("a"), talk("b"), change(), talk("c"))]
    await asyncio.sleep(0)
    may.set()
    await asyncio.gather(*tasks)
    assert done == ["a", "b", "change", "c"]


def test_a_long_answer_is_divided_by_persona() -> None:
    told = {f"Agent {number}": {"plan": "p" * 300, "chat": '"' * 50} for number in range(20)}
    parts = divided(told, {"curr_time": "March 03, 2025, 11:40:00"})
    assert {name: one for part in parts for name, one in part["persona"].items()} == told
    assert len(parts) > 1
    assert all(len(json.dumps(part).encode()) <= AIMED - 300 for part in parts)


def test_a_text_is_cut_so_that_its_datagram_is_small_enough() -> None:
    assert within("Sit by the stove.") == "Sit by the stove."
    for letter in ('"', "é", "😀"):
        cut = within(letter * 9_000)
        assert len(json.dumps(cut, ensure_ascii=False).encode()) < MOST - 500
        assert cut.endswith("…")
