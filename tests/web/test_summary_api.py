"""The summary of a focus group over REST: as JSON, as a page to print, and asking for what it needs."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from group_runs import write_group
from loopback.server import LoopbackServer
from run_folders import utterance, write_run

from persimchat.app.web.context import WebContext

Serve = Callable[..., LoopbackServer]


async def test_it_is_there_without_asking(api: httpx.AsyncClient, web: WebContext) -> None:
    run = write_group(web.runs.out).name
    found = (await api.get(f"/api/runs/{run}/summary")).json()
    assert [one["question"] for one in found["questions"]] == [0, 1, 2]
    assert found["questions"][2]["found_by"] is None
    page = await api.get(f"/api/runs/{run}/summary.html")
    assert "What would keep you from the app?" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not (web.runs.out / run / "polls.jsonl").exists()


async def test_a_model_is_asked_for_themes(api: httpx.AsyncClient, web: WebContext, serving: Serve) -> None:
    quote = {"line": 6, "words": "The deposit"}
    server = serving(lambda _: {"themes": [{"name": "Deposits", "about": "They deter.", "quotes": [quote]}]})
    run = write_group(web.runs.out).name
    body = {"by": server.model(), "positions": False}
    found = (await api.post(f"/api/runs/{run}/summary", json=body)).json()
    assert [theme["name"] for theme in found["questions"][2]["themes"]] == ["Deposits"]
    assert (found["questions"][0]["themes"], found["invented_quotes"]) == ([], 2)


async def test_what_cannot_be_summed_up_is_refused(api: httpx.AsyncClient, web: WebContext) -> None:
    write_run(web.runs.out, [utterance(1, "Eva Horáková")], run="no-guide")
    answer = await api.get("/api/runs/no-guide/summary")
    assert (answer.status_code, "no guide" in answer.json()["error"]) == (400, True)
    assert (await api.get("/api/runs/nobody/summary")).status_code == 404
    run = write_group(web.runs.out).name
    offline = await api.post(f"/api/runs/{run}/summary", json={"by": "offline", "positions": False})
    assert (offline.status_code, "cannot judge" in offline.json()["error"]) == (400, True)
