"""The server: pages and REST API in one application behind the guard, and the address on which it listens."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from persimchat.app.web.api.app import api_app
from persimchat.app.web.context import WebContext
from persimchat.app.web.guard import Guard
from persimchat.app.web.live_runs import LiveRuns
from persimchat.app.web.pages import register
from persimchat.app.web.results import Experiments
from persimchat.runs.folder.run_folder import check_out
from persimchat.state.errors import InputError

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def web_app(web: WebContext, *, secret: str, hosts: frozenset[str] = LOOPBACK, token: str | None = None) -> FastAPI:
    """The whole application: REST API and pages behind the guard.

    Args:
        web: the context of the pages.
        secret: signs the cookie by which a browser's choices (language, colours) are found again.
        hosts: host names that it accepts; empty for any.
        token: the secret that a request must carry; None for none.
    """
    api = api_app(web)
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
    api.add_middleware(Guard, hosts=hosts, token=token)
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


def host_pages(host: str, port: int, web: WebContext, say: Callable[[str], None]) -> None:
    """Serve the pages until the server is stopped.

    Args:
        host: address to listen on; any but loopback needs a token.
        port: port to listen on, 0 for any that is free.
        web: the context of the pages.
        say: prints a line.

    Raises:
        InputError: the address cannot be used, or one of the folders cannot be written.
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
    with listening:
        shown = listening.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        app = web_app(web, secret=secret, hosts=LOOPBACK if token is None else frozenset(), token=token)
        query = f"?token={quote(token, safe='')}" if token else ""
        say(f"PerSimChat: http://{name}:{shown}/{query}   (Ctrl-C stops it)")
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after the shutdown; this is the normal end
            _Server(config, web.runs).run(sockets=[listening])


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
