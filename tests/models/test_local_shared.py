"""The one context that all requests to a model file share: whoever is said to fit does fit, also beside others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ledgers
import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from ledgers import RIGHT
from loopback.answering import Fault
from models.gguf_files import gguf

from persimchat.models import capacity
from persimchat.models.asking import Answer
from persimchat.models.limits import Room, slot
from persimchat.models.local import gguf as reading
from persimchat.models.local import server
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import ready_model
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

Start = Callable[..., Settings]
CONTEXT = 1200
FULL = Fault(500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}})


class LlamaCpp:
    """Answers as llama.cpp does: requests share its context, and those that would make it too full all fail.

    Args:
        characters: of a prompt that take a token.
    """

    def __init__(self, characters: float = 4.0) -> None:
        self.characters, self.held, self.most, self.failed = characters, 0, 0, 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        prompt = sum(len(str(message["content"])) for message in body["messages"])
        tokens = int(prompt / self.characters) + body["max_tokens"]
        with self._lock:
            self.held += tokens
            self.most = max(self.most, self.held)
        time.sleep(0.03)
        with self._lock:
            full = self.held > CONTEXT
            self.held -= tokens
            self.failed += full
        return FULL if full else RIGHT


@pytest.fixture
def start(tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """`start(answer)`: settings whose model is a file that the loopback server stands for."""
    file = tmp_path / "a.gguf"
    file.write_bytes(gguf())

    def started(answer: Any, **options: Any) -> Settings:
        answering = serve(answer)

        def begin(self: server.LocalServer, *_: object) -> None:
            self.address = answering.url

        monkeypatch.setattr(server, "find_spec", lambda _: True)
        monkeypatch.setattr(server.LocalServer, "_begin", begin)
        monkeypatch.setattr(server.LocalServer, "running", property(lambda self: bool(self.address)))
        return Settings(**{"model": f"llamacpp:{file}", "local_context": CONTEXT, **options})

    yield started
    server.stop_all()


async def question(settings: Settings, agent: str, words: int = 300) -> Answer[NeedToTalk]:
    answer: Answer[NeedToTalk] = await ledgers.question(settings, agent=agent, schema="word " * words)
    return answer


async def test_all_slots_in_use_do_not_overfill_the_context(start: Start) -> None:
    answering = LlamaCpp()
    settings = start(answering)
    assert server.slots(settings) == 4
    answers = await asyncio.gather(*(question(settings, f"A{n}", words=60 * n) for n in range(1, 9)))
    assert [answer.call["calls"] for answer in answers] == [1] * 8
    assert answering.failed == 0
    assert CONTEXT / 2 < answering.most <= CONTEXT


async def test_one_that_takes_more_than_estimated_is_asked_again_alone(start: Start) -> None:
    """Nothing is learnt of the context then: it was the others' prompts that filled it."""
    answering = LlamaCpp(characters=2.0)
    settings = start(answering)
    answers = await asyncio.gather(*(question(settings, f"A{n}", words=180) for n in range(4)))
    assert answering.failed
    assert {answer.value.need_to_talk for answer in answers} == {7}
    assert all(answer.call["calls"] <= 2 for answer in answers)
    model = await ready_model(settings.model, settings)
    assert await capacity.context_tokens(parse_model_name(settings.model), model, settings) == CONTEXT


async def test_the_context_is_the_smaller_of_what_was_set_and_what_the_file_says(start: Start) -> None:
    for wanted, found in ((512, 512), (100_000, 2048)):
        settings = start(LlamaCpp(), local_context=wanted)
        model = await ready_model(settings.model, settings)
        assert await capacity.context_tokens(parse_model_name(settings.model), model, settings) == found
        room = server.room(parse_model_name(settings.model), settings, 100)
        assert room is not None and (room.size, room.taken) == (found, 100)


async def test_a_file_is_read_once_and_again_when_it_has_changed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    read = reading._metadata
    monkeypatch.setattr(reading, "_metadata", lambda file, size, kept: reads.append(size) or read(file, size, kept))
    settings = start(LlamaCpp())
    await question(settings, "Ann")
    await question(settings, "Bo")
    assert len(reads) == 1
    (tmp_path / "a.gguf").write_bytes(gguf(**{"llama.context_length": 600, "general.name": "another"}))
    model = await ready_model(settings.model, settings)
    assert await capacity.context_tokens(parse_model_name(settings.model), model, settings) == 600
    assert len(reads) == 2


async def test_no_words_are_asked_for_with_another_seed_here_too(start: Start) -> None:
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> str:
        asked.append(body["seed"])
        return "" if len(asked) == 1 else "Well, tea."

    settings = start(answer)
    assert (await ledgers.words(settings)).text == "Well, tea."
    assert asked == [0, 1]


@given(st.lists(st.integers(1, 150), min_size=1, max_size=12), st.integers(0, 11))
def test_never_more_is_taken_than_there_is_and_nobody_is_left_out(takes: list[int], given_up: int) -> None:
    held = most = 0
    order: list[int] = []

    async def one(number: int, taken: int) -> None:
        nonlocal held, most
        async with slot(Settings(), model="m", room=Room("server", 100, taken)):
            order.append(number)
            held += min(taken, 100)
            most = max(most, held)
            try:
                await asyncio.sleep(0)
            finally:
                held -= min(taken, 100)

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(one(number, taken)) for number, taken in enumerate(takes)]
        await asyncio.sleep(0)
        tasks[given_up % len(tasks)].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(60), slot(Settings(), model="m", room=Room("server", 100, 100)):
            pass

    asyncio.run(all_of_them())
    assert most <= 100
    assert order == sorted(order)
    assert len(order) >= len(takes) - 1
