"""Branches over REST that choose whom a story's host talks to."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from persimchat.app.web.context import WebContext
from persimchat.personas.scenario import load_story
from persimchat.runs.folder.reading import read_run

pytestmark = pytest.mark.proof


async def test_a_choice_is_made_over_rest_and_wrong_ones_are_refused(web: WebContext, api: httpx.AsyncClient) -> None:
    story = load_story()
    settings = {**story.settings, "model": "offline", "seed": 1}
    body: dict[str, Any] = {**story.model_dump(mode="json", by_alias=True, exclude_defaults=True), "settings": settings}
    run = (await api.post("/api/runs", json=body)).json()["run"]
    live = web.runs.get(run)
    assert live is not None
    await live.ended()

    async def branch(**wanted: Any) -> httpx.Response:
        return await api.post(f"/api/runs/{run}/branch", json=wanted)

    made = await branch(choose={"host": "Tuuli", "partner": "nobody"})
    assert made.status_code == 201, made.text
    other = web.runs.get(made.json()["run"])
    assert other is not None
    await other.ended()
    record = await asyncio.to_thread(read_run, web.runs.folder(made.json()["run"]))
    assert record.manifest.branch is not None
    assert record.manifest.branch.turn == 8
    assert [one.speaker for one in record.happenings if one.chosen_by] == ["Tuuli Koskela"]
    wrong = [
        (await branch(choose={"host": "Olle", "partner": "Aino"}), "is no main character"),
        (await branch(turn=2, choose={"host": "Tuuli", "partner": "Tuuli"}), "may not choose"),
        (await branch(), "the turn at which the branch begins is missing"),
    ]
    for refused, words in wrong:
        assert 400 <= refused.status_code < 500
        assert words in refused.json()["error"]
        assert refused.json()["remedy"]
