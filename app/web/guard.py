"""What every request passes before it reaches a page: the Host and Origin it names, and the token.

A page on loopback is reached by every page that the browser shows, and by names that point to loopback: so Host and
Origin are checked. Where the server is bound to other addresses, a token is asked for (docs/web.md).
"""

from __future__ import annotations

import secrets
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "persimchat_token"

MOST_BYTES: Final = 20_000_000
"""The largest body that a request may have."""

_LONGEST_SIZE: Final = 20
"""Digits of a size; a longer one is no size."""

# Vue compiles templates in the browser, hence unsafe-eval; images come from here only, also those of a model's words.
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)


class Guard:
    """An ASGI application before another one.

    Args:
        app: what is guarded.
        hosts: names by which the server may be called; empty for any, where a token is asked for.
        token: what a request has to show, as a cookie, `?token=` or `Authorization: Bearer`; None for nothing.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], token: str | None) -> None:
        self.app = app
        self.hosts = hosts
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        refused = self._refused(connection)
        if refused:
            await _refuse(scope, receive, send, refused)
        elif scope["type"] == "http" and (status := _too_much(connection)):
            await _too_large(connection.url.path, status)(scope, receive, send)
        elif self.token is not None and scope["type"] == "http" and "token" in connection.query_params:
            await self._remembered(connection)(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, connection: HTTPConnection) -> str:
        """Why a request is refused; empty where it is not."""
        host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
        try:
            name, page = urlsplit(f"//{host}").hostname, urlsplit(origin or "").netloc
        except ValueError:
            return "Host or Origin is no address."
        if self.hosts and name not in self.hosts:
            return "This name is not known here: call the server by the address that it has printed."
        if origin is not None and page != host:
            return "Requests of other pages are refused."
        if self.token is not None and not secrets.compare_digest(_given(connection).encode(), self.token.encode()):
            return "A token is needed: open the address that the server has printed, with ?token=…"
        return ""

    def _remembered(self, connection: HTTPConnection) -> Response:
        """Keep the token in a cookie, out of the address, history and logs.

        The cookie goes with links of other pages, so that a link in a message opens the page; Origin is checked anyway.
        """
        query = urlencode([(key, value) for key, value in connection.query_params.multi_items() if key != "token"])
        path = "/" + quote(connection.url.path.lstrip("/\\"))  # never another host
        response = RedirectResponse(f"{path}?{query}" if query else path, status_code=303)
        secure = connection.url.scheme == "https"
        response.set_cookie(COOKIE, self.token or "", httponly=True, samesite="lax", secure=secure)
        return response


def _too_much(connection: HTTPConnection) -> int:
    """The status by which a body is refused that is too large, or whose size is not said; 0 where it is taken."""
    size = connection.headers.get("content-length")
    if "transfer-encoding" in connection.headers:  # it holds, whatever size is said beside it
        return 411
    if size is None:
        return 0
    said = size.isascii() and size.isdigit() and len(size) < _LONGEST_SIZE
    return 0 if said and int(size) <= MOST_BYTES else 413


def _too_large(path: str, status: int) -> Response:
    """The answer to such a body, for the REST API in its form (app/web/api/problems.py)."""
    what = "the size of the body is not said" if status == 411 else "the body is too large"
    remedy = "Send its Content-Length." if status == 411 else f"Send at most {MOST_BYTES:,} bytes."
    if path.startswith("/api/"):
        return JSONResponse({"error": what, "where": "body", "remedy": remedy}, status_code=status)
    return PlainTextResponse(f"{what[0].upper()}{what[1:]}. {remedy}", status_code=status)


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
            headers.setdefault("content-security-policy", POLICY)  # the report has a stricter one of its own
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    await PlainTextResponse(why, status_code=403)(scope, receive, send)
