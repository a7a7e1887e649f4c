"""The list of runs: searched, chosen, compared, deleted; what it says of a run; and the other wordings of lines."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.testing import User
from run_folders import put, rewrite
from web.conftest import begin, until
from web.past_pages import line, named, press

import persimchat.app.web.past as past
from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.past.actions import FORMATS
from persimchat.app.web.past.runs_page import FEW, PAGE, ending, moment
from persimchat.app.web.shared.navigation import page_of
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports.diff_parting import Why
from persimchat.runs.events import StopReason
from persimchat.runs.folder.answers import labels
from persimchat.runs.folder.listing import UNFINISHED
from persimchat.runs.folder.reading import read_labels
from persimchat.state.settings import Settings
from persimchat.state.wording import LANGUAGES, catalogue

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
    """Put another run beside a run, with other values."""
    shutil.copytree(web.runs.out / run, web.runs.out / name)
    folder, topic = web.runs.out / name, changes.pop("topic", None)
    end = {key: changes.pop(key) for key in ("stop_reason", "stop_source", "detail", "ended") if key in changes}

    def begun(kept: dict[str, Any]) -> dict[str, Any]:
        scenario = kept["scenario"] if topic is None else {**kept["scenario"], "topic": topic}
        return {**kept, **changes, "scenario": scenario, "run": name}

    rewrite(folder, "begun", begun)
    if "stop_reason" in end and end["stop_reason"] is None:
        put(folder, "ended", [])
    else:
        rewrite(folder, "ended", lambda kept: {**kept, **end})


def topics(user: User) -> list[str]:
    """The topics of the cards, from the top."""
    cards = sorted(user.find(kind=ui.link).elements, key=lambda link: link.id)
    return [
        label.text for link in cards if "run-topic" in link.classes for label in link if isinstance(label, ui.label)
    ]


async def until_listed(user: User) -> None:
    await user.open("/runs")
    await user.should_see(kind=ui.checkbox)


@pytest.mark.proof
async def test_nothing_there_invites(user: User):
    await user.open("/runs")
    await user.should_see("No conversations yet")
    await user.should_see("Start the first conversation")


@pytest.mark.proof
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


@pytest.mark.proof
async def test_hundreds_come_page_by_page(user: User, web: WebContext):
    run = await made(web)
    for number in range(PAGE + 4):
        copied(web, run, f"copy{number}", topic=f"Topic {number}")
    await until_listed(user)
    assert len(topics(user)) == PAGE
    user.find("Show 5 more").click()
    assert len(topics(user)) == PAGE + 5
    await user.should_not_see("Show ")


@pytest.mark.proof
async def test_what_cannot_be_read_is_told(user: User, web: WebContext):
    run = await made(web)
    (web.runs.out / "odd").mkdir()
    (web.runs.out / "odd" / "run.sqlite").write_bytes(b"This is no log of a run." * 9)
    await until_listed(user)
    assert [link.props["href"] for link in user.find(kind=ui.link).elements if "run-topic" in link.classes] == [
        f"/run/{run}"
    ]
    await user.should_see("1 folder cannot be read")
    user.find("1 folder cannot be read").elements.pop().set_value(True)
    await user.should_see("odd")


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
async def test_two_are_chosen_to_compare(user: User, web: WebContext):
    run = await made(web)
    copied(web, run, "other", topic="Other", started="2026-01-01T00:00:00+00:00")
    await until_listed(user)
    named(user, "Select: Tea or coffee?").set_value(True)
    assert not user.find(marker="compare-chosen").elements.pop().enabled
    named(user, "Select: Other").set_value(True)
    await user.should_see("2 runs selected")
    user.find(marker="compare-chosen").click()
    await user.should_see("Compare two runs")
    assert user.back_history[-1] == f"/compare?a={run}&b=other"


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
async def test_a_folder_with_another_name_is_known_by_it(user: User, web: WebContext):
    run = await made(web)
    web.runs.folder(run).rename(web.runs.out / "renamed")
    await until_listed(user)
    assert [link.props["href"] for link in user.find(kind=ui.link).elements if "run-topic" in link.classes] == [
        "/run/renamed"
    ]


@pytest.mark.long
@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
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


# The texts of the pages of past runs: every one that is asked for is there, in every language alike


MADE = {
    *(f"past.why_{why}" for why in get_args(Why)),
    *(f"past.ended_{reason}" for reason in (*get_args(StopReason), UNFINISHED)),
    *(f"past.export_{form}" for form in FORMATS),
    *(f"past.mode_{mode}" for mode in ("discussion", "debate", "story")),
    *(f"past.live_{status}" for status in ("running", "paused", "asked")),
    *(f"past.{action}" for action in ("answer", "watch", "replay")),
}
"""Keys that are put together."""


def places(text: str) -> set[str]:
    """The values that a text has places for."""
    return {name.split(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_every_text_is_there_and_used():
    code = "".join(path.read_text(encoding="utf-8") for path in Path(past.__path__[0]).glob("*.py"))
    asked = set(re.findall(r'"(past\.\w+)"', code)) | MADE
    assert asked == {key for key in catalogue() if key.startswith("past.")}


def test_languages_say_the_same():
    for key, entry in catalogue().items():
        if key.startswith("past."):
            assert set(entry) == set(LANGUAGES), key
            found = {frozenset().union(*map(places, text.values() if isinstance(text, dict) else [text]))
                     for text in entry.values()}  # fmt: skip
            assert len(found) == 1, key


@given(st.text())
def test_whatever_stands_in_a_folder_is_worded(text: str):
    assert moment(text)
    assert isinstance(ending(text), str)


def test_a_moment_is_of_the_servers_clock():
    assert moment("2026-11-21T12:07:00+00:00").endswith(":07")
    assert moment("yesterday") == "yesterday"
    assert moment("") == "–"


# The alternatives of a line, under it on the page of a run


"""Tries of a tenth of a second: a busy machine is slow, and a fault is one after a minute, too."""
WORDS = 'Neither: <img src=x onerror="window.__x=1"> water.'


@pytest.mark.proof
async def test_they_lead_to_the_run_that_said_them(user: User, web: WebContext):
    origin = await begin(web, messages=4)
    await origin.ended()
    speaker = origin.board.utterances[1].speaker
    branch = await web.runs.branch(origin.run, 1, say=(speaker, WORDS))
    await user.open(page_of(branch.run))  # before its own line is said
    await branch.ended()
    await user.should_see("2 of 2 wordings")
    first = named(user, f"Alternative 1 of 2: {speaker}: {origin.board.utterances[1].text[:60]}", begins=True)
    assert first.props["href"] == page_of(origin.run, 2)
    assert not [one for one in user.find(kind=ui.label).elements if one.text.endswith("of 1 wordings")]
    await user.open(page_of(origin.run))
    await user.should_see("1 of 2 wordings")
    other = named(user, f"Alternative 2 of 2: {speaker}: {WORDS}")
    assert other.props["href"] == page_of(branch.run, 2)
    assert not named(user, "No more alternatives").enabled


@pytest.mark.proof
async def test_they_come_to_an_open_page(user: User, web: WebContext):
    origin = await begin(web, messages=4)
    await origin.ended()
    await user.open(page_of(origin.run))
    await user.should_see(origin.board.utterances[3].text)
    branch = await web.runs.branch(origin.run, 1, say=(origin.board.utterances[1].speaker, WORDS))
    await branch.ended()
    log = web.runs.out / origin.run / "run.sqlite"
    log.rename(log.with_name("away"))  # as if it could not be read just now
    await asyncio.sleep(0)
    log.with_name("away").rename(log)
    await user.should_see("1 of 2 wordings")


@pytest.mark.proof
async def test_a_run_without_relatives_has_none(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    other = await begin(web, messages=2, topic="Cats or dogs?")
    await other.ended()
    await user.open(page_of(live.run))
    await user.should_see(live.board.utterances[1].text)
    await asyncio.sleep(0.3)
    assert not [one for one in user.find(kind=ui.element).elements if "other-lines" in one.classes]
