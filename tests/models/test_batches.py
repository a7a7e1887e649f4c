"""Questions through OpenAI's Batch API: collected, waited for, found again, and what the server says when it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback.answering import Fault, Reply
from loopback.batches import Batches as Kept
from loopback.server import LoopbackServer

from persimchat.models.batches import MOST, Batches, Transport, for_batches
from persimchat.models.naming import parse_model_name
from persimchat.models.usage import cost_usd
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


def echoed(body: dict[str, Any]) -> Reply:
    return Reply(f"answer to {body['n']}")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(answer=echoed, batches=Kept()) as serving:
        yield serving


class Asker:
    """An HTTP client that asks in batches."""

    def __init__(self, server: LoopbackServer, path: Path) -> None:
        self.told: list[str] = []
        self._url = f"{server.url}/chat/completions"
        self._batches = Batches(self.told.append, path / "cache/batches.jsonl", quiet_s=0.1, poll_s=0.02)

    def client(self) -> httpx.AsyncClient:
        headers = {"authorization": "Bearer sk-mine", "x-other": "stays here"}
        return httpx.AsyncClient(transport=Transport(self._batches, {}), headers=headers)

    async def ask(self, *numbers: int) -> list[Any]:
        async with self.client() as asking:
            return await asyncio.gather(*(self.one(asking, n) for n in numbers))

    async def one(self, client: httpx.AsyncClient, n: int) -> Any:
        answer = await client.post(self._url, json={"model": "m", "n": n}, timeout=0.001)
        found = answer.json()
        return found["choices"][0]["message"]["content"] if answer.is_success else (answer.status_code, found["error"])


async def test_one_batch_of_all_that_is_asked_at_once(server: LoopbackServer, tmp_path: Path):
    asker = Asker(server, tmp_path)
    assert await asker.ask(*range(5)) == [f"answer to {n}" for n in range(5)]
    assert server.batches is not None and list(server.batches.made) == ["batch_0"]
    assert server.batches.made["batch_0"]["endpoint"] == "/v1/chat/completions"
    assert set(server.batches.keys) == {"Bearer sk-mine"}
    assert "batch_0: 5 requests; its answers come within 24 hours" in asker.told[0]
    kept = (tmp_path / "cache/batches.jsonl").read_text().replace(": ", ":").replace(", ", ",")
    sent, done = (json.loads(line) for line in kept.split())
    assert sorted(sent["requests"]) == sorted(done["done"]) and len(done["done"]) == 5
    assert "sk-mine" not in kept and '"n"' not in kept


async def test_who_was_interrupted_finds_the_batch_that_is_under_way(server: LoopbackServer, tmp_path: Path):
    assert server.batches is not None
    server.batches.pending = 10**6
    asker = Asker(server, tmp_path)
    waiting = asyncio.create_task(asker.ask(1, 2))
    while not server.batches.made:
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    server.batches.pending = 0
    again = Asker(server, tmp_path)
    assert await again.ask(1, 2, 3) == ["answer to 1", "answer to 2", "answer to 3"]
    assert [len(server.batches.requests(id_)) for id_ in server.batches.made] == [2, 1]
    assert again.told[0] == "batch batch_0 is under way, with 2 of these requests"


@pytest.mark.parametrize("earlier", [Kept(ends_as="expired", lost=1), Kept(lost=2), None])
async def test_what_an_earlier_batch_lacks_is_asked_anew(earlier: Kept | None, server: LoopbackServer, tmp_path: Path):
    server.batches = earlier or Kept()
    await Asker(server, tmp_path).ask(1, 2)
    if earlier is None:  # the server has forgotten it
        server.batches = Kept()
    server.batches.lost = 0
    server.batches.ends_as = "completed"
    assert await Asker(server, tmp_path).ask(1, 2) == ["answer to 1", "answer to 2"]


async def test_a_server_that_is_away_for_a_while_is_waited_for(server: LoopbackServer, tmp_path: Path):
    assert server.batches is not None
    server.batches.pending = 10**6
    waiting = asyncio.create_task(Asker(server, tmp_path).ask(1))
    while not (server.batches.made and server.batches.made["batch_0"]["asked"]):
        await asyncio.sleep(0.01)
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(0.2)
    server.batches.pending = 0
    server.start()
    assert await waiting == ["answer to 1"]


async def test_the_same_words_asked_twice_are_two_questions(server: LoopbackServer, tmp_path: Path):
    answers = iter("abc")
    server.answer = lambda _: Reply(next(answers))
    asker = Asker(server, tmp_path)
    assert sorted(await asker.ask(1, 1)) == ["a", "b"]
    assert await asker.ask(1) == ["c"], "what was passed on once is not given again"
    assert server.batches is not None
    assert [len(server.batches.requests(id_)) for id_ in server.batches.made] == [2, 1]


@pytest.mark.parametrize("fault", [502, 429, 500])
async def test_a_server_that_fails_once_is_asked_again_and_nothing_is_sent_twice(
    fault: int, server: LoopbackServer, tmp_path: Path
):
    assert server.batches is not None
    server.batches.faults = {2: fault, 4: fault}
    server.batches.pending = 2
    assert await Asker(server, tmp_path).ask(1, 2) == ["answer to 1", "answer to 2"]
    assert len(server.batches.made) == 1


async def test_errors_of_an_earlier_batch_are_asked_anew(server: LoopbackServer, tmp_path: Path):
    used_up = Fault(429, {"error": {"message": "used up", "code": "insufficient_quota"}})
    server.answer = lambda _: used_up
    assert server.batches is not None
    server.batches.pending = 10**6
    waiting = asyncio.create_task(Asker(server, tmp_path).ask(1))
    while not server.batches.made:
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    server.batches.pending = 0
    first = await Asker(server, tmp_path).ask(1)
    assert first[0][0] == 429, "the earlier batch has an error, and so has the new one"
    server.answer = echoed
    assert await Asker(server, tmp_path).ask(1) == ["answer to 1"]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85"])
async def test_whatever_characters_an_answer_has(odd: str, server: LoopbackServer, tmp_path: Path):
    assert server.batches is not None
    server.answer = lambda _: Reply(f"one{odd}two")
    server.batches.raw = True
    assert await Asker(server, tmp_path).ask(1, 2) == [f"one{odd}two"] * 2


async def test_other_requests_go_on_their_way(server: LoopbackServer, tmp_path: Path):
    async with Asker(server, tmp_path).client() as client:
        assert (await client.get(f"{server.url}/models")).json()["data"][0]["id"] == "test-model"


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"ends_as": "expired", "lost": 1}, 424, "batch batch_0 ended as expired"),
        ({"ends_as": "completed", "lost": 1}, 424, "the batch has no answer to this request"),
    ],
)
async def test_what_a_batch_lacks_is_an_error_of_its_own(
    change: dict[str, Any], status: int, said: str, server: LoopbackServer, tmp_path: Path
):
    assert server.batches is not None
    vars(server.batches).update(change)
    first, (code, error) = await Asker(server, tmp_path).ask(1, 2)
    assert (first, code) == ("answer to 1", status)
    assert said in error["message"]


async def test_an_error_of_one_request_is_passed_on(server: LoopbackServer, tmp_path: Path):
    server.answer = lambda body: Fault(429, {"error": {"message": "slow down"}}) if body["n"] else echoed(body)
    assert await Asker(server, tmp_path).ask(0, 1) == ["answer to 0", (429, {"message": "slow down"})]


async def test_a_server_without_batches_says_so(tmp_path: Path):
    with LoopbackServer() as server:
        ((status, error),) = await Asker(server, tmp_path).ask(1)
    assert status == 404
    assert "the server did not take the file of a batch (HTTP 404): " in error["message"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"batch": 3, "requests": 4}\n{"x": 1}\n', "\0\xff"])
async def test_a_damaged_file_only_forgets(text: str, server: LoopbackServer, tmp_path: Path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/batches.jsonl").write_text(text)
    assert await Asker(server, tmp_path).ask(1) == ["answer to 1"]


async def test_a_place_that_cannot_be_written_is_told(server: LoopbackServer, tmp_path: Path):
    (tmp_path / "cache").write_text("a file")
    asker = Asker(server, tmp_path)
    assert await asker.ask(1) == ["answer to 1"]
    assert "keep this command running" in asker.told[0]


def test_settings_for_batches():
    model = parse_model_name("openai:gpt-4o")
    made = for_batches(Settings(model="offline"), model)
    assert made.max_concurrency == MOST and made.timeout_s > 24 * 3600
    usual = cost_usd(model, 1000, 1000, {})
    assert usual is not None and cost_usd(model, 1000, 1000, made.prices) == pytest.approx(usual / 2)
    for name in ("openai:gpt-4o", "gpt-4o"):
        own = for_batches(Settings(prices={name: (1.0, 2.0)}), model)
        assert cost_usd(model, 1_000_000, 0, own.prices) == 1.0
    for other in ("ollama:llama3", "offline", "smollm2", "anthropic:x"):
        with pytest.raises(InputError, match="cannot be asked in batches"):
            for_batches(Settings(), parse_model_name(other))
