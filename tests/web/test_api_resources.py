"""The REST API of models, experiments and companions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from loopback.server import LoopbackServer, free_port
from web.companion_worlds import ODA, lake
from web.experiment_folders import hold_cell, write_experiment

from persimchat.app.web.context import WebContext
from persimchat.app.web.serving import web_context
from persimchat.models.local import files


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(tmp_path / "models"))
    for variable in ("OPENAI_API_KEY", "PERSIMCHAT_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.proof
async def test_providers_and_the_status_of_their_keys(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-secret-value")
    answer = await api.get("/api/models")
    providers = {one["id"]: one for one in answer.json()["providers"]}
    assert providers["groq"]["key"] == "set"
    assert providers["openai"]["key"] == "missing"
    assert providers["openai"]["variables"] == ["OPENAI_API_KEY"]
    assert providers["offline"]["key"] == "not_needed"
    assert "gsk-secret-value" not in answer.text
    assert answer.json()["files"] == answer.json()["downloads"] == []


@pytest.mark.proof
async def test_a_server_and_its_models(api: httpx.AsyncClient):
    with LoopbackServer() as server:
        found = await api.post("/api/models/served", json={"address": server.url})
        assert found.json()["models"] == ["test-model"]
        tested = await api.post("/api/models/test", json={"model": server.model()})
        assert tested.json()["model"] == server.model()
    wrong = await api.post("/api/models/test", json={"model": f"m@http://127.0.0.1:{free_port()}/v1"})
    assert wrong.status_code == 400
    assert "nothing listens at" in wrong.json()["error"]
    for model in ("http://localhost:9999/v1", "llamacpp:/etc/passwd", "m@http://169.254.169.254/v1"):
        refused = await api.post("/api/models/test", json={"model": model})
        assert refused.status_code == 400
        assert "pip install" not in refused.text


async def test_a_download_needs_consent_to_its_size(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    began: list[str] = []

    def get(name: str, **_: Any) -> Any:
        began.append(name)
        return None, True

    monkeypatch.setattr("persimchat.models.local.getting.get", get)
    told = (await api.get("/api/models/announced", params={"name": "smollm2"})).json()
    assert (told["size"], told["licence"], told["there"]) == (92_900_000, "Apache-2.0", False)
    refused = await api.post("/api/models/files", json={"name": "smollm2", "size": 1})
    assert refused.status_code == 400
    assert began == []
    assert (await api.post("/api/models/files", json={"name": "smollm2"})).status_code == 422
    started = await api.post("/api/models/files", json={"name": "smollm2", "size": told["size"]})
    assert started.status_code == 202
    while (await api.get("/api/models")).json()["downloads"][0]["state"] == "loading":
        await asyncio.sleep(0.01)
    assert began == ["smollm2"]
    for name in ("/etc/passwd", "hf:../a/b.gguf"):
        assert (await api.get("/api/models/announced", params={"name": name})).status_code == 400
    assert (await api.delete("/api/models/files", params={"name": "smollm2"})).status_code == 400


# The REST API of experiments: what there is, how far it is, tables and report; nothing else of the server's files


@pytest.fixture
def cell(web: WebContext) -> str:
    """An experiment with one conversation that was held; the address of its run."""
    place, cells = write_experiment(web.experiments.folder)
    (hold_cell(place, cells[0]) / "transcript.md").write_text("# Tea", encoding="utf-8")
    place.tell("failed", cells[1], why="<b>no</b> model")
    (place.path / "tables").mkdir()
    (place.path / "tables" / "cells.csv").write_text("cell\n", encoding="utf-8")
    (place.path / "tables" / "codebook.md").write_text("# Codebook", encoding="utf-8")
    (place.path / "report.html").write_text("<h1>small</h1><script>window.__x=1</script>", encoding="utf-8")
    return f"small:{cells[0]}"


@pytest.mark.proof
async def test_the_list(api: httpx.AsyncClient, web: WebContext, cell: str):
    damaged, _ = write_experiment(web.experiments.folder, "damaged")
    (damaged.path / "experiment.lock.json").write_text("{")
    (listed,) = (await api.get("/api/experiments")).json()
    assert listed["experiment"] == "small"
    assert (listed["cells"], listed["done"], listed["failed"], listed["planned"]) == (4, 1, 1, 2)
    assert (listed["driven"], listed["seconds_left"]) == (False, None)
    assert listed["spent"]["calls"] == 3
    assert listed["touched"].startswith("20")


@pytest.mark.proof
async def test_one_experiment_and_its_runs(api: httpx.AsyncClient, cell: str):
    found = (await api.get("/api/experiments/small")).json()
    assert found["axes"] == {"method": ["need_to_talk", "round_robin"], "seed": [0, 1]}
    assert (found["tables"], found["report"]) == (["cells.csv", "codebook.md"], True)
    held, failed, *planned = found["conversations"]
    assert (held["status"], held["run"], held["axes"]) == ("done", cell, {"method": "need_to_talk", "seed": 0})
    assert (failed["status"], failed["why"], failed["run"]) == ("failed", "<b>no</b> model", None)
    assert [one["status"] for one in planned] == ["planned", "planned"]
    run = (await api.get(f"/api/runs/{held['run']}")).json()
    assert (run["run"], run["utterances"], run["reason"]) == (cell, 3, "message_limit")
    assert (await api.get("/api/runs")).json() == []
    assert len((await api.get(f"/api/runs/{cell}/utterances")).json()) == 3
    assert (await api.get(f"/api/runs/{cell}/report")).status_code == 200


@pytest.mark.proof
async def test_a_run_of_a_cell_is_not_changed(api: httpx.AsyncClient, web: WebContext, cell: str):
    for ask, body in (("resume", {}), ("branch", {"turn": 1}), ("regenerate", {"turn": 1})):
        answer = await api.post(f"/api/runs/{cell}/{ask}", json=body)
        assert (answer.status_code, answer.json()["error"]) == (409, "the run is a cell of an experiment")
    assert (await api.delete(f"/api/runs/{cell}")).status_code == 409
    assert web.runs.folder(cell).is_dir()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("address", "media"),
    [("report", "text/html"), ("tables/cells.csv", "text/csv"), ("tables/codebook.md", "text/plain")],
)
async def test_files_without_scripts(api: httpx.AsyncClient, cell: str, address: str, media: str):
    answer = await api.get(f"/api/experiments/small/{address}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{media}; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "script-src" not in policy
    assert policy["frame-ancestors"] == "'self'"
    assert "allow-scripts" not in policy["sandbox"]


@pytest.mark.proof
async def test_the_transcript_to_which_the_report_links(api: httpx.AsyncClient, cell: str):
    held = cell.partition(":")[2]
    answer = await api.get(f"/api/experiments/small/runs/{held}/transcript.md")
    assert (answer.text, answer.headers["content-type"]) == ("# Tea", "text/plain; charset=utf-8")
    missing = await api.get(f"/api/experiments/small/runs/{'0' * 12}/transcript.md")
    assert missing.status_code == 404


@pytest.mark.proof(cases=4)
@pytest.mark.parametrize("name", ["none", "../runs", "a/b", "small:", "/etc/passwd", "\0"])
@pytest.mark.parametrize("rest", ["", "/report", "/tables/cells.csv", "/tables/..%2fexperiment.yaml"])
async def test_what_there_is_not(api: httpx.AsyncClient, cell: str, name: str, rest: str):
    answer = await api.get(f"/api/experiments/{quote(name, safe='')}{rest}")
    assert answer.status_code == 404
    assert answer.json()["error"]


@pytest.mark.proof
@pytest.mark.parametrize("table", ["experiment.yaml", "..%2freport.html", "cells.csv%00", "none.csv"])
async def test_tables_that_there_are_not(api: httpx.AsyncClient, cell: str, table: str):
    assert (await api.get(f"/api/experiments/small/tables/{table}")).status_code == 404


@pytest.mark.proof
async def test_reading_is_all_that_can_be_done(api: httpx.AsyncClient, cell: str):
    answer = await api.post("/api/experiments", json={"name": "other"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


@pytest.mark.proof
async def test_without_a_folder_of_results(api: httpx.AsyncClient, web: WebContext):
    assert not Path(web.experiments.folder).exists()
    assert (await api.get("/api/experiments")).json() == []


# The REST API of companions: what is remembered of a person, and forgetting; errors in the API's form


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


@pytest.mark.proof
async def test_what_is_remembered(api: httpx.AsyncClient) -> None:
    known = (await api.get(PETR)).json()
    assert (known["agent"], known["person"]) == (ODA, "Petr")
    (fact,) = known["facts"]
    assert (fact["quote"], fact["in_force"]) == ("My sister is called Mira.", True)
    assert len(known["talks"]) == 1
    assert [one["said"] for one in known["transcript"]] == ["My sister is called Mira.", "Goodbye!"]


@pytest.mark.proof
async def test_forgetting(api: httpx.AsyncClient, web: WebContext) -> None:
    assert web.world is not None
    pair = await web.pairs.of(web.world, ODA, "Petr")
    told = await api.delete(PETR)
    assert told.status_code == 200
    assert (told.json()["person"], told.json()["agents"]) == ("Petr", [ODA])
    assert pair.gone
    assert (await api.get(PETR)).status_code == 404
    assert (await api.delete(PETR)).status_code == 404


@pytest.mark.proof
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
