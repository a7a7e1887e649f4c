"""Two runs side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until

from persimchat.app.web.context import WebContext
from persimchat.app.web.past.compare_page import PAGE, pairs, percent
from persimchat.app.web.shared.lists import page_by_page
from persimchat.app.web.shared.navigation import comparison_of
from persimchat.runs.events import Uttered

pytestmark = pytest.mark.proof

TURNS = st.lists(st.integers(1, 60), unique=True).map(sorted)


@given(TURNS, TURNS)
def test_turn_stands_beside_turn(a: list[int], b: list[int]):
    runs = [[Uttered(turn=turn, speaker="Eva", text="x") for turn in turns] for turns in (a, b)]
    rows = pairs(*runs)
    assert [turn for turn, _, _ in rows] == sorted(set(a) | set(b))
    assert [one for _, one, _ in rows if one] == runs[0]
    assert [other for _, _, other in rows if other] == runs[1]
    assert all(said is None or said.turn == turn for turn, *both in rows for said in both)


@given(st.lists(st.integers(0, 10_000), min_size=1))
def test_shares_are_of_the_whole(words: list[int]):
    shares = [percent(one, sum(words)) for one in words]
    assert all(0 <= share <= 100 for share in shares)
    assert abs(sum(shares) - (100 if sum(words) else 0)) <= len(words) / 2


async def test_a_branch_beside_its_origin(user: User, web: WebContext):
    origin = await begin(web, messages=4)
    await origin.ended()
    given = "Neither: <b>water</b>."
    speaker = origin.board.participants[0]
    branch = await web.runs.branch(origin.run, 2, say=(speaker, given), changes={"max_messages": 3})
    await branch.ended()
    await user.open(comparison_of(origin.run, branch.run))
    await user.should_see("B is a branch of A after message 2.")
    await user.should_see("They share the first 2 messages.")
    await user.should_see("They differ from message 3 on: a different text was written there.")
    await user.should_see("Message limit")
    await user.should_see(given)  # as text
    await user.should_see("No further messages.")  # the branch is one shorter
    await user.should_see(origin.board.utterances[3].text)
    fold = user.find(kind=ui.expansion, content="The shared past (2 messages)").elements.pop()
    assert not fold.value
    await user.should_not_see(origin.board.utterances[0].text)
    fold.set_value(True)
    await user.should_see(origin.board.utterances[0].text)


async def test_a_branch_alone_is_compared_with_its_origin(user: User, web: WebContext):
    origin = await begin(web, messages=3)
    await origin.ended()
    said = origin.board.utterances[1]
    branch = await web.runs.branch(origin.run, 1, say=(said.speaker, f"{said.text} <b>Really?</b>"))
    await branch.ended()
    await user.open(comparison_of(branch.run))
    await user.should_see("B is a branch of A after message 1.")
    one, other = sorted(user.find(kind=ui.select).elements, key=lambda select: select.id)
    assert (one.value, other.value) == (origin.run, branch.run)
    assert list(one.options.values())[0][:6] == list(other.options.values())[0][:6]  # the date comes first
    await user.should_see("Model calls after message 2")  # a branch has no calls of its past
    marked = [one for one in user.find(kind=ui.element).elements if one.tag == "mark"]
    assert ["".join(label.text for label in mark if isinstance(label, ui.label)) for mark in marked][-1:] == [
        " <b>Really?</b>"
    ]  # what one of them has and the other has not, as text


async def test_an_origin_alone_offers_its_branches(user: User, web: WebContext):
    origin = await begin(web, messages=2)
    await origin.ended()
    branch = await web.runs.branch(origin.run, 1, say=("Moderator", "Water?"))
    await branch.ended()
    await user.open(comparison_of(origin.run))
    await user.should_see("Runs that share a past with it")
    links = [link.props["href"] for link in user.find(kind=ui.link).elements]
    assert comparison_of(origin.run, branch.run) in links


async def test_courses_stand_over_each_other(user: User, web: WebContext):
    one, other = await begin(web, messages=3), await begin(web, messages=3, topic="Cats or dogs?", seed=11)
    for live in (one, other):
        await live.ended()
    await user.open(comparison_of(one.run, other.run))
    await user.should_see("A solid, B dashed.")
    drawn = "".join(str(html.content) for html in user.find(kind=ui.html).elements)
    for name in one.board.participants:
        assert name in drawn
    assert "dashed" in drawn and "Need to talk" in drawn


async def test_a_run_is_equal_to_itself(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(comparison_of(live.run, live.run))
    await user.should_see("The two runs are equal")
    await user.should_see("Both runs have the same settings.")
    await user.should_see(live.board.utterances[0].text)  # nothing else is there to be seen: not folded


async def test_choosing_in_the_page(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    second = await begin(web, messages=2, topic="Cats or dogs?")
    await second.ended()
    await user.open("/compare")
    await user.should_see("Choose two runs.")
    await user.should_see(kind=ui.select)
    one, other = sorted(user.find(kind=ui.select).elements, key=lambda select: select.id)
    assert set(one.options) == set(other.options) == {live.run, second.run}
    one.set_value(live.run)
    await until(lambda: user.back_history[-1] == comparison_of(live.run))


async def test_what_is_missing_is_told(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(comparison_of(live.run, "../../secret"))
    await user.should_see("There is no run '../../secret'")


async def test_long_ones_are_drawn_in_parts(user: User):
    drawn: list[int] = []
    client = await user.open("/compare")
    with client:
        page_by_page(2 * PAGE + 3, drawn.append, PAGE, "past.more")
    assert drawn == list(range(PAGE))
    user.find(f"Show {PAGE} more").click()
    user.find("Show 3 more").click()
    assert drawn == list(range(2 * PAGE + 3))
    await user.should_not_see("Show 3 more")
