"""Where the server listens, and what it tells whoever has started it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

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
        app = web_app(
            place_in(out, library), secret=secret, hosts=LOOPBACK if token is None else frozenset(), token=token
        )
        say(f"PerSimChat: http://{name}:{shown}/" + (f"?token={token}" if token else "") + "   (Ctrl-C stops it)")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
        server.run(sockets=[listening])


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
