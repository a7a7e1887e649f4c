"""The page of an interview: opened from a mind, asked, gone on with; hostile words stay words."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from asked_afterwards import baseline
from nicegui import ui
from nicegui.testing import User
from run_folders import PEOPLE

from persimchat.app.web.context import WebContext
from persimchat.runs.folder.interviews import read_interviews

pytestmark = pytest.mark.proof
EVA, BO, LI = PEOPLE


def address(run: str, agent: str, more: str = "") -> str:
    return f"/run/{run}/interview/{quote(agent)}{more}"


async def test_questions_are_asked_and_the_interview_is_there_again(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(address(folder.name, EVA))
    await user.should_see(f"Interview with {EVA}")
    await user.should_see("as at the end of the conversation · Tea or coffee?")
    user.find(marker="question").type("Why <b>tea</b>?")
    user.find(marker="ask").click()
    await user.should_see("it has no views of its own", retries=50)
    await user.should_see("Why <b>tea</b>?")
    user.find(marker="question").type("Since when?")
    user.find(marker="ask").click()
    await user.should_see(kind=ui.label, content="Since when?", retries=50)
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
    await user.should_see("it has no views of its own", retries=50)
    assert [row.turn for row in read_interviews(folder)] == [1]


@pytest.mark.parametrize(
    ("agent", "words"), [(LI, "is a person, whom no model answers for"), ("Nobody", "there is no participant")]
)
async def test_who_cannot_be_asked(user: User, web: WebContext, agent: str, words: str) -> None:
    folder = baseline(web.runs.out)
    await user.open(address(folder.name, agent))
    await user.should_see(words)


async def test_a_mind_of_a_run_that_is_over_leads_there(user: User, web: WebContext) -> None:
    folder = baseline(web.runs.out)
    await user.open(f"/run/{folder.name}")
    user.find("Mind").click()
    await user.should_see(marker="interview-open", retries=50)
    (button,) = user.find(marker="interview-open").elements
    assert button.props["href"].startswith(f"/run/{folder.name}/interview/")
