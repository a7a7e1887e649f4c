"""Builds the client of one model. Keys come from the environment, stay in `SecretStr`, and go to their server only."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from persimchat.models.connections import clients
from persimchat.models.hosts import may_have_own_key
from persimchat.models.local.server import key_of
from persimchat.models.naming import PACKAGES, ModelName, shown, unknown_provider
from persimchat.models.profiles import profile_of
from persimchat.models.redaction import short
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

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
    from persimchat.models.offline import OfflineChatModel
    from persimchat.models.offline.lexicon import read

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
    from persimchat.models.openai_chat import Chat  # takes most of a second

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
    from persimchat.models.openai_chat import AzureChat

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
