"""The server's runs: live ones, kept ones, and the addresses that show them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from loopback.server import free_port
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from selenium.webdriver.common.by import By
from web.conftest import Server, begin, until

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.runs.events import Event
from persimchat.runs.run import simulation
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, ModelError


async def over(web: WebContext, *, messages: int = 3) -> LiveRun:
    live = await begin(web, messages=messages, closing="off")
    await live.ended()
    return live


@pytest.mark.proof
async def test_a_renamed_run_goes_on_under_its_folders_name(web: WebContext):
    live = await over(web)
    (web.runs.out / live.run).rename(web.runs.out / "my run #1")
    resumed = await web.runs.resume("my run #1", {"max_messages": 500})
    assert web.runs.get("my run #1") is resumed
    assert web.runs.active == [resumed]
    assert await web.runs.board("my run #1") is resumed.board
    resumed.broadcast.cancel()
    await resumed.ended()
    assert (resumed.board.stopped.reason, resumed.board.error) == ("stopped", "")


@pytest.mark.proof
async def test_what_has_told_its_end_can_be_gone_on_with_at_once(web: WebContext, monkeypatch: pytest.MonkeyPatch):
    closes = asyncio.Event()

    async def slow(*given: Any, **named: Any) -> AsyncIterator[Event]:
        async for event in run_simulation(*given, **named):
            yield event
        await closes.wait()

    monkeypatch.setattr(simulation, "run_simulation", slow)
    live = await begin(web, messages=1, closing="off")
    viewing = Viewing(web, live.run, live.board)
    assert viewing.live is live
    while live.board.stopped is None:
        await asyncio.sleep(0.01)
    assert not live.over
    assert viewing.live is None
    resuming = asyncio.create_task(web.runs.resume(live.run, {"max_messages": 2}))
    await asyncio.sleep(0)
    closes.set()
    resumed = await resuming
    await resumed.ended()
    assert resumed.board.turn == 2


@pytest.mark.proof
async def test_a_copy_is_not_taken_for_its_original(web: WebContext):
    live = await over(web)
    shutil.copytree(web.runs.out / live.run, web.runs.out / "copy")
    resumed = await web.runs.resume("copy", {"max_messages": 4})
    await resumed.ended()
    assert web.runs.get(live.run) is live
    assert (live.board.turn, resumed.board.turn) == (3, 4)
    assert (await web.runs.board("copy")).turn == 4


@pytest.mark.proof
async def test_the_past_is_there_when_a_run_goes_on(web: WebContext):
    live = await over(web, messages=12)
    resumed = await web.runs.resume(live.run, {"max_messages": 13})
    assert resumed.board.turn >= 12
    await resumed.ended()


@pytest.mark.proof
async def test_of_two_who_resume_at_once_one_does(web: WebContext):
    live = await over(web)
    changes = {"max_messages": 400}
    both = await asyncio.gather(*(web.runs.resume(live.run, changes) for _ in range(2)), return_exceptions=True)
    refused = [one for one in both if isinstance(one, InputError)]
    (resumed,) = [one for one in both if isinstance(one, LiveRun)]
    assert len(refused) == 1
    assert web.runs.active == [resumed]
    with pytest.raises(InputError, match="still running"):
        await web.runs.resume(live.run)
    with pytest.raises(InputError, match="worked on"):
        await web.runs.branch(live.run, 1)
    await web.runs.close()
    assert resumed.over


async def test_a_run_whose_folder_is_deleted_underneath_is_over(web: WebContext):
    live = await begin(web, messages=300)
    shutil.rmtree(web.runs.folder(live.run))
    await live.ended()
    assert live.board.status == "ended"
    assert live.board.error
    with pytest.raises(InputError, match="there is no run"):
        await web.runs.board(live.run)


@pytest.mark.proof
async def test_what_another_process_has_added_is_seen(web: WebContext):
    live = await over(web)
    async for _ in resume_run(web.runs.folder(live.run), changes={"max_messages": 5}):
        pass
    assert (await web.runs.board(live.run)).turn == 5


@pytest.mark.proof
async def test_a_wrong_server_is_told_before_anything_begins(web: WebContext):
    down = f"m@http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(ModelError, match="nothing listens at"):
        await begin(web, model=down)
    assert not web.runs.out.exists() or list(web.runs.out.iterdir()) == []
    live = await over(web, messages=1)
    for again in (
        web.runs.resume(live.run, {"max_messages": 2, "model": down}),
        web.runs.branch(live.run, 1, changes={"model": down}),
        web.runs.regenerate(live.run, 1, {"model": down}),
    ):
        with pytest.raises(ModelError, match="nothing listens at"):
            await again
    assert [path.name for path in web.runs.out.iterdir()] == [live.run]


@pytest.mark.proof
async def test_a_run_is_shown(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(f"/run/{live.run}")
    for utterance in live.board.utterances:
        await user.should_see(utterance.text)


@pytest.mark.proof
async def test_a_run_that_is_kept_looks_as_it_did(web: WebContext):
    live = await begin(web, messages=4)
    await live.ended()
    web.runs.forget(live.run)
    kept = await web.runs.board(live.run)
    for name in ("lines", "utterances", "scores", "verdicts", "minds", "left_out", "heard"):
        assert getattr(kept, name) == getattr(live.board, name), name
    calls = [kept.totals_at(turn).calls for turn in range(5)]
    assert calls == sorted(calls)
    assert calls[0] > 0
    assert calls[4] == live.board.totals_at(4).calls


@pytest.mark.proof
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


@pytest.mark.proof
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
    (web.runs.out.parent / "secret" / "run.sqlite").write_text("{}")
    with pytest.raises(InputError, match="there is no run"):
        web.runs.folder(run)


@pytest.mark.proof
def test_in_a_browser(server: Server, browser):
    browser.get(server.url)
    assert "PerSimChat" in browser.title
    assert browser.find_elements(By.CSS_SELECTOR, "main")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
