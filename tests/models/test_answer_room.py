"""How much an answer may have, and what becomes of one that is cut or never ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from ledgers import RIGHT, question_to, words_of
from loopback.answering import Fault, Reply
from loopback.server import LoopbackServer
from models.schemas_asked import asked
from offenders import check_each

from persimchat.models.fitted import MOST, answer_tokens, half_again
from persimchat.models.naming import parse_model_name
from persimchat.models.profiles import profile_of
from persimchat.models.stream_filter import received
from persimchat.state.errors import ModelError
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

CUT = Reply('{"reasoning": "because and because and', finish_reason="length")
LIMITS = ("max_tokens", "max_completion_tokens")


def limits(server: LoopbackServer) -> list[dict[str, int]]:
    return [{k: body[k] for k in LIMITS if k in body} for body in server.bodies()]


def test_every_answer_has_a_limit_with_room_for_the_longest_that_fits() -> None:
    def check(name: str) -> None:
        limit = answer_tokens(Settings(), "any", asked()[name])
        assert 64 < limit <= MOST
        assert answer_tokens(Settings(), "any", asked()[name], thinks=True) > limit + 4000
        assert answer_tokens(Settings(answer_tokens=99), "any", asked()[name], thinks=True) == 99

    check_each(asked(), check)


@given(words=st.integers(3, 1000), more=st.integers(1, 100))
def test_words_have_a_limit_that_grows_with_their_target_length(words: int, more: int) -> None:
    settings, longer = Settings(utterance_words=words), Settings(utterance_words=min(1000, words + more))
    assert 4 * words < answer_tokens(settings, "natural_language") <= answer_tokens(longer, "natural_language")
    script = answer_tokens(settings.model_copy(update={"max_messages": more}), "script")
    assert script >= more * 4 * words
    assert half_again(words) >= 1.5 * words


async def test_every_request_says_its_limit(serve: Serve) -> None:
    server = serve(lambda body: RIGHT if "response_format" in body else "Tea, please.")
    await question_to(server)
    await words_of(server)
    await words_of(server, answer_tokens=40)
    judged, said, own = limits(server)
    assert judged == {"max_tokens": answer_tokens(Settings(), "need_to_talk", NeedToTalk)}
    assert said == {"max_tokens": answer_tokens(Settings(), "natural_language")}
    assert own == {"max_tokens": 40}


async def test_openai_is_told_under_its_own_name(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda body: RIGHT if "response_format" in body else "Tea, please.")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    await question_to(server, model="openai:gpt-4o-mini")
    await words_of(server, model="openai:o3-mini")
    plain, thinking = limits(server)
    assert plain.keys() == thinking.keys() == {"max_completion_tokens"}
    assert thinking["max_completion_tokens"] > 8000 > plain["max_completion_tokens"]
    sent = json.dumps(server.bodies()[0]["response_format"])
    assert '"strict": true' in sent
    assert '"maximum": 10' in sent
    assert "maxLength" not in sent
    assert "(at most 200 characters)" in sent


@pytest.mark.parametrize(
    ("refuses", "asked_with"),
    [
        ({"max_tokens"}, [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]),
        ({"max_tokens", "max_completion_tokens"}, [{"max_tokens"}, {"max_completion_tokens"}, set(), set()]),
    ],
)
async def test_a_limit_that_is_refused_goes_by_its_other_name_or_not_at_all(
    refuses: set[str], asked_with: list[set[str]], serve: Serve
) -> None:
    server = serve(lambda body: RIGHT if "response_format" in body else "Tea, please.", refuses=refuses)
    await question_to(server)
    await words_of(server)
    assert [set(limit) for limit in limits(server)] == asked_with
    assert all("response_format" in body for body in server.bodies()[:-1]), "the form of answer is taken"


async def test_strict_and_bounds_that_are_refused_are_left_out(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, refuses={"strict", "maxLength"})
    await question_to(server)
    await question_to(server)
    sent = [json.dumps(body["response_format"]) for body in server.bodies()]
    assert ['"strict"' in s for s in sent] == [True, False, False, False] or ["maxLength" in s for s in sent][0]
    assert len(sent) == 4
    assert '"strict"' not in sent[-1]
    assert "maxLength" not in sent[-1]
    assert "(at most 200 characters)" in sent[-1]
    assert '"maximum": 10' in sent[-1]


async def test_a_cut_judgement_is_asked_for_once_more_with_half_again_as_many_tokens(serve: Serve) -> None:
    server = serve([CUT, RIGHT])
    assert (await question_to(server)).value.need_to_talk == 7
    first, second = (limit["max_tokens"] for limit in limits(server))
    assert second == half_again(first)
    assert "cut off" in server.requests[1].text


IN_THINKING = {
    "a tag": Reply("<think>hm, hm, hm", finish_reason="length"),
    "harmony": Reply("<|channel|>analysis<|message|>hm, hm", finish_reason="length"),
    "reasoning_content": Reply("", finish_reason="length", thinking="hm, hm, hm"),
    "reasoning": Reply(None, finish_reason="length", thinking="hm, hm, hm", thinks_in="reasoning"),
    "parts": Reply(None, finish_reason="length", thinking="hm, hm, hm", thinks_in="content"),
}


@pytest.mark.parametrize("name", IN_THINKING)
async def test_words_cut_in_thinking_get_room_for_it(name: str, serve: Serve) -> None:
    server = serve([IN_THINKING[name], "I like tea."])
    assert (await words_of(server, context_tokens=32_768)).text == "I like tea."
    first, second = (limit["max_tokens"] for limit in limits(server))
    assert second > first + 4000


@pytest.mark.parametrize("name", IN_THINKING)
async def test_thinking_that_leaves_no_room_is_told_as_that(name: str, serve: Serve) -> None:
    answer = IN_THINKING[name]
    for put in (question_to, words_of):
        with pytest.raises(ModelError, match=r"length limit, in the model's thinking.*raise answer_tokens"):
            await put(serve([answer, answer]), context_tokens=32_768)


async def test_a_judgement_that_its_server_takes_for_thinking_is_read(serve: Serve) -> None:
    server = serve([Reply(None, thinking=f"So I say {json.dumps(RIGHT)}")])
    assert (await question_to(server)).value.need_to_talk == 7
    only = Reply(None, thinking="What do they want?")
    for put in (question_to, words_of):
        with pytest.raises(ModelError, match=r"the answer held thinking, and nothing else.*reasoning parser"):
            await put(serve([only, only]))


@pytest.mark.parametrize("name", IN_THINKING)
async def test_an_answer_cut_in_its_thinking_gets_room_for_it(name: str, serve: Serve) -> None:
    server = serve([IN_THINKING[name], RIGHT, RIGHT])
    await question_to(server, context_tokens=32_768)
    await question_to(server, context_tokens=32_768)
    first, second, third = (limit["max_tokens"] for limit in limits(server))
    assert second > third > first + 4000


async def test_words_that_are_cut_twice_end_with_their_last_whole_sentence(serve: Serve) -> None:
    endless = Reply("I like tea. Dr. Novák said: “Water!” And then we went on and", finish_reason="length")
    server = serve([endless, endless])
    spoken = await words_of(server)
    assert spoken.text == "I like tea. Dr. Novák said: “Water!”"
    first, second = (limit["max_tokens"] for limit in limits(server))
    assert second == half_again(first)
    assert "cut off" in server.requests[1].text


@pytest.mark.parametrize("then", ["", None, Reply("", finish_reason="length")])
async def test_words_that_were_cut_count_where_the_second_try_has_none(then: Any, serve: Serve) -> None:
    server = serve([Reply("I like tea. And then", finish_reason="length"), then])
    assert (await words_of(server)).text == "I like tea."


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("unbroken", [True, False])
async def test_a_megabyte_is_never_taken(unbroken: bool, serve: Serve) -> None:
    answer = "x" * 1_000_000 if unbroken else "Tea is good. " * 20_000
    server = serve(lambda _: answer, refuses={"max_tokens", "max_completion_tokens"})
    spoken = await words_of(server)
    assert len(spoken.text) <= 4000
    assert spoken.text.endswith("…" if unbroken else "good.")
    assert len(spoken.message.text) <= 4000


async def test_a_judgement_of_ten_megabytes_is_asked_for_again(serve: Serve) -> None:
    server = serve([{"reasoning": "x" * 10_000_000, "need_to_talk": 1}, RIGHT])
    answer = await question_to(server)
    assert answer.value.need_to_talk == 7
    assert len(server.requests[1].text) < 10_000


async def test_a_reason_that_is_a_little_too_long_is_cut_and_not_wrong(serve: Serve) -> None:
    server = serve([{"reasoning": "word " * 60, "need_to_talk": 1}])
    reason = (await question_to(server)).value.reasoning
    assert len(reason) <= 200
    assert reason.endswith("word…")


async def test_an_endless_stream_is_tried_twice(serve: Serve) -> None:
    server = serve(lambda _: Fault(partial="word " * 200), token_delay_s=0.05)
    with pytest.raises(Exception, match=r"no answer within 0\.3 seconds, twice"):
        await words_of(server, timeout_s=0.3)
    assert len(server.requests) <= 2  # on a busy machine, one may be given up before it has arrived


@given(size=st.integers(0, 300), most=st.integers(1, 200))
def test_a_bounded_answer_is_bounded(size: int, most: int) -> None:
    message = AIMessage("x" * size, additional_kwargs={"reasoning_content": "y" * size})
    found = received(message, None, most)
    assert len(found.text) == min(size, most)
    assert (found.response_metadata.get("finish_reason") == "length") is (size > most)
    assert len(found.additional_kwargs.get("reasoning_content", "")) <= most
    call = AIMessage("", tool_calls=[{"name": "n", "args": {"a": "x" * size}, "id": "1"}])
    assert bool(received(call, None, most).tool_calls) is (len(str({"a": "x" * size})) <= most)


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("openai:o1", True), ("openai:o3-mini", True), ("openai:gpt-5", True), ("openai:gpt-5-mini", True),
        ("openai:gpt-4o", False), ("openai:gpt-4.1-mini", False), ("openai:gpt-5-chat-latest", False),
        ("ollama:qwen3:8b", True), ("ollama:deepseek-r1:7b", True), ("ollama:llama3.2", False),
        ("ollama:qwen3:4b-instruct", False), ("ollama:gpt-oss:20b", True), ("ollama:qwen2.5", False),
        ("deepseek/deepseek-r1@http://localhost:1/v1", True), ("Mistral-Small-3@http://localhost:1/v1", False),
        ("anthropic:claude-3-5-haiku", False), ("offline", False),
    ],
)  # fmt: skip
def test_models_that_think_are_known_by_their_names(model: str, thinks: bool) -> None:
    assert profile_of(parse_model_name(model)).thinks is thinks
