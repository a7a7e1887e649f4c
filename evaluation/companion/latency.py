"""How long a person waits for a companion's words, beside the same requests sent bare by an HTTP client."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from persimchat.evaluation.companion.rows import Row
from persimchat.evaluation.companion.scripts import make_script
from persimchat.models.connections import client_options
from persimchat.models.naming import parse_model_name
from persimchat.models.openai_client import is_openai
from persimchat.models.registry import model_name, ready_model
from persimchat.runs.companion.events import Answered, Sentence, Token
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import opened_world
from persimchat.state.errors import InputError, ModelError
from persimchat.state.place import Clock, Place
from persimchat.state.settings import Settings

MODULES: Final = ("natural_language", "reaction", "hearing", "appraisal", "perception", "emotion", "trust")
"""Modules that ask during an exchange."""
_SALT: Final = "(b) "
"""What bare requests begin with, so that they do not profit from what the server keeps of the companion's."""
_MILLI: Final = 1000


@dataclass(frozen=True)
class Sent:
    """A request as it left.

    Attributes:
        at: when, in seconds of `time.perf_counter`.
        cpu: CPU seconds of this process until then.
        url: where to.
        headers: its headers.
        body: its bytes.
    """

    at: float
    cpu: float
    url: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Watched:
    """The requests that have left since `clear`, and a bare client for them."""

    client: httpx.AsyncClient
    sent: list[Sent] = field(default_factory=list)

    def clear(self) -> None:
        """Forget the requests so far."""
        self.sent.clear()

    async def took(self, request: httpx.Request) -> None:
        """Note a request; a hook of an HTTP client."""
        at, cpu = time.perf_counter(), time.process_time()
        headers = {key: value for key, value in request.headers.items() if key != "content-length"}
        self.sent.append(Sent(at, cpu, str(request.url), headers, bytes(request.content)))

    async def bare(self, sent: Sent) -> float:
        """Send a request again, and read its answer; seconds to the first words.

        Raises:
            ModelError: the server refused it, or gave no words.
        """
        body, first = salted(sent.body), 0.0
        began = time.perf_counter()
        try:
            async with self.client.stream("POST", sent.url, headers=sent.headers, content=body) as response:
                response.raise_for_status()
                async for line in response.aiter_lines():
                    first = first or (time.perf_counter() - began if has_words(line) else 0.0)
        except httpx.HTTPError as error:
            raise ModelError(f"the bare request failed: {type(error).__name__}", model=sent.url) from error
        return first or time.perf_counter() - began


def salted(body: bytes) -> bytes:
    """The same request with a few characters more before its first message."""
    request = json.loads(body)
    request["messages"][0]["content"] = _SALT + str(request["messages"][0]["content"])
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def has_words(line: str) -> bool:
    """Whether a line of a stream of events has words of the answer."""
    if not line.startswith("data: {"):
        return False
    try:
        choices = json.loads(line[6:])["choices"]
        return bool(choices and choices[0]["delta"].get("content"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


@asynccontextmanager
async def watch(settings: Settings) -> AsyncIterator[Watched]:
    """Watch the requests of a companion with these settings.

    Raises:
        InputError: its model is not asked over OpenAI's protocol.
    """
    hooked: list[tuple[Any, Callable[[httpx.Request], Awaitable[None]]]] = []
    name = parse_model_name(model_name(settings, "", "natural_language"))
    async with httpx.AsyncClient(**client_options(name, settings.timeout_s)) as bare:
        watched = Watched(bare)
        try:
            for module in MODULES:
                model = await ready_model(model_name(settings, "", module), settings.of_module(module))
                if not is_openai(model):
                    raise InputError(
                        f"{name.written} is not asked over HTTP",
                        where="--model",
                        remedy="Latency is measured with a server that speaks OpenAI's protocol: MODEL@http://host:port/v1",
                    )
                client = model.http_async_client
                if client is not None and all(client is not one for one, _ in hooked):
                    client.event_hooks = {
                        **client.event_hooks,
                        "request": [*client.event_hooks["request"], watched.took],
                    }
                    hooked.append((client, watched.took))
            yield watched
        finally:
            for client, hook in hooked:
                left = [one for one in client.event_hooks["request"] if one != hook]
                client.event_hooks = {**client.event_hooks, "request": left}
