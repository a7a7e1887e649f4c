"""Every address answers, and says what it has to say."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from selenium.webdriver.common.by import By
from web.conftest import Server, begin, until

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing, WebContext
from persimchat.state.errors import InputError


@pytest.mark.proof
async def test_a_run_is_shown(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(f"/run/{live.run}")
    for utterance in live.board.utterances:
        await user.should_see(utterance.text)


async def test_a_run_that_is_kept_looks_as_it_did(web: WebContext):
    live = await begin(web, messages=4)
    await live.ended()
    web.runs.forget(live.run)
    kept = await web.runs.board(live.run)
    for name in ("lines", "utterances", "scores", "verdicts", "needs", "emotions", "openness", "heard"):
        assert getattr(kept, name) == getattr(live.board, name), name
    calls = [kept.totals_at(turn).calls for turn in range(5)]
    assert calls == sorted(calls)
    assert calls[0] > 0
    assert calls[4] == live.board.totals_at(4).calls


async def test_what_was_used_is_known_of_a_resumed_runs_past(web: WebContext):
    live = await begin(web, messages=3, closing="off")
    await live.ended()
    used = [web.runs.get(live.run).board.totals_at(turn).calls for turn in range(1, 4)]
    resumed = await web.runs.resume(live.run, {"max_messages": 4})
    await resumed.ended()
    assert resumed.board.totals_at(1).calls >= used[0] > 0
    assert resumed.board.totals_at(4).calls > resumed.board.totals_at(3).calls > used[1]


@pytest.mark.proof
async def test_a_fault_is_told_once(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(f"/run/{live.run}")
    failed: list[bool] = []

    def fail(*_: object) -> None:
        failed.append(True)
        raise ZeroDivisionError

    monkeypatch.setattr(Board, "lines_upto", fail)
    buttons = user.find(kind=ui.button).elements
    (back,) = (button for button in buttons if str(button.props.get("aria-label")).startswith("One message back"))
    for times in (1, 2):
        UserInteraction(user, {back}, None).click()
        await until(lambda times=times: len(failed) >= times)
    await user.should_see("The program has a fault")
    assert sum("The program has a fault" in told for told in user.notify.messages) == 1


async def test_no_turn_is_before_the_first(web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    assert Viewing(web, live.run, live.board, -5).turn == 0


async def test_no_such_run(user: User):
    await user.open("/run/nothing")
    await user.should_see("This page does not exist")


@pytest.mark.parametrize("run", ["", ".", "..", "../secret", "..\\secret", "a/b", "nul\0"])
def test_a_run_is_never_a_path(web: WebContext, run: str):
    (web.runs.out.parent / "secret").mkdir()
    (web.runs.out.parent / "secret" / "run.json").write_text("{}")
    with pytest.raises(InputError, match="there is no run"):
        web.runs.folder(run)


@pytest.mark.proof
def test_in_a_browser(server: Server, browser):
    browser.get(server.url)
    assert "PerSimChat" in browser.title
    assert browser.find_elements(By.CSS_SELECTOR, "main")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
