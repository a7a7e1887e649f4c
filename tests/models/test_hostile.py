"""Servers that answer with anything at all, over real HTTP: a value or a typed error, in time linear in the bytes."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledgers import RIGHT, WORDS, question, question_to, within, words, words_of
from loopback.answering import Fault, Raw
from loopback.server import LoopbackServer

from persimchat.models import ladder
from persimchat.models.failures import TransientModelError
from persimchat.models.ledger import Ledger
from persimchat.models.stream_filter import KEPT, LONGEST
from persimchat.runs.folder.reading import calls_in, read_answers
from persimchat.runs.kinds import KINDS
from persimchat.runs.log import Log
from persimchat.runs.run.resources import Requests
from persimchat.state.errors import ModelError, PerSimChatError
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

KEY = "zq-planted-key-0123456789"


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """Whatever garbage is found at the bottom of a deep answer could not come to its end there."""
    gc.disable()
    yield
    gc.enable()


async def judged(server: LoopbackServer) -> NeedToTalk:
    return (await question_to(server)).value


async def spoken(server: LoopbackServer, message_id: str | None = None) -> str:
    return (await words_of(server, message_id)).text


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def whole(message: dict[str, Any], **more: Any) -> Raw:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Raw(json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], **more}).encode())


def delta(text: Any, reason: Any = None) -> dict[str, Any]:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}],
    }


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (deep(3000), "cut off at the length limit"),
        (deep(900), "cut off at the length limit"),
        ('{"need_to_talk": ' + deep(100) + "}", "there was no JSON object"),
        ("{" * 16_000 + "}", "cut off at the length limit"),
        ("{" * 3_000 + "}", "there was no JSON object"),
        ("<think>" * 16_000, "cut off at the length limit"),
        ("<think>" * 500, "the answer was empty"),
        ('{"need_to_talk": ' + "9" * 5000 + "}", "need_to_talk"),
        ('{"need_to_talk": 1e999, "reasoning": "x"}', "need_to_talk"),
        (json.dumps({"reasoning": "x" * (LONGEST + 1), "need_to_talk": 7}), "the answer is too long"),
        (json.dumps({"reasoning": "x" * 10_000_000, "need_to_talk": 7}), "the answer is too long"),
        (Raw(b"[" * 100_000), "nested too deeply"),
        (whole({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": deep(500)}}]}), "nested too deeply"),
    ],
)
async def test_a_hostile_answer_is_a_wrong_one_and_asked_again(wrong: Any, reason: str, serve: Serve) -> None:
    server = serve([wrong, RIGHT])
    began = time.process_time()
    assert (await judged(server)).need_to_talk == 7
    assert time.process_time() - began < 12, "seconds, where it took 23"
    assert reason in server.requests[1].text
    assert len(server.requests[1].text) < KEPT + 60_000


async def test_a_stream_without_end_is_cut_off_and_asked_again(serve: Serve) -> None:
    endless = Raw.events(*[delta("word " * 500)] * 400)
    server = serve([endless, WORDS])
    assert await spoken(server) == WORDS
    assert len(await spoken(serve([endless, endless]))) <= 4000, "what was said until then counts"


@pytest.mark.proof
async def test_a_stream_of_single_characters_takes_linear_time(serve: Serve) -> None:
    async def seconds(count: int) -> float:
        server = serve([Raw.events(*[delta("x")] * count, delta("", "stop"))])
        began = time.process_time()
        assert len(await spoken(server)) == count
        return time.process_time() - began

    await seconds(100)
    assert await seconds(3600) < 12 * await seconds(900)


@pytest.mark.parametrize(
    "cut",
    [
        Raw.events(delta("Well, "), end='data: {"choices": [{"delta": {"content": "ř'.encode()[:-1]),
        Raw.events(delta("Well, "), end=b'data: {"choices": [{"delta": {"content": "I wou'),
        Raw.events(delta("Well, ")),
    ],
)
async def test_a_stream_that_is_cut_anywhere_is_tried_again(cut: Raw, serve: Serve) -> None:
    with pytest.raises(TransientModelError, match="cut in the middle"):
        await spoken(serve([cut]))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Raw('{"choices": "ř"}'.encode("iso8859-2")), ModelError),
        (Raw(b"not gzip", headers={"content-encoding": "gzip"}), ModelError),
        (Raw(gzip.compress(b" " * 50_000_000), headers={"content-encoding": "gzip"}), ModelError),
        (Raw(b"{}", headers={"content-encoding": "zstd"}), ModelError),
        (Raw(b"{}", headers={"content-length": "100"}), TransientModelError),
        (Raw(deep(5000).encode(), status=500), TransientModelError),
        (Raw(b'{"error": ' + deep(900).encode() + b"}", status=400), ModelError),
        (Raw(b'{"error": {"message": "' + b"x" * 9_000_000 + b'"}}', status=400), ModelError),
        (Fault(400, {"error": {"message": "m", "code": "9" * 5000}}), ModelError),
    ],
)
async def test_what_is_no_answer_is_a_typed_error(answer: Any, kind: type[Exception], serve: Serve) -> None:
    with pytest.raises(kind) as caught:
        await judged(serve(lambda _: answer))
    assert len(str(caught.value)) < 1200


async def test_packed_answers_are_read_all_the_same(serve: Serve) -> None:
    packed = gzip.compress(whole({"content": json.dumps(RIGHT)}).body)
    assert (await judged(serve([Raw(packed, headers={"content-encoding": "gzip"})]))).need_to_talk == 7


@pytest.mark.parametrize("absurd", [-5, 10**30, 10**9, 1.5, "many", None, [], {"a": 1}])
async def test_absurd_counts_of_tokens_are_not_believed(absurd: Any, serve: Serve) -> None:
    usage = {"prompt_tokens": absurd, "completion_tokens": absurd, "total_tokens": absurd}
    server = serve(lambda _: whole({"content": json.dumps(RIGHT)}, usage=usage))
    call = (await question_to(server)).call
    assert call["estimated"] is True
    assert 10 < call["input_tokens"] < 2000
    assert call["output_tokens"] == -(-len(json.dumps(RIGHT)) // 4)


async def test_a_key_that_a_server_says_does_not_arrive(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSIMCHAT_API_KEY", KEY)
    pieces = [
        delta(f"It is {KEY[:4]}"),
        *(delta(sign) for sign in KEY[4:-3]),
        delta(f"{KEY[-3:]} to z"),
        delta("q", "stop"),
    ]
    assert await spoken(serve([Raw.events(*pieces)]), message_id="m") == "It is [hidden] to zq"
    server = serve([{"reasoning": f"It is {KEY}.", "need_to_talk": 7}])
    assert (await judged(server)).reasoning == "It is [hidden]."


async def test_half_characters_are_replaced_and_halves_are_joined(serve: Serve) -> None:
    stream = Raw.events(delta("a \ud800 b \ud83d"), delta("\ude00 c \ud83d", "stop"))
    assert await spoken(serve([stream])) == "a \ufffd b 😀 c \ufffd"


TEXTS = st.one_of(
    st.text(max_size=40),
    st.just(json.dumps(RIGHT)),
    st.integers(1, 4000).map(deep),
    st.tuples(
        st.sampled_from(
            ["{", '{"a":', "[", "<think>", "</think>", "\\", '"', "a:b,", "\ud800", "\x90", "̣́", "Eva: ", "🙂", "\n"]
        ),
        st.integers(1, 60_000),
    ).map(lambda pair: (pair[0] * pair[1])[:250_000]),
    st.text(alphabet=st.sampled_from("{}[]\",:'\\ \n<>/abthink017_"), max_size=200),
)
ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**40), 10**40),
        st.text(max_size=8),
        st.sampled_from([1e308, -1.5, 0.0]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.one_of(
    ANYTHING,
    st.lists(
        st.fixed_dictionaries(
            {
                "id": ANYTHING,
                "index": ANYTHING,
                "function": st.fixed_dictionaries({"name": ANYTHING, "arguments": TEXTS | ANYTHING}),
            }
        ),
        max_size=3,
    ),
)
USAGE = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {
            "prompt_tokens": ANYTHING,
            "completion_tokens": ANYTHING,
            "total_tokens": ANYTHING,
            "prompt_tokens_details": ANYTHING,
        }
    ),
)
PARTS = st.fixed_dictionaries(
    {
        "content": TEXTS | ANYTHING, "role": st.just("assistant") | ANYTHING, "reason": st.just("stop") | ANYTHING,
        "calls": st.none() | CALLS, "usage": st.none() | USAGE, "refusal": st.none() | ANYTHING,
    }
)  # fmt: skip
DAMAGE = st.one_of(
    st.none(),
    st.none(),
    st.integers(0, 400).map(lambda n: ("cut", n)),
    st.sampled_from(["latin-1", "utf-16", "utf-8-sig", "gzip", "status", "length"]).map(lambda how: (how, 0)),
)


def hostile(parts: dict[str, Any], damage: tuple[str, int] | None, body: dict[str, Any]) -> Raw:
    """What these parts make of an answer to a request."""
    more = {
        "role": parts["role"],
        "content": parts["content"],
        "tool_calls": parts["calls"],
        "refusal": parts["refusal"],
    }
    if body.get("stream"):
        raw = Raw.events(
            {"choices": [{"index": 0, "delta": more, "finish_reason": None}]},
            {
                "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": parts["reason"]}],
                "usage": parts["usage"],
            },
            end=b"data: [DONE]\n\n",
        )
    else:
        choice = {"index": 0, "message": more, "finish_reason": parts["reason"]}
        raw = Raw(json.dumps({"choices": [choice], "usage": parts["usage"]}).encode())
    match damage:
        case ("cut", size):
            raw.body = raw.body[:size]
        case ("gzip", _):
            raw.headers = {"content-encoding": "gzip"}
        case ("status", _):
            raw.status = 500
        case ("length", _):
            raw.headers = {"content-length": str(len(raw.body) + 7)}
        case (encoding, _):
            raw.body = raw.body.decode().encode(encoding, "replace")
    return raw


async def outcomes(settings_: Settings, ledger: Ledger) -> list[str]:
    """What becomes of a judgement and of words: their text, or the error's."""
    found = []
    for asked in (question(settings_), words(settings_, message_id="m")):
        try:
            answer = await within(ledger, asked)
        except PerSimChatError as error:
            found.append(f"{type(error).__name__}: {error}")
        else:
            found.append(str(getattr(answer, "value", None) or answer.text))
    return found


