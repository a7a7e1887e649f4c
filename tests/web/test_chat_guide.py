"""People in a focus group on the page: a moderator puts the question that is due, others say where they stand."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from web.test_chat_composer import field, until, write

from persimchat.app.web.chat.controls import questions_of
from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof


async def group(web: WebContext) -> LiveRun:
    """Begin a focus group that one person moderates and another takes part in."""
    people = [*default_participants(2), {"name": "Mira", "human": True}, {"name": "Petr", "human": True}]
    guide = {
        "moderator": "Mira",
        "questions": [{"ask": "Tea or coffee?", "turns": 1}],
        "positions": [{"ask": "Do you like tea?", "answer": "choice", "options": ["yes", "a little", "no"]}],
    }
    scenario = make_scenario("Tea", people, guide=guide)
    return await web.runs.start(scenario, Settings(model="offline", cognition="lean"))


async def test_who_watches_has_the_next_question_put(user: User, web: WebContext) -> None:
    asks = [{"ask": "Tea or coffee?", "turns": 9}, {"ask": "And cake?", "turns": 1}]
    guide = {"moderator": default_participants(1)[0].name, "questions": asks}
    scenario = make_scenario("Tea", default_participants(3), guide=guide)
    live = await web.runs.start(scenario, Settings(model="offline", cognition="lean"))
    live.control.pause()
    await until(lambda: live.board.paused)
    await user.open(f"/run/{live.run}")
    user.find(marker="next-question").click()
    await user.should_see("The next question of the guide comes after this message.")
    put, before = questions_of(live.board)[0], live.board.turn
    live.control.go_on()
    await until(lambda: questions_of(live.board)[0] == put + 1)
    assert live.board.utterances[before].question == put + 1  # at once
    live.control.stop()
    await live.ended()


async def test_people_take_positions_and_moderate(user: User, web: WebContext) -> None:
    live = await group(web)
    await until(lambda: live.board.asked)
    await user.open(f"/run/{live.run}")
    await user.should_see("Petr, before the talk: Do you like tea?")
    (choice,) = user.find(marker="deciding").elements
    assert isinstance(choice, ui.radio)
    assert list(choice.options.values()) == ["yes", "a little", "no"]
    choice.value = 1
    user.find(marker="decide").click()
    await user.should_see("Speak as Mira")  # the tab stays with Petr, who has acted in it
    user.find("Speak as Mira").click()
    await user.should_see("Mira, question 1 of 1 is due: put it in these words or in your own")
    await until(lambda: field(user).value)
    assert field(user).value == "Tea or coffee?"
    write(user, "What do you drink?")
    await until(lambda: live.board.turn)
    said = live.board.utterances[0]
    assert (said.speaker, said.text, said.question) == ("Mira", "What do you drink?", 1)
    await until(lambda: live.board.asked is not None and live.board.asked.what == "position")
    live.control.answer("no")
    await until(lambda: live.board.stopped)
    assert live.board.stopped is not None
    assert live.board.stopped.reason == "guide"
