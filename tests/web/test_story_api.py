"""Stories over REST: begun as all runs are, and read whole or as one character knows them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from run_files import run_json
from story_talks import WORD, Telling, scenario
from web.conftest import begin

from persimchat.app.web.context import WebContext
from persimchat.personas.scenario import load_story
from persimchat.state.scenario import Scenario


def body(story: Scenario) -> dict[str, Any]:
    """A story as a program would send it."""
    given = story.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {**given, "settings": {**story.settings, "model": "offline", "seed": 1, "rounds": 1}}


async def finished(web: WebContext, api: httpx.AsyncClient, story: Scenario) -> str:
    """Hold a story; its run."""
    begun = await api.post("/api/runs", json=body(story))
    assert begun.status_code == 201, begun.text
    run: str = begun.json()["run"]
    assert begun.json()["mode"] == "story"
    live = web.runs.get(run)
    assert live is not None
    await live.ended()
    return run


@pytest.mark.proof
async def test_a_story_is_held_and_read(web: WebContext, api: httpx.AsyncClient) -> None:
    run = await finished(web, api, load_story())
    found = (await api.get(f"/api/runs/{run}/story")).json()
    assert (found["round"], found["rounds"], found["stage"], found["seen_by"]) == (2, 1, "settlement", None)
    assert [room["room"] for room in found["rooms"]] == ["1.1.1", "1.1.2", "1.1.3", "1.2.1", "1.2.2", "1.2.3"]
    assert sorted(found["standings"][-1]["characters"][0]) == ["beliefs", "closeness", "influence", "name", "supports"]
    assert found["owners"][0] | {"description": ""} == {
        "resource": "Koskela Ferries", "owner": "Aino Koskela", "influence": 30,
        "topics": ["the winter line", "wages"], "description": "",
    }  # fmt: skip
    assert [one["voter"] for one in found["ballots"]] == ["Aino Koskela", "Veikko Koskela", "Tuuli Koskela"]
    assert found["outcome"]["winners"] == run_json(web.runs.folder(run))["outcome"]["winners"]
    then = (await api.get(f"/api/runs/{run}/story", params={"turn": 3})).json()
    assert (then["stage"], len(then["rooms"]), then["outcome"]) == ("private", 2, None)
    web.runs.forget(run)  # the same from its folder
    assert (await api.get(f"/api/runs/{run}/story")).json() == found
    assert (await api.post("/api/estimate", json=body(load_story()))).json()["utterances"] == 20


@pytest.mark.proof
async def test_as_one_character(web: WebContext, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling().install(monkeypatch)
    run = await finished(web, api, scenario(2, 1))
    assert WORD.findall((await api.get(f"/api/runs/{run}/story")).text)
    for name in ("Ada Lind", "Bo Vik", "Cy Dahl"):
        text = (await api.get(f"/api/runs/{run}/story", params={"as": name.split()[0]})).text
        given = {word for _, own, prompt in told.prompts if own == name for word in WORD.findall(prompt)}
        assert set(WORD.findall(text)) <= given


@pytest.mark.proof
async def test_what_cannot_be_answered(web: WebContext, api: httpx.AsyncClient) -> None:
    run = await finished(web, api, scenario(2, 1, stages=[{"kind": "group", "exchanges": 1}]))
    wrong = await api.get(f"/api/runs/{run}/story", params={"as": "Adda"})
    assert (wrong.status_code, wrong.json()["where"]) == (400, "as")
    assert "Ada Lind" in wrong.json()["remedy"]
    talk = await begin(web, messages=1)
    await talk.ended()
    none = await api.get(f"/api/runs/{talk.run}/story")
    assert (none.status_code, none.json()["error"]) == (404, "the run is no story")
    assert (await api.get("/api/runs/nothing/story")).status_code == 404


async def test_a_wrong_story_is_refused_before_it_begins(api: httpx.AsyncClient) -> None:
    given = body(scenario(2, 1))
    given["story"]["characters"]["Boo"] = {"main": True}
    refused = await api.post("/api/runs", json=given)
    assert (refused.status_code, "Bo Vik" in refused.json()["remedy"]) == (400, True), refused.text


async def test_the_description_has_it(api: httpx.AsyncClient) -> None:
    paths = (await api.get("/api/openapi.json")).json()["paths"]
    asked = paths["/api/runs/{run}/story"]["get"]
    assert [one["name"] for one in asked["parameters"]] == ["run", "as", "turn"]
    assert asked["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/StoryCourse")
