"""Prompts and answers of the requests behind a line: from its menu, and by the REST API."""

from __future__ import annotations

import httpx
import pytest
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin

from persimchat.app.web.chat.chat_panel import fill_menu
from persimchat.app.web.context import Viewing, WebContext

pytestmark = pytest.mark.proof


async def test_the_menu_of_a_line_leads_to_prompts_and_answers(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()

    @ui.page("/menu")
    def _page() -> None:
        with ui.column() as outside, ui.menu():
            fill_menu(Viewing(web, live.run, live.board), live.board.utterances[1], outside)

    await user.open("/menu")
    user.find(marker="calls-of").click()
    await user.should_see("What the models were asked around message 2")
    await user.should_see("They are those of then, word for word.")


async def test_a_line_is_copied_with_its_speaker(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    live = await begin(web, messages=2)
    await live.ended()
    written: list[str] = []
    monkeypatch.setattr(ui.clipboard, "write", written.append)

    @ui.page("/menu")
    def _page() -> None:
        with ui.column() as outside, ui.menu():
            fill_menu(Viewing(web, live.run, live.board), live.board.utterances[0], outside)

    await user.open("/menu")
    user.find(marker="copy-line").click()
    said = live.board.utterances[0]
    assert written == [f"{said.speaker}: {said.text}"]


async def test_requests_by_the_api(api: httpx.AsyncClient, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    answer = await api.get(f"/api/runs/{live.run}/calls", params={"turn": 2, "prompts": False})
    assert answer.status_code == 200
    bare = answer.json()
    assert bare[0]["module"] == "natural_language"
    assert all(call["prompt"] is None and call["answer"] for call in bare)
    full = (await api.get(f"/api/runs/{live.run}/calls", params={"turn": 2})).json()
    assert all(call["same"] and call["prompt"] for call in full)
    assert (await api.get("/api/runs/none/calls", params={"turn": 2})).status_code == 404
    assert (await api.get(f"/api/runs/{live.run}/calls", params={"turn": 0})).status_code == 422
