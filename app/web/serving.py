"""Checks every request before it reaches a page: its Host, its Origin and its token.

Any page in the browser can send requests to loopback, also by a host name that points there, so Host and Origin are
checked. If the server listens on other addresses, requests need a token (docs/web.md).
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode, urlsplit

import uvicorn
from fastapi import FastAPI
from nicegui import run as nicegui_run
from nicegui import ui
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...models.naming import OFFLINE, shown
from ...models.registry import close_models, ready_model
from ...runs.folder.run_folder import check_out
from ...state.errors import InputError
from ...state.plain_text import capitalised
from ...state.settings import Settings
from ..refusals import refusals_told
from .addresses import register
from .context import WebContext
from .live_runs import LiveRuns

if TYPE_CHECKING:
    from .served_world import ServedWorld


COOKIE: Final = "persimchat_token"

HEALTH: Final = "/api/health"
"""Asked by a proxy or a container whether the server is up; needs no token."""
MOST_BYTES: Final = 20_000_000
"""The largest body that a request may have."""

_LONGEST_SIZE: Final = 20
"""The most digits of a size; a longer one is invalid."""

# Vue compiles templates in the browser, hence unsafe-eval; images come from this server only, even in a model's text.
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)


_HOST: Final = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[^\[\]:@/?#\s]+)(?::\d{1,5})?")
"""A header Host: a name or an address, and a port."""


_PREFIX: Final = re.compile(r"(?:/[\w.~-]+)*", re.ASCII)
"""A header X-Forwarded-Prefix: the path under which a reverse proxy serves the pages."""


_REFUSAL: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>PerSimChat</title><style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }}
main {{ max-width: 32rem; margin: 15vh auto 0; padding: 0 1.5rem; }}
</style></head><body><main><h1>PerSimChat</h1><p>{why}</p></main></body></html>
"""


