"""Nobody reaches a page by another name, from another page, or without the token."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect
from web.conftest import Server

from persimchat.app.web.serving import COOKIE, LOOPBACK, MOST_BYTES, POLICY, Guard, secret_in

TOKEN = "opensesame"


async def page(_: object) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("inside")
    await websocket.close()


INSIDE = Starlette(routes=[Route("/a/b", page), Route("/", page), WebSocketRoute("/ws", socket)])


def client(app: Guard, name: str = "localhost:8080") -> TestClient:
    return TestClient(app, base_url=f"http://{name}", follow_redirects=False)


@pytest.mark.parametrize("name", ["localhost:8080", "127.0.0.1:9", "[::1]:8080"])
def test_names_of_loopback(name: str):
    answer = client(Guard(INSIDE, LOOPBACK, None), name).get("/")
    assert (answer.status_code, answer.text) == (200, "inside")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["referrer-policy"] == "no-referrer"


NAMED = Guard(INSIDE, LOOPBACK | {"chat.example.org"}, "t", names=frozenset({"chat.example.org"}))
"""Behind a reverse proxy."""


@pytest.mark.parametrize("host", ["chat.example.org", "chat.example.org:443", "127.0.0.1:8080", "localhost"])
@pytest.mark.parametrize("origin", [None, "https://chat.example.org", "https://Chat.example.org:443"])
def test_through_a_reverse_proxy(host: str, origin: str | None):
    headers = {"authorization": "Bearer t"} | ({} if origin is None else {"origin": origin})
    assert client(NAMED, host).get("/", headers=headers).status_code == 200
    assert client(NAMED, host).get("/", headers={**headers, "authorization": "Bearer x"}).status_code == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example", "https://chat.example.org"),
        ("chat.example.org", "https://evil.example"),
        ("127.0.0.1:8080", "http://127.0.0.1:9090"),
        ("chat.example.org.evil.example", "https://chat.example.org"),
    ],
)
def test_no_other_page_comes_through_a_reverse_proxy(host: str, origin: str):
    headers = {"authorization": "Bearer t", "origin": origin}
    assert client(NAMED, host).get("/", headers=headers).status_code == 403


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io:8080"])
def test_names_that_only_point_to_loopback(name: str):
    assert client(Guard(INSIDE, LOOPBACK, None), name).get("/").status_code == 403


@pytest.mark.parametrize(
    "host", ["127.0.0.1:80.evil.com", "localhost:80:90", "x@localhost", "localhost:80/x", "localhost:"]
)
def test_hosts_that_only_begin_like_loopback(host: str):
    assert client(Guard(INSIDE, LOOPBACK, None)).get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("header", ["host", "origin"])
@pytest.mark.parametrize("value", ["[", "[x]", "http://[", "http://a]"])
def test_what_is_no_address(header: str, value: str):
    assert client(Guard(INSIDE, LOOPBACK, None)).get("/", headers={header: value}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:9999", "https://localhost.evil"])
def test_other_pages(origin: str):
    inside = client(Guard(INSIDE, LOOPBACK, None))
    assert inside.get("/", headers={"origin": origin}).status_code == 403
    assert inside.get("/", headers={"origin": "http://localhost:8080"}).status_code == 200
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        inside.websocket_connect("ws://localhost:8080/ws", headers={"origin": origin}),
    ):
        pass
    assert refused.value.code == 1008
    with inside.websocket_connect("ws://localhost:8080/ws", headers={"origin": "http://localhost:8080"}) as connected:
        assert connected.receive_text() == "inside"


def test_a_browser_gets_a_page_for_a_refusal():
    outside = client(Guard(INSIDE, frozenset(), TOKEN))
    told = outside.get("/", headers={"accept": "text/html,*/*"})
    assert (told.status_code, told.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert "<h1>PerSimChat</h1><p>A token is needed: open the address" in told.text
    assert told.headers["content-security-policy"] == POLICY
    assert outside.get("/").headers["content-type"] == "text/plain; charset=utf-8"


def test_a_token_is_asked_for_and_kept_out_of_the_address():
    outside = client(Guard(INSIDE, frozenset(), TOKEN))
    assert outside.get("/").status_code == 403
    assert outside.get("/?token=guess").status_code == 403
    assert outside.get("/", headers={"authorization": "Bearer guess"}).status_code == 403
    assert outside.get("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "inside"
    with pytest.raises(WebSocketDisconnect), outside.websocket_connect("ws://localhost:8080/ws"):
        pass
    entered = outside.get(f"/a/b?x=1%262&token={TOKEN}")
    assert entered.status_code == 303
    assert entered.headers["location"] == "/a/b?x=1%262"
    cookie = entered.headers["set-cookie"]
    assert f"{COOKIE}={TOKEN}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert outside.get("/a/b").text == "inside"  # with the cookie
    with outside.websocket_connect("ws://localhost:8080/ws") as connected:
        assert connected.receive_text() == "inside"


@pytest.mark.proof
def test_the_printed_address_holds_any_token(tmp_path: Path):
    served = Server(tmp_path, "--host", "0.0.0.0", PERSIMCHAT_TOKEN="a+b&c#d e")
    try:
        with httpx.Client(follow_redirects=True, timeout=60) as browser:
            assert browser.get(served.url.replace("0.0.0.0", "127.0.0.1")).status_code == 200
    finally:
        served.close()


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "///evil.example"])
def test_the_token_leads_to_no_other_host(path: str):
    answer = client(Guard(INSIDE, frozenset(), TOKEN)).get(f"http://localhost:8080{path}?token={TOKEN}")
    location = answer.headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


def test_under_a_path_of_a_reverse_proxy():
    outside = client(Guard(INSIDE, frozenset(), TOKEN))
    entered = outside.get(f"/a/b?token={TOKEN}", headers={"x-forwarded-prefix": "/people"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/people/a/b")
    assert "Path=/people;" in entered.headers["set-cookie"]


@pytest.mark.parametrize("prefix", ["people", "//evil.example", "/a b", "/a/", "/<script>", "https://evil.example"])
def test_what_is_no_path(prefix: str):
    assert client(Guard(INSIDE, LOOPBACK, None)).get("/", headers={"x-forwarded-prefix": prefix}).status_code == 403


@pytest.fixture
async def nobody() -> AsyncIterator[httpx.AsyncClient]:
    """A client that sends no Host at all."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(Guard(INSIDE, LOOPBACK, None))) as client:
        yield client


