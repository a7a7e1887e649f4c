"""Who a request's person is, and which talk it belongs to.

On loopback everybody is who they say. Elsewhere a key is a person, and only the holder of a key with `relay` may name
others.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.datastructures import Headers

from ....runs.companion.keys import Key, find_key
from ....runs.companion.world import World
from ....runs.threads import in_thread
from ....state.companion import person_name
from ....state.errors import InputError, PerSimChatError, suggestion
from ..api.bodies import METHODS, JsonRoute
from .bodies import (
    LAST,
    ChatRequest,
    Completion,
    Done,
    NoKey,
    NoSuchModel,
    TooFast,
    add_problems,
    event,
    model,
    problem,
    told,
)
from .talking import Talking, put_last
from .tasks import is_task

PERSON, FORWARDED_PERSON = "x-persimchat-person", "x-openwebui-user-name"
TALK, FORWARDED_TALK = "x-persimchat-talk", "x-openwebui-chat-id"
_LONGEST_TALK: Final = 64
_LONGEST_HEADER: Final = 1_000

A_SECOND: Final = 5
"""Messages that one client may send in a second, on average."""
BURST: Final = 10
"""Messages that one client may send at once after a pause."""
_PEERS: Final = 1_000


@dataclass(frozen=True)
class Doorkeeper:
    """Says who asks.

    Attributes:
        world: whose keys count.
        local: whether the server listens on loopback only.
        person: who asks if nobody says so.
    """

    world: World
    local: bool
    person: str

    async def admitted(self, headers: Headers) -> Key | None:
        """The key of a request; None for one without a known key, which only loopback takes.

        Raises:
            NoKey: the key is missing or wrong, and the server listens elsewhere, too.
        """
        scheme, _, given = headers.get("authorization", "").partition(" ")
        async with self.world.gate.beside():
            known = scheme.lower() == "bearer"
            key = await in_thread(find_key, self.world.store, self.world.name, given.strip()) if known else None
        if key is None and not self.local:
            raise NoKey("a key of this world is needed", remedy="Make one: persimchat companion key.")
        return key

    def person_of(self, key: Key | None, headers: Headers, request: ChatRequest) -> str:
        """The person of a request.

        Args:
            key: its key (`admitted`).
            headers: its headers.
            request: its body.

        Raises:
            InputError: nothing is left of the name, or it is too long.
        """
        if key is not None and not key.relay:
            return person_name(key.person)
        named = [_text(headers, PERSON), unquote(_text(headers, FORWARDED_PERSON))]
        if key is None:
            last = next((m.name for m in reversed(request.messages) if m.role == "user"), None)
            named += [last or "", request.user or ""]
        return person_name(next(filter(str.strip, named), self.person if key is None else key.person))


def talk_of(headers: Headers) -> str:
    """The client's name for its talk; empty for the open one. Long names are replaced by their hash."""
    name = (_text(headers, TALK) or _text(headers, FORWARDED_TALK)).strip()
    if len(name) > _LONGEST_TALK or not name.isprintable():
        return hashlib.sha256(name.encode()).hexdigest()[:16]
    return name


def _text(headers: Headers, name: str) -> str:
    """A header's text, which may be UTF-8 though HTTP's is Latin-1."""
    value = headers.get(name, "")[:_LONGEST_HEADER]
    try:
        return value.encode("latin-1").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return value


@dataclass
class Pace:
    """How many messages each client may send: a bucket of `BURST` that fills with `A_SECOND`."""

    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def check(self, peer: str, now: float | None = None) -> None:
        """Take one message from a client.

        Args:
            peer: its address.
            now: seconds of a clock that only goes forward.

        Raises:
            TooFast: it has sent too many.
        """
        at = time.monotonic() if now is None else now
        left, before = self._left.get(peer, (float(BURST), at))
        left = min(float(BURST), left + (at - before) * A_SECOND)
        put_last(self._left, peer, (left if left < 1 else left - 1, at), _PEERS)
        if left < 1:
            raise TooFast(max(1, math.ceil((1 - left) / A_SECOND)))


# `/v1` as an application of its own, with OpenAI's paths, forms and errors


PLAIN: Final = "plain"
"""The bare model's id."""
MOST_BYTES: Final = 4_000_000
"""The largest body that a request may have."""
_PIECES = AsyncGenerator[str | Done, None]


@dataclass(frozen=True)
class Manner:
    """How a world is served.

    Attributes:
        local: whether the server listens on loopback only, where any key is taken.
        person: who talks if a client does not say.
        instructed: whether a client's system messages reach the agents, as data.
    """

    local: bool = True
    person: str = "guest"
    instructed: bool = True


