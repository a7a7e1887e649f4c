"""Whole runs with models that have a small context, never stop, or refuse what is too long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault, Reply
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import run_json

import persimchat
from persimchat.models import capacity, ladder, limits
from persimchat.runs.folder.calls import calls_in
from persimchat.runs.folder.reading import calls_of, read_run
from persimchat.runs.run.replay import Replay

pytestmark = pytest.mark.proof

ENDS = ("message_limit", "closed")
LONG = "And the kettle sang about the tea of the old town and of the new one, too, " * 6
"""A theme that is cut to its length: memories in prompts are long."""

PEOPLE = [{"name": name, "description": f"{name} runs a tea room."} for name in ("Ada Lind", "Bo Berg", "Cy Dahl")]
BO = "Bo Berg"


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    capacity.forget()
    ladder.forget()
    yield
    capacity.forget()
    ladder.forget()


def scripted(**replaced: Any) -> Scripted:
    percept = {"theme": LONG, "keywords": ["tea"], "importance": 4}
    said = iter(range(1000))
    words = {"utterance": lambda _: f"Tea number {next(said)} is another one. {LONG}"}
    return Scripted(**{"perception": percept, **words, **replaced})


def held(server: LoopbackServer, out: Path, **options: Any) -> list[Any]:
    given = {"model": server.model(), "max_messages": 5, "memory_tokens": 4000, "out": out, **options}
    return list(persimchat.stream_events("Tea or coffee?", given.pop("participants", 2), **given))


def test_a_small_context_is_said_once_and_the_run_goes_on(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 2200}}}
    with LoopbackServer(answer=scripted(), tells=tells) as server:
        events = held(server, tmp_path)
        assert max(len(request.text) for request in server.requests) / 4 < 2200
    names = [event.event for event in events]
    assert names.count("shortened") == 1
    assert events[-1].reason in ENDS
    told = next(event for event in events if event.event == "shortened")
    assert told.context_tokens == 2200
    assert told.memories + told.utterances > 0
    folder = Path(events[-1].folder)
    assert any(row.dropped for row in calls_in(folder))


def test_a_server_that_refuses_above_1500_tokens_ends_no_run(tmp_path: Path) -> None:
    answers = scripted()

    def answer(body: dict[str, Any]) -> Any:
        if sum(len(str(m["content"])) for m in body["messages"]) > 4 * 1500:
            return Fault(400, {"error": {"message": "the prompt is too long", "code": "context_length_exceeded"}})
        return answers(body)

    with LoopbackServer(answer=answer) as server:
        events = held(server, tmp_path)
    assert events[-1].reason in ENDS
    assert not [event for event in events if event.event == "silenced"]


def test_a_model_that_never_stops_ends_no_run(tmp_path: Path) -> None:
    said = iter(range(1000))

    def endless(_: Any) -> Reply:
        number = next(said)
        return Reply(" ".join(f"Tea {number} goes with milk {n}." for n in range(30_000)), finish_reason="length")

    with LoopbackServer(answer=scripted(utterance=endless)) as server:
        events = held(server, tmp_path, max_messages=2)
    assert events[-1].reason in ENDS
    uttered = [event for event in events if event.event == "utterance"]
    assert all(len(event.text) <= 4000 and event.text.endswith(".") for event in uttered)
    assert sum(len(event.text) for event in events if event.event == "token") < 50_000
    folder = Path(events[-1].folder)
    assert sum(file.stat().st_size for file in folder.glob("*.jsonl")) < 1_000_000


def test_what_an_error_says_to_lower_may_be_lowered(tmp_path: Path) -> None:
    with LoopbackServer(answer=scripted()) as server:
        with pytest.raises(persimchat.PerSimChatError, match=r"too long.*--set context_tokens=8192") as caught:
            held(server, tmp_path, context_tokens=300)
        assert caught.value.exit_code == 3
        folder = next(path.parent for path in tmp_path.rglob("run.json"))
        changes = {"context_tokens": 8192, "memory_tokens": 300, "recent_utterances": 2, "answer_tokens": 500}
        persimchat.resume(folder, **changes)
        assert {body.get("max_tokens") for body in server.bodies()} == {500}
    manifest = run_json(folder)
    assert manifest["stop_reason"] in ENDS
    assert manifest["resumed"][-1]["changed"]["context_tokens"] == 8192


async def test_a_run_with_shortened_prompts_replays_byte_for_byte(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 1700}}}
    with LoopbackServer(answer=scripted(), tells=tells) as server:
        folder = Path((await asyncio.to_thread(held, server, tmp_path / "run"))[-1].folder)
    assert len(shortened_in(folder)) >= 3
    again = await replayed(folder, tmp_path / "again")
    assert shortened_in(again) == shortened_in(folder)


async def test_an_agent_whose_prompts_are_too_long_is_silent_in_the_replay_too(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 600}}}
    with LoopbackServer(answer=scripted()) as server, LoopbackServer(answer=scripted(), tells=tells) as small:
        given = {"participants": PEOPLE, "agent_models": {BO: small.model()}}
        events = await asyncio.to_thread(held, server, tmp_path / "run", **given)
    folder = Path(events[-1].folder)
    silenced = [event for event in events if event.event == "silenced"]
    assert {event.agent for event in silenced} == {BO}
    assert all("too long" in event.why for event in silenced)
    rows = list(calls_in(folder))
    unsent = [row for row in rows if row.calls == 0]
    assert {row.agent for row in unsent} == {BO}
    made = len(rows) - len(unsent)
    assert sum(call.calls for call in calls_of(read_run(folder))) == made, "what was not sent is no call"
    assert run_json(folder)["usage"]["total"]["calls"] == made
    await replayed(folder, tmp_path / "again")


def shortened_in(folder: Path) -> set[str]:
    return {row.model_dump_json() for row in calls_in(folder) if row.dropped}


async def replayed(folder: Path, out: Path) -> Path:
    """Where a run's replay is, which is the same byte for byte."""
    replay = Replay(folder, out)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert (replay.comparison.parts, replay.comparison.prompts) == ([], [])
    return out / folder.name


def test_followers_learn_that_a_server_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "TOLD_FROM_S", 0.1)
    first = iter([Fault(429, headers={"retry-after": "0.3"})])
    with LoopbackServer(answer=scripted(utterance=lambda _: next(first, "Tea is best."))) as server:
        events = held(server, tmp_path, max_messages=1)
        (told,) = [event for event in events if event.event == "waiting"]
        assert (told.model, told.asked_s, told.wait_s) == (server.model(), 0.3, 0.3)
    names = [event.event for event in events]
    assert names.index("speaking") < names.index("waiting") < names.index("utterance")
    assert events[-1].reason in ENDS
