"""The pages of experiments: a list, and one experiment as another process drives it. Text of files is only text."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from web.experiment_folders import begin_cell, hold_cell, write_experiment
from web.past_pages import named, press

from persimchat.app.web.context import WebContext
from persimchat.app.web.experiments.experiments_page import PAGE, command_of, left_in_words, matching
from persimchat.app.web.watching import WatchedCell
from persimchat.experiments.plan import Cell

pytestmark = pytest.mark.proof

HOSTILE = "<img src=x onerror=window.__x=1>"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch):
    """Folders are read whenever somebody asks."""
    monkeypatch.setattr("persimchat.app.web.watching.EVERY_S", 0.0)


async def test_no_experiments(user: User):
    await user.open("/experiments")
    await user.should_see("No experiments yet")
    await user.should_see("persimchat experiment run examples/experiments/tea.yaml")
    await user.should_see("may cost money")


async def test_the_list(user: User, web: WebContext):
    place, cells = write_experiment(web.experiments.folder)
    hold_cell(place, cells[0])
    broken, _ = write_experiment(web.experiments.folder, "broken")
    (broken.path / "experiment.lock.json").write_text("{")
    await user.open("/experiments")
    await user.should_see("2 experiments")
    await user.should_see("1 of 4 conversations done · 3 planned")
    await user.should_see("3 calls · 1.2 k tokens")
    await user.should_see("experiment.lock.json")


async def test_progress_of_another_process(user: User, web: WebContext):
    place, cells = write_experiment(web.experiments.folder)
    await user.open("/experiments/small")
    await user.should_see("Not complete")
    await user.should_see("Nothing spent yet")
    await user.should_see("persimchat experiment run")
    await user.should_see("The report is written at the end.")
    with place.driven():
        begin_cell(place, cells[0])
        await user.should_see("1 running")
        await user.should_see("Ctrl-C there stops it")
    hold = [hold_cell(place, cell) for cell in cells[1:]]
    assert len(hold) == 3
    (place.path / "report.html").write_text("<h1>small</h1>")
    await user.should_see("3 of 4 conversations done · 1 interrupted")
    await user.should_see("Show the report")


async def test_its_report_in_a_frame(user: User, web: WebContext):
    place, _ = write_experiment(web.experiments.folder)
    (place.path / "report.html").write_text("<h1>small</h1>")
    (place.path / "tables").mkdir()
    (place.path / "tables" / "cells.csv").write_text("cell\n")
    await user.open("/experiments/small")
    await user.should_see("cells.csv")
    assert _frames(user) == []
    user.find("Show the report").click()
    (frame,) = _frames(user)
    assert frame.props["src"].startswith("/api/experiments/small/report?")
    assert "allow-scripts" not in frame.props["sandbox"]
    assert frame.props["aria-label"] == "Report of the experiment small"
    user.find("Hide the report").click()
    assert _frames(user) == []


def _frames(user: User) -> list[ui.element]:
    return [one for one in user.find(kind=ui.element).elements if one.tag == "iframe"]


async def test_cells_are_searched(user: User, web: WebContext):
    place, cells = write_experiment(web.experiments.folder, grid={"seed": {"from": 0, "count": PAGE + 2}})
    hold_cell(place, cells[-1])
    await user.open("/experiments/small")
    await user.should_see("Show 2 more")
    await user.should_not_see(cells[-1])
    user.find("Show 2 more").click()
    await user.should_see(cells[-1])
    named(user, "Conversations")
    field = next(iter(user.find(kind=ui.input).elements))
    field.set_value(cells[3])
    await user.should_see(f"1 of {PAGE + 2} conversations")
    await user.should_not_see(cells[-1])


async def test_text_is_only_text(user: User, web: WebContext):
    base = {"topic": HOSTILE, "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline"}}
    tasks = {"list": [{"id": "t1", "topic": HOSTILE, "category": HOSTILE}]}
    place, cells = write_experiment(
        web.experiments.folder, base=base, tasks=tasks, grid={"wording": {HOSTILE: "", ":onerror": "x {topic}"}}
    )
    place.tell("failed", cells[0], why=HOSTILE)
    await user.open("/experiments/small")
    await user.should_see("What is varied")
    labels = [one for one in user.find(kind=ui.label).elements if one.text == HOSTILE]
    assert len(labels) == 3  # level, cell, reason
    assert not [one for one in user.find(kind=ui.element).elements if one.tag == "img" or isinstance(one, ui.html)]


async def test_a_run_of_a_cell_is_read_only(user: User, web: WebContext):
    place, cells = write_experiment(web.experiments.folder)
    hold_cell(place, cells[0])
    await user.open(f"/run/small:{cells[0]}")
    await user.should_see("A conversation of the experiment small.")
    await user.should_see("I like tea.")
    await user.should_not_see("Resume")
    await user.should_not_see("Delete")
    await user.should_not_see("Branch from this message")
    press(user, named(user, "More actions for this run"))
    await user.should_see("Set up another like this")


async def test_a_damaged_experiment(user: User, web: WebContext):
    place, _ = write_experiment(web.experiments.folder)
    (place.path / "experiment.lock.json").write_text("{")
    await user.open("/experiments/small")
    await user.should_see("experiment.lock.json")


async def test_no_such_experiment(user: User):
    for address, others in (
        ("/experiments/none", "Experiments"),
        ("/experiments/not%20a%20name", "Experiments"),
        ("/run/none:0123456789ab", "Runs"),
    ):
        await user.open(address)
        await user.should_see("This page does not exist")
        await user.should_see(kind=ui.button, content=others)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.2, "about 1 s left"),
        (89, "about 89 s left"),
        (120, "about 2 min left"),
        (9000, "about 2.5 h left"),
    ],
)
def test_time_left(seconds: float | None, words: str):
    assert left_in_words(seconds) == words


def test_what_matches():
    cell = Cell(id="0123456789ab", axes={"seed": 7, "on": None}, task="cars", topic="Cars?", settings={})
    one = WatchedCell(cell, "failed", "the server is gone")
    assert matching(one, "CARS 7 gone", "")
    assert matching(one, "", "failed")
    assert not matching(one, "", "done")
    assert not matching(one, "buses", "")


async def test_the_command_that_goes_on(user: User, web: WebContext):
    """An experiment's folder has all that its file names."""
    write_experiment(web.experiments.folder)
    await user.open("/experiments/small")
    await user.should_see(command_of("run", web.experiments.folder / "small/experiment.yaml", web.experiments.folder))
