"""What can be done to a run from its page, and its slider."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until
from web.past_pages import line, named, press

from persimchat.app.web.context import WebContext
from persimchat.app.web.past import time_bar
from persimchat.app.web.past.actions import FORMATS, setup_of
from persimchat.app.web.shared.navigation import comparison_of, export_of, like, page_of, report_of
from persimchat.personas.scenario import default_participants, load_scenario
from persimchat.runs.folder.reading import read_labels

MENU = "More actions for this run"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.none() | st.integers(0, 9_999))
def test_an_address_leads_to_its_run_whatever_its_name(run: str, turn: int | None):
    for address in (page_of(run, turn), page_of(run, turn, play=True), export_of(run, "csv"), report_of(run)):
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) == ("", "")
        assert unquote(parts.path.split("/")[3 if parts.path.startswith("/api") else 2]) == run
    assert parse_qs(urlsplit(page_of(run, turn)).query) == ({} if turn is None else {"turn": [str(turn)]})
    assert parse_qs(urlsplit(comparison_of(run, "b")).query, keep_blank_values=True) == {"a": [run], "b": ["b"]}
    assert parse_qs(urlsplit(like(run)).query) == {"like": [run]}


@pytest.mark.proof
async def test_the_set_up_can_be_read_again(web: WebContext, tmp_path: Path):
    live = await begin(web, messages=2, selection="softmax", selection_temperature=2.0, seed=7)
    await live.ended()
    path = tmp_path / "again.yaml"
    path.write_text(setup_of(web.runs.folder(live.run)), encoding="utf-8")
    scenario = load_scenario(path)
    assert scenario.topic == "Tea or coffee?"
    assert scenario.participants == default_participants(3)  # all of each persona
    assert scenario.settings == {
        "model": "offline",
        "max_messages": 2,
        "selection": "softmax",
        "selection_temperature": 2.0,
        "seed": 7,
    }


@pytest.mark.proof
async def test_menus_lead_where_they_say(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    run = live.run
    await user.open(page_of(run, 1))
    exports = [
        one.props["href"]
        for one in user.find(kind=ui.element).elements
        if str(one.props.get("href", "")).startswith("/api/")
    ]
    assert report_of(run) in exports
    for form in FORMATS:
        response = await user.http_client.get(export_of(run, form))
        assert response.status_code == 200, form
        assert response.headers["content-disposition"].startswith("attachment"), form
    assert line(user, MENU, "Set up another like this").props["href"] == like(run)
    assert line(user, MENU, "Compare…").props["href"] == comparison_of(run)
    press(user, line(user, MENU, "Set-up as YAML"))
    response = await user.download.next()
    assert response.text == setup_of(web.runs.folder(run))
    link = f"http://test{page_of(run, 1)}"
    user.javascript_rules[re.compile(".*navigator.clipboard.*", re.DOTALL)] = lambda _: (
        link
    )  # the browser has no clipboard
    press(user, line(user, MENU, "Copy a link to this message"))
    await user.should_see("Link to this message")
    field = user.find(kind=ui.input, content="Link to this message").elements.pop()
    assert field.value == link


@pytest.mark.proof
async def test_the_header_has_words(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(page_of(live.run, 1))
    words = [one for one in user.find(kind=ui.button).elements if "word" in one.classes]
    assert sorted(one.text for one in words) == ["Branch", "More", "Panel", "Share"]
    for one in words:  # a voice that says the word finds the button
        assert one.text in str(one.props["aria-label"])
    assert line(user, "Share", "Report (new tab)").props["href"] == report_of(live.run)


@pytest.mark.proof
async def test_a_run_is_renamed_on_its_page(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(page_of(live.run))
    press(user, line(user, MENU, "Name and tags…"))
    await user.should_see("Notes for you")
    with user.scope(kind=ui.dialog):
        user.find(kind=ui.input).type("First try")
        user.find(kind=ui.button, content="Keep").click()
    await user.should_not_see("Notes for you")
    assert read_labels(web.runs.folder(live.run)).name == "First try"
    await user.open(page_of(live.run))
    await user.should_see("First try")
    await user.should_see("Tea or coffee?")  # its topic stays to be seen


@pytest.mark.proof
async def test_deleted_from_its_page(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(page_of(live.run))
    press(user, line(user, MENU, "Delete"))
    await user.should_see("Delete this run?")
    with user.scope(kind=ui.dialog):
        user.find(kind=ui.button, content="Delete").click()
    await user.should_see("No conversations yet")
    assert not (web.runs.out / live.run).exists()


@pytest.mark.proof
async def test_one_that_goes_on_is_not_offered_for_deleting(user: User, web: WebContext):
    live = await begin(web, messages=200)
    await user.open(page_of(live.run))
    assert not line(user, MENU, "Delete").visible
    live.control.stop()
    await live.ended()


@pytest.mark.proof
async def test_branching_begins_at_the_turn_that_is_shown(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(page_of(live.run, 2))
    press(user, named(user, "Branch from this message"))
    await user.should_see(kind=ui.dialog)
    with user.scope(kind=ui.dialog):
        assert 2 in [field.value for field in user.find(kind=ui.number).elements]


# Through a run's turns: every panel shows the turn at which the slider stands


async def shows(user: User, turn: int, of: int) -> None:
    """The page shows what was said up to a turn, and nothing after it."""
    await user.should_see(content=f"{turn} of {of}", kind=ui.label)
    slider = named(user, "Message shown")
    assert isinstance(slider, ui.slider)
    assert (slider.value, slider.props["max"]) == (turn, of)


@pytest.mark.proof
async def test_it_waits_until_there_is_something_to_go_through(user: User, web: WebContext):
    live = await begin(web, messages=1)
    await live.ended()
    await user.open(page_of(live.run))
    await user.should_see(live.board.utterances[0].text)
    await user.should_not_see("Message shown")
    assert not [one for one in user.find(kind=ui.element).elements if "time-bar" in one.classes]


@pytest.mark.proof
async def test_steps_slider_and_the_end(user: User, web: WebContext):
    live = await begin(web, messages=4)
    await live.ended()
    texts = [said.text for said in live.board.utterances]
    await user.open(page_of(live.run, 2))
    await shows(user, 2, 4)
    await user.should_not_see(texts[2])
    press(user, named(user, "One message forward (→)"))
    await shows(user, 3, 4)
    await user.should_see(texts[2])
    press(user, named(user, "One message back (←)"))
    press(user, named(user, "One message back (←)"))
    await shows(user, 1, 4)
    await user.should_not_see(texts[1])
    slider = named(user, "Message shown")
    assert isinstance(slider, ui.slider)
    slider.set_value(3)
    await shows(user, 3, 4)
    press(user, named(user, "To the end"))
    await shows(user, 4, 4)
    await user.should_see(texts[3])


@pytest.mark.proof
async def test_arrow_keys_of_the_page(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    client = await user.open(page_of(live.run))
    await shows(user, 3, 3)
    for step, turn in ((-1, 2), (-1, 1), (1, 2), ("2; evil", 2)):
        heard = [one for one in client.layout._event_listeners.values() if one.type == "turn_step"]
        assert len(heard) == 1
        client.handle_event({"id": client.layout.id, "listener_id": heard[0].id, "args": [json.dumps(step)]})
        await shows(user, turn, 3)


@pytest.mark.proof
async def test_a_replay_begins_runs_and_ends(user: User, web: WebContext, monkeypatch):
    monkeypatch.setattr(time_bar, "STEP_S", 0.3)
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(page_of(live.run, 0, play=True))
    named(user, "Pause the replay")
    for turn in range(4):
        await shows(user, turn, 3)
    await user.should_see(live.board.utterances[2].text)
    press(user, named(user, "Play the replay"))  # once more, from the beginning
    await shows(user, 0, 3)
    press(user, named(user, "Pause the replay"))
    named(user, "Play the replay")
    press(user, named(user, "Speed of the replay: 1×"))
    press(user, named(user, "Speed of the replay: 2×"))
    press(user, named(user, "Speed of the replay: 4×"))
    named(user, "Speed of the replay: 1×")


@pytest.mark.proof
async def test_one_that_goes_on_can_be_looked_at_and_followed_again(user: User, web: WebContext):
    live = await begin(web, messages=200)
    await until(lambda: live.board.turn >= 2)
    await user.open(page_of(live.run, 1))
    await user.should_see(live.board.utterances[0].text)
    await user.should_not_see(live.board.utterances[1].text)
    await user.should_see("Follow live")
    live.control.stop()
    user.find("Follow live").click()
    await live.ended()
    await shows(user, live.board.turn, live.board.turn)
    await user.should_see(live.board.utterances[-1].text)
