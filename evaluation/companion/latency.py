"""How long a person waits for a companion's words, beside the same requests sent bare by an HTTP client."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import numpy as np

from ...models.connections import client_options
from ...models.ladder import is_openai
from ...models.naming import parse_model_name
from ...models.registry import model_name, ready_model
from ...runs.companion.events import Answered, Sentence, Token
from ...runs.companion.session import Companion
from ...runs.companion.world import opened_world
from ...state.companion.place import Clock, Place
from ...state.errors import InputError, ModelError
from ...state.settings import Settings
from .rows import Row
from .scripts import make_script

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
    hooked: list[httpx.AsyncClient] = []
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
                if client is not None and client not in hooked:
                    hooks = client.event_hooks
                    client.event_hooks = {**hooks, "request": [*hooks["request"], watched.took]}
                    hooked.append(client)
            yield watched
        finally:
            for client in hooked:
                left = [one for one in client.event_hooks["request"] if one != watched.took]
                client.event_hooks = {**client.event_hooks, "request": left}


async def measure_latency(folder: Path, place: Place, settings: Settings, talks: int) -> list[Row]:
    """Hold talks, and after each send the same requests bare, in the same order; both wait for all answers.

    Bare requests begin with a few other characters, so that neither side profits from what the server keeps of the
    other's prompts. The first talk makes connections and fills caches; it does not count.

    Args:
        folder: a new world's.
        place: its first agent is talked with.
        settings: of the world.
        talks: how many count.

    Raises:
        InputError: the model is not asked over OpenAI's protocol.
        PerSimChatError: a model failed, or the folder cannot be used.
    """
    quiet = place.model_copy(update={"clock": Clock(mode="steps"), "events": [], "people": []})
    rows: list[Row] = []
    async with opened_world(folder, quiet, settings) as world:
        own = world.place.agents[0].recall.settings(world.settings)
        person = await world.companion(world.agents[0], "Petr", introduced=True)
        async with watch(own) as watched:
            for number, messages in enumerate(make_script(1 + talks, settings.seed).talks):
                requests = []
                for n, message in enumerate(messages, start=1):
                    unit = f"{number} {n}"
                    rows += [
                        Row("latency", unit, name, value) for name, value in await _waited(person, watched, message)
                    ]
                    requests.append((unit, list(watched.sent)))
                for unit, (first, *rest) in requests:
                    rows.append(Row("latency", unit, "bare_first_words_ms", _MILLI * await watched.bare(first)))
                    for one in rest:
                        await watched.bare(one)
                await world.advance(86_400)
    return [row for row in rows if not row.unit.startswith("0 ")]


async def _waited(person: Companion, watched: Watched, message: str) -> list[tuple[str, float]]:
    """How long a person waits for the parts of an answer, in milliseconds."""
    watched.clear()
    began, found = time.perf_counter(), dict[str, float]()
    async for event in person.say(message):
        passed = _MILLI * (time.perf_counter() - began)
        match event:
            case Token():
                found.setdefault("first_words_ms", passed)
            case Sentence():
                found.setdefault("first_sentence_ms", passed)
            case Answered(appraised=False):
                found["answer_ms"] = passed
            case Answered():
                found["appraised_ms"] = passed
    await person.settled()
    if watched.sent:
        found["own_ms"] = _MILLI * (watched.sent[0].at - began)
    return list(found.items())


def ratio(rows: Sequence[Row], rank: float = 0.5) -> float | None:
    """Time to the first words through the companion, divided by that of the bare requests, at one rank of both.

    Args:
        rows: of `measure_latency`.
        rank: 0.5 for medians, 0.95 for the slow ones.
    """
    through, bare = at_rank(rows, "first_words_ms", rank), at_rank(rows, "bare_first_words_ms", rank)
    return None if through is None or not bare else through / bare


def at_rank(rows: Iterable[Row], measure: str, rank: float) -> float | None:
    """The value below which this share of a measure's values lies; None if there are none."""
    values = [row.value for row in rows if row.measure == measure and row.value is not None]
    return float(np.quantile(values, rank)) if values else None
