"""Search in the conversation, shortcuts, pace, and one message at a time."""

from __future__ import annotations

import httpx
import pytest
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until

from persimchat.app.web.chat.search import matching, plain
from persimchat.app.web.context import WebContext
from persimchat.app.web.shared.navigation import page_of
from persimchat.runs.events import Uttered

SAID = [
    Uttered(turn=1, speaker="Jarmila Dvořáčková", text="Chléb and BUTTER."),
    Uttered(turn=2, speaker="Bo", text="No butter."),
    Uttered(turn=3, speaker="Bo", text="Jam."),
]


def test_search_knows_no_case_and_no_accents():
    assert plain("Dvořáčková") == "dvorackova"
    assert matching(SAID, "butter") == [1, 2]
    assert matching(SAID, "chleb") == matching(SAID, "DVORAC") == [1]
    assert matching(SAID, "  ") == matching(SAID, "tea") == []


@pytest.mark.proof
async def test_what_is_found_is_marked_even_far_back(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    one = live.board.utterances[-1]
    for turn in range(3, 400):
        live.board.take(one.model_copy(update={"turn": turn, "text": f"words {turn} {'needle' * (turn in (5, 390))}"}))
    await user.open(page_of(live.run))
    user.find(marker="search").click()
    (field,) = user.find(marker="search-field").elements
    assert isinstance(field, ui.input)
    field.value = "needle"
    await user.should_see("2 of 2")
    user.find(marker="search-before").click()
    await user.should_see("1 of 2")
    await user.should_see("words 5 needle")
    field.value = "nowhere"
    await user.should_see("Nothing found")
    user.find(marker="search-close").click()


@pytest.mark.proof
async def test_the_list_of_shortcuts_has_a_switch(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(page_of(live.run))
    user.find(marker="shortcuts").click()
    await user.should_see("Pause or continue")
    await user.should_see("Use single keys as shortcuts")


@pytest.mark.proof
async def test_one_message_at_a_time_and_a_pace(user: User, web: WebContext):
    live = await begin(web, messages=30, closing="off")
    live.control.pause()
    await user.open(page_of(live.run))
    await until(lambda: live.board.paused)
    before = live.board.turn
    user.find(marker="one-turn").click()
    await until(lambda: live.board.turn == before + 1 and live.board.paused)
    live.control.pace(600)
    live.control.go_on()
    await until(lambda: live.board.turn == before + 2)
    assert live.control.pace_s == 600
    live.control.stop()
    await live.ended()
    assert live.board.turn <= before + 3


@pytest.mark.proof
async def test_pace_and_one_turn_by_the_api(api: httpx.AsyncClient, web: WebContext):
    live = await begin(web, messages=30, closing="off")
    live.control.pause()
    await until(lambda: live.board.paused)
    before = live.board.turn
    address = f"/api/runs/{live.run}/control"
    assert (await api.post(address, json={"do": "one_turn"})).status_code == 202
    await until(lambda: live.board.turn == before + 1 and live.board.paused)
    assert (await api.post(address, json={"do": "pace", "seconds": 2.5})).status_code == 202
    assert live.control.pace_s == 2.5
    assert (await api.post(address, json={"do": "pace", "seconds": -1})).status_code == 422
    live.control.stop()
    await live.ended()
