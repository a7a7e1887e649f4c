"""Dialogs of a run: the requests of an utterance, and the summary of a focus group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from group_runs import GUIDE, LIKELY, write_group
from loopback.server import LoopbackServer
from nicegui import ElementFilter, ui
from nicegui.testing import User
from run_folders import HOSTILE, PEOPLE, put, write_run
from selenium import webdriver
from web.conftest import begin

from persimchat.app.web.chat.run_dialogs import fill_menu
from persimchat.app.web.context import Viewing, WebContext
from persimchat.reports.guide import summary_of
from persimchat.reports.report import write_summary
from persimchat.runs.folder.reading import read_run

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


Serve = Callable[..., LoopbackServer]


async def test_a_summary_is_there_and_a_model_finds_themes(user: User, web: WebContext, serving: Serve) -> None:
    quote = {"line": 6, "words": "The deposit"}
    server = serving(lambda _: {"themes": [{"name": "Deposits", "about": "They deter.", "quotes": [quote]}]})
    run = write_group(web.runs.out, {**GUIDE, "positions": []}).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("What would keep you from the app?")
    await user.should_see("Not put: What would you change first?")
    await user.should_see(f"3 answers · said nothing: {PEOPLE[2]}")
    user.find(marker="themes-by").clear().type(server.model()).trigger("blur")
    await user.should_see(f"3 calls to {server.model()}.")
    user.find(marker="ask").click()
    await user.should_see("Deposits – They deter.")
    await user.should_see(f"“The deposit” {PEOPLE[1]}, message 6")


async def test_hostile_words_are_words(user: User, web: WebContext) -> None:
    guide = {**GUIDE, "questions": [{"ask": HOSTILE}] * 3, "positions": [{"ask": HOSTILE}]}
    run = write_group(web.runs.out, guide).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("{{ 123*321 }}")


async def test_a_run_without_a_guide_offers_none(user: User, web: WebContext) -> None:
    await user.open(f"/run/{write_run(web.runs.out).name}")
    await user.should_see("The conversation is over.")
    await user.should_not_see(marker="group-summary")


async def test_asking_comes_first_and_says_what_is_left_to_ask(user: User, web: WebContext) -> None:
    run = write_group(web.runs.out, {**GUIDE, "positions": []}).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("Name a model that finds themes.")
    assert not next(iter(user.find(kind=ui.button, marker="ask").elements)).enabled
    with user:
        texts = [one.text for one in ElementFilter(kind=ui.label)]
    assert texts.index("Ask for more") < texts.index("What would keep you from the app?", texts.index("Ask for more"))


async def test_a_branch_says_where_positions_are_asked(user: User, web: WebContext) -> None:
    run = write_group(web.runs.out, branch={"of": "20260101-110000-tea-0000", "turn": 2, "why": "branch"}).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("is asked in the run that it comes from")
    await user.should_not_see(marker="ask-positions")
    await user.should_see("Name a model that finds themes.")


def test_the_page_to_print_cuts_no_heading_quote_or_table_in_two(browser: webdriver.Chrome, tmp_path: Path) -> None:
    folder = write_group(tmp_path)
    answers = [
        {"poll": "likely", "question": LIKELY, "turn": 0, "agent": name, "judge": "m", "request": "r", "answer": "2"}
        for name in PEOPLE
    ]
    put(folder, "poll_answer", answers)
    write_summary(read_run(folder), summary_of(read_run(folder)), tmp_path / "summary.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.get((tmp_path / "summary.html").as_uri())
        script = "return [...document.querySelectorAll(arguments[0])].map(e => getComputedStyle(e)[arguments[1]])"
        for found in (".head", ".themes > li", ".stands"):
            assert set(browser.execute_script(script, found, "breakInside")) == {"avoid"}, found
        for found in (".head", "h2"):  # a heading stays with what follows it
            assert set(browser.execute_script(script, found, "breakAfter")) == {"avoid"}, found
        assert set(browser.execute_script(script, ".themes", "display")) == {"block"}  # grids keep no heading
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
