"""Route: a run's events as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Final

from fastapi import Header, Query, Response
from fastapi.responses import StreamingResponse

from ....runs.events import Event, Speaking, Token
from ....runs.folder.reading import past_events, read_run
from ....state.errors import PerSimChatError
from .bodies import NO_RUN, giving, router
from .runs import Web, check_run

ALIVE_S: Final = 15.0
"""Seconds without events after which a comment is sent, so that no proxy closes the connection."""

_AT_ONCE: Final = 50
"""How many events of a kept run are read at a time."""


stream = router("/api/runs/{run}", "runs", NO_RUN)


@stream.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        **giving("text/event-stream"),
        204: {"description": "The client has all events, and no more will come."},
    },
)
async def events(
    web: Web,
    run: str,
    after: Annotated[int, Query(ge=0, le=10**9, description="leave out this many of the lasting events")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=10**9, description="as `after`; sent by browsers")] = None,
) -> Response:
    """The past events of a run, then new ones as they happen, to its end (docs/events.md).

    Lasting events are numbered from 1 (`id`), so that a client can continue after a lost connection; `speaking` and
    `token` do not last and have no number.
    """
    live = web.runs.get(run)
    source = live.broadcast.subscribe() if live is not None else _kept(check_run(web, run))
    coming = _numbered(source, max(after, last_event_id or 0))
    if live is None or live.over:
        first = await anext(coming, None)
        if first is None:
            return Response(status_code=204)
        coming = _after(first, coming)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_alive(coming), media_type="text/event-stream", headers=headers)


async def _kept(folder: Path) -> AsyncGenerator[Event, None]:
    """The events of a kept run, read in a thread a few at a time."""
    past: Iterator[Event] = await asyncio.to_thread(lambda: past_events(read_run(folder)))

    def some() -> list[Event]:
        return [event for event, _ in zip(past, range(_AT_ONCE), strict=False)]

    while events := await asyncio.to_thread(some):
        for event in events:
            yield event


async def _numbered(events: AsyncGenerator[Event, None], had: int) -> AsyncGenerator[str, None]:
    """Events as text, without those that the client has. A run's error ends the stream after `stopped`."""
    number = 0
    try:
        async with aclosing(events):
            async for event in events:
                lasting = not isinstance(event, Speaking | Token)
                number += lasting
                if number > had or (number == had and not lasting):
                    id_ = f"id: {number}\n" if lasting else ""
                    yield f"{id_}event: {event.event}\ndata: {event.model_dump_json()}\n\n"
    except PerSimChatError:
        if not number:
            raise  # the run's folder cannot be read
        return  # the event `stopped` says so


async def _after(first: str, rest: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    yield first
    async with aclosing(rest):
        async for text in rest:
            yield text


async def _alive(stream: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    """The stream with a comment now and then while nothing happens."""
    coming: asyncio.Task[str] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(stream))
            done, _ = await asyncio.wait([coming], timeout=ALIVE_S)
            if not done:
                yield ": alive\n\n"
                continue
            try:
                text = coming.result()
            except StopAsyncIteration:
                return
            coming = None
            yield text
    finally:
        if coming is not None:
            coming.cancel()
        else:
            await stream.aclose()