def model_ids(world: World) -> dict[str, str]:
    """The agents' full names by model id: the name in small letters with hyphens."""
    found: dict[str, str] = {}
    for agent in world.place.agents:
        base = re.sub(r"[\W_]+", "-", agent.name.casefold()).strip("-") or "agent"
        tried, number = base, 1
        while tried == PLAIN or tried in found:
            number += 1
            tried = f"{base}-{number}"
        found[tried] = agent.name
    return found


def v1_app(world: World, manner: Manner) -> FastAPI:
    """The application, to be mounted at `/v1`.

    Args:
        world: the world that is served.
        manner: how it is served.
    """
    api = FastAPI(title="PerSimChat", docs_url=None, redoc_url=None, openapi_url=None)
    add_problems(api)
    api.include_router(_router(world, manner))

    @api.api_route("/{rest:path}", methods=list(METHODS), include_in_schema=False)
    async def nothing(rest: str) -> JSONResponse:
        """Answer unknown addresses."""
        remedy = "Use /v1/chat/completions or /v1/models."
        return JSONResponse(problem(f"There is nothing at /v1/{rest[:60]}. {remedy}"), status_code=404)

    return api


def _router(world: World, manner: Manner) -> APIRouter:
    router = APIRouter(route_class=JsonRoute)
    door, pace = Doorkeeper(world, manner.local, manner.person), Pace()
    talking, began = Talking(world, instructed=manner.instructed), int(time.time())

    @router.get("/models")
    async def models(request: Request) -> dict[str, Any]:
        """The agents, and the bare model."""
        await door.admitted(request.headers)
        return {"object": "list", "data": [model(id_, began) for id_ in (*model_ids(world), PLAIN)]}

    @router.get("/models/{name}")
    async def one_model(request: Request, name: str) -> dict[str, Any]:
        """One of them."""
        await door.admitted(request.headers)
        if name not in (*model_ids(world), PLAIN):
            raise _no_model(world, name)
        return model(name, began)

    @router.post("/chat/completions")
    async def completions(request: Request, asked: ChatRequest) -> Response:
        """An agent's answer to a person's words."""
        headers, started = request.headers, time.perf_counter()
        pace.check(request.client.host if request.client else "")
        key = await door.admitted(headers)
        if (size := int(headers.get("content-length", 0))) > MOST_BYTES:
            raise InputError(f"the body has {size:,} bytes", where="body", remedy=f"Send at most {MOST_BYTES:,}.")
        asked.check()
        agent = _agent(world, asked.model)
        person = door.person_of(key, headers, asked)
        talk = talk_of(headers)
        if agent is None or is_task(asked, talking.instructions(agent, person, talk)):
            pieces = talking.plain(asked, person)
        else:
            pieces = talking.words(asked, agent=agent, person=person, talk=talk)
        usage = asked.stream_options is not None and asked.stream_options.include_usage
        form = Completion(f"chatcmpl-{uuid.uuid4().hex}", asked.model, with_usage=usage)
        if not asked.stream:
            done = [piece async for piece in pieces][-1]
            assert isinstance(done, Done)
            return JSONResponse(form.whole(done), headers=_timing(started))
        first = await anext(pieces)  # so that a failure before the first word has its own status
        timing = _timing(started) | {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_stream(form, first, pieces), media_type="text/event-stream", headers=timing)

    return router


async def _stream(form: Completion, first: str | Done, pieces: _PIECES) -> AsyncIterator[str]:
    async with aclosing(pieces):
        yield form.first()
        try:
            yield form.words(first) if isinstance(first, str) else form.end(first)
            async for piece in pieces:
                yield form.words(piece) if isinstance(piece, str) else form.end(piece)
        except PerSimChatError as error:
            yield event(told(error)[1]) + LAST
        except Exception as error:
            yield event(told(error)[1]) + LAST
            raise


def _timing(started: float) -> dict[str, str]:
    """A header that says how long the client waited for the first word, or for a whole answer."""
    return {"server-timing": f"answer;dur={(time.perf_counter() - started) * 1000:.0f}"}


def _agent(world: World, name: str) -> str | None:
    """The full name of the agent that a client wants; None for the bare model.

    Raises:
        NoSuchModel: there is none.
    """
    bare = name.strip().rpartition("/")[2].removesuffix(":latest")  # as programs name models
    if bare == PLAIN:
        return None
    found = model_ids(world).get(bare.casefold())
    if found is not None:
        return found
    try:
        return world.agent_named(name)
    except InputError:
        raise _no_model(world, name) from None


def _no_model(world: World, name: str) -> NoSuchModel:
    ids = (*model_ids(world), PLAIN)
    remedy = suggestion(name, ids, otherwise=f"Choose one of: {', '.join(ids[:20])}.")
    return NoSuchModel(f"there is no agent {name[:80]!r} in this world", where="model", remedy=remedy)