async def watched(work: Any) -> tuple[Any, float]:
    """What comes of something, and the longest time in seconds for which it held the event loop's thread busy."""
    longest, before = 0.0, time.thread_time()

    async def watch() -> None:
        nonlocal longest, before
        while True:
            await asyncio.sleep(0.005)
            longest, before = max(longest, time.thread_time() - before), time.thread_time()

    watching = asyncio.create_task(watch())
    try:
        return await work, longest
    finally:
        watching.cancel()


@pytest.mark.proof
def test_no_answer_breaks_asking_blocks_the_loop_or_is_lost_in_its_record(serve: Serve, tmp_path: Path) -> None:
    now: dict[str, Any] = {}
    server = serve(lambda body: hostile(now["parts"], now["damage"], body))
    asked = Settings(model=server.model(), timeout_s=20)
    count = iter(range(10**6))

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(PARTS, DAMAGE)
    def check(parts: dict[str, Any], damage: tuple[str, int] | None) -> None:
        ladder.forget()
        now.update(parts=parts, damage=damage)
        folder = tmp_path / str(next(count))
        folder.mkdir()
        log = Log(folder / "run.sqlite", KINDS)
        size = len(json.dumps(parts))
        began = time.process_time()
        first, blocked = asyncio.run(watched(outcomes(asked, Ledger(sink=Requests(log)))))
        took = time.process_time() - began
        log.close()
        assert took < 3 + 4e-5 * size, f"{took:.1f} s of CPU for {size} characters"
        assert blocked < 2.5, f"the event loop was held for {blocked:.1f} s"
        for row in calls_in(folder):
            assert row.input_tokens >= 0 and row.output_tokens >= 0
            json.dumps(row.line(), ensure_ascii=False).encode()  # no half characters
        again = asyncio.run(outcomes(asked, Ledger(answers=read_answers(folder))))
        assert [text.split(" (agent ")[0] for text in again] == [text.split(" (agent ")[0] for text in first] or any(
            text.startswith("TransientModelError") for text in first
        )

    check()
