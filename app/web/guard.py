"""Checks every request before it reaches a page: its Host, its Origin and its token.

Any page in the browser can send requests to loopback, also by a host name that points there, so Host and Origin are
checked. If the server listens on other addresses, requests need a token (docs/web.md).
"""

from __future__ import annotations

import secrets
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from persimchat.state.plain_text import capitalised

COOKIE: Final = "persimchat_token"

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


class Guard:
    """An ASGI application that guards another one.

    Args:
        app: the guarded application.
        hosts: names by which the server may be called; empty for any, if a token is needed.
        token: the secret that a request must carry, as a cookie, `?token=` or `Authorization: Bearer`; None for none.
        own_keys: the beginning of paths whose application asks for keys of its own, in place of the token.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], token: str | None, own_keys: tuple[str, ...] = ()) -> None:
        self.app = app
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
        elif scope["type"] == "http" and (status := _too_much(connection)):
            await _too_large(connection.url.path, status)(scope, receive, send)
        elif self._token_of(connection) and scope["type"] == "http" and "token" in connection.query_params:
            await self._remembered(connection)(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, connection: HTTPConnection) -> str:
        """Why a request is refused; empty if it is not."""
        host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
        try:
            name, page = urlsplit(f"//{host}").hostname, urlsplit(origin or "").netloc
        except ValueError:
            return "Host or Origin is not a valid address."
        if self.hosts and name not in self.hosts:
            return "This host name is not accepted: use the address that the server has printed."
        if origin is not None and page != host:
            return "Requests of other pages are refused."
        token = self._token_of(connection)
        if token is not None and not secrets.compare_digest(_given(connection).encode(), token.encode()):
            return "A token is needed: open the address that the server has printed, with ?token=…"
        return ""

    def _token_of(self, connection: HTTPConnection) -> str | None:
        """The secret that a request must carry; by its path as it is routed, which the header Host has no part in."""
        return None if self.own_keys and connection.scope["path"].startswith(self.own_keys) else self.token

    def _remembered(self, connection: HTTPConnection) -> Response:
        """Keep the token in a cookie, out of the address, history and logs.

        Browsers send the cookie also when the user follows a link from another page, so that a link in a message
        works; Origin is checked anyway.
        """
        query = urlencode([(key, value) for key, value in connection.query_params.multi_items() if key != "token"])
        path = "/" + quote(connection.url.path.lstrip("/\\"))  # a path on this server only
        response = RedirectResponse(f"{path}?{query}" if query else path, status_code=303)
        secure = connection.url.scheme == "https"
        response.set_cookie(COOKIE, self.token or "", httponly=True, samesite="lax", secure=secure)
        return response


def _too_much(connection: HTTPConnection) -> int:
    """The status that refuses a body that is too large or does not state its size; 0 if it is accepted."""
    size = connection.headers.get("content-length")
    if "transfer-encoding" in connection.headers:  # it overrides a stated size
        return 411
    if size is None:
        return 0
    said = size.isascii() and size.isdigit() and len(size) < _LONGEST_SIZE
    return 0 if said and int(size) <= MOST_BYTES else 413


def _too_large(path: str, status: int) -> Response:
    """The answer that refuses a body; for the REST API and `/v1` in their forms (their problems.py)."""
    what = "the request does not state the size of its body" if status == 411 else "the body is too large"
    remedy = "Send its Content-Length." if status == 411 else f"Send at most {MOST_BYTES:,} bytes."
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
    await PlainTextResponse(why, status_code=403)(scope, receive, send)
