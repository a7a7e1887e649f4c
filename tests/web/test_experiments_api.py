"""The REST API of experiments: what there is, how far it is, tables and report; nothing else of the server's files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from web.experiment_folders import hold_cell, write_experiment

from persimchat.app.web.context import WebContext

pytestmark = pytest.mark.proof


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


async def test_the_list(api: httpx.AsyncClient, web: WebContext, cell: str):
    damaged, _ = write_experiment(web.experiments.folder, "damaged")
    (damaged.path / "experiment.lock.json").write_text("{")
    (listed,) = (await api.get("/api/experiments")).json()
    assert listed["experiment"] == "small"
    assert (listed["cells"], listed["done"], listed["failed"], listed["planned"]) == (4, 1, 1, 2)
    assert (listed["driven"], listed["seconds_left"]) == (False, None)
    assert listed["spent"]["calls"] == 3
    assert listed["touched"].startswith("20")


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


async def test_a_run_of_a_cell_is_not_changed(api: httpx.AsyncClient, web: WebContext, cell: str):
    for ask, body in (("resume", {}), ("branch", {"turn": 1}), ("regenerate", {"turn": 1})):
        answer = await api.post(f"/api/runs/{cell}/{ask}", json=body)
        assert (answer.status_code, answer.json()["error"]) == (409, "the run is a cell of an experiment")
    assert (await api.delete(f"/api/runs/{cell}")).status_code == 409
    assert web.runs.folder(cell).is_dir()


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


async def test_the_transcript_to_which_the_report_links(api: httpx.AsyncClient, cell: str):
    held = cell.partition(":")[2]
    answer = await api.get(f"/api/experiments/small/runs/{held}/transcript.md")
    assert (answer.text, answer.headers["content-type"]) == ("# Tea", "text/plain; charset=utf-8")
    missing = await api.get(f"/api/experiments/small/runs/{'0' * 12}/transcript.md")
    assert missing.status_code == 404


@pytest.mark.parametrize("name", ["none", "../runs", "a/b", "small:", "/etc/passwd", "\0"])
@pytest.mark.parametrize("rest", ["", "/report", "/tables/cells.csv", "/tables/..%2fexperiment.yaml"])
async def test_what_there_is_not(api: httpx.AsyncClient, cell: str, name: str, rest: str):
    answer = await api.get(f"/api/experiments/{quote(name, safe='')}{rest}")
    assert answer.status_code == 404
    assert answer.json()["error"]


@pytest.mark.parametrize("table", ["experiment.yaml", "..%2freport.html", "cells.csv%00", "none.csv"])
async def test_tables_that_there_are_not(api: httpx.AsyncClient, cell: str, table: str):
    assert (await api.get(f"/api/experiments/small/tables/{table}")).status_code == 404


async def test_reading_is_all_that_can_be_done(api: httpx.AsyncClient, cell: str):
    answer = await api.post("/api/experiments", json={"name": "other"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


async def test_without_a_folder_of_results(api: httpx.AsyncClient, web: WebContext):
    assert not Path(web.experiments.folder).exists()
    assert (await api.get("/api/experiments")).json() == []
