"""The REST API of runs: begin, follow, control, read, take away; what is wrong is told with a remedy."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from run_folders import PEOPLE, put, utterance, write_run
from web.conftest import begin

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun

OFFLINE = {"settings": {"model": "offline", "max_messages": 3}, "participants": ["Jarmila", "Ha Nguyen"]}


@pytest.fixture
async def run(web: WebContext) -> LiveRun:
    """A run that is over."""
    live = await begin(web, messages=3)
    await live.ended()
    return live


def parsed(text: str) -> list[tuple[int | None, dict[str, Any]]]:
    """Server-sent events: number and data."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if lines:
            found.append((int(lines["id"]) if "id" in lines else None, json.loads(lines["data"])))
    return found


@pytest.mark.proof
async def test_a_conversation_from_start_to_end(api: httpx.AsyncClient, web: WebContext):
    started = await api.post("/api/runs", json={"topic": "Tea or coffee?", **OFFLINE})
    assert started.status_code == 201, started.text
    run = started.json()["run"]
    events = parsed((await api.get(f"/api/runs/{run}/events")).text)
    assert [data["event"] for _, data in events][0] == "started"
    assert events[-1][1]["event"] == "stopped"
    assert events[-1][1]["reason"] == "message_limit"
    assert [number for number, _ in events if number is not None] == list(
        range(1, 1 + len([n for n, _ in events if n]))
    )
    said = (await api.get(f"/api/runs/{run}/utterances", params={"after": 1})).json()
    assert [utterance["turn"] for utterance in said] == [2, 3]
    looked = (await api.get(f"/api/runs/{run}")).json()
    assert (looked["status"], looked["utterances"], looked["reason"]) == ("ended", 3, "message_limit")
    assert looked["totals"]["calls"] > 10
    minds = (await api.get(f"/api/runs/{run}/minds/2")).json()
    assert [(mind["agent"], mind["turn"]) for mind in minds] == [("Jarmila Dvořáčková", 2), ("Hà Nguyễn", 2)]
    listed = (await api.get("/api/runs", params={"text": "coffee"})).json()
    assert [one["run"] for one in listed] == [run]


@pytest.mark.proof
@pytest.mark.parametrize("live", [True, False])
async def test_whoever_was_cut_off_goes_on_where_they_were(
    api: httpx.AsyncClient, web: WebContext, run: LiveRun, live: bool
):
    if not live:
        web.runs.forget(run.run)
    path = f"/api/runs/{run.run}/events"
    whole = parsed((await api.get(path)).text)
    rest = parsed((await api.get(path, headers={"last-event-id": "5"})).text)
    assert rest == [event for event in whole if event[0] and event[0] > 5] != []
    assert (await api.get(path, params={"after": len(whole)})).status_code == 204


@pytest.mark.proof
async def test_a_damaged_run_is_told_of(api: httpx.AsyncClient, web: WebContext, run: LiveRun):
    web.runs.forget(run.run)
    put(web.runs.folder(run.run), "utterance", [{}])
    answer = await api.get(f"/api/runs/{run.run}/events")
    assert (answer.status_code, "run.sqlite" in answer.json()["where"]) == (400, True)


@pytest.mark.proof
async def test_a_renamed_run_is_listed_by_the_name_that_finds_it(api: httpx.AsyncClient, web: WebContext, run: LiveRun):
    web.runs.folder(run.run).rename(web.runs.out / "renamed")
    (listed,) = (await api.get("/api/runs")).json()
    assert (await api.get(f"/api/runs/{listed['run']}")).json()["utterances"] == 3


@pytest.mark.proof
async def test_people_take_part(api: httpx.AsyncClient, web: WebContext):
    people = [*OFFLINE["participants"], {"name": "Petr", "human": True}]
    body = {"topic": "Tea?", "participants": people, "settings": {"model": "offline", "max_messages": 4}}
    run = (await api.post("/api/runs", json=body)).json()["run"]
    control = f"/api/runs/{run}/control"
    assert (await api.post(control, json={"do": "hand", "agent": "Petr"})).status_code == 202
    live = web.runs.get(run)
    assert live is not None
    async for event in live.broadcast.subscribe():
        if event.event == "asked":
            assert (await api.get(f"/api/runs/{run}")).json()["asked"]["agent"] == "Petr"
            assert (await api.post(control, json={"do": "answer", "text": "Rooibos."})).status_code == 202
    said = (await api.get(f"/api/runs/{run}/utterances")).json()
    assert "Rooibos." in [utterance["text"] for utterance in said if utterance["speaker"] == "Petr"]
    over = await api.post(control, json={"do": "pause"})
    assert over.status_code == 409
    assert over.json()["error"] == "the run is not running"


