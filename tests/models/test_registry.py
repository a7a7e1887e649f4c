from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from typing import Any

import pytest
from fixtures import Serve
from langchain_core.language_models import FakeListChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from ledgers import RIGHT, question, question_to
from loopback.server import LoopbackServer

from persimchat.models import registry
from persimchat.models.limits import PerLoop
from persimchat.models.registry import build, chat_model, close_models, model_name, ready_model
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


async def several(server: LoopbackServer) -> None:
    await asyncio.gather(*(question_to(server) for _ in range(6)))


def test_the_same_model_works_in_one_event_loop_after_another(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    for _ in range(3):
        asyncio.run(several(server))
    assert len(server.requests) == 18


def test_the_same_model_works_in_two_event_loops_at_once(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.05)
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(asyncio.run, several(server)) for _ in range(2)]:
            done.result()
    assert len(server.requests) == 12


@pytest.mark.proof
def test_nothing_is_kept_for_loops_that_are_closed(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    for _ in range(5):
        asyncio.run(several(server))
    gc.collect()
    # Loops that are still open (that of synchronous calls, for one) may have models of their own.
    assert sum(loop.is_closed() for loop in registry._MODELS._values) <= 1


async def test_one_client_per_name_and_settings_that_matter() -> None:
    name, settings = "m@http://127.0.0.1:9/v1", Settings()
    model = chat_model(name, settings)
    assert chat_model(name, Settings(max_messages=3)) is model
    assert chat_model(name, Settings(seed=1)) is not model
    assert chat_model(name, Settings(model_temperature=0.5)) is not model
    assert chat_model(name, Settings(model_top_p=0.5)) is not model
    whole = chat_model(name, settings, streaming=False)
    assert whole.disable_streaming is True
    assert model.disable_streaming is False
    assert whole.root_async_client is model.root_async_client


async def test_a_client_is_made_once_however_many_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def slowly(*arguments: Any) -> Any:
        made.append(threading.current_thread().name)
        time.sleep(0.05)
        return build(*arguments)

    monkeypatch.setattr("persimchat.models.registry.build", slowly)
    name, settings = "once@http://127.0.0.1:9/v1", Settings()
    models = await asyncio.gather(*(ready_model(name, settings) for _ in range(8)))
    assert len(made) == 1
    assert made[0] != threading.current_thread().name, "in a thread of its own"
    assert {id(model) for model in models} == {id(chat_model(name, settings))}


async def test_closing_ends_the_loops_connections(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    await several(server)
    model = chat_model(server.model(), Settings())
    assert isinstance(model, ChatOpenAI)
    await close_models()
    assert model.root_async_client.is_closed()
    await several(server)


async def test_clients_leave_retrying_to_langgraph_and_time_out() -> None:
    model = chat_model("m@http://127.0.0.1:9/v1", Settings(timeout_s=3, seed=5))
    assert isinstance(model, ChatOpenAI)
    assert (model.max_retries, model.request_timeout, model.seed, model.stream_usage) == (0, 3, 5, True)


def test_the_model_of_an_agents_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_name(Settings(), "Ann", "action") == "offline"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert model_name(Settings(), "Ann", "action") == "openai:gpt-4o-mini"
    settings = Settings(model="a:1", agent_models={"Ann": "b:2"}, module_models={"action": "c:3"})
    assert model_name(settings, "Ann", "action") == "c:3"
    assert model_name(settings, "Ann", "emotion") == "b:2"
    assert model_name(settings, "Ben", "emotion") == "a:1"


async def test_openai_without_a_key() -> None:
    with pytest.raises(InputError, match="needs the environment variable OPENAI_API_KEY"):
        chat_model("openai:gpt-4o", Settings())


async def test_azure_says_which_variable_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com",
        "AZURE_OPENAI_API_KEY": "azure-secret",
        "OPENAI_API_VERSION": "2024-10-21",
    }
    for variable, value in values.items():
        with pytest.raises(InputError, match=variable):
            chat_model("azure:mine", Settings())
        monkeypatch.setenv(variable, value)
    assert isinstance(chat_model("azure:mine", Settings()), AzureChatOpenAI)


async def test_azure_is_asked_at_its_deployment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda _: RIGHT)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    answer = await question(Settings(model="azure:mine"))
    assert answer.value.need_to_talk == 7
    assert server.requests[0].path.startswith("/openai/deployments/mine/chat/completions")
    assert server.requests[0].headers["api-key"] == "azure-secret"


