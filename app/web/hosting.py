"""Where the server listens, and what it tells whoever has started it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import uvicorn

from persimchat.app.web.live_runs import LiveRuns
from persimchat.app.web.serving import LOOPBACK, place_in, secret_in, web_app
from persimchat.state.errors import InputError


def host_pages(host: str, port: int, out: Path, library: Path, say: Callable[[str], None]) -> None:
    """Serve the pages until somebody stops the server.

    Args:
        host: address to listen on; for others than loopback a token is asked for.
        port: port to listen on, 0 for any that is free.
        out: folder of runs.
        library: folder of one's own personas and saved set-ups.
        say: tells a line.

    Raises:
        InputError: nobody can listen there, or the folder cannot be written.
    """
    try:
        secret = secret_in(library / ".web")
    except OSError as error:
        raise InputError(
            f"the library cannot be written: {error.strerror}", where=str(library), remedy="Choose another: --library."
        ) from error
    token = None if host in LOOPBACK else os.environ.get("PERSIMCHAT_TOKEN") or secrets.token_urlsafe(24)
    listening = _listen(host, port)
    with listening:
        shown = listening.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        place = place_in(out, library)
        app = web_app(place, secret=secret, hosts=LOOPBACK if token is None else frozenset(), token=token)
        query = f"?token={quote(token, safe='')}" if token else ""
        say(f"PerSimChat: http://{name}:{shown}/{query}   (Ctrl-C stops it)")
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)
        with suppress(KeyboardInterrupt):  # raised again when everything was stopped; it is the way to end this
            _Server(config, place.runs).run(sockets=[listening])


class _Server(uvicorn.Server):
    """It stops the runs before it waits for connections: whoever follows a run waits for the run's end."""

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
            f"nobody can listen there: {error.strerror}", where=f"{host}:{port}", remedy="Choose another --port."
        ) from error
    return listening