@pytest.mark.proof
async def test_branch_and_regenerate(api: httpx.AsyncClient, run: LiveRun, web: WebContext):
    say = {"speaker": "Moderator", "text": "And water?"}
    made = await api.post(f"/api/runs/{run.run}/branch", json={"turn": 1, "say": say})
    assert made.status_code == 201, made.text
    branch = web.runs.get(made.json()["run"])
    assert branch is not None
    await branch.ended()
    assert branch.board.utterances[0].text == run.board.utterances[0].text
    assert branch.board.utterances[1].text == "And water?"
    again = await api.post(f"/api/runs/{run.run}/regenerate", json={"turn": 2})
    assert again.status_code == 201, again.text
    other = web.runs.get(again.json()["run"])
    assert other is not None
    await other.ended()
    assert other.board.utterances[1].speaker == run.board.utterances[1].speaker


@pytest.mark.proof
async def test_downloads(api: httpx.AsyncClient, run: LiveRun):
    report = await api.get(f"/api/runs/{run.run}/report")
    assert run.board.utterances[0].text.split()[0] in report.text
    assert "default-src 'none'" in report.headers["content-security-policy"]
    german = await api.get(f"/api/runs/{run.run}/report", params={"language": "de"})
    assert ('<html lang="en">' in report.text, '<html lang="de">' in german.text) == (True, True)
    assert (await api.get(f"/api/runs/{run.run}/report", params={"language": "fr"})).status_code == 422
    tables = await api.get(f"/api/runs/{run.run}/export", params={"format": "jsonl"})
    assert "attachment" in tables.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(tables.content)) as archive:
        assert {"utterances.jsonl", "minds.jsonl", "transcript.md"} <= set(archive.namelist())
        assert len(archive.read("utterances.jsonl").splitlines()) == 3


@pytest.mark.proof
async def test_delete(api: httpx.AsyncClient, run: LiveRun, web: WebContext):
    assert (await api.delete(f"/api/runs/{run.run}")).status_code == 200
    assert not (web.runs.out / run.run).exists()
    assert (await api.get(f"/api/runs/{run.run}")).status_code == 404


@pytest.mark.proof
async def test_an_estimate_starts_nothing(api: httpx.AsyncClient, web: WebContext):
    body = {"topic": "Tea?", "settings": {"model": "openai:gpt-4o-mini", "max_messages": 20, "budget_calls": 10}}
    found = (await api.post("/api/estimate", json=body)).json()
    assert found["totals"]["calls"] > 100
    assert found["totals"]["cost_usd"] > 0
    assert found["exceeded"] != []
    assert (await api.get("/api/runs")).json() == []


@pytest.mark.proof
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "/api/runs/none", None, 404, "no run"),
        ("GET", "/api/runs/none/events", None, 404, "no run"),
        ("GET", f"/api/runs/{'r' * 300}", None, 404, "no run"),
        ("GET", f"/api/runs/{'ř' * 200}/events", None, 404, "no run"),
        ("DELETE", f"/api/runs/{'r' * 300}", None, 404, "no run"),
        ("GET", f"/api/runs/{'e' * 300}:x", None, 404, "no run"),
        ("GET", f"/api/runs/e:{'x' * 300}", None, 404, "no run"),
        ("POST", "/api/runs", {"topic": " "}, 400, "topic is empty"),
        ("POST", "/api/runs", {"topic": "T", "participants": ["/etc/passwd", "Ha"]}, 400, "is a path"),
        ("POST", "/api/runs", {"topic": "T", "participants": ["x.yaml", "Ha"]}, 400, "is a path"),
        ("POST", "/api/runs", {"topic": "T", "settings": {"max_mesages": 3}}, 400, "max_mesages"),
        ("POST", "/api/runs", {"topic": "T", "settings": {"max_messages": 0}}, 400, "max_messages"),
        ("POST", "/api/runs", {"topic": "T", "nonsense": 1}, 422, "there is no field nonsense"),
        ("POST", "/api/runs/none/resume", {}, 404, "no run"),
        ("POST", "/api/runs/none/control", {"do": "dance"}, 422, "dance"),
        ("GET", "/api/nothing", None, 404, "nothing at this address"),
        ("PUT", "/api/runs", {}, 405, "Use GET, POST"),
    ],
)
async def test_bad_input(api: httpx.AsyncClient, method: str, path: str, body: Any, status: int, words: str):
    answer = await api.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"] + answer.json()["where"] + answer.json()["remedy"]