class Guard:
    """An ASGI application that guards another one.

    Args:
        app: the guarded application.
        hosts: names by which the server may be called; empty for any, if a token is needed.
        token: the secret that a request must carry, as a cookie, `?token=` or `Authorization: Bearer`; None for none.
        own_keys: the beginning of paths whose application asks for keys of its own, in place of the token.
        names: by which a reverse proxy is reached, which may call the server by another one.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        token: str | None,
        own_keys: tuple[str, ...] = (),
        names: frozenset[str] = frozenset(),
    ) -> None:
        self.app = app
        self.names = names
        self.hosts = hosts
        self.token = token
        self.own_keys = own_keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        refused = self._refused(connection)
        if refused:
            await _refuse(scope, receive, send, refused)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, _with_headers(send))
        elif _too_much(connection) or (given := await _counted(scope, receive)) is None:
            await _too_large(connection.url.path)(scope, receive, send)
        elif self._token_of(connection) and "token" in connection.query_params:
            await self._remembered(connection)(*given, send)
        elif scope["method"] == "HEAD":
            await _head(self.app, *given, _with_headers(send))
        else:
            await self.app(*given, _with_headers(send))

    def _refused(self, connection: HTTPConnection) -> str:
        """Why a request is refused; empty if it is not."""
        host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
        try:
            name, page = urlsplit(f"//{host}").hostname, urlsplit(origin or "").netloc
        except ValueError:
            return "Host or Origin is not a valid address."
        if host and not _HOST.fullmatch(host):
            return "Host is not a valid address."
        if not _PREFIX.fullmatch(_prefix(connection)):
            return "X-Forwarded-Prefix is no path such as /chat."
        if self.hosts and name not in self.hosts:
            return "This host name is not accepted: use the address that the server has printed, or serve with --name."
        if origin is not None and _bare(page) != _bare(host) and _bare(page) not in self.names:
            return "Requests of other pages are refused."
        token = self._token_of(connection)
        if token is not None and not secrets.compare_digest(_given(connection).encode(), token.encode()):
            return "A token is needed: open the address that the server has printed, with ?token=…"
        return ""

    def _token_of(self, connection: HTTPConnection) -> str | None:
        """The secret that a request must carry; by its path as it is routed, which the header Host has no part in."""
        path = connection.scope["path"]
        return None if path == HEALTH or (self.own_keys and path.startswith(self.own_keys)) else self.token

    def _remembered(self, connection: HTTPConnection) -> Response:
        """Keep the token in a cookie, out of the address, history and logs.

        Browsers send the cookie also when the user follows a link from another page, so that a link in a message
        works; Origin is checked anyway.
        """
        query = urlencode([(key, value) for key, value in connection.query_params.multi_items() if key != "token"])
        under = _prefix(connection)
        path = f"{under}/" + quote(connection.url.path.lstrip("/\\"))  # a path on this server only
        response = RedirectResponse(f"{path}?{query}" if query else path, status_code=303)
        secure = connection.url.scheme == "https"
        response.set_cookie(COOKIE, self.token or "", path=under or "/", httponly=True, samesite="lax", secure=secure)
        return response


def _prefix(connection: HTTPConnection) -> str:
    return connection.headers.get("x-forwarded-prefix", "")


def _bare(place: str) -> str:
    """Name and port of a page, without a port that goes without saying."""
    return place.lower().removesuffix(":443").removesuffix(":80")


def _too_much(connection: HTTPConnection) -> bool:
    """Whether a body is larger than it may be, as far as its request says."""
    size = connection.headers.get("content-length")
    if size is None or "transfer-encoding" in connection.headers:  # it overrides a stated size
        return False
    said = size.isascii() and size.isdigit() and len(size) < _LONGEST_SIZE
    return not said or int(size) > MOST_BYTES


async def _counted(scope: Scope, receive: Receive) -> tuple[Scope, Receive] | None:
    """A request, one whose body comes in chunks as if it had stated its size; None if it is too large."""
    if all(name != b"transfer-encoding" for name, _ in scope["headers"]):
        return scope, receive
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            return None
    parts = [message if message["type"] != "http.request" else {**message, "body": bytes(body)}]

    async def given() -> Message:
        return parts.pop() if parts else await receive()

    headers = [one for one in scope["headers"] if one[0] not in (b"content-length", b"transfer-encoding")]
    return {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}, given


async def _head(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a HEAD as the GET, without its body."""
    headed = False

    async def sending(message: Message) -> None:
        nonlocal headed
        if headed:
            return
        if message["type"] == "http.response.body":
            headed, message = True, {"type": "http.response.body", "body": b""}
        await send(message)

    await app({**scope, "method": "GET"}, receive, sending)


def _too_large(path: str) -> Response:
    """The answer that refuses a body; for the REST API and `/v1` in their forms."""
    what, remedy, status = "the body is too large", f"Send at most {MOST_BYTES:,} bytes.", 413
    if path.startswith("/api/"):
        return JSONResponse({"error": what, "where": "body", "remedy": remedy}, status_code=status)
    if path.startswith("/v1/"):
        told = {"message": f"{what} (body). {remedy}", "type": "invalid_request_error", "param": None, "code": None}
        return JSONResponse({"error": told}, status_code=status)
    return PlainTextResponse(f"{capitalised(what)}. {remedy}", status_code=status)


def _given(connection: HTTPConnection) -> str:
    bearer = connection.headers.get("authorization", "")
    return (
        connection.query_params.get("token")
        or connection.cookies.get(COOKIE)
        or (bearer[7:] if bearer.lower().startswith("bearer ") else "")
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)  # the report has a stricter policy of its own
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    reads_pages = "text/html" in HTTPConnection(scope).headers.get("accept", "")
    answer = HTMLResponse(_REFUSAL.format(why=escape(why))) if reads_pages else PlainTextResponse(why)
    answer.status_code = 403
    await answer(scope, receive, _with_headers(send))


# An application that is made when somebody asks it, so that the server is up before it is loaded


