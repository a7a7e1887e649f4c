from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest
from fixtures import Serve
from ledgers import RIGHT, question_to
from loopback.answering import Fault
from loopback.server import LoopbackServer

from persimchat.models import limits
from persimchat.models.failures import TransientModelError, retry_after_s
from persimchat.models.limits import ModelLimit, limited, pause, prepares_alone, slot
from persimchat.models.naming import parse_model_name
from persimchat.state.settings import Settings


async def many(server: LoopbackServer, count: int, **options: object) -> None:
    await asyncio.gather(*(question_to(server, **options) for _ in range(count)))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("options", "most"), [({"max_concurrency": 3}, 3), ({"concurrent": False}, 1), ({"max_concurrency": 16}, 8)]
)
async def test_no_more_requests_at_once_than_allowed(options: dict[str, object], most: int, serve: Serve) -> None:
    server = serve(
        lambda _: RIGHT, delay_s=0.6 if most == 8 else 0.1
    )  # long enough for a busy machine to send them all
    await many(server, 8, **options)
    assert server.most_at_once == most


async def test_requests_start_no_faster_than_the_rate(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    started = time.perf_counter()
    await many(server, 6, requests_per_second=20)
    assert 5 / 20 <= time.perf_counter() - started < 60


@pytest.mark.proof
async def test_waiting_for_a_slot_is_not_counted_as_time_of_the_request() -> None:
    settings = Settings(timeout_s=1.0, max_concurrency=1)

    async def one() -> None:
        async with slot(settings, model="m"):
            await asyncio.sleep(0.4)

    await asyncio.gather(*(one() for _ in range(3)))


async def test_too_long_a_request_is_stopped() -> None:
    with pytest.raises(TimeoutError):
        async with slot(Settings(timeout_s=0.05), model="m"):
            await asyncio.sleep(5)


async def test_a_slot_is_given_back_after_a_failure() -> None:
    settings = Settings(max_concurrency=1)
    for _ in range(3):
        with pytest.raises(KeyError):
            async with slot(settings, model="m"):
                raise KeyError
    async with asyncio.timeout(60), slot(settings, model="m"):
        pass


async def test_a_model_may_have_fewer_slots_than_all_together() -> None:
    running = most = 0

    async def one() -> None:
        nonlocal running, most
        async with slot(Settings(), model="m", at_once=2):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1

    await asyncio.gather(*(one() for _ in range(5)))
    assert most == 2


async def test_minds_prepare_their_first_requests_one_after_another() -> None:
    done: list[str] = []
    all_ask = asyncio.Barrier(3)

    async def mind(name: str) -> None:
        async with prepares_alone("talk"):
            for step in ("begins", "goes on"):
                done.append(f"{name} {step}")
                await asyncio.sleep(0)
            for _ in range(2):
                async with slot(Settings(), model="m"):
                    done.append(f"{name} asks")
                    await all_ask.wait()  # for ever, if a mind waited for another's answer

    async with asyncio.timeout(60):
        await asyncio.gather(*map(mind, "abc"))
    assert done[:9] == [f"{name} {step}" for name in "abc" for step in ("begins", "goes on", "asks")]
    assert not limits._PREPARING, "kept for ever"


async def test_a_mind_that_fails_or_is_cancelled_keeps_no_other_waiting() -> None:
    begun = asyncio.Event()

    async def fails() -> None:
        async with prepares_alone("talk"):
            begun.set()
            await asyncio.sleep(0)
            raise KeyError

    async def rests() -> None:
        async with prepares_alone("talk"):
            await asyncio.Event().wait()

    failing, resting, waiting = (asyncio.create_task(work) for work in (fails(), rests(), rests()))
    await begun.wait()
    for task in (waiting, resting):
        await asyncio.sleep(0)
        task.cancel()
    assert [type(ended) for ended in await asyncio.gather(failing, resting, waiting, return_exceptions=True)] == [
        KeyError,
        asyncio.CancelledError,
        asyncio.CancelledError,
    ]
    async with asyncio.timeout(60), prepares_alone("talk"), prepares_alone("another talk"):
        pass


async def test_a_pause_that_a_server_asked_for_holds_all_requests_to_its_model() -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    pause("busy", 0.2)
    async with slot(Settings(), model="another"):
        assert loop.time() - started < 0.15
    async with slot(Settings(), model="busy"):
        assert loop.time() - started >= 0.2


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("86400", "", 86400.0),
        ("0.5", "", 0.5),
        ("9" * 400, "", None),
        ("-5", "", None),
        ("nan", "", None),
        ("1e308", "", None),
        ("Sun, 22 Nov 2026 10:00:30 GMT", "Sun, 22 Nov 2026 10:00:00 GMT", 30.0),
        ("Sun, 22 Nov 2026 09:00:00 GMT", "Sun, 22 Nov 2026 10:00:00 GMT", 0.0),
        ("Sun, 99 Nov 99999 09:00:00 GMT", "", None),
    ],
)
def test_how_long_a_server_asks_to_be_left_alone(value: str, date: str, seconds: float | None) -> None:
    error = Exception()
    error.response = SimpleNamespace(headers={"retry-after": value, "date": date})  # type: ignore[attr-defined]
    assert retry_after_s(error) == seconds