@pytest.mark.proof
@pytest.mark.parametrize(
    "models",
    [
        {"model": "llamacpp:/etc/passwd"},
        {"model": "offline", "agent_models": {"Jarmila Dvořáčková": " LLAMACPP:x.gguf"}},
        {"model": "offline", "module_models": {"perception": "llamacpp:x.gguf"}},
        {"model": "offline", "prompts": {"_item": "x"}},
        {"model": "offline", "prompts": "/usr"},
        {"model": "offline", "prompts._item": "x"},
    ],
)
async def test_a_model_is_not_chosen_by_a_path(api: httpx.AsyncClient, web: WebContext, run: LiveRun, models: Any):
    given = {"topic": "Tea?", **OFFLINE, "settings": models}
    refused = [await api.post("/api/runs", json=given)]
    if any(name.startswith("prompts") for name in models):
        refused.append(await api.post("/api/estimate", json=given))
    if models["model"] != "offline" or len(refused) > 1:
        refused.append(await api.post(f"/api/runs/{run.run}/branch", json={"turn": 1, "settings": models}))
        refused.append(await api.post(f"/api/runs/{run.run}/resume", json={"settings": models}))
    for answer in refused:
        assert answer.status_code in (400, 422), answer.text
        assert "users of the page cannot choose" in answer.json()["error"], answer.text
    assert web.runs.active == []


# Names, tags and alternatives of lines through the REST API


async def test_a_run_gets_a_name_and_tags(web: WebContext, api: httpx.AsyncClient):
    folder = write_run(web.runs.out, run="talk")
    assert (await api.get("/api/runs/talk/labels")).json() == {"name": "", "tags": []}
    put = await api.put("/api/runs/talk/labels", json={"name": " First\ntry", "tags": ["pilot", "Pilot", "tea"]})
    assert (put.status_code, put.json()) == (200, {"name": "First try", "tags": ["pilot", "tea"]})
    (listed,) = (await api.get("/api/runs", params={"tag": "TEA"})).json()
    assert (listed["run"], listed["name"], listed["tags"]) == ("talk", "First try", ["pilot", "tea"])
    assert (await api.get("/api/runs", params={"tag": ["tea", "coffee"]})).json() == []
    await api.put("/api/runs/talk/labels", json={})
    assert not (folder / "labels.json").exists()


async def test_what_cannot_be_a_label_is_refused(web: WebContext, api: httpx.AsyncClient):
    folder = write_run(web.runs.out, run="talk")
    for wanted in ({"name": "x" * 121}, {"tags": ["x" * 41]}, {"tags": ["a,b"]}, {"tags": [f"{n}" for n in range(21)]}):
        refused = await api.put("/api/runs/talk/labels", json=wanted)
        assert refused.status_code == 400, wanted
        assert refused.json()["remedy"]
    assert (await api.put("/api/runs/nobody/labels", json={})).status_code == 404
    assert not (folder / "labels.json").exists()


async def test_alternatives_of_a_line(web: WebContext, api: httpx.AsyncClient):
    said = [utterance(turn, PEOPLE[0], text) for turn, text in enumerate(("Hello.", "Tea."), 1)]
    write_run(web.runs.out, said, run="a")
    branch = {"of": "a", "turn": 1, "why": "branch", "changed": {}}
    other = [said[0], utterance(2, PEOPLE[1], "Coffee.", edited_by="branch")]
    write_run(web.runs.out, other, run="b", branch=branch, started="2026-02-01T12:00:00+00:00")
    (found,) = (await api.get("/api/runs/b/alternatives")).json()
    assert (found["turn"], found["shown"]) == (2, 1)
    assert [(line["run"], line["text"], line["edited_by"]) for line in found["lines"]] == [
        ("a", "Tea.", None),
        ("b", "Coffee.", "branch"),
    ]
    assert (await api.get("/api/runs/nobody/alternatives")).status_code == 404