async def test_ollama_is_asked_without_a_key(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda _: RIGHT)
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret123456")
    await question(Settings(model="ollama:llama3.2:3b"))
    assert server.bodies()[0]["model"] == "llama3.2:3b"
    assert "secret" not in str(server.requests[0].headers)


@pytest.fixture
def langchain(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Install a stand-in for the package langchain, which is no dependency."""

    def install(init_chat_model: Callable[..., Any]) -> None:
        module = types.ModuleType("langchain.chat_models")
        module.__dict__.update(init_chat_model=init_chat_model)
        package = types.ModuleType("langchain")
        package.__dict__.update(__spec__=ModuleSpec("langchain", None))
        monkeypatch.setitem(sys.modules, "langchain", package)
        monkeypatch.setitem(sys.modules, "langchain.chat_models", module)

    return install


async def test_other_names_go_to_langchain(langchain: Callable[[Callable[..., Any]], None]) -> None:
    made: dict[str, Any] = {}

    def init_chat_model(name: str, **options: Any) -> FakeListChatModel:
        made[name] = options
        return FakeListChatModel(responses=[json.dumps(RIGHT)])

    langchain(init_chat_model)
    settings = Settings(model="acme:big", model_temperature=0.5, model_top_p=0.9)
    answer = await question(settings)
    assert answer.value.need_to_talk == 7
    assert answer.call["estimated"] is True
    assert made == {"acme:big": {"temperature": 0.5, "top_p": 0.9}}


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (ValueError("Unsupported provider='opneai'."), "Did you mean 'openai'"),
        (
            ImportError("Unable to import langchain_acme. Please install it."),
            "not installed.*LangChain's page",
        ),
        (ValueError("region is missing"), "cannot be set up: region is missing"),
    ],
)
async def test_what_langchain_cannot_set_up(
    raised: Exception, words: str, langchain: Callable[[Callable[..., Any]], None]
) -> None:
    def init_chat_model(name: str, **_: Any) -> None:
        raise raised

    langchain(init_chat_model)
    with pytest.raises(InputError, match=words):
        chat_model("opneai:big", Settings())


async def test_a_package_is_named_by_the_list(langchain: Callable[[Callable[..., Any]], None]) -> None:
    def init_chat_model(name: str, **_: Any) -> None:
        raise ImportError("Please install with `pip install -U evil`")

    langchain(init_chat_model)
    with pytest.raises(InputError, match="pip install langchain langchain-groq") as caught:
        chat_model("groq:big", Settings())
    assert "evil" not in str(caught.value)


async def test_other_names_without_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="pip install langchain langchain-google-genai"):
        chat_model("google_genai:big", Settings())
    for typed in ("acme:big", "http://localhost:9999/v1", "evil-package:x"):
        with pytest.raises(InputError) as caught:
            chat_model(typed, Settings())
        assert "pip" not in str(caught.value), "what was typed is no package to be installed"
    with pytest.raises(InputError, match="Did you mean 'openai'"):
        chat_model("opneai:gpt-4o", Settings())


async def test_values_are_kept_per_loop() -> None:
    values: PerLoop[object] = PerLoop()
    assert values.get("a", object) is values.get("a", object)
    assert values.get("a", object) is not values.get("b", object)
    assert len(values.take()) == 2
    assert values.take() == []


def test_outside_a_loop_nothing_is_kept() -> None:
    values: PerLoop[object] = PerLoop()
    assert values.get("a", object) is not values.get("a", object)
