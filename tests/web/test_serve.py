"""`persimchat serve`: what it refuses, what it asks for, and that it asks nobody else for anything."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from nicegui.testing import User
from web.conftest import Server

from persimchat.app.web.context import WebContext
from persimchat.app.web.serving import COOKIE, host_pages, web_context
from persimchat.state.errors import InputError

WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from persimchat.app.cli import main
sys.exit(main(["serve", "--port", "0"]))
"""
HEAVY = (
    "chromadb",
    "langgraph",
    "persimchat.app.web.api.app",
    "persimchat.app.web.pages",
    "persimchat.experiments.plan",
    "persimchat.graph.conversation",
    "persimchat.runs.companion.world",
)
LOADED = """
import sys
import persimchat.app.web.serving
print(*[name for name in sys.argv[1:] if name in sys.modules])
"""
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


def folders(tmp_path: Path) -> WebContext:
    return web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results")


@pytest.mark.proof
@pytest.mark.parametrize("package", ["nicegui", "uvicorn"])
def test_without_its_extra(package: str, tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", WITHOUT, package], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'persimchat[web]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.proof
def test_what_the_first_page_does_not_need_is_not_loaded_before_it():
    done = subprocess.run([sys.executable, "-c", LOADED, *HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_port_in_use(tmp_path: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=rf"127\.0\.0\.1:{port}.*--port"):
            host_pages(
                "127.0.0.1",
                port,
                web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results"),
                pytest.fail,
            )


@pytest.mark.parametrize("name", ["https://chat.example.org", "a b", "", "*.example.org", "x/y"])
def test_a_name_that_is_none(tmp_path: Path, name: str):
    with pytest.raises(InputError, match="--name .* is no host name"):
        host_pages(
            "127.0.0.1", 0, web_context(tmp_path / "r", tmp_path / "l", tmp_path / "e"), pytest.fail, None, [name]
        )


def test_an_address_that_is_not_ours(tmp_path: Path):
    with pytest.raises(InputError, match=r"192\.0\.2\.1:0"):
        host_pages(
            "192.0.2.1", 0, web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results"), pytest.fail
        )


def test_a_library_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "library").write_text("a file stands where the folder should be", encoding="utf-8")
    with pytest.raises(InputError, match="the library cannot be written.*--library"):
        host_pages(
            "127.0.0.1", 0, web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results"), pytest.fail
        )


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server that listens on every address: what it is called by here, and its token."""
    served = Server(tmp_path_factory.mktemp("open"), "--host", "0.0.0.0")
    address = urlsplit(served.url)
    yield f"127.0.0.1:{address.port}", parse_qs(address.query)["token"][0]
    served.close()


@pytest.mark.proof
def test_listening_elsewhere_takes_a_token(open_server: tuple[str, str]):
    name, token = open_server
    assert len(token) >= 24
    with httpx.Client(base_url=f"http://{name}", timeout=60) as client:
        for address in ("/", "/runs", "/api/runs", "/api/openapi.json", "/?token=wrong", "/_nicegui/x"):
            assert client.get(address).status_code == 403, address
        led = client.get("/runs", params={"token": token})
        assert (led.status_code, led.headers["location"]) == (303, "/runs")
        kept = led.headers["set-cookie"].lower()
        assert "httponly" in kept and "samesite=lax" in kept
        assert client.get("/runs").status_code == 200  # with the cookie
    bearer = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"http://{name}/api/runs", headers=bearer, timeout=60).status_code == 200


@pytest.mark.proof
@pytest.mark.parametrize(("given", "status"), [(None, 403), ("wrong", 403), ("right", 101)])
def test_its_websocket_takes_the_token_too(open_server: tuple[str, str], given: str | None, status: int):
    name, token = open_server
    cookie = {"Cookie": f"{COOKIE}={token if given == 'right' else given}"} if given else {}
    connection = HTTPConnection(name, timeout=60)
    connection.request("GET", SOCKET, headers={**HANDSHAKE, **cookie})
    assert connection.getresponse().status == status
    connection.close()


@pytest.mark.proof
async def test_pages_ask_nobody_else(user: User, monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: asked.append(host) or [])
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: asked.append(address))
    for address in ("/", "/runs", "/compare", "/personas", "/experiments"):
        await user.open(address)
        page = (await user.http_client.get(address)).text
        named = re.findall(r"""(?:src|href|url|from|import)\s*[=(]?\s*["']?((?:https?:)?//[^"'\s)]+)""", page)
        assert [one for one in named if "/_nicegui/" not in one and not one.startswith("http://test")] == []
    assert asked == []
