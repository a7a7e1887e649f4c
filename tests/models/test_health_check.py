"""Whether a model's server is there: a refusal is told at once, a silent one is waited for. Requests are careful."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from loopback.answering import Fault
from loopback.modes import answering
from loopback.server import free_port

from persimchat.models import health_check, waiting
from persimchat.models.failures import model_error
from persimchat.models.health_check import reach, reach_all, served_models
from persimchat.models.local.files import FOLDER_VARIABLE
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import build
from persimchat.models.waiting import Waiting, waits, waits_told
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings


@pytest.fixture
def raw() -> Iterator[Callable[[bytes], str]]:
    """Servers that say these bytes to everybody, or nothing; gives their address."""
    open_: list[socket.socket] = []

    def serve(said: bytes) -> str:
        listening = socket.create_server(("127.0.0.1", 0))
        open_.append(listening)

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                open_.append(connection)
                connection.recv(65_536)
                if said:
                    connection.sendall(said)
                    connection.close()

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}/v1"

    yield serve
    for one in open_:
        one.close()


async def test_a_server_that_lists_the_model_is_asked_nothing_more(serve: Serve):
    server = serve()
    await reach(server.model(), Settings())
    assert server.requests == []
    await reach(server.model("another"), Settings())
    assert [body["max_tokens"] for body in server.bodies()] == [16]


async def test_what_runs_can_use_is_not_refused(serve: Serve):
    """A server that wants another field for the limit, one that does not stream, an alias that its list lacks."""
    for server in (serve(refuses={"max_tokens"}), serve(answering("no stream")), serve(answering("reasoning_content"))):
        await reach(server.model("an-alias"), Settings())
    assert await served_models(server.url, 60) == ["test-model"]


async def test_models_that_need_no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    await reach("offline", Settings())
    with pytest.raises(InputError, match="persimchat models get smollm2"):
        await reach("smollm2", Settings())
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        await reach("openai:gpt-4o", Settings())


async def test_nobody_is_there():
    with pytest.raises(ModelError, match="nothing listens at http://127.0.0.1") as caught:
        await reach(f"m@http://127.0.0.1:{free_port()}/v1", Settings())
    assert "Is the server started?" in caught.value.remedy
    down = f"m@http://127.0.0.1:{free_port()}/v1"
    for settings in (Settings(model=down), Settings(module_models={"judge": down}), Settings(embedding=down)):
        with pytest.raises(ModelError, match="nothing listens at"):
            await reach_all(settings)
    await reach_all(Settings())


@pytest.mark.proof
async def test_a_server_that_never_says_anything_is_given_up_after_the_setting(raw: Callable[[bytes], str]):
    silent = f"m@{raw(b'')}"
    with pytest.raises(ModelError, match=r"nothing answers at http://127.0.0.1:\d+/v1 within 0.3 seconds") as caught:
        await reach(silent, Settings(timeout_s=0.3))
    assert "timeout_s" in caught.value.remedy
    with pytest.raises(ModelError, match="nothing answers at"):
        await reach_all(Settings(embedding=silent, timeout_s=0.3))
    with pytest.raises(ModelError, match="nothing answers at"):
        await served_models(raw(b""), 0.3)
    assert waits() == []


async def test_a_silent_server_is_waited_for_and_told(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(waiting, "TOLD_AFTER_S", 0.05)
    monkeypatch.setattr(waiting, "_AGAIN_S", 0.01)
    one, other = serve(silent_s=math.inf), serve(silent_s=math.inf)
    told: list[list[Waiting]] = []

    def tell(found: list[Waiting]) -> None:
        told.append(found)
        if len(found) == 2:
            assert waits() == found
            one.awake.set()
        if [entry.whom for entry in found] == [other.url] and one.awake.is_set():
            other.awake.set()

    models = {"perception": one.model("another"), "judge": other.model()}
    with waits_told(tell):
        await reach_all(Settings(model=one.model(), module_models=models))
    assert sorted([one.url, other.url]) in [[entry.whom for entry in found] for found in told]
    assert told[-1] == waits() == []
    await reach(one.model(), Settings())
    assert told[-1] == [], "who no longer listens is told nothing"


@pytest.mark.parametrize(
    "seconds", [pytest.param(8, marks=pytest.mark.proof), pytest.param(40, marks=pytest.mark.long)]
)
async def test_a_server_that_wakes_slowly(seconds: int, serve: Serve):
    told: list[Waiting] = []
    server = serve(silent_s=seconds)
    with waits_told(told.extend):
        await reach_all(Settings(model=server.model()))
    assert 3 <= told[0].seconds <= told[-1].seconds
    assert str(told[0]) == f"{server.url} ({told[0].seconds} s)"


async def test_an_address_that_takes_no_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health_check, "_CONNECT_S", 0.2)
    with socket.socket() as full, ExitStack() as waiting_:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # a full queue: the system answers no further one
            queued = waiting_.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(full.getsockname())
        with pytest.raises(ModelError, match=r"nothing answers at .* within 0.2 seconds") as caught:
            await reach(f"m@http://127.0.0.1:{full.getsockname()[1]}/v1", Settings())
    assert "Check its address" in caught.value.remedy


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>",
            "does not speak the protocol",
        ),
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "does not speak"),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "does not know the model"),
        (b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", "does not accept the key"),
        (b"SSH-2.0-OpenSSH_9\r\n", "cannot reach the server|no answer in the protocol"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n" + b"[" * 999_999, "does not speak the protocol"),
    ],
)
async def test_a_server_of_something_else(said: bytes, told: str, raw: Callable[[bytes], str]):
    with pytest.raises(ModelError, match=told):
        await reach(f"m@{raw(said)}", Settings())


async def test_what_the_server_has_instead(serve: Serve):
    server = serve(lambda _: Fault(404, {"error": {"message": "no such model"}}))
    with pytest.raises(ModelError, match="does not have the model 'other'; it has 'test-model'"):
        await reach(server.model("other"), Settings())


async def test_ollama_tells_what_to_load(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    listed: dict[str, Any] = {"data": [{"id": "llama3.2:latest"}, {"id": "<b>x</b>"}, {"id": 3}, "x"]}
    server = serve(tells={"/v1/models": listed})
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{server.port}")
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "secret")
    await reach("ollama:llama3.2", Settings())
    with pytest.raises(ModelError, match="ollama pull qwen") as caught:
        await reach("ollama:qwen", Settings())
    assert "llama3.2:latest" in caught.value.what
    with pytest.raises(ModelError) as caught:
        await reach("ollama:qwen; rm -rf x", Settings())
    assert "rm -rf" not in caught.value.remedy
    assert {key for _, key in server.told} == {""}


async def test_typed_addresses_are_asked_carefully(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    for address in ("http://169.254.169.254/v1", "http://[fe80::1]/v1"):
        with pytest.raises(InputError, match="link-local"):
            await served_models(address, 60)
        with pytest.raises(InputError, match="link-local"):
            await reach(f"m@{address}", Settings())
    for address in ("http://user:word@localhost/v1", "ftp://localhost", "localhost:8000", ""):
        with pytest.raises(InputError, match="address"):
            await served_models(address, 60)
    server = serve(tells={"/v1/models": {"data": []}})
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "own-key")
    assert await served_models(server.url, 60) == []
    monkeypatch.setattr(health_check, "may_have_own_key", lambda _: False)
    await served_models(server.url, 60)
    assert [key for _, key in server.told] == ["Bearer own-key", ""]


async def test_the_own_key_goes_to_this_machine_and_to_named_hosts(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    """Of every path by which a server is asked: with the model itself, too."""
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "own-key")
    name = "m@http://gpu.example:8000/v1"
    assert build(parse_model_name(name), Settings()).openai_api_key.get_secret_value() == "no-key"
    monkeypatch.setenv("PERSIMCHAT_KEY_HOSTS", "gpu.example")
    assert build(parse_model_name(name), Settings()).openai_api_key.get_secret_value() == "own-key"
    monkeypatch.delenv("PERSIMCHAT_KEY_HOSTS")
    refused = model_error(Refused(), parse_model_name(name), timeout_s=1)
    assert "PERSIMCHAT_KEY_HOSTS" in refused.remedy


class Refused(Exception):
    status_code = 401
