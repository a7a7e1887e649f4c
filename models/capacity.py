"""The capacity of a model: the length of its context, and whether its thinking counts against the limit of answers.

A process asks each server that reports its context once, and remembers what refusals and cut answers show.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
import time
from typing import Any, Final
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from ..state.settings import Settings
from .answers import shown_thinking
from .connections import client_options
from .failures import message_of
from .limits import PerLoop
from .local.files import model_file
from .local.gguf import read_header
from .local.server import context_of
from .naming import ModelName, may_have_own_key
from .profiles import profile_of
from .waiting import waiting_for

OLLAMA_CONTEXT: Final = 4096
"""Ollama's default context (`num_ctx`): it silently cuts longer prompts, and its OpenAI protocol cannot raise it."""

_WAIT_S: Final = 30.0
"""The most seconds to wait for a server that says nothing; it is asked nothing more then."""
_LONGEST_BODY: Final = 1 << 20
_SENSIBLE: Final = range(128, 100_000_001)
"""Reported lengths of a context that are believed, in tokens."""
_SMALLEST_LEARNT: Final = 64

_NUMBER: Final = r"(\d[\d,_]{0,12})"
_LIMITS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:maximum|available|model'?s?) context (?:length|size|window)(?: is| of| \()? ?{_NUMBER}",
        rf"\bn_ctx\b\D{{0,5}}{_NUMBER}",
        rf"{_NUMBER} tokens? > {_NUMBER}",
        rf"context (?:length|size|window) (?:is|of|limit of|\() ?{_NUMBER}",
        rf"(?:maximum|limit)[^.\d]{{0,40}}{_NUMBER} tokens",
    )
)
_TAKEN: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bn_prompt_tokens\b\D{{0,5}}{_NUMBER}",
        rf"resulted in {_NUMBER} tokens",
        rf"{_NUMBER} in the messages",
        rf"request \({_NUMBER} tokens\)",
        rf"{_NUMBER} tokens > {_NUMBER}",
        rf"has {_NUMBER} input tokens",
        rf"contains (?:at least )?{_NUMBER} (?:input )?tokens",
    )
)

_ASKING: PerLoop[asyncio.Lock] = PerLoop()
_lock: Final = threading.Lock()
_told: Final[dict[tuple[str, str], int | None]] = {}
_learnt: Final[dict[tuple[str, str], int]] = {}
_thinking: Final[set[tuple[str, str]]] = set()


def forget() -> None:
    """Forget everything remembered about servers."""
    with _lock:
        _told.clear()
        _learnt.clear()
        _thinking.clear()


async def context_tokens(name: ModelName, model: BaseChatModel, settings: Settings) -> int | None:
    """The limit of prompt and answer together, in tokens; None if there is none.

    It is the smaller of the length that the server or the client reports and the setting `context_tokens`; without
    either, a usual length. It is never greater than a refusal has shown.

    Args:
        name: the model.
        model: its client.
        settings: `context_tokens` is read.
    """
    if name.provider == "offline":
        return None
    profile = profile_of(name)
    told = _profile_number(model, "max_input_tokens") if profile.tells_context == "client" else None
    if profile.tells_context in ("openai", "ollama"):
        told = await _told_by_server(name, profile.tells_context)
    elif profile.tells_context == "file":
        header = await asyncio.to_thread(lambda: read_header(model_file(name)))
        told = context_of(header, settings.local_context)
    known = [tokens for tokens in (told, settings.context_tokens) if tokens is not None] or [profile.context]
    return min([*known, *([_learnt[name.key]] if name.key in _learnt else [])])


def most_output(model: BaseChatModel) -> int | None:
    """The most tokens of an answer of this model, if its client knows; else None."""
    return _profile_number(model, "max_output_tokens")


def _profile_number(model: BaseChatModel, key: str) -> int | None:
    """A number of the profile that LangChain's client has of its model."""
    profile = getattr(model, "profile", None)
    return _sensible(profile.get(key)) if isinstance(profile, dict) else None


async def _told_by_server(name: ModelName, kind: str) -> int | None:
    if name.key not in _told:
        async with _ASKING.get(name.key, asyncio.Lock):
            if name.key not in _told:
                with waiting_for(name.base_url or name.written):
                    tokens, reached = await asyncio.to_thread(_ask_ollama if kind == "ollama" else _ask_server, name)
                if not reached:
                    return None  # the next request asks again
                _told[name.key] = tokens
    return _told[name.key]