async def test_no_name_at_all(nobody: httpx.AsyncClient):
    assert (await nobody.get("http://localhost/", headers={"host": ""})).status_code == 403


def test_the_secret_is_its_owners_alone(tmp_path: Path):
    made = secret_in(tmp_path / "new")
    assert len(made) >= 40
    assert secret_in(tmp_path / "new") == made
    (tmp_path / "new" / "secret").write_text("")  # as a crash may leave it
    assert len(secret_in(tmp_path / "new")) >= 40
    assert stat.S_IMODE((tmp_path / "new" / "secret").stat().st_mode) == 0o600


async def test_a_body_has_its_limit():
    async def endless(millions: int):
        for _ in range(millions):
            yield b"x" * 1_000_000

    async with httpx.AsyncClient(transport=httpx.ASGITransport(Guard(INSIDE, LOOPBACK, None))) as sending:
        taken = await sending.get("http://localhost/", headers={"content-length": str(MOST_BYTES)})
        assert taken.status_code == 200
        for size in (str(MOST_BYTES + 1), "-1", "many"):
            refused = await sending.get("http://localhost/", headers={"content-length": size})
            assert refused.status_code == 413, size
        assert (await sending.post("http://localhost/", content=endless(2))).status_code == 405  # of the application
        assert (await sending.post("http://localhost/", content=endless(21))).status_code == 413
        both = {"content-length": "5", "transfer-encoding": "chunked"}
        assert (await sending.post("http://localhost/", content=endless(30), headers=both)).status_code == 413


async def test_a_head_of_an_endless_stream_ends() -> None:
    failed: list[object] = []

    async def parts() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"
        await asyncio.Event().wait()

    async def stream(_: object) -> StreamingResponse:
        return StreamingResponse(parts())

    async def told(_: object, why: Exception) -> PlainTextResponse:
        failed.append(why)
        return PlainTextResponse("failed")

    app = Starlette(routes=[Route("/", stream)], exception_handlers={Exception: told})
    asked, sent = iter([{"type": "http.request", "body": b""}, {"type": "http.disconnect"}]), []

    async def receive() -> Message:
        return next(asked)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost:8080")]
    scope = {"type": "http", "method": "HEAD", "path": "/", "raw_path": b"/", "query_string": b"", "headers": headers}
    scope |= {"server": ("localhost", 8080), "scheme": "http", "asgi": {"version": "3.0", "spec_version": "2.0"}}
    await asyncio.wait_for(Guard(app, LOOPBACK, None)(scope, receive, send), 60)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert not failed
