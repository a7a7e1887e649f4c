"""The REST API of companions: what is remembered of a person, and forgetting; errors in the API's form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from web.companion_worlds import ODA, lake

from persimchat.app.web.context import WebContext
from persimchat.app.web.serving import web_context

PETR = "/api/companions/Oda/people/Petr"


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[WebContext]:
    """A server's context with an open world, in which Petr has told something."""
    context = web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results")
    async with lake(tmp_path / "lake") as world:
        oda = await world.companion(ODA, "Petr")
        for words in ("My sister is called Mira.", "Goodbye!"):
            async for _ in oda.say(words):
                pass
        yield replace(context, world=world)


async def test_what_is_remembered(api: httpx.AsyncClient) -> None:
    known = (await api.get(PETR)).json()
    assert (known["agent"], known["person"]) == (ODA, "Petr")
    (fact,) = known["facts"]
    assert (fact["quote"], fact["in_force"]) == ("My sister is called Mira.", True)
    assert len(known["talks"]) == 1
    assert [one["said"] for one in known["transcript"]] == ["My sister is called Mira.", "Goodbye!"]


async def test_forgetting(api: httpx.AsyncClient, web: WebContext) -> None:
    assert web.world is not None
    pair = await web.pairs.of(web.world, ODA, "Petr")
    told = await api.delete(PETR)
    assert told.status_code == 200
    assert (told.json()["person"], told.json()["agents"]) == ("Petr", [ODA])
    assert pair.gone
    assert (await api.get(PETR)).status_code == 404
    assert (await api.delete(PETR)).status_code == 404


async def test_nobody_of_that_name(api: httpx.AsyncClient) -> None:
    for address, error in (
        ("/api/companions/Odo/people/Petr", "Odo"),
        ("/api/companions/Oda/people/Eva", f"{ODA} has never talked with this person"),
        (f"/api/companions/Oda/people/{'%01'}", "name"),
    ):
        answer = await api.get(address)
        assert answer.status_code in (400, 404)
        assert error in answer.json()["error"]
        assert answer.json()["remedy"]
    assert (await api.post(PETR)).status_code == 405


async def test_without_a_world(tmp_path: Path) -> None:
    from persimchat.app.web.api.app import api_app

    transport = httpx.ASGITransport(api_app(web_context(tmp_path / "a", tmp_path / "b", tmp_path / "c")))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.get(PETR)
    assert answer.status_code == 404
    assert answer.json()["error"] == "no world is open"