def learn_context(name: ModelName, error: Exception, estimated: int) -> int:
    """Remember the length of the model's context that a refusal of a long prompt shows, in estimated tokens.

    Args:
        name: the model.
        error: the refusal.
        estimated: tokens of the refused prompt, by PerSimChat's estimate.

    Returns:
        The length of the context in tokens, as far as it is known now.
    """
    text = message_of(error) + str(getattr(error, "body", "") or "")
    limit, taken = _number(_LIMITS, text), _number(_TAKEN, text)
    if limit is not None and taken:
        tokens = int(limit * min(1.0, estimated / taken))
    elif limit is not None and limit < estimated:
        tokens = limit
    else:  # the estimate is slightly too low
        tokens = max((limit or 0) // 4, estimated * 3 // 4)
    with _lock:
        _learnt[name.key] = max(_SMALLEST_LEARNT, min(tokens, _learnt.get(name.key, tokens)))
        return _learnt[name.key]


def learn_thinking(name: ModelName, answer: AIMessage) -> None:
    """Remember that a model thinks, if a cut answer shows thinking."""
    usage = answer.usage_metadata.get("output_token_details", {}) if answer.usage_metadata else {}
    if shown_thinking(answer) or usage.get("reasoning"):
        with _lock:
            _thinking.add(name.key)


def thinks(name: ModelName) -> bool:
    """Whether a model's thinking counts against the limit of its answers, by its name or by an earlier answer."""
    return profile_of(name).thinks or name.key in _thinking


def _number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        found = pattern.search(text)
        if found:
            # "215000 tokens > 200000 maximum": the limit comes last, the size of the prompt first.
            groups = found.groups()
            return int((groups[-1] if patterns is _LIMITS else groups[0]).replace(",", "").replace("_", ""))
    return None


def _sensible(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _SENSIBLE else None


def _ask_server(name: ModelName) -> tuple[int | None, bool]:
    """The context by vLLM's list, llama.cpp's properties or Ollama's own routes; and whether it answered. Blocks."""
    root = (name.base_url or "").removesuffix("/v1")
    with _Asking(name) as ask:
        listed = ask("GET", f"{name.base_url}/models").get("data")
        models = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        own = [entry for entry in models if entry.get("id") == name.model] or (models if len(models) == 1 else [])
        for entry in own:
            for key in ("max_model_len", "context_length", "max_context_length"):
                if (tokens := _sensible(entry.get(key))) is not None:
                    return tokens, True
        generation = ask("GET", f"{root}/props").get("default_generation_settings")
        if isinstance(generation, dict):
            return _sensible(generation.get("n_ctx")), ask.reached
        if isinstance(ask("GET", f"{root}/api/version").get("version"), str):
            return _ask_ollama(name)
        return None, ask.reached


def _ask_ollama(name: ModelName) -> tuple[int | None, bool]:
    """The model's own `num_ctx`, else the one with which it is loaded, else Ollama's default. Blocks."""
    root = (name.base_url or "").removesuffix("/v1")
    with _Asking(name) as ask:
        shown = ask("POST", f"{root}/api/show", {"model": name.model})
        set_ = re.search(r"^num_ctx\s+(\d{1,9})", str(shown.get("parameters") or ""), re.MULTILINE)
        if set_ and (own := _sensible(int(set_.group(1)))) is not None:
            return own, True
        running = ask("GET", f"{root}/api/ps").get("models")
        for entry in running if isinstance(running, list) else []:
            named = isinstance(entry, dict) and name.model in (entry.get("name"), entry.get("model"))
            if named and (loaded := _sensible(entry.get("context_length"))) is not None:
                return loaded, True
        info = shown.get("model_info")
        trained = [v for k, v in info.items() if str(k).endswith(".context_length")] if isinstance(info, dict) else []
        known = [tokens for tokens in map(_sensible, trained) if tokens is not None]
        return min([OLLAMA_CONTEXT, *known]), ask.reached


class _Asking:
    """Small requests to a model's server: no redirects, a short time limit, no long answers, and never an error."""

    def __init__(self, name: ModelName) -> None:
        self._name, self.reached, self._silent = name, False, False

    def __enter__(self) -> _Asking:
        import httpx  # takes half a second

        own = self._name.provider == "compatible" and may_have_own_key(self._name.base_url)
        key = os.environ.get("PERSIMCHAT_API_KEY") if own else None
        self._client = httpx.Client(
            **client_options(self._name, _WAIT_S),
            follow_redirects=False,
            headers={"authorization": f"Bearer {key}"} if key else {},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def __call__(self, method: str, url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        import httpx

        if self._silent or urlsplit(url).netloc != urlsplit(self._name.base_url or "").netloc:
            return {}
        over, read = time.monotonic() + _WAIT_S, b""
        try:
            with self._client.stream(method, url, json=body) as response:
                self.reached = True
                if response.status_code != 200:
                    return {}
                for part in response.iter_bytes():
                    read += part
                    if len(read) > _LONGEST_BODY or time.monotonic() > over:
                        return {}
            found = json.loads(read)
        except httpx.TimeoutException:
            self.reached = self._silent = True  # the server runs, but does not answer this
            return {}
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
