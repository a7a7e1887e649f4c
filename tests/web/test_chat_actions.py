"""What can be done beside a conversation on the page, and what is heard of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from nicegui import ui
from nicegui.testing import User
from run_files import run_json
from run_folders import rewrite
from web.conftest import begin, until

from persimchat.app.web.board import Board
from persimchat.app.web.chat.ending import draw_end, failed, standings
from persimchat.app.web.chat.lines import (
    LineActions,
    Said,
    draw_line,
    felt_before,
    head,
    needs,
    reasons,
    strongest_change,
    told,
)
from persimchat.app.web.chat.transcript import matching, plain
from persimchat.app.web.context import WebContext
from persimchat.app.web.shared.navigation import comparison_of, page_of
from persimchat.runs.events import (
    Analysed,
    Concluded,
    Judged,
    MindRecord,
    Position,
    Standing,
    Started,
    Stopped,
    Totals,
    Uttered,
)

OF_TWO = Started(
    run="a", topic="Tea", participants=["Ann", "Bo"], models={"Ann": "openai:x", "Bo": "offline"}, max_messages=9
)
FIRST = Uttered(turn=1, speaker="Bo", text="Tea, Ann?", addressees=["Ann"], need_to_talk={"Ann": 2, "Bo": 7})
SECOND = Uttered(
    turn=2, speaker="Ann", text="Yes.", addressees=["Bo"], need_to_talk={"Ann": 9, "Bo": 3}, response_time_s=1.25
)
NO_ACTIONS = LineActions(None, None)


def board(*lines: Any) -> Board:
    """A run with these events."""
    made = Board()
    for event in (OF_TWO, *lines):
        made.take(event)
    return made


def stopped(**more: Any) -> Stopped:
    """The end of the run."""
    return Stopped(**{"run": "a", "reason": "message_limit", "turn": 2, "totals": Totals(), "usage": [], **more})


@pytest.mark.proof
def test_the_strongest_change_counts_whatever_its_direction():
    assert strongest_change({"anger": 6, "fear": 2}, {"anger": 1, "fear": 5}) == ("anger", 6, 1)
    assert strongest_change({"anger": 6}, {"anger": 6}) is None
    assert strongest_change({}, {"anger": 6}) is strongest_change({"anger": 6}, {}) is None


@pytest.mark.proof
def test_a_change_is_one_since_the_speakers_own_last_words():
    made = board(FIRST, SECOND.model_copy(update={"emotion": {"fear": 3}}))
    made.minds[0] = {"Ann": MindRecord(turn=0, agent="Ann", emotion={"fear": 1})}
    assert felt_before(made, made.utterances[1]) == {"fear": 1}
    assert felt_before(made, SECOND.model_copy(update={"turn": 3})) == {"fear": 3}
    assert felt_before(made, FIRST) == {}


@pytest.mark.proof
def test_why_somebody_spoke():
    assert reasons(FIRST, None) == ["to Ann", "need to talk 7"]
    assert reasons(SECOND, FIRST) == ["to Bo", "need to talk 9", "addressed by Bo"]
    assert reasons(SECOND.model_copy(update={"edited_by": "branch"}), FIRST) == ["to Bo"]
    assert reasons(SECOND.model_copy(update={"heard_by": ["Bo"]}), None) == ["need to talk 9"]
    assert needs(SECOND) == "Ann 9 · Bo 3"
    assert needs(SECOND.model_copy(update={"need_to_talk": {"Ann": 9}})) == ""


@pytest.mark.proof
def test_the_offline_models_seconds_are_not_shown_as_measured():
    assert head(SECOND, OF_TWO) == "message 2 · 1.2 s"
    assert head(SECOND.model_copy(update={"speaker": "Bo"}), OF_TWO) == "message 2"


@pytest.mark.proof
def test_words_of_others_are_announced_as_such():
    assert "(Edited by you" in told(SECOND.model_copy(update={"edited_by": "branch"}))


@pytest.mark.proof
def test_everybodys_stand_is_the_last_verdicts_or_the_conclusions():
    judged = Judged(
        turn=2,
        consensus=True,
        answer="yes",
        positions=[Position(agent="Bo", position="yes, if it is black", agrees=True)],
    )
    plain = Concluded(answer="yes", consensus=True, supporters=["Ann", "Bo"], by="judge")
    made = board(FIRST, SECOND, judged, stopped(reason="consensus", conclusion=plain))
    assert standings(made) == [Standing(agent="Bo", position="yes, if it is black", words="Tea, Ann?")]
    own = [Standing(agent="Ann", position="yes, in winter", words="Yes.")]
    under = plain.model_copy(update={"conditional": "in winter", "positions": own})
    assert standings(board(FIRST, SECOND, judged, stopped(reason="consensus", conclusion=under))) == own
    assert standings(board(FIRST, stopped())) == []


@pytest.mark.proof
async def test_the_end_of_a_debate_names_conditions_positions_and_messages(user: User):
    own = [Standing(agent="Ann", position="yes, in winter", words="Yes."), Standing(agent="Bo", position="yes")]
    found = Concluded(
        answer="yes", consensus=True, supporters=["Ann", "Bo"], by="judge", conditional="in winter", positions=own
    )

    @ui.page("/end")
    def _page() -> None:
        draw_end(board(FIRST, SECOND, stopped(reason="consensus", conclusion=found)))

    await user.open("/end")
    for text in ("They agreed under conditions", "Conditions: in winter", "yes, in winter", "“Yes.”", "1 message"):
        await user.should_see(text)
    await user.should_not_see("They agreed on")


@pytest.mark.proof
async def test_the_end_of_a_guide_is_said_once_in_the_page_s_language(user: User):
    @ui.page("/end")
    def _page() -> None:
        draw_end(board(FIRST, SECOND, stopped(reason="guide", detail="All 2 questions were put.")))

    await user.open("/end")
    await user.should_see("The last question of the guide is done.")
    await user.should_not_see("All 2 questions")


@pytest.mark.proof
async def test_an_error_has_a_card_of_its_own_that_says_what_to_do(user: User):
    made = board(FIRST, stopped(reason="error", detail="cannot reach the server. Start it."))
    assert failed(made)

    @ui.page("/end")
    def _page() -> None:
        draw_end(made)

    await user.open("/end")
    await user.should_see("The conversation could not go on")
    await user.should_see("Cannot reach the server. Start it.")
    await user.should_see("What was said is kept: 1 message.")
    await user.should_not_see("The conversation is over")


@pytest.mark.proof
async def test_scores_come_after_the_utterance(user: User):
    made = board(FIRST, SECOND)
    drawn: list[Said] = []

    @ui.page("/line")
    def _page() -> None:
        line = draw_line(SECOND, made, NO_ACTIONS)
        assert isinstance(line, Said)
        drawn.append(line)

    await user.open("/line")
    await user.should_see("to Bo · need to talk 9 · addressed by Bo")
    await user.should_not_see("coherence")
    score = Analysed(turn=2, speaker="Ann", coherence=8, sentiment=5.5, engagement=7)
    drawn[0].score(score)
    drawn[0].score(score)
    await user.should_see("coherence 8.0 · sentiment 5.5 · engagement 7.0")


@pytest.mark.proof
async def test_a_line_has_places_above_and_below(user: User):
    @ui.page("/line")
    def _page() -> None:
        draw_line(
            FIRST,
            board(FIRST),
            LineActions(
                None, None, below=lambda said: ui.label(f"below {said.turn}"), above=lambda _: ui.label("above")
            ),
        )

    await user.open("/line")
    await user.should_see("below 1")
    await user.should_see("above")


@pytest.mark.proof
@pytest.mark.parametrize("shown", [True, False])
async def test_a_guides_question_stands_over_the_line_that_puts_it(user: User, web: WebContext, *, shown: bool):
    live = await begin(web, messages=2)
    await live.ended()
    folder = web.runs.folder(live.run)
    scenario = run_json(folder)["scenario"]
    scenario["guide"] = {
        "moderator": scenario["participants"][0]["name"],
        "stimulus": {"title": "Tea", "text": "A <b>cup</b>."},
        "questions": [{"ask": "What did you <b>drink</b>?", "show": shown}, {"ask": "And why?"}],
    }
    rewrite(folder, "begun", lambda begun: {**begun, "scenario": scenario})
    rewrite(folder, "utterance", lambda said: {**said, "question": 1} if said["turn"] == 1 else said)
    await user.open(page_of(live.run))
    await user.should_see("Question 1 of 2")
    await user.should_see("What did you <b>drink</b>?")
    when = "Everybody is shown this" if shown else "Everybody is shown this, from the beginning"
    (stimulus,) = user.find(marker="shown").elements
    assert [element.text for element in stimulus.descendants()] == [when, "Tea\n\nA <b>cup</b>."]


@pytest.mark.proof
@pytest.mark.parametrize("again", [False, True])
async def test_a_branch_says_so_and_leads_to_its_origin(user: User, web: WebContext, *, again: bool):
    live = await begin(web, messages=2)
    await live.ended()
    runs = web.runs
    made = await (runs.regenerate(live.run, 2) if again else runs.branch(live.run, 1, say=("Moderator", "Stop.")))
    await made.ended()
    await user.open(page_of(made.run))
    if again:
        await user.should_see("This is a new run, in which message 2 is said again.")
    else:
        await user.should_see("This is a branch: its first message is that of another run")
        await user.should_see("From here on, the branch goes its own way")
    links = {link.props["href"] for link in user.find(kind=ui.link).elements}
    assert {page_of(live.run, 1), comparison_of(live.run, made.run)} <= links
    await user.open(page_of(live.run))
    await user.should_not_see("This is a branch")


HEARD = [
    Uttered(turn=1, speaker="Jarmila Dvořáčková", text="Chléb and BUTTER."),
    Uttered(turn=2, speaker="Bo", text="No butter."),
    Uttered(turn=3, speaker="Bo", text="Jam."),
]


def test_search_knows_no_case_and_no_accents():
    assert plain("Dvořáčková") == "dvorackova"
    assert matching(HEARD, "butter") == [1, 2]
    assert matching(HEARD, "chleb") == matching(HEARD, "DVORAC") == [1]
    assert matching(HEARD, "  ") == matching(HEARD, "tea") == []


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
