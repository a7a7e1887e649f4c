"""`chat_model` and `ready_model`: the client of a model by name, built once per event loop.

Keys come from the environment, stay in `SecretStr`, and go to their server only.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Hashable
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ..state.errors import InputError
from ..state.language import is_english, name_of
from ..state.settings import Settings
from . import ladder
from .connections import clients
from .ladder import is_openai
from .limits import PerLoop
from .local.server import key_of, started
from .naming import PACKAGES, ModelName, default_model_name, may_have_own_key, parse_model_name, shown, unknown_provider
from .profiles import profile_of
from .redaction import short

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


def speaks(name: ModelName, settings: Settings) -> None:
    """Refuse a language that a model is known not to speak.

    Raises:
        InputError: the offline model is to speak another language than English.
    """
    if name.provider == "offline" and not is_english(settings.language):
        raise InputError(
            f"the offline model speaks English only, not {name_of(settings.language)}",
            where="the setting language",
            remedy="Name a model that speaks it (--model), or leave language out.",
        )


async def ready_model(name: str, settings: Settings, *, streaming: bool = True) -> BaseChatModel:
    """`chat_model` for code in an event loop: makes a new client in a thread.

    Making a client reads files (certificates, packages), which would block the event loop. Each client is made once,
    even if several tasks wait for it. The server of a model file is started if it does not run.

    Raises:
        InputError: the name is unknown, or a key, a file, a variable or a library is missing.
        ModelError: the server of a model file did not start.
    """
    parsed = parse_model_name(name)
    speaks(parsed, settings)
    parsed = await started(parsed, settings)
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


NO_KEY: Final = SecretStr("no-key")
"""Sent to a server that needs no key, because the client insists on sending one."""


def build(name: ModelName, settings: Settings, refused: frozenset[str] = frozenset()) -> BaseChatModel:
    """A new client for a model; use `registry.chat_model`, which keeps them.

    Args:
        name: the parsed name.
        settings: seed, temperature and time limit count.
        refused: request fields that the server is known to refuse ("seed", "stream_options").

    Raises:
        InputError: a key, a file, an environment variable or a library is missing; the message says which.
    """
    match name.provider:
        case "offline":
            return _offline(settings)
        case "openai":
            key = _required(name, "OPENAI_API_KEY")
            return _openai(name, SecretStr(key), settings, refused)
        case "compatible":
            own = os.environ.get("PERSIMCHAT_API_KEY") if may_have_own_key(name.base_url) else None
            return _openai(name, SecretStr(own) if own else NO_KEY, settings, refused, use_responses_api=False)
        case "ollama":
            return _openai(name, NO_KEY, settings, refused, use_responses_api=False)
        case "azure":
            return _azure(name, settings, refused)
        case "llamacpp":
            return _openai(name, key_of(name, settings), settings, refused, use_responses_api=False)
        case "langchain":
            return _langchain(name, settings)


def _offline(settings: Settings) -> BaseChatModel:
    from .offline import OfflineChatModel
    from .offline.material import read

    # Its phrases are read here, in a thread, not at the first question, in an event loop.
    for file in files("persimchat.models.offline").iterdir():
        if file.name.endswith(".yaml"):
            read(file.name.removesuffix(".yaml"))
    return OfflineChatModel(seed=settings.seed)


def _common(name: ModelName, settings: Settings, refused: frozenset[str]) -> dict[str, Any]:
    """The arguments of every OpenAI-like client. LangGraph retries, not the client, so each attempt is counted once."""
    profile = profile_of(name)
    return {
        "max_retries": 0,
        "timeout": settings.timeout_s,
        "temperature": settings.model_temperature,
        "top_p": settings.model_top_p if "top_p" not in refused else None,
        "seed": settings.seed if profile.seed and "seed" not in refused else None,
        "stream_usage": profile.stream_options and "stream_options" not in refused,
        "cached": profile.cached,
        "stream_chunk_timeout": None,
    }


def _openai(name: ModelName, key: SecretStr, settings: Settings, refused: frozenset[str], **more: Any) -> BaseChatModel:
    from .openai_chat import Chat  # takes most of a second

    return Chat(
        model=name.model,
        api_key=key,
        base_url=name.base_url,
        **clients(name, settings.timeout_s),
        **_common(name, settings, refused),
        **more,
    )


def _azure(name: ModelName, settings: Settings, refused: frozenset[str]) -> BaseChatModel:
    endpoint = _required(name, "AZURE_OPENAI_ENDPOINT")
    key = _required(name, "AZURE_OPENAI_API_KEY")
    version = _required(name, "OPENAI_API_VERSION")
    from .openai_chat import AzureChat

    return AzureChat(
        azure_deployment=name.model,
        azure_endpoint=endpoint,
        api_key=SecretStr(key),
        api_version=version,
        use_responses_api=False,
        **clients(name, settings.timeout_s),
        **_common(name, settings, refused),
    )


def _langchain(name: ModelName, settings: Settings) -> BaseChatModel:
    provider = name.model.partition(":")[0]
    if find_spec("langchain") is None:
        if provider not in PACKAGES:
            raise unknown_provider(name)
        raise InputError(
            f"the model {shown(name.written)} needs LangChain's init_chat_model, which is not installed",
            remedy=f"Install it with: pip install langchain {PACKAGES[provider]}",
        )
    init_chat_model = import_module("langchain.chat_models").init_chat_model
    wanted = {"temperature": settings.model_temperature, "top_p": settings.model_top_p}
    options: dict[str, Any] = {option: value for option, value in wanted.items() if value is not None}
    try:
        model = init_chat_model(name.model, **options)
    except ImportError as error:
        raise InputError(
            f"the model {shown(name.written)} needs a package that is not installed",
            remedy=f"Install it with: pip install langchain {PACKAGES[provider]}"
            if provider in PACKAGES
            else "LangChain's page of this provider names it.",
        ) from error
    except ValueError as error:
        if "provider" in str(error).lower():
            raise unknown_provider(name) from error
        raise InputError(
            f"the model {shown(name.written)} cannot be set up: {short(str(error))}",
            remedy="See the provider's page in LangChain's documentation for what it needs.",
        ) from error
    if not isinstance(model, BaseChatModel):
        raise InputError(f"the model {shown(name.written)} is not a chat model", remedy="Name a chat model.")
    return model


def _required(name: ModelName, variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise InputError(
            f"the model {shown(name.written)} needs the environment variable {variable}",
            remedy=f"Set {variable}, or choose another model, for example offline.",
        )
    return value
