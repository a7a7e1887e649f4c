"""The runs list: found, chosen, deleted, taken up again."""

from __future__ import annotations

import json
import shutil

import pytest
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until
from web.past_pages import line, named, press

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.past.runs_page import FEW, PAGE
from persimchat.app.web.shared.navigation import page_of
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.labels import labels, read_labels
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

PATIENT = 600
"""Tries of a tenth of a second."""
MENU = "More actions for this run: Tea or coffee?"
HOSTILE = '<img src=x onerror="window.__x=1">'


async def made(web: WebContext, **settings: object) -> str:
    """A run that is over; its id."""
    live = await begin(web, **{"messages": 2, **settings})
    await live.ended()
    return live.run


def copied(web: WebContext, run: str, name: str, **changes: object) -> None:
    """Put another run beside a run, with other values in its run.json."""
    shutil.copytree(web.runs.out / run, web.runs.out / name)
    path = web.runs.out / name / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    topic = changes.pop("topic", None)
    if topic is not None:
        manifest["scenario"]["topic"] = topic
    path.write_text(json.dumps(manifest | changes | {"run": name}), encoding="utf-8")


def topics(user: User) -> list[str]:
    """The topics of the cards, from the top."""
    cards = sorted(user.find(kind=ui.link).elements, key=lambda link: link.id)
    return [
        label.text for link in cards if "run-topic" in link.classes for label in link if isinstance(label, ui.label)
    ]


async def until_listed(user: User) -> None:
    await user.open("/runs")
    await user.should_see(kind=ui.checkbox)


async def test_nothing_there_invites(user: User):
    await user.open("/runs")
    await user.should_see("No conversations yet")
    await user.should_see("Start the first conversation")


async def test_search_and_filters(user: User, web: WebContext):
    run = await made(web)
    copied(web, run, "b", topic="Which city?", stop_reason="consensus", started="2026-01-02T00:00:00+00:00")
    copied(web, run, "c", topic=HOSTILE, stop_reason=None, started="2026-01-01T00:00:00+00:00")
    await until_listed(user)
    assert topics(user) == ["Tea or coffee?", "Which city?", HOSTILE]  # as text, the latest first
    await user.should_see("3 runs")
    user.find(kind=ui.input).type("which CITY")
    assert topics(user) == ["Which city?"]
    await user.should_see("1 of 3 runs")
    user.find(kind=ui.input).type(" nobody")
    await user.should_see("No run matches this search.")
    user.find("Clear the search").click()
    assert len(topics(user)) == 3
    ended = next(select for select in user.find(kind=ui.select).elements if "consensus" in select.options)
    ended.set_value("unfinished")
    assert topics(user) == [HOSTILE]
    ended.set_value("consensus")
    assert topics(user) == ["Which city?"]


async def test_hundreds_come_page_by_page(user: User, web: WebContext):
    run = await made(web)
    for number in range(PAGE + 4):
        copied(web, run, f"copy{number}", topic=f"Topic {number}")
    await until_listed(user)
    assert len(topics(user)) == PAGE
    user.find("Show 5 more").click()
    assert len(topics(user)) == PAGE + 5
    await user.should_not_see("Show ")


async def test_what_cannot_be_read_is_told(user: User, web: WebContext):
    run = await made(web)
    (web.runs.out / "odd").mkdir()
    (web.runs.out / "odd" / "run.json").write_text('{"format": 99}')
    await until_listed(user)
    assert [link.props["href"] for link in user.find(kind=ui.link).elements if "run-topic" in link.classes] == [
        f"/run/{run}"
    ]
    await user.should_see("1 folder cannot be read")
    user.find("1 folder cannot be read").elements.pop().set_value(True)
    await user.should_see("format 99 of a run's folder is unknown")


async def test_deleting_asks_and_takes_everything(user: User, web: WebContext):
    run, other = await made(web), await made(web, topic="Cats or dogs?")
    folder = web.runs.folder(run)
    await until_listed(user)
    for answer, there in (("Cancel", True), ("Delete", False)):
        press(user, line(user, MENU, "Delete"))
        await user.should_see("Delete this run?")
        with user.scope(kind=ui.dialog):
            user.find(kind=ui.button, content=answer).click()
        await user.should_not_see("Delete this run?")
        if not there:
            await user.should_see("Deleted.")
        assert folder.exists() is there
    assert web.runs.get(run) is None
    await user.should_not_see("Tea or coffee?")
    assert topics(user) == ["Cats or dogs?"]
    assert web.runs.folder(other).is_dir()


async def test_one_that_goes_on_is_on_top_and_stays(user: User, web: WebContext):
    done = await made(web, topic="Cats or dogs?")
    copied(web, done, "later", topic="Later", started="2099-01-01T00:00:00+00:00")
    live = await begin(web, messages=200)
    await until_listed(user)
    assert topics(user)[0] == "Tea or coffee?"
    await user.should_see("Live")
    named(user, "Watch: Tea or coffee?")
    named(user, "Select: Tea or coffee?").set_value(True)
    user.find(kind=ui.button, content="Delete").click()
    await user.should_see("The run is still running")
    assert web.runs.folder(live.run).is_dir()
    live.control.stop()
    await live.ended()
    await user.should_see("Stopped")  # without loading the page again
    named(user, "Resume: Tea or coffee?")  # the action that fits a run that was stopped


