"""The server: pages, REST API and companions in one application behind the guard, and where it listens."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from nicegui import ui
from starlette.types import ASGIApp

from persimchat.app.web.context import WebContext
from persimchat.app.web.guard import Guard
from persimchat.app.web.later import Later
from persimchat.app.web.live_runs import LiveRuns
from persimchat.app.web.pages import register
from persimchat.models.naming import OFFLINE
from persimchat.models.registry import close_models, ready_model
from persimchat.runs.folder.run_folder import check_out
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

if TYPE_CHECKING:
    from persimchat.app.web.served_world import ServedWorld

_WARM_AFTER_S: Final = 2.0
_FOR_RUNS: Final = ("persimchat.app.web.run_pages", "persimchat.runs.run.simulation", "chromadb.api.client")
"""What a run needs, and the first page does not."""
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def web_app(
    web: WebContext,
    *,
    secret: str,
    hosts: frozenset[str] = LOOPBACK,
    token: str | None = None,
    v1: ASGIApp | None = None,
    api: Later | None = None,
    at_the_end: Callable[[], Awaitable[None]] | None = None,
) -> FastAPI:
    """The whole application: REST API, pages and, if there is a world, `/v1`, behind the guard.

    Runs are stopped, and can be resumed, when it ends.

    Args:
        web: the context of the pages.
        secret: signs the cookie by which a browser's choices (language, colours) are found again.
        hosts: host names that it accepts; empty for any.
        token: the secret that a request must carry; None for none. `/v1` asks for keys of its own instead.
        v1: the application for clients of the world; None for none.
        api: the REST API; None to make it when it is asked.
        at_the_end: what else is to be closed when the application ends, while models can still be asked.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await web.runs.close()
        if at_the_end is not None:
            await at_the_end()
        await close_models()

    whole = FastAPI(openapi_url=None, lifespan=lifespan)
    whole.router.routes.append(api or later_api(web))
    if v1 is not None:
        whole.mount("/v1", v1)
    register(web)
    ui.run_with(
        whole,
        title="PerSimChat",
        favicon="💬",
        language="en-US",
        storage_secret=secret,
        reconnect_timeout=5,
        show_welcome_message=False,
    )
    whole.add_middleware(Guard, hosts=hosts, token=token, own_keys=() if v1 is None else ("/v1/",))
    return whole


def later_api(web: WebContext) -> Later:
    """The REST API, made when it is asked."""

    def make() -> FastAPI:
        from persimchat.app.web.api.app import api_app

        return api_app(web)

    return Later("/api/", make)


def web_context(out: Path, library: Path, results: Path) -> WebContext:
    """The context of the pages for these folders: of runs, of the library, and of experiments."""
    web = WebContext(LiveRuns(out, lambda address: web.experiments.run_of(address)), library, results)
    return web


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
    async with AsyncExitStack() as stack:
        lines: tuple[str, ...] = ()
        v1: FastAPI | None = None
        if served is not None:
            opened = await stack.enter_async_context(served.opened(address, local=token is None))
            web, v1, lines = replace(web, world=opened.world), opened.v1, opened.lines
        api = later_api(web)
        config.app = web_app(
            web,
            secret=secret,
            hosts=LOOPBACK if token is None else frozenset(),
            token=token,
            v1=v1,
            api=api,
            at_the_end=stack.aclose,  # before the signal that ends the process is raised again
        )
        query = f"?token={quote(token, safe='')}" if token else ""
        say(f"PerSimChat: {address}{query}   (Ctrl-C stops it)")
        for line in lines:
            say(line)
        warming = asyncio.create_task(_warmed(api))
        await _Server(config, web.runs).serve(sockets=[listening])
        warming.cancel()


async def _warmed(api: Later) -> None:
    """Load what the first page does not need, once there was time for it."""
    await asyncio.sleep(_WARM_AFTER_S)
    for module in _FOR_RUNS:
        await asyncio.to_thread(import_module, module)
    await api.ready()
    await ready_model(OFFLINE, Settings())


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
