"""Names, tags and alternatives of lines through the REST API."""

from __future__ import annotations

import httpx
from run_folders import PEOPLE, utterance, write_run

from persimchat.app.web.context import WebContext


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
