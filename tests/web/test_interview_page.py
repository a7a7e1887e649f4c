"""The page of an interview: opened from a mind, asked, gone on with; hostile words stay words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from asked_afterwards import baseline
from loopback.server import LoopbackServer
from nicegui import ui
from nicegui.testing import User
from run_folders import PEOPLE, given, write_events

from persimchat.app.web.context import WebContext
from persimchat.runs.folder.reading import read_interviews

pytestmark = pytest.mark.proof
EVA, BO, LI = PEOPLE


def address(run: str, agent: str, more: str = "") -> str:
    return f"/run/{run}/interview/{quote(agent)}{more}"


def one(user: User, marker: str) -> Any:
    """The only element with a marker."""
    (found,) = user.find(marker=marker).elements
    return found


async def test_questions_are_asked_and_the_interview_is_there_again(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(address(folder.name, EVA))
    await user.should_see(f"Interview with {EVA}")
    await user.should_see("as at the end of the conversation · Tea or coffee?")
    user.find(marker="question").type("Why <b>tea</b>?")
    user.find(marker="ask").click()
    await user.should_see("it has no views of its own")
    await user.should_see("Why <b>tea</b>?")
    user.find(marker="question").type("Since when?")
    user.find(marker="ask").click()
    await user.should_see(kind=ui.label, content="Since when?")
    assert [(row.interview, row.number) for row in read_interviews(folder)] == [(1, 1), (1, 2)]
    await user.open(address(folder.name, EVA, "?number=1"))
    await user.should_see("Since when?")
    (chooser,) = user.find(kind=ui.select, marker="interview").elements
    assert chooser.options == {0: "A new interview", 1: "1: “Why <b>tea</b>?” (2 questions, after message 4)"}
    await user.open(address(folder.name, BO))
    await user.should_not_see("Since when?")


async def test_it_is_held_at_the_slider_s_turn(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(address(folder.name, BO, "?turn=1"))
    await user.should_see("as after message 1")
    user.find(marker="question").type("Coffee?")
    user.find(marker="ask").click()
    await user.should_see("it has no views of its own")
    assert [row.turn for row in read_interviews(folder)] == [1]


@pytest.mark.parametrize(
    ("agent", "words"), [(LI, "is a person, whom no model answers for"), ("Nobody", "There is no participant")]
)
async def test_who_cannot_be_asked(user: User, web: WebContext, agent: str, words: str) -> None:
    folder = baseline(web.runs.out)
    await user.open(address(folder.name, agent))
    await user.should_see(words)


async def test_a_mind_of_a_run_that_is_over_leads_there(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(f"/run/{folder.name}")
    user.find("Mind").click()
    await user.should_see(marker="interview-open")
    (button,) = user.find(marker="interview-open").elements
    assert button.props["href"].startswith(f"/run/{folder.name}/interview/")


async def test_the_end_of_a_run_leads_to_everybody_who_can_be_asked(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(f"/run/{folder.name}")
    await user.should_see(marker="interview-somebody")
    found = [one.props["href"] for one in user.find(kind=ui.menu_item, marker="interview-of").elements]
    assert sorted(found) == sorted(address(folder.name, name) for name in (EVA, BO))  # Li is a person


async def test_another_model_answers_and_reads_people_s_words_only_if_allowed(
    user: User, web: WebContext, serving: Callable[..., LoopbackServer]
) -> None:
    folder = baseline(web.runs.out, people=[LI])
    write_events(folder, [("utterance", given(5, LI, "Neither."))])
    server = serving(lambda _: {"answer": "The warmth of it."})
    await user.open(address(folder.name, EVA))
    await user.should_see("The agent's own model answers.")
    user.find(marker="question").type("Why tea?")
    user.find(marker="ask").click()
    await user.should_see("it has no views of its own")
    user.find(marker="model-change").click()
    one(user, "model-provider").set_value("other")
    one(user, "model-name").set_value(server.model())
    await user.should_see(f"{server.model()} answers.")
    user.find(marker="question").type("And now?")
    user.find(marker="ask").click()
    await user.should_see("another model than the agents' own would read their words")
    one(user, "with-people").set_value(True)
    user.find(marker="ask").click()
    await user.should_see("The warmth of it.")
    rows = read_interviews(folder)
    assert [(row.interview, row.number, row.judge) for row in rows] == [(1, 1, "offline"), (1, 2, server.model())]
