"""Taking part from the page: a person's turn, the moderator, pause and stop, going on; and a focus group's guide."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until

from persimchat.app.web.chat.composer import questions_of
from persimchat.app.web.chat.speaking import AS_MODERATOR, voice
from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import Speaking, Token
from persimchat.state.intervention import LONGEST_WORDS
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof


PEOPLE = ["Petr", "Eva"]


async def with_people(web: WebContext, *names: str, **settings: object) -> LiveRun:
    """Begin a run of one shipped persona and these people; nothing is said before somebody goes on with it."""
    people = [*default_participants(2)[:1], *({"name": name, "human": True} for name in names)]
    given = {"model": "offline", "max_messages": 6, "human_turns": "hand", **settings}
    live = await web.runs.start(make_scenario("Tea?", people), Settings(**given))
    live.control.pause()
    return live


async def asked(live: LiveRun, name: str) -> None:
    """Have a person asked."""
    live.control.raise_hand(name)
    live.control.go_on()
    await until(lambda: live.board.asked)


def field(user: User) -> ui.textarea:
    """Where somebody writes."""
    (found,) = user.find(marker="words").elements
    assert isinstance(found, ui.textarea)
    return found


def write(user: User, text: str) -> None:
    """Write something and send it with Enter."""
    field(user).value = text
    user.find(marker="words").trigger("keydown")


def click(user: User, element: ui.element) -> None:
    """Click one of several elements that are alike."""
    found = user.find(kind=type(element))
    found.elements = {element}
    found.click()


@given(
    st.sampled_from(["", AS_MODERATOR, *PEOPLE]),
    st.none() | st.sampled_from([AS_MODERATOR, "nobody", *PEOPLE]),
    st.none() | st.sampled_from(PEOPLE),
    st.booleans(),
)
def test_the_voice(current: str, chosen: str | None, asked: str | None, busy: bool):
    speaks = voice(current, chosen, asked, PEOPLE, busy=busy)
    assert speaks in {AS_MODERATOR, *PEOPLE}
    if chosen in {AS_MODERATOR, *PEOPLE}:
        assert speaks == chosen
    elif busy and current:
        assert speaks == current, "words that were begun would become somebody else's"
    elif asked:
        assert speaks == asked


def test_without_people_the_moderator_speaks():
    assert voice("", None, None, [], busy=False) == AS_MODERATOR


async def test_a_person_takes_a_turn(user: User, web: WebContext):
    live = await with_people(web, "Petr")
    await asked(live, "Petr")
    await user.open(f"/run/{live.run}")
    await user.should_see("Your turn, Petr")
    await user.should_see("Waiting for Petr")
    for wrong, why in (
        ("", "There are no words in it"),
        ("\x07\x1b[2J\u202e", "There are no words in it"),
        ("x" * (LONGEST_WORDS + 1), "8,001 characters are too many: at most 8,000"),
    ):
        write(user, wrong)
        assert any(why in message for message in user.notify.messages), wrong
        assert field(user).value == wrong
        assert live.board.asked is not None
        user.notify.messages.clear()
    live.control.pause()
    write(user, "Tea, please.\nWith milk.")
    await until(lambda: live.board.turn)
    said = live.board.utterances[0]
    assert (said.speaker, said.text) == ("Petr", "Tea, please.\nWith milk.")
    await user.should_see("Tea, please.\nWith milk.")
    assert field(user).value == ""
    live.broadcast.cancel()


async def test_a_person_whispers_and_passes(user: User, web: WebContext):
    live = await with_people(web, "Petr")
    await asked(live, "Petr")
    agent = live.board.participants[0]
    await user.open(f"/run/{live.run}")
    (heard,) = user.find(marker="heard-by").elements
    assert isinstance(heard, ui.select)
    heard.value = agent
    live.control.pause()
    write(user, "Only you.")
    await until(lambda: live.board.turn)
    assert live.board.utterances[0].heard_by == [agent]
    await user.should_see(f"only {agent} can hear this")
    assert heard.value == agent, "it stays until it is changed"
    await user.should_see(f"Only {agent} hears this. What {agent} answers is for all.")
    await until(lambda: live.board.paused)
    await asked(live, "Petr")
    await user.should_see("Your turn, Petr")
    live.control.pause()
    user.find("Pass").click()
    await user.should_see("Petr passes this time.")
    assert not live.board.hands  # who is asked has no hand up any longer
    live.broadcast.cancel()


async def test_a_person_says_how_much_they_need_to_talk(user: User, web: WebContext):
    live = await with_people(web, "Petr", human_turns="need")
    live.control.say("Who begins?")
    live.control.go_on()
    await until(lambda: live.board.asked)
    assert live.board.asked is not None
    assert live.board.asked.what == "need_to_talk"
    await user.open(f"/run/{live.run}")
    await user.should_see("Petr, how much do you need to talk?")
    (slider,) = user.find(marker="need").elements
    assert isinstance(slider, ui.slider)
    slider.value = 10
    user.find("Answer").click()
    await until(lambda: live.board.asked is not None and live.board.asked.what == "utterance")
    await user.should_see("Your turn, Petr")
    live.broadcast.cancel()


async def test_several_people_at_one_run(user: User, web: WebContext):
    live = await with_people(web, *PEOPLE)
    await until(lambda: live.board.paused)
    await user.open(f"/run/{live.run}")
    (select,) = user.find(marker="speak-as").elements
    assert isinstance(select, ui.select)
    assert list(select.options) == [*PEOPLE, AS_MODERATOR]
    assert select.value == "Petr"
    user.find(marker="hand").click()
    live.control.raise_hand("Petr", raised=False)
    await asked(live, "Eva")
    await user.should_see("It is Eva's turn.")
    await user.open(f"/run/{live.run}")
    await user.should_see("It is Eva's turn.")  # the tab still speaks as Petr
    user.find("Speak as Eva").click()
    await user.should_see("Your turn, Eva")
    live.control.answer("I was quicker, in another tab.")
    write(user, "Mine.")
    assert field(user).value == "Mine."
    assert any("already answered" in message for message in user.notify.messages)
    live.broadcast.cancel()


async def test_the_moderator(user: User, web: WebContext):
    live = await begin(web, messages=8)
    live.control.pause()
    first, second = live.board.participants[:2]
    await until(lambda: live.board.paused)
    await user.open(f"/run/{live.run}")
    await user.should_see("Paused")
    write(user, "Good evening.")
    await user.should_see("Your message comes when the conversation continues.")
    (heard,) = user.find(marker="heard-by").elements
    assert isinstance(heard, ui.select)
    await user.should_see("Your message comes when the conversation continues. Good evening.")
    heard.value = first
    assert f"(only {first})" in field(user).props["placeholder"]
    write(user, "You begin.")
    await user.should_see("Your message comes when the conversation continues. You begin.")
    user.find(marker="change-topic").click()
    await user.should_see("The new topic")
    user.find("The new topic").type("Cocoa")
    user.find(marker="topic").click()
    floors = sorted(user.find(marker="floor").elements, key=lambda item: item.id)
    click(user, floors[1])
    user.find(marker="go-on").click()
    await until(lambda: live.board.turn >= 3 or live.over)
    hello, whisper, floor = live.board.utterances[:3]
    assert (hello.speaker, hello.text, hello.heard_by) == ("Moderator", "Good evening.", None)
    assert (whisper.text, whisper.heard_by) == ("You begin.", [first])
    assert floor.speaker == second
    await user.should_see("The topic is now: Cocoa")
    user.find(marker="pause").click()
    assert live.control.paused
    user.find(marker="stop").click()
    await user.should_see("End the conversation?")
    user.find("End it").click()
    await live.ended()
    await user.should_see("Somebody ended the conversation from outside.")
    await user.should_see("Resume")


async def test_words_that_have_been_said_are_no_longer_told_to_come_next(user: User, web: WebContext):
    runs: list[LiveRun] = []
    goes_on = {1: threading.Event(), 2: threading.Event()}
    scripted = Scripted()

    def answer(body: dict[str, Any]) -> Any:
        if runs and (turn := goes_on.get(runs[0].board.turn)):
            turn.wait(60)
        return scripted(body)

    with LoopbackServer(answer=answer) as server:
        runs.append(live := await begin(web, model=server.model()))
        await until(lambda: live.board.turn == 1)
        await user.open(f"/run/{live.run}")
        write(user, "Good evening.")
        await user.should_see("Your message comes next. Good evening.")
        goes_on[1].set()
        await until(lambda: live.board.turn == 2)
        assert live.board.utterances[1].text == "Good evening."
        await user.should_not_see("Your message comes next.")
        assert not live.over
        live.control.stop()
        goes_on[2].set()
        await live.ended()


async def test_a_baseline_holds_its_conversation_alone(user: User, web: WebContext):
    live = await begin(web, messages=4, baseline="single_agent")
    await user.open(f"/run/{live.run}")
    await user.should_see("The method single_agent runs by itself")
    await user.should_not_see(marker="words")
    await live.ended()


async def test_the_utterance_that_is_being_made(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    speaker = live.board.participants[0]
    await user.open(f"/run/{live.run}")
    live.board.take(Speaking(turn=3, speaker=speaker, need_to_talk={}))
    live.board.take(Token(turn=3, speaker=speaker, text="Half a "))
    await user.should_see("Half a ")
    live.board.take(Token(turn=3, speaker=speaker, text="sentence"))
    await user.should_see("Half a sentence")
    live.board.take(live.board.utterances[0].model_copy(update={"turn": 3, "text": "A sentence."}))
    await user.should_see("A sentence.")
    await user.should_not_see("Half a sentence")


async def test_the_header_says_at_once_that_a_run_was_stopped(
    user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch
):
    live = await with_people(web, "Petr")
    await until(lambda: live.board.paused)
    await user.open(f"/run/{live.run}")
    await user.should_see("Paused")
    monkeypatch.setattr(Control, "stopped", True)  # held in this moment: what is under way comes to its end
    await user.should_see("Ending…")
    monkeypatch.undo()
    live.control.stop()
    await live.ended()


async def test_a_run_that_was_stopped_goes_on(user: User, web: WebContext):
    live = await begin(web, messages=3)
    live.control.stop()
    await live.ended()
    web.runs.forget(live.run)
    await user.open(f"/run/{live.run}")
    user.find("Resume").click()
    await until(lambda: web.runs.get(live.run))
    again = web.runs.get(live.run)
    assert again is not None
    await again.ended()
    assert again.board.turn == 3


async def test_a_tab_of_before_is_loaded_anew_once(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    live = await begin(web, messages=2, closing="off")
    await live.ended()
    await user.open(f"/run/{live.run}")
    told: list[bool] = []
    monkeypatch.setattr(ui.navigate, "reload", lambda: told.append(True))
    resumed = await web.runs.resume(live.run, {"max_messages": 400})
    await until(lambda: told)
    async for event in resumed.broadcast.subscribe():
        if event.event == "turn_ended" and event.turn >= 12:
            break
    resumed.broadcast.cancel()
    await resumed.ended()
    assert told == [True]


@pytest.mark.parametrize(
    ("settings", "label", "held", "wrong", "right", "turn"),
    [
        ({}, "Message limit in all", 12, (2, "Enter a whole number above 2."), 3, 3),
        ({"budget_calls": 20}, "Budget: calls in all", 40, (0, "Enter a number above 0"), 500, 2),
    ],
)
async def test_a_limit_is_raised_in_a_dialog(
    user: User,
    web: WebContext,
    settings: dict[str, int],
    label: str,
    held: int,
    wrong: tuple[int, str],
    right: int,
    turn: int,
):
    live = await begin(web, messages=2, closing="off", **settings)
    await live.ended()
    await user.open(f"/run/{live.run}")
    if settings:
        await user.should_see("The budget is used up.")
        await user.should_see("left: 0 calls")
    user.find("Raise the limit…").click()
    await user.should_see(label)
    (field,) = user.find(label).elements
    assert isinstance(field, ui.number)
    assert field.value == held
    field.value, why = wrong
    user.find("Resume").click()
    await user.should_see(why)
    field.value = right
    user.find("Resume").click()
    await until(lambda: web.runs.get(live.run) is not live)
    again = web.runs.get(live.run)
    assert again is not None
    await again.ended()
    assert again.board.turn == turn


async def test_branching_with_another_line(user: User, web: WebContext):
    live = await begin(web, messages=3, closing="off")
    await live.ended()
    await user.open(f"/run/{live.run}?turn=2")
    second = live.board.utterances[1]
    buttons = [
        b for b in user.find(kind=ui.button).elements if f"More about message 2 of {second.speaker}" in str(b.props)
    ]
    click(user, buttons[0])
    await user.should_see("Branch with another message here…")
    user.find(marker="branch-line").click()
    await user.should_see("A different next message (optional)")
    (words,) = user.find("A different next message (optional)").elements
    (shared,) = user.find("Shared messages").elements
    assert isinstance(words, ui.textarea)
    assert isinstance(shared, ui.number)
    assert (words.value, shared.value) == (second.text, 1)
    words.value = "I have changed my mind."
    shared.value = 9
    user.find(marker="branch").click()
    await user.should_see("Enter a whole number from 0 to 3.")
    shared.value = 1
    user.find(marker="branch").click()
    await until(lambda: len(web.runs._live) == 2)
    (branch,) = [other for run, other in web.runs._live.items() if run != live.run]
    await branch.ended()
    said = branch.board.utterances
    assert [one.text for one in said[:2]] == [live.board.utterances[0].text, "I have changed my mind."]
    assert said[1].speaker == second.speaker


@pytest.mark.parametrize("status", ["running", "paused", "asked", "unfinished"])
@pytest.mark.parametrize("language", ["en", "cs", "de"])
def test_every_status_has_words(status: str, language: str):
    from persimchat.state.wording import worded

    assert worded(f"chat.status_{status}", language, who="Petr")


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
