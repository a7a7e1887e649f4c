"""The length of a model's context: told, set, or learnt; and prompts that are made to fit it."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from ledgers import RIGHT, within
from loopback.answering import Fault

from persimchat.models import capacity
from persimchat.models.asking import ask
from persimchat.models.ledger import Ledger
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import ready_model
from persimchat.prompts import blocks
from persimchat.prompts.blocks import Block, Item
from persimchat.prompts.fitting import Question, prompt_size
from persimchat.prompts.rendering import RenderedMessage
from persimchat.state.errors import ModelError, PromptTooLong
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

OLLAMA_SHOW = {"parameters": "temperature 0.7\nnum_ctx                        2048", "model_info": {}}


def told(tokens: int) -> dict[str, Any]:
    return {"/v1/models": {"data": [{"id": "test-model", "max_model_len": tokens}, {"id": "other"}]}}


def values(memories: int, utterances: int, text: str = "word " * 40) -> dict[str, Any]:
    """What a plan is asked with: so many memories and utterances of about 50 tokens each."""
    constant = ("basic_information", "relationships", "goals", "scene")
    tags = (*constant, "needs_and_emotions", "short_term_memory", "plan", "progress")
    empty = {tag: Block(tag, ()) for tag in tags}
    memory = {"kind": "perception", "turn": 1, "importance": 5, "keywords": ["tea"]}
    recalled = [Item("memory", {"number": n, **memory, "theme": f"M{n}. {text}"}) for n in range(1, memories + 1)]
    said = [Item("utterance", {"speaker": f"U{n}", "text": text, "whispered": []}) for n in range(1, utterances + 1)]
    heard: Any = {"speaker": "Bo", "addressees": [], "emotion": {}, "text": "Tea?"}
    return {
        **empty,
        "memories": Block("memories", tuple(recalled)),
        "last_utterances": Block("last_utterances", tuple(said)),
        "heard": blocks.heard(heard, "Ann"),
        "closing": False,
    }


async def question(settings: Settings, module: str = "need_to_talk", **given: Any) -> None:
    asking = {"settings": settings, "agent": "Ann", "module": module, "turn": 3}
    await ask("planning", NeedToTalk, **asking, **(given or values(0, 0)))


@pytest.mark.parametrize(
    ("tells", "found"),
    [
        ({}, 8192),
        (told(4096), 4096),
        ({"/v1/models": {"data": [{"id": "x", "max_model_len": 2048}]}}, 2048),
        ({"/v1/models": {"data": [{"id": "x", "max_model_len": 2048}, {"id": "y", "max_model_len": 1024}]}}, 8192),
        ({"/props": {"default_generation_settings": {"n_ctx": 3000}, "total_slots": 2}}, 3000),
        ({"/v1/models": {"data": "?"}, "/props": []}, 8192),
        ({"/api/version": {"version": "0.12"}, "/api/show": {}}, 4096),
        ({"/api/version": {"version": "0.12"}, "/api/show": OLLAMA_SHOW}, 2048),
        ({"/props": {"default_generation_settings": {"n_ctx": -1}}}, 8192),
        ({"/props": {"default_generation_settings": {"n_ctx": 10**30}}}, 8192),
        ({"/props": {"default_generation_settings": {"n_ctx": True}}}, 8192),
        ({"/props": "[" * 100_000}, 8192),
        ({"/props": "x" * 2_000_000}, 8192),
        ({"/v1/models": Fault(500), "/props": Fault(302, "", {"location": "http://192.0.2.1/"})}, 8192),
    ],
)
async def test_a_server_is_asked_once_and_believed_within_reason(tells: Any, found: int, serve: Serve) -> None:
    server = serve(lambda _: RIGHT, tells=tells)
    name, settings = parse_model_name(server.model()), Settings(model=server.model())
    model = await ready_model(server.model(), settings)
    assert await capacity.context_tokens(name, model, settings) == found
    assert await capacity.context_tokens(name, model, settings) == found
    assert len(server.told) <= len({path for path, _ in server.told})
    assert await capacity.context_tokens(name, model, Settings(context_tokens=1000)) == 1000
    larger = await capacity.context_tokens(name, model, Settings(context_tokens=100_000))
    assert larger == (found if found != 8192 else 100_000), "a setting counts where it is smaller, or nobody tells"


@pytest.mark.parametrize(
    ("tells", "found"),
    [
        ({"/api/show": OLLAMA_SHOW}, 2048),
        ({"/api/show": {}, "/api/ps": {"models": [{"name": "m", "context_length": 16_384}]}}, 16_384),
        ({"/api/show": {"model_info": {"llama.context_length": 131_072}}}, 4096),
        ({"/api/show": {"model_info": {"llama.context_length": 2048}}}, 2048),
        ({}, 4096),
    ],
)
async def test_ollama_tells_what_it_would_cut_silently(
    tells: Any, found: int, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(lambda _: RIGHT, tells=tells)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{server.port}")
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "secret-key-of-another")
    settings = Settings(model="ollama:m")
    model = await ready_model("ollama:m", settings)
    assert await capacity.context_tokens(parse_model_name("ollama:m"), model, settings) == found
    assert {key for _, key in server.told} == {""}


async def test_a_server_that_is_down_is_asked_again(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, tells=told(4096))
    name, settings = parse_model_name(server.model()), Settings(model=server.model())
    model = await ready_model(server.model(), settings)
    server.stop()
    assert await capacity.context_tokens(name, model, settings) == 8192
    server.start()
    assert await capacity.context_tokens(name, model, settings) == 4096


async def test_the_clients_of_openai_and_the_offline_model_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for written, found in (("openai:gpt-4o-mini", 128_000), ("openai:my-own", 128_000), ("offline", None)):
        model = await ready_model(written, Settings())
        assert await capacity.context_tokens(parse_model_name(written), model, Settings()) == found


async def test_a_prompt_that_does_not_fit_loses_memories_then_utterances(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, tells=told(1000))
    settings, asked = Settings(model=server.model()), values(8, 6)
    ledger = Ledger()
    await within(ledger, question(settings, **asked))
    sent = server.requests[0].text
    kept = [n for n in range(1, 9) if f"M{n}." in sent]
    assert kept == list(range(1, len(kept) + 1)), "the lowest scores go first"
    assert 0 < len(kept) < 8
    assert all(f"U{n}:" in sent for n in range(1, 7))
    assert '<task name="planning">' in sent
    assert ledger.shortened is not None
    assert ledger.shortened.dropped == (8 - len(kept), 0)
    body = server.bodies()[0]
    assert len(sent) / 4 + body["max_tokens"] <= 1000


async def test_a_judges_prompt_is_never_shortened(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, tells=told(1200))
    for module in ("judge", "analysis"):
        with pytest.raises(PromptTooLong, match="too long: the prompt has about .*module_models") as caught:
            await question(Settings(model=server.model()), module, **values(20, 6))
        assert caught.value.exit_code == 3
    assert server.requests == []


async def test_what_must_stay_does_not_fit(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    with pytest.raises(PromptTooLong, match=r"too long.*Raise context_tokens, for example --set context_tokens=8192"):
        await question(Settings(model=server.model(), context_tokens=256), **values(3, 3))
    assert server.requests == []


@pytest.mark.parametrize(
    "refusal",
    [
        {"error": {"message": "This model's maximum context length is 1500 tokens. However, your messages resulted in "
                   "4000 tokens.", "code": "context_length_exceeded"}},
        {"error": {"message": "This model's maximum context length is 1500 tokens. However, you requested 2400 tokens "
                   "(2300 in the messages, 100 in the completion)."}},
        {"error": {"code": 400, "message": "the request exceeds the available context size. try increasing it",
                   "type": "exceed_context_size_error", "n_prompt_tokens": 2300, "n_ctx": 1500}},
        {"error": {"message": "request (2300 tokens) exceeds the available context size (1500 tokens)"}},
        {"error": {"message": "input length exceeds the context length"}},
        {"error": {"message": "prompt is too long: 2300 tokens > 1500 maximum"}},
        {"error": {"message": "too much", "code": "context_length_exceeded"}},
    ],
)  # fmt: skip
async def test_a_refusal_for_length_teaches_the_length_and_is_asked_again(refusal: Any, serve: Serve) -> None:
    def answer(body: dict[str, Any]) -> Any:
        size = sum(len(str(m["content"])) for m in body["messages"]) / 4
        return Fault(400, refusal) if size > 2000 else RIGHT

    server = serve(answer)
    settings = Settings(model=server.model())
    await question(settings, **values(30, 6))
    assert len(server.requests) == 2
    assert len(server.requests[1].text) < len(server.requests[0].text)
    await question(settings, **values(30, 6))
    assert len(server.requests) == 3, "it is remembered"


async def test_a_server_that_refuses_every_length_is_asked_twice(serve: Serve) -> None:
    server = serve(lambda _: Fault(400, {"error": {"message": "…", "code": "context_length_exceeded"}}))
    with pytest.raises(ModelError, match=r"does not fit the model's context.*Lower memory_tokens"):
        await question(Settings(model=server.model()), **values(8, 2))
    assert len(server.requests) == 2


@given(memories=st.integers(0, 12), utterances=st.integers(0, 8), budget=st.integers(0, 4000), said=st.integers(0, 2))
def test_as_little_as_possible_is_left_out(memories: int, utterances: int, budget: int, said: int) -> None:
    asked = Question.of("planning", values(memories, utterances))
    for _ in range(said):
        asked = asked.followed("Say it again.", "I said tea.")
    messages, dropped = asked.shortened_to(budget, behind="Now.")
    assert messages[-1].text.endswith("Now.")
    assert 0 <= dropped.memories <= memories
    assert 0 <= dropped.utterances <= max(0, utterances - 1)
    assert dropped.utterances == 0 or dropped.memories == memories
    source = next(m.source for m in messages if isinstance(m, RenderedMessage))
    assert source is not None
    shown = {block.tag: len(block.items) for block in source.blocks}
    assert shown.get("memories", 0) == memories - dropped.memories
    assert shown.get("last_utterances", 0) == utterances - dropped.utterances
    size = prompt_size(messages)
    assert size <= budget or (dropped.memories, dropped.utterances) == (memories, max(0, utterances - 1))
    if any(dropped):
        fuller, less = asked.shortened_to(size + 1_000_000, behind="Now.")
        assert not any(less)
        assert prompt_size(fuller) > budget
    assert sum(m.text.count("I said tea.") for m in messages) == said
    assert asked.whole().shortened_to(0)[0] == asked.messages


def test_a_long_utterance_is_shortened_visibly_in_prompts_of_minds_only() -> None:
    long: Any = {"speaker": "Bo", "text": "word " * 8000, "addressees": [], "emotion": {}, "turn": 1}
    for block in (blocks.last_utterances([long] * 6, "Ann"), blocks.heard(long, "Ann")):
        assert all(len(item["text"]) <= blocks.LONGEST_UTTERANCE for item in block.items)
        assert all(item["text"].endswith("word…") for item in block.items)
    for block in (blocks.observed([long]), blocks.heard(long, "")):
        assert block.items[0]["text"] == long["text"], "who judges reads all of it"