async def test_two_are_chosen_to_compare(user: User, web: WebContext):
    run = await made(web)
    copied(web, run, "other", topic="Other", started="2026-01-01T00:00:00+00:00")
    await until_listed(user)
    named(user, "Select: Tea or coffee?").set_value(True)
    assert not user.find(kind=ui.button, content="Compare").elements.pop().enabled
    named(user, "Select: Other").set_value(True)
    await user.should_see("2 runs selected")
    user.find(kind=ui.button, content="Compare").click()
    await user.should_see("Compare two runs")
    assert user.back_history[-1] == f"/compare?a={run}&b=other"


async def test_an_interrupted_one_goes_on(user: User, web: WebContext):
    live = await begin(web, messages=5)
    live.control.stop()
    await live.ended()
    made_before = live.board.turn
    web.runs.forget(live.run)
    await until_listed(user)
    press(user, named(user, "Resume: Tea or coffee?"))
    await user.should_see("Tea or coffee?")
    again = await _held(web, live.run)
    await again.ended()
    assert again.board.turn > made_before


async def test_one_that_waits_for_a_person_is_answered(user: User, web: WebContext):
    people = [*default_participants(1), {"name": "Petr", "human": True}]
    given = Settings(model="offline", max_messages=6, human_turns="hand")
    live = await web.runs.start(make_scenario("Tea or coffee?", people), given)
    live.control.raise_hand("Petr")
    await until(lambda: live.board.asked is not None)
    await until_listed(user)
    await user.should_see("Waiting for a person")
    assert named(user, "Answer: Tea or coffee?").props["href"] == page_of(live.run)
    live.control.pause()
    live.control.pass_turn()
    await user.should_see("Paused")  # without loading the page again
    assert named(user, "Watch: Tea or coffee?").props["href"] == page_of(live.run)
    live.control.stop()
    await live.ended()


async def _held(web: WebContext, run: str) -> LiveRun:
    await until(lambda: web.runs.get(run) is not None)
    live = web.runs.get(run)
    assert live is not None
    return live


async def test_a_folder_with_another_name_is_known_by_it(user: User, web: WebContext):
    run = await made(web)
    web.runs.folder(run).rename(web.runs.out / "renamed")
    await until_listed(user)
    assert [link.props["href"] for link in user.find(kind=ui.link).elements if "run-topic" in link.classes] == [
        "/run/renamed"
    ]


async def test_branches_stand_under_their_origin(user: User, web: WebContext):
    run = await made(web, messages=3)
    begun = [await web.runs.branch(run, 1, say=("Moderator", f"No, {n}.")) for n in range(FEW + 2)]
    for branch in begun:
        await branch.ended()
    await until_listed(user)
    assert topics(user)[0] == "Tea or coffee?"
    assert len(topics(user)) == 1 + FEW
    assert all(one.startswith("Message 2, Moderator: “No, ") for one in topics(user)[1:])
    user.find("Show 2 more branches").click()
    assert len(topics(user)) == FEW + 3
    await user.should_see(f"{FEW + 3} runs")
    link = line(user, f"More actions for this run: {topics(user)[1]}", "Compare with its origin")
    assert link.props["href"].startswith(f"/compare?a={run}&b=")


async def test_a_name_and_tags(user: User, web: WebContext):
    run = await made(web)
    copied(web, run, "other", topic="Other", started="2026-01-01T00:00:00+00:00")
    await until_listed(user)
    press(user, line(user, MENU, "Name and tags…"))
    await user.should_see("Notes for you")
    with user.scope(kind=ui.dialog):
        user.find(kind=ui.input).type(HOSTILE)
        (tags,) = user.find(kind=ui.select).elements
        tags.set_value(["pilot", "Pilot", "tea"])
        user.find(kind=ui.button, content="Keep").click()
    await until(lambda: topics(user) == [HOSTILE, "Other"])  # as text
    await user.should_see("Tea or coffee?")  # the topic stays to be seen
    assert read_labels(web.runs.folder(run)) == labels(HOSTILE, ["pilot", "tea"])
    press(user, named(user, "Only runs with the tag tea"))
    assert topics(user) == [HOSTILE]
    await user.should_see("1 of 2 runs")


async def test_labels_that_are_too_long_are_refused_where_they_are_given(user: User, web: WebContext):
    run = await made(web)
    await until_listed(user)
    press(user, line(user, MENU, "Name and tags…"))
    await user.should_see("Notes for you")
    with user.scope(kind=ui.dialog):
        (tags,) = user.find(kind=ui.select).elements
        tags.set_value(["x" * 41])
        user.find(kind=ui.button, content="Keep").click()
    await user.should_see("cannot be a tag")
    assert read_labels(web.runs.folder(run)) == labels("", [])