async def test_a_long_pause_is_told_once_and_never_longer_than_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr("langgraph.config.get_stream_writer", lambda: told.append)
    error = Exception()
    error.response = SimpleNamespace(headers={"retry-after": "86400"})  # type: ignore[attr-defined]
    limits.pause_asked_for(error, "told", "m@http://x/v1")
    limits.pause_asked_for(error, "told", "m@http://x/v1")
    assert told == [{"waiting": {"model": "m@http://x/v1", "asked_s": 86400.0, "wait_s": 60.0}}]


async def test_retry_after_is_waited_for(serve: Serve) -> None:
    server = serve([Fault(429, headers={"retry-after": "0.4"}), RIGHT])
    started = time.perf_counter()
    with pytest.raises(TransientModelError):
        await many(server, 1)
    await many(server, 1)
    assert time.perf_counter() - started >= 0.4


async def test_requests_that_name_the_same_thing_are_made_one_after_another() -> None:
    began: list[str] = []
    under_way: list[str] = []

    async def one(agent: str | None) -> None:
        async with slot(Settings(max_concurrency=8), model="after", after=agent):
            assert agent is None or agent not in under_way
            began.append(str(agent))
            under_way.append(str(agent))
            await asyncio.sleep(0.01)
            under_way.remove(str(agent))

    await asyncio.gather(*map(one, ["Ann", "Ann", "Bo", None, "Ann", None]))
    # Whoever names another thing, or nothing, does not wait.
    assert began == ["Ann", "Bo", "None", "None", "Ann", "Ann"]


@pytest.mark.proof
async def test_limits_by_model_hold_for_all_conversations_together(serve: Serve) -> None:
    """Each of several conversations would be within its own limits; the model's are those of all."""
    server = serve(lambda _: RIGHT, delay_s=0.02)
    model = parse_model_name(server.model()).key
    with limited({model: ModelLimit(at_once=2)}):
        await asyncio.gather(many(server, 4), many(server, 4, max_concurrency=16))
    assert server.most_at_once == 2
    started = time.perf_counter()
    with limited({model: ModelLimit(per_second=20)}):
        await asyncio.gather(many(server, 3), many(server, 3, max_concurrency=16))
    assert 5 / 20 <= time.perf_counter() - started < 60
    server.delay_s = 0.5
    await many(server, 8)
    assert server.most_at_once > 2


async def test_a_model_that_waits_for_its_rate_leaves_the_slots_to_others() -> None:
    settings, order = Settings(max_concurrency=2), []

    async def one(model: str) -> None:
        async with slot(settings, model=model):
            order.append(model)

    with limited({"slow": ModelLimit(per_second=10)}):
        await asyncio.gather(*(one("slow") for _ in range(4)), *(one("quick") for _ in range(4)))
    assert order[:6].count("quick") == 4
