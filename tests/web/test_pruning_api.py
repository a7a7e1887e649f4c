"""Pruning over REST: nested settings, and what would go at a past turn."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from story_records import CY, write_story
from web.conftest import begin

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.runs.folder.reading import read_manifest

pytestmark = pytest.mark.proof

OFFLINE = {"model": "offline", "max_messages": 3}


@pytest.fixture
async def run(web: WebContext) -> LiveRun:
    """A run that is over, in which everything was said."""
    live = await begin(web, messages=3, closing="off")
    await live.ended()
    return live


async def test_settings_are_nested(api: httpx.AsyncClient, web: WebContext):
    pruning = {"lambda": 0.6, "method": "length", "remove": ["m"]}
    begun = await api.post("/api/runs", json={"topic": "Tea?", "settings": {**OFFLINE, "pruning": pruning}})
    assert begun.status_code == 201, begun.text
    run = begun.json()["run"]
    live = web.runs.get(run)
    assert live is not None
    await live.ended()
    assert read_manifest(web.runs.folder(run)).settings.model_dump()["pruning"].items() >= pruning.items()
    minds = (await api.get(f"/api/runs/{run}/minds/1")).json()
    (pruned,) = (mind["pruned"] for mind in minds if "pruned" in mind)
    assert (pruned["lambda"], pruned["method"], pruned["turn"]) == (0.6, "length", 1)
    changed = {"turn": 1, "settings": {"pruning": {"lambda": 1.0}}}
    branch = await api.post(f"/api/runs/{run}/branch", json=changed)
    assert branch.status_code == 201, branch.text
    held = read_manifest(web.runs.folder(branch.json()["run"])).settings.model_dump()["pruning"]
    assert (held["lambda"], held["method"], held["remove"]) == (1.0, "length", ["m"])


@pytest.mark.parametrize(
    ("pruning", "says"),
    [
        ({"lambda": 1.5}, "pruning.lambda"),
        ({"lambda": "high"}, "pruning.lambda"),
        ({"method": "attn"}, "pruning.method"),
        ({"remove": ["c"]}, "pruning.remove"),
        ({"responses": 0}, "pruning.responses"),
        ({"lambda": 0.5, "method": "none"}, "prunes nothing"),
        ({"scorer": "/etc/passwd"}, "users of the page cannot choose"),
        ({"speed": 1}, "speed"),
    ],
)
async def test_what_is_wrong_is_refused(api: httpx.AsyncClient, web: WebContext, pruning: dict[str, Any], says: str):
    answer = await api.post("/api/runs", json={"topic": "Tea?", "settings": {**OFFLINE, "pruning": pruning}})
    assert answer.status_code in (400, 422), answer.text
    problem = answer.json()
    assert problem.keys() == {"error", "where", "remedy"} and says in problem["error"] + problem["where"]
    assert web.runs.active == []


async def test_a_dotted_scorer_is_refused(api: httpx.AsyncClient, run: LiveRun):
    given = {"turn": 1, "settings": {"pruning.scorer": "/etc/passwd"}}
    answer = await api.post(f"/api/runs/{run.run}/branch", json=given)
    assert answer.status_code == 400
    assert "users of the page cannot choose" in answer.json()["error"]


async def test_what_would_go(api: httpx.AsyncClient, web: WebContext, run: LiveRun):
    folder = web.runs.folder(run.run)
    before = {path.name: path.read_bytes() for path in folder.glob("*.json*")}
    found = {}
    for strength in (0, 0.5, 1):
        given = {"turn": 2, "lambda": strength, "method": "length"}
        answer = await api.get(f"/api/runs/{run.run}/pruning", params=given)
        assert answer.status_code == 200, answer.text
        found[strength] = answer.json()
        assert (found[strength]["turn"], found[strength]["lambda"]) == (2, strength)
    assert found[0]["removed"] == 0
    assert 0 < found[0.5]["words_removed"] < found[0.5]["words"]
    assert found[1]["removed"] == found[1]["units"] == len(found[1]["items"])
    assert found[0.5]["share"] <= 0.5
    assert {path.name: path.read_bytes() for path in folder.glob("*.json*")} == before


@pytest.mark.parametrize(
    ("given", "status", "says"),
    [
        ({"turn": 0, "lambda": 0.5}, 422, "query.turn"),
        ({"turn": 99, "lambda": 0.5, "method": "length"}, 400, "there is no utterance 99"),
        ({"turn": 1, "lambda": "nan"}, 422, "query.lambda"),
        ({"turn": 1, "lambda": 0.5, "method": "none"}, 422, "query.method"),
        ({"turn": 1}, 422, "query.lambda"),
    ],
)
async def test_what_cannot_be_answered(
    api: httpx.AsyncClient, run: LiveRun, given: dict[str, Any], status: int, says: str
):
    answer = await api.get(f"/api/runs/{run.run}/pruning", params=given)
    assert answer.status_code == status, answer.text
    assert says in answer.json()["error"] + answer.json()["where"]


async def test_attention_names_what_gets_it(api: httpx.AsyncClient, run: LiveRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERSIMCHAT_MODELS", "/nowhere")
    answer = await api.get(f"/api/runs/{run.run}/pruning", params={"turn": 1, "lambda": 0.5})
    assert answer.status_code == 400, answer.text
    remedy = answer.json()["remedy"]
    assert "pip install" in remedy or "persimchat models get smollm2" in remedy


async def test_no_run_has_no_prompt(api: httpx.AsyncClient):
    answer = await api.get("/api/runs/none/pruning", params={"turn": 1, "lambda": 0.5})
    assert answer.status_code == 404


async def test_a_played_story_tells_nothing_of_its_prompts(api: httpx.AsyncClient, web: WebContext):
    write_story(web.runs.out / "played", people=(CY,), ended=False)
    answer = await api.get("/api/runs/played/pruning", params={"turn": 1, "lambda": 0.5, "method": "length"})
    assert answer.status_code == 409, answer.text
    assert "people play this story" in answer.json()["error"]
