"""`/v1` as an application of its own, with OpenAI's paths, forms and errors."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.v1.answers import LAST, Completion, Done, event, model
from persimchat.app.web.v1.bodies import ChatRequest
from persimchat.app.web.v1.people import Doorkeeper, Pace, talk_of
from persimchat.app.web.v1.problems import NoSuchModel, add_problems, problem, told
from persimchat.app.web.v1.talking import Talking
from persimchat.app.web.v1.tasks import is_task
from persimchat.runs.companion.keys import Keys
from persimchat.runs.companion.world import World
from persimchat.state.errors import InputError, PerSimChatError, suggestion

PLAIN: Final = "plain"
"""The bare model's id."""
MOST_BYTES: Final = 4_000_000
"""The largest body that a request may have."""
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
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

    @api.api_route("/{rest:path}", methods=list(_METHODS), include_in_schema=False)
    async def nothing(rest: str) -> JSONResponse:
        """Answer unknown addresses."""
        remedy = "Use /v1/chat/completions or /v1/models."
        return JSONResponse(problem(f"There is nothing at /v1/{rest[:60]}. {remedy}"), status_code=404)

    return api


def _router(world: World, manner: Manner) -> APIRouter:
    router = APIRouter(route_class=JsonRoute)
    door, pace = Doorkeeper(Keys(world.folder), manner.local, manner.person), Pace()
    talking, began = Talking(world, instructed=manner.instructed), int(time.time())

    @router.get("/models")
    async def models(request: Request) -> dict[str, Any]:
        """The agents, and the bare model."""
        door.admitted(request.headers)
        return {"object": "list", "data": [model(id_, began) for id_ in (*model_ids(world), PLAIN)]}

    @router.get("/models/{name}")
    async def one_model(request: Request, name: str) -> dict[str, Any]:
        """One of them."""
        door.admitted(request.headers)
        if name not in (*model_ids(world), PLAIN):
            raise _no_model(world, name)
        return model(name, began)

    @router.post("/chat/completions")
    async def completions(request: Request, asked: ChatRequest) -> Response:
        """An agent's answer to a person's words."""
        headers, started = request.headers, time.perf_counter()
        pace.check(request.client.host if request.client else "")
        key = door.admitted(headers)
        if (size := int(headers.get("content-length", 0))) > MOST_BYTES:
            raise InputError(f"the body has {size:,} bytes", where="body", remedy=f"Send at most {MOST_BYTES:,}.")
        asked.check()
        agent = _agent(world, asked.model)
        person = door.person_of(key, headers, asked)
        if agent is None or is_task(asked):
            pieces = talking.plain(asked, person)
        else:
            pieces = talking.words(asked, agent=agent, person=person, talk=talk_of(headers))
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
    if name == PLAIN:
        return None
    found = model_ids(world).get(name.strip().casefold())
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
