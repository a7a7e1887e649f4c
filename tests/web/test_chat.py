"""The conversation on the page: what is said, what stands between and beside it, search, and going back in time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin

from persimchat.app.web.board import Board, Line
from persimchat.app.web.chat.conversation import between
from persimchat.app.web.chat.lines import (
    LineActions,
    draw_line,
)
from persimchat.app.web.chat.transcript import LARGEST, STEP, doing, earlier, later, window
from persimchat.app.web.context import WebContext
from persimchat.app.web.words import t
from persimchat.runs.events import (
    Continued,
    Judged,
    MindRecord,
    Paused,
    Position,
    Shortened,
    Silenced,
    Speaking,
    Started,
    Token,
    TopicChanged,
    Uttered,
    Waiting,
)
from persimchat.state.minds.emotion import dominant


def bubbles(user: User) -> list[str]:
    """What is said on the page, in order."""
    assert user.client is not None
    found = [el for el in user.client.elements.values() if isinstance(el, ui.label) and "bubble" in el.classes]
    return [label.text for label in sorted(found, key=_web)]


def _web(element: ui.element) -> tuple[int, ...]:
    """Where an element stands on its page."""
    path: list[int] = []
    while element.parent_slot is not None:
        path.insert(0, element.parent_slot.children.index(element))
        element = element.parent_slot.parent
    return tuple(path)


@pytest.mark.proof
@given(st.integers(0, 5_000), st.none() | st.integers(-10, 6_000))
def test_the_window_is_of_bounded_size_and_inside(count: int, first: int | None):
    low, high = window(count, first)
    assert 0 <= low <= high <= count
    assert high - low <= LARGEST
    assert high - low >= min(count, STEP)
    if first is None:
        assert high == count


@pytest.mark.proof
@given(st.integers(0, 5_000))
def test_steps_lead_to_every_line_and_back(count: int):
    seen: set[int] = set()
    first: int | None = None
    for _ in range(count // STEP + 2):
        seen |= set(range(*window(count, first)))
        first = earlier(count, first)
    assert seen == set(range(count))
    while first is not None:
        before, first = first, later(count, first)
        assert first is None or first > before


@pytest.mark.proof
def test_the_strongest_emotion_is_named():
    assert dominant({"anger": 3, "fear": 7}) == "fear"
    assert dominant({"fear": 5, "sadness": 5}) == "sadness"
    assert dominant({"fear": 0}) == dominant({}) == "calm"
    assert dominant({"another": 9}) == "calm"


@pytest.mark.proof
async def test_an_utterance_says_who_when_and_how(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(f"/run/{live.run}")
    for said in live.board.utterances:
        await user.should_see(said.text)
        await user.should_see(said.speaker)
        await user.should_see(f"message {said.turn}")
    await user.should_see("The conversation is over. The message limit was reached.")
    await user.should_see("Ended")


@pytest.mark.proof
async def test_going_back_and_forth(user: User, web: WebContext):
    live = await begin(web, messages=5)
    await live.ended()
    texts = [said.text for said in live.board.utterances]
    await user.open(f"/run/{live.run}?turn=2")
    assert bubbles(user) == texts[:2]
    await user.should_not_see("The conversation is over")
    await user.should_see("Looking at message 2 of 5.")
    user.find(marker="newest").click()
    await user.should_see("The conversation is over")
    assert bubbles(user) == texts


@pytest.mark.proof
async def test_an_empty_past_is_shown(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(f"/run/{live.run}?turn=0")
    assert bubbles(user) == []


@pytest.mark.proof
async def test_long_conversations_are_windowed(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    one = live.board.utterances[-1]
    for turn in range(3, 2_001):
        live.board.take(one.model_copy(update={"turn": turn, "text": f"words {turn}"}))
    await user.open(f"/run/{live.run}")
    assert bubbles(user) == [f"words {turn}" for turn in range(1_921, 2_001)]
    user.find("Show earlier").click()
    assert bubbles(user)[0] == "words 1841"
    for _ in range(5):
        user.find("Show earlier").click()
    shown = bubbles(user)
    assert len(shown) == LARGEST
    assert shown == [f"words {turn}" for turn in range(1_441, 1_441 + LARGEST)]
    while "words 2000" not in bubbles(user):
        user.find("Show later").click()
    assert bubbles(user) == [f"words {turn}" for turn in range(1_921, 2_001)]


@pytest.mark.proof
async def test_new_utterances_are_drawn_and_said_once(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(f"/run/{live.run}")
    one = live.board.utterances[-1]
    assert _announced(user) == ""
    live.board.take(one.model_copy(update={"turn": 3, "text": "Something new."}))
    await user.should_see("Something new.")
    assert _announced(user) == f"{one.speaker}: Something new."
    live.board.take(TopicChanged(turn=3, topic="Bees"))
    await user.should_see("The topic is now: Bees")
    assert _announced(user) == f"{one.speaker}: Something new."


@pytest.mark.proof
async def test_a_notice_stands_above_what_is_said(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    assert live.board.started is not None
    live.board.started = live.board.started.model_copy(update={"notice": "No model was chosen."})
    await user.open(f"/run/{live.run}")
    await user.should_see("No model was chosen.")


@pytest.mark.proof
async def test_a_server_that_is_waited_for_is_named_until_something_happens(user: User, web: WebContext):
    board = Board()
    told: list[str] = []

    @ui.page("/doing")
    def _page() -> None:
        found = doing(board)
        told.append(between(board) if found is None else found)

    for event in (
        STARTED,
        Speaking(turn=1, speaker="Bo", need_to_talk={}),
        Waiting(model="m <b>", asked_s=3600.0, wait_s=59.2),
        Paused(turn=0),
        Continued(turn=0),
        Token(turn=1, speaker="Bo", text="Well"),
    ):
        board.take(event)
        await user.open("/doing")
    waits = "The server of m <b> is busy. It is asked again within 60 seconds…"
    assert told == ["Everybody is getting ready…", "Bo is thinking…", waits, t("chat.paused"), waits, ""]


def _announced(user: User) -> str:
    (label,) = user.find(marker="announced").elements
    assert isinstance(label, ui.label)
    return label.text


STARTED = Started(run="a", topic="Tea", participants=["Ann <b>", "Bo", "Cy"], models={}, max_messages=9, people=["Cy"])
SAID = Uttered(
    turn=4,
    speaker="Ann <b>",
    text="<img src=x onerror=alert(1)>",
    addressees=[],
    emotion={"anger": 4},
    need_to_talk={},
    response_time_s=1.25,
    tokens={},
)


def board_with(line: Line) -> Board:
    """Three utterances of others, the emotions of an awakening, and a line."""
    board = Board()
    board.take(STARTED)
    for turn in (1, 2, 3):
        board.take(SAID.model_copy(update={"turn": turn, "speaker": "Bo", "text": "So.", "emotion": {}}))
    board.minds[0] = {"Ann <b>": MindRecord(turn=0, agent="Ann <b>", emotion={"anger": 1})}
    board.take(line)
    return board


@pytest.mark.proof
@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (SAID, ["Ann <b>", "<img src=x onerror=alert(1)>", "😠 anger 1 → 4", "message 4 · 1.2 s"]),
        (SAID.model_copy(update={"edited_by": "branch"}), ["Edited by you for this branch"]),
        (SAID.model_copy(update={"speaker": "Cy", "emotion": {}}), ["Cy", "person", "message 4"]),
        (SAID.model_copy(update={"speaker": "Moderator", "heard_by": ["Bo", "Cy"]}), ["only Bo and Cy can hear this"]),
        (SAID.model_copy(update={"corrections": ["still_repeats"]}), ["Corrected: still repeats a message"]),
        (
            SAID.model_copy(update={"corrections": ["revised", "not_checked"]}),
            ["worded anew because it contradicted what was left out · not checked against what was left out"],
        ),
        (SAID.model_copy(update={"answer": "yes", "confidence": 0.8}), ["Answer: yes · 80% sure"]),
        (Silenced(turn=3, agent="Bo", step="speak", why="passed"), ["Bo passes this time."]),
        (
            Silenced(turn=3, agent="Bo", step="hear", why="no server"),
            ["The model of Bo gave no answer, so Bo did not hear this", "no server"],
        ),
        (TopicChanged(turn=3, topic="Bees"), ["The topic is now: Bees"]),
        (
            Shortened(turn=3, agent="Bo", module="plan", model="m", context_tokens=2048, memories=4, utterances=0),
            ["The context of m (2,048 tokens) is too small", "a prompt for Bo lacks 4 memories and 0 messages"],
        ),
        (
            Judged(
                turn=3,
                reasoning="Because.",
                consensus=False,
                answer="",
                positions=[Position(agent="Bo", position="yes", agrees=True)],
                progress="circling",
                overruled="",
            ),
            ["no consensus yet, 1 of 1 agree; the debate goes in circles"],
        ),
        (
            Judged(turn=3, reasoning="", consensus=True, answer="Yes {all}", positions=[], progress="", overruled=""),
            ["they agree on “Yes {all}”"],
        ),
    ],
)
async def test_every_kind_of_line(user: User, line, seen: list[str]):
    @ui.page("/line")
    def _page() -> None:
        draw_line(line, board_with(line), LineActions(lambda agent, turn: None, lambda said: None))

    await user.open("/line")
    for text in seen:
        await user.should_see(text)


@pytest.mark.proof
async def test_minds_of_agents_can_be_opened(user: User):
    looked: list[tuple[str, int]] = []

    @ui.page("/line")
    def _page() -> None:
        board, cy = board_with(SAID), SAID.model_copy(update={"speaker": "Cy"})
        draw_line(SAID, board, LineActions(lambda agent, turn: looked.append((agent, turn)), lambda said: None))
        draw_line(cy, board, LineActions(lambda *_: None, lambda _: None))

    await user.open("/line")
    buttons = [el for el in user.find(kind=ui.button).elements if "Look into" in el.props.get("aria-label", "")]
    assert [button.text for button in buttons] == ["Ann <b>"]
    user.find("Ann <b>").click()
    assert looked == [("Ann <b>", 4)]


@pytest.mark.proof
async def test_a_debate_says_what_it_came_to(user: User, web: WebContext):
    live = await begin(web, messages=6, mode="debate", answer_format="yesno")
    await live.ended()
    assert live.board.stopped is not None
    conclusion = live.board.stopped.conclusion
    assert conclusion is not None
    await user.open(f"/run/{live.run}")
    await user.should_see("They agreed" if conclusion.consensus else "No consensus. Majority position")
    await user.should_see(conclusion.answer)
    await user.should_see("The judge: ")


@pytest.mark.proof
@pytest.mark.parametrize("language", ["en", "cs", "de"])
def test_the_catalogue_has_every_sentence(language: str):
    from persimchat.state.minds.emotion import EMOTIONS
    from persimchat.state.minds.speech import CORRECTIONS
    from persimchat.state.wording import worded

    keys = [f"ended_{reason}" for reason in ("message_limit", "consensus", "closed", "budget", "stopped")]
    keys += [f"corrected_{name}" for name in CORRECTIONS]
    keys += [f"stopped_by_{name}" for name in ("user", "moderator", "person")]
    for key in keys:
        assert worded(f"chat.{key}", language)
    assert all(worded(f"common.emotion_{name}", language) for name in (*EMOTIONS, "calm"))
