"""Page and REST say that they wait for a silent server, and go on when it speaks."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from loopback.server import LoopbackServer
from nicegui.testing import User
from web.conftest import until
from web.first_screen import fill, one

from persimchat.app.web.context import WebContext
from persimchat.models import waiting

Serve = Callable[..., LoopbackServer]


def talk(server: LoopbackServer, **settings: Any) -> dict[str, Any]:
    """The body of a request for a short conversation."""
    return {"topic": "Tea?", "settings": {"max_messages": 1, "model": server.model(), **settings}}


@pytest.fixture(
    params=[math.inf, pytest.param(8, marks=pytest.mark.proof), pytest.param(40, marks=pytest.mark.long)],
    ids=str,
)
def slow(request: pytest.FixtureRequest, serving: Serve, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    """A server that says nothing for so many seconds, or until the test wakes it."""
    if request.param == math.inf:
        monkeypatch.setattr(waiting, "TOLD_AFTER_S", 0.05)
    return serving(silent_s=request.param)


def wake(server: LoopbackServer) -> None:
    """Wake a server that has no time of its own to wake."""
    if server.silent_s == math.inf:
        server.awake.set()


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("path", ["/api/runs", "/api/models/test", "/api/models/served"])
async def test_rest_names_the_server_while_a_request_waits(api: httpx.AsyncClient, slow: LoopbackServer, path: str):
    bodies: dict[str, dict[str, Any]] = {
        "/api/runs": talk(slow),
        "/api/models/test": {"model": slow.model()},
        "/api/models/served": {"address": slow.url},
    }
    asked = asyncio.create_task(api.post(path, json=bodies[path], timeout=300))
    while not (named := (await api.get("/api/models")).json()["waiting"]):
        assert not asked.done(), asked.result().text
        await asyncio.sleep(0.02)
    assert [one["whom"] for one in named] == [slow.url]
    wake(slow)
    answer = await asked
    assert answer.status_code in (200, 201), answer.text
    assert (await api.get("/api/models")).json()["waiting"] == []


async def test_rest_gives_a_silent_server_up(api: httpx.AsyncClient, serving: Serve, web: WebContext):
    server = serving(silent_s=math.inf)
    answer = await api.post("/api/runs", json=talk(server, timeout_s=0.3))
    assert answer.status_code == 400
    assert answer.json()["error"] == f"nothing answers at {server.url} within 0.3 seconds"
    assert not web.runs.out.exists() or list(web.runs.out.iterdir()) == []


async def press_start(user: User, server: LoopbackServer) -> None:
    """Choose a server's model by its name, which asks nobody yet, and start."""
    await user.open("/")
    fill(user, "topic", "Tea or coffee?")
    user.find(marker="model-change").click()
    fill(user, "model-provider", "other")
    fill(user, "model-name", server.model())
    user.find(marker="start").click()
    await user.should_see(f"{server.url} says nothing yet.")


@pytest.mark.proof
async def test_the_page_says_so_after_start(user: User, web: WebContext, slow: LoopbackServer):
    await press_start(user, slow)
    assert not web.runs.active
    wake(slow)
    await until(lambda: web.runs.active)
    (live,) = web.runs.active
    live.control.stop()
    await live.ended()


@pytest.mark.proof
async def test_the_wait_for_a_start_can_be_ended(
    user: User, web: WebContext, serving: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(waiting, "TOLD_AFTER_S", 0.05)
    server = serving(silent_s=math.inf)
    await press_start(user, server)
    user.find(marker="stop-waiting").click()
    await until(lambda: one(user, "start").enabled)
    assert not any("waiting" in element._markers for element in user.client.elements.values())
    assert not web.runs.active and waiting.waits() == []


@pytest.mark.proof
@pytest.mark.parametrize(
    ("mark", "found"),
    [("model-test", "It works"), ("model-look", "The server has one model."), ("trial", "ollows instructions")],
)
async def test_a_test_of_a_model_says_so(
    user: User, serving: Serve, monkeypatch: pytest.MonkeyPatch, mark: str, found: str
):
    monkeypatch.setattr(waiting, "TOLD_AFTER_S", 0.05)
    server = serving(silent_s=math.inf)
    await user.open("/models")
    if mark == "model-look":
        fill(user, "model-provider", "server")
        fill(user, "model-address", server.url)
    else:  # this provider asks nobody before it is told to
        fill(user, "model-provider", "other")
        fill(user, "model-name", server.model())
    user.find(marker=mark).click()
    await user.should_see(f"{server.url} says nothing yet.")
    server.awake.set()
    await user.should_see(found)
