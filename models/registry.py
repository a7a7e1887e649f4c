"""`chat_model` and `ready_model`: the client of a model by name, made once per event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from langchain_core.language_models import BaseChatModel

from persimchat.models import ladder
from persimchat.models.building import build
from persimchat.models.limits import PerLoop
from persimchat.models.local.server import started
from persimchat.models.naming import ModelName, default_model_name, parse_model_name
from persimchat.models.openai_client import is_openai
from persimchat.state.settings import Settings

_MODELS: PerLoop[BaseChatModel] = PerLoop()
_MAKING: PerLoop[asyncio.Lock] = PerLoop()


def model_name(settings: Settings, agent: str, module: str) -> str:
    """The name of the model that answers for one agent's module."""
    return default_model_name(settings.model_for(agent, module))[0]


def chat_model(name: str, settings: Settings, *, streaming: bool = True) -> BaseChatModel:
    """The client of a model, kept per name, settings that concern it, and running event loop.

    Args:
        name: a model's name (see `naming.parse_model_name`).
        settings: `seed`, `model_temperature`, `model_top_p` and `timeout_s` are read.
        streaming: False for a client that never streams, even if a listener asks for tokens.

    Raises:
        InputError: the name is unknown, or a key, a file, a variable or a library is missing.
    """
    return _kept(parse_model_name(name), settings, streaming)


def _kept(parsed: ModelName, settings: Settings, streaming: bool) -> BaseChatModel:
    refused = ladder.refused_fields(parsed)
    key = _key(parsed, settings, refused)
    model = _MODELS.get(key, lambda: build(parsed, settings, refused))
    if streaming:
        return model
    # The copy shares the HTTP client. Without the copy, a listener for tokens would turn every judgement into a stream.
    return _MODELS.get((*key, "whole"), lambda: model.model_copy(update={"disable_streaming": True}))


async def ready_model(name: str, settings: Settings, *, streaming: bool = True) -> BaseChatModel:
    """`chat_model` for code in an event loop: makes a new client in a thread.

    Making a client reads files (certificates, packages), which would block the event loop. Each client is made once,
    even if several tasks wait for it. The server of a model file is started if it does not run.

    Raises:
        InputError: the name is unknown, or a key, a file, a variable or a library is missing.
        ModelError: the server of a model file did not start.
    """
    parsed = await started(parse_model_name(name), settings)
    refused = ladder.refused_fields(parsed)
    key = _key(parsed, settings, refused)
    if key not in _MODELS:
        async with _MAKING.get(key, asyncio.Lock):
            if key not in _MODELS:
                made = await asyncio.to_thread(build, parsed, settings, refused)
                _MODELS.get(key, lambda: made)
    return _kept(parsed, settings, streaming)


def _key(name: ModelName, settings: Settings, refused: frozenset[str]) -> tuple[Hashable, ...]:
    """The key of a client in the cache."""
    return (*name.key, settings.seed, settings.model_temperature, settings.model_top_p, settings.timeout_s, refused)


async def close_models() -> None:
    """Close the running event loop's HTTP connections; call it before the loop ends."""
    for model in _MODELS.take():
        if is_openai(model) and model.root_async_client is not None:
            await model.root_async_client.close()
            model.root_client.close()