class Later(BaseRoute):
    """All addresses that begin alike, answered by another application. It gets them whole.

    Args:
        begin: with what they begin.
        make: makes the other application. Blocks; runs in a thread, once.
    """

    def __init__(self, begin: str, make: Callable[[], ASGIApp]) -> None:
        self._begin = begin
        self._make = make
        self._made: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def ready(self) -> ASGIApp:
        """The other application."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return self._made

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for it."""
        ours = scope["type"] == "http" and scope["path"].startswith(self._begin)
        return Match.FULL if ours else Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await (self._made or await self.ready())(scope, receive, send)


# The server: pages, REST API and companions in one application behind the guard, and where it listens


_WARM_AFTER_S: Final = 2.0
_FOR_RUNS: Final = ("persimchat.app.web.pages", "persimchat.runs.run.simulation", "chromadb.api.client")
"""What a run needs, and the first page does not."""
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def web_app(
    web: WebContext,
    *,
    secret: str,
    hosts: frozenset[str] = LOOPBACK,
    token: str | None = None,
    names: frozenset[str] = frozenset(),
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
        names: by which a reverse proxy is reached.
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
    # NiceGUI makes a pool of processes that no page here uses, and does not start where it cannot (/dev/shm read-only).
    nicegui_run.setup = lambda: None
    ui.run_with(
        whole,
        title="PerSimChat",
        favicon="💬",
        language="en-US",
        storage_secret=secret,
        reconnect_timeout=5,
        show_welcome_message=False,
    )
    whole.add_middleware(Guard, hosts=hosts, token=token, own_keys=() if v1 is None else ("/v1/",), names=names)
    return whole


def later_api(web: WebContext) -> Later:
    """The REST API, made when it is asked."""

    def make() -> FastAPI:
        from .api.app import api_app

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
    host: str,
    port: int,
    web: WebContext,
    say: Callable[[str], None],
    served: ServedWorld | None = None,
    names: Sequence[str] = (),
) -> None:
    """Serve the pages until the server is stopped.

    Args:
        host: address to listen on; any but loopback needs a token.
        port: port to listen on, 0 for any that is free.
        web: the context of the pages.
        say: prints a line.
        served: a world to open and serve beside; None for none.
        names: by which a reverse proxy is reached; with one, a token is needed.

    Raises:
        InputError: a name or the address cannot be used, one of the folders cannot be written, or the world cannot be
            opened.
    """
    called = frozenset(map(_name, names))
    check_out(web.runs.out)
    with refusals_told("the library cannot be written", web.library, "Choose another: --library."):
        secret = secret_in(web.library / ".web")
    token = None if host in LOOPBACK and not called else os.environ.get("PERSIMCHAT_TOKEN") or secrets.token_urlsafe(24)
    listening = _listen(host, port)
    with listening, suppress(KeyboardInterrupt):  # uvicorn raises it again after the shutdown; this is the normal end
        config = uvicorn.Config("", log_level="warning", timeout_graceful_shutdown=5)
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_host(config, listening, web, say, served, secret=secret, token=token, host=host, names=called))


def _name(text: str) -> str:
    """A name by which a reverse proxy is reached.

    Raises:
        InputError: it is none.
    """
    name = text.strip().lower()
    if not _HOST.fullmatch(name) or "*" in name:
        raise InputError(f"--name {shown(text)} is no host name", remedy="For example: --name chat.example.org")
    return _bare(name)


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
    names: frozenset[str],
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
            hosts=LOOPBACK | {name.partition(":")[0] for name in names} if host in LOOPBACK else frozenset(),
            token=token,
            names=names,
            v1=v1,
            api=api,
            at_the_end=stack.aclose,  # before the signal that ends the process is raised again
        )
        query = f"?token={quote(token, safe='')}" if token else ""
        say(f"PerSimChat: {address}{query}   (Ctrl-C stops it)")
        for name in sorted(names):
            say(f"Through your proxy: https://{name}/{query}")
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
    with refusals_told("the server cannot listen there", f"{host}:{port}", "Choose another --port."):
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
