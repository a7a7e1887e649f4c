"""The server: pages, REST API and companions in one application behind the guard, and where it listens."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from persimchat.app.companion_udp.server import serve_udp
from persimchat.app.web.api.app import api_app
from persimchat.app.web.context import WebContext
from persimchat.app.web.guard import Guard
from persimchat.app.web.live_runs import LiveRuns
from persimchat.app.web.pages import register
from persimchat.app.web.results import Experiments
from persimchat.app.web.v1.app import Manner, v1_app
from persimchat.models.naming import OFFLINE
from persimchat.models.registry import ready_model
from persimchat.runs.companion.served import noted
from persimchat.runs.companion.world import World, opened_world
from persimchat.runs.folder.run_folder import check_out
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.place import Place
from persimchat.state.settings import Settings

_CLOSING_S: Final = 10
"""Seconds that a world has for what is under way when the server ends; the next opening goes on with the rest."""
_EVERY_S: Final = 60
"""Seconds after which those in a talk hear that time has passed."""
_WARM_AFTER_S: Final = 2.0
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class ServedWorld:
    """A companions' world to be served beside the pages.

    Attributes:
        folder: the world's.
        place: for a new world.
        settings: of its talks; None: those with which it was last opened.
        manner: how clients of `/v1` are taken.
        games: host and port for games over UDP; None for none.
        games_reply: the port that answers to games go to; None: the sender's own.
    """

    folder: Path
    place: Place | None = None
    settings: Settings | None = None
    manner: Manner = Manner()
    games: tuple[str, int] | None = None
    games_reply: int | None = None


def web_app(
    web: WebContext,
    *,
    secret: str,
    hosts: frozenset[str] = LOOPBACK,
    token: str | None = None,
    manner: Manner | None = None,
    at_the_end: Callable[[], Awaitable[None]] | None = None,
) -> FastAPI:
    """The whole application: REST API, pages and, if there is a world, `/v1`, behind the guard.

    Args:
        web: the context of the pages.
        secret: signs the cookie by which a browser's choices (language, colours) are found again.
        hosts: host names that it accepts; empty for any.
        token: the secret that a request must carry; None for none. `/v1` asks for keys of its own instead.
        manner: how clients of `/v1` are taken.
        at_the_end: what else is to be closed when the application ends.
    """
    api = api_app(web, at_the_end)
    if web.world is not None:
        api.mount("/v1", v1_app(web.world, replace(manner or Manner(), local=token is None)))
    register(web)
    ui.run_with(
        api,
        title="PerSimChat",
        favicon="💬",
        language="en-US",
        storage_secret=secret,
        reconnect_timeout=5,
        show_welcome_message=False,
    )
    api.add_middleware(Guard, hosts=hosts, token=token, own_keys=() if web.world is None else ("/v1/",))
    return api


def web_context(out: Path, library: Path, results: Path) -> WebContext:
    """The context of the pages for these folders: of runs, of the library, and of experiments."""
    experiments = Experiments(results)
    return WebContext(LiveRuns(out, experiments.run_of), library, experiments)


def secret_in(folder: Path) -> str:
    """The signing secret, in a file that only its owner can read; made if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "secret"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if kept := path.read_text(encoding="ascii"):
            return kept
        path.unlink()  # the process that made it stopped before writing it
        return secret_in(folder)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        made = secrets.token_urlsafe(32)
        file.write(made)
    return made


def host_pages(
    host: str, port: int, web: WebContext, say: Callable[[str], None], served: ServedWorld | None = None
) -> None:
    """Serve the pages until the server is stopped.

    Args:
        host: address to listen on; any but loopback needs a token.
        port: port to listen on, 0 for any that is free.
        web: the context of the pages.
        say: prints a line.
        served: a world to open and serve beside; None for none.

    Raises:
        InputError: the address cannot be used, one of the folders cannot be written, or the world cannot be opened.
    """
    check_out(web.runs.out)
    try:
        secret = secret_in(web.library / ".web")
    except OSError as error:
        raise InputError(
            f"the library cannot be written: {error.strerror}",
            where=str(web.library),
            remedy="Choose another: --library.",
        ) from error
    token = None if host in LOOPBACK else os.environ.get("PERSIMCHAT_TOKEN") or secrets.token_urlsafe(24)
    listening = _listen(host, port)
    with listening, suppress(KeyboardInterrupt):  # uvicorn raises it again after the shutdown; this is the normal end
        config = uvicorn.Config("", log_level="warning", timeout_graceful_shutdown=5)
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_host(config, listening, web, say, served, secret=secret, token=token, host=host))


async def _host(
    config: uvicorn.Config,
    listening: socket.socket,
    web: WebContext,
    say: Callable[[str], None],
    served: ServedWorld | None,
    *,
    secret: str,
    token: str | None,
    host: str,
) -> None:
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
    async with AsyncExitStack() as opened:
        if served is not None:
            world = await opened.enter_async_context(opened_world(served.folder, served.place, served.settings))
            opened.enter_context(noted(world.folder, address))
            opened.push_async_callback(_left, world, asyncio.create_task(_looking_after(world)))
            web = replace(web, world=world)
            games = None
            if served.games is not None:
                games = await opened.enter_async_context(serve_udp(world, *served.games, served.games_reply))
        config.app = web_app(
            web,
            secret=secret,
            hosts=LOOPBACK if token is None else frozenset(),
            token=token,
            manner=None if served is None else served.manner,
            at_the_end=opened.aclose,  # before the signal that ends the process is raised again
        )
        query = f"?token={quote(token, safe='')}" if token else ""
        say(f"PerSimChat: {address}{query}   (Ctrl-C stops it)")
        if web.world is not None:
            if games is not None:
                say(f"Games: udp {games.address[0]}:{games.address[1]}")
            say(f"World {web.world.name}: {address}v1" + ("" if token is None else "   (asks for keys of its own)"))
        warming = asyncio.create_task(_warmed())
        await _Server(config, web.runs).serve(sockets=[listening])
        warming.cancel()


async def _warmed() -> None:
    """Load what the first run needs and no page does, once there was time for the first page."""
    await asyncio.sleep(_WARM_AFTER_S)
    await asyncio.to_thread(import_module, "chromadb.api.client")
    await ready_model(OFFLINE, Settings())


async def _looking_after(world: World) -> None:
    while world.place.clock.mode == "wall":
        await asyncio.sleep(_EVERY_S)
        with suppress(PerSimChatError):
            await look_after(world)


async def look_after(world: World) -> None:
    """Tell those in a talk that time has passed: it may be over by silence, or a planned event may be due."""
    async with world.gate.beside():
        for agent in world.agents:
            for tie in await world.records.ties(agent):
                if tie.talk is not None or tie.over:
                    (await world.companion(agent, tie.name)).catch_up()


async def _left(world: World, care: asyncio.Task[None]) -> None:
    """Wait for what is under way in a world, but not for long."""
    care.cancel()
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_S):
            await world.settled()
    await world.stop()


class _Server(uvicorn.Server):
    """A server that stops the runs before it waits for open connections, which may follow a run to its end."""

    def __init__(self, config: uvicorn.Config, runs: LiveRuns) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop everything."""
        await self._runs.close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        raise InputError(
            f"the server cannot listen there: {error.strerror}", where=f"{host}:{port}", remedy="Choose another --port."
        ) from error
    return listening
