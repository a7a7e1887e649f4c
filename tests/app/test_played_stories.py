"""A story at the command line in which a person plays: what is asked, shown, and opened at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.app.console.console import Area
from persimchat.app.console.console_lines import Talk, answers, order
from persimchat.app.console.taking_part import carry_out
from persimchat.app.views.playing import PlayersView
from persimchat.app.views.telling import asking
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Event, Happened, Silenced, Speaking, Started, Stopped, Uttered
from persimchat.state.errors import InputError

ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"
KNOWS: dict[str, Any] = {
    "topic": "Who gets the mill?", "rules": ["Nobody\nspeaks of debts."], "name": CY, "description": "Cy lends money.",
    "known_as": "The banker.", "main": False, "goals": ["Be paid back."], "relationships": [],
    "beliefs": [{"text": "Bo should have it.", "score": 40, "for": BO}], "closeness": {ADA: 10, BO: 30},
    "supports": BO, "cast": [{"name": ADA, "main": True, "known_as": "The miller.", "camp": ""}],
    "resources": [{"name": "The Mill", "owner": ADA, "influence": 30, "topics": ["flour"], "description": "Old."}],
    "decider": ADA, "heard": [],
}  # fmt: skip


def asked(what: str, *, agent: str = CY, problem: str = "", **more: Any) -> Asked:
    story = {"act": 4, "round": 1, "rounds": 2, "stage": "private", "ballot": "", "candidates": [], "left": 1,
             "room": None, "knows": KNOWS, **more}  # fmt: skip
    return Asked.model_validate({"turn": 1, "agent": agent, "what": what, "problem": problem, "story": story})


def said(turn: int, speaker: str, heard_by: list[str] | None = None) -> Uttered:
    given = {"addressees": [], "emotion": {}, "need_to_talk": {}, "response_time_s": 0.0, "tokens": {}}
    return Uttered.model_validate(
        {"turn": turn, "speaker": speaker, "text": f"Words {turn}.", "heard_by": heard_by, **given}
    )


def happened(do: str, speaker: str = "", heard_by: list[str] | None = None, **more: Any) -> Happened:
    return Happened.model_validate(
        {"turn": 0, "round": 1, "stage": "private", "do": do, "speaker": speaker, "heard_by": heard_by, **more}
    )


def started(mode: str = "story") -> Started:
    return Started.model_validate(
        {"run": "r", "mode": mode, "topic": "T", "participants": [ADA, BO, CY], "models": {}, "max_messages": 20,
         "people": [CY], "turn": 7}
    )  # fmt: skip


def stopped(reason: str) -> Stopped:
    return Stopped.model_validate(
        {"run": "r", "reason": reason, "source": "story", "turn": 3, "totals": {}, "usage": [], "folder": None}
    )


class Kept:
    """A view that keeps what it is shown."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def show(self, event: Event) -> None:
        self.shown.append(event)

    def note(self, line: str) -> None:
        self.shown.append(line)

    def close(self) -> None:
        self.shown.append("closed")


STAGE, NEXT = happened("stage"), happened("stage", stage="group")
VOTE = happened("ballot", BO, [], choice=BO)
HIDDEN: list[Event] = [happened("met", ADA, [BO], others=[BO]), said(1, ADA, [BO]), said(2, BO, [ADA]), VOTE]
BETWEEN: list[Event] = [
    Speaking(turn=1, speaker=ADA, need_to_talk={}), Silenced(turn=1, agent=BO, step="review", why="timeout")
]  # fmt: skip
HEARD: list[Event] = [
    happened("met", ADA, [CY], others=[CY]),
    Speaking(turn=3, speaker=ADA, need_to_talk={}),
    said(3, ADA, [CY]),
]


def test_players_see_what_they_hear_and_at_the_end_everything() -> None:
    kept = Kept()
    view = PlayersView(kept)
    for event in (started(), STAGE, *HIDDEN, *BETWEEN, *HEARD, NEXT, said(4, BO)):
        view.show(event)
    first, *seen = kept.shown
    assert (first.turn, first.max_messages) == (0, 0), "the number of utterances tells of rooms"
    assert seen == [STAGE, *HEARD, NEXT, said(4, BO)]
    kept.shown.clear()
    view.show(stopped("settled"))
    line, *opened, end = kept.shown
    assert line == f"The story is over. This is what {CY} did not hear:"
    assert opened == [STAGE, *HIDDEN, BETWEEN[1]], "no heading without anything below"
    assert end == stopped("settled")


@pytest.mark.parametrize("reason", ["stopped", "budget", "error"])
def test_nothing_opens_before_the_end(reason: str) -> None:
    kept = Kept()
    view = PlayersView(kept)
    for event in (started(), *HIDDEN, said(4, BO), stopped(reason)):
        view.show(event)
    heard = stopped(reason).model_copy(update={"turn": 1})
    assert kept.shown[1:] == [said(4, BO), heard], "nor does its number of utterances tell of rooms"


def test_a_conversation_is_shown_as_it_is() -> None:
    kept = Kept()
    view = PlayersView(kept)
    for event in (started("discussion"), *HIDDEN, *BETWEEN):
        view.show(event)
    assert kept.shown == [started("discussion"), *HIDDEN, *BETWEEN]


def test_the_first_question_tells_what_the_character_knows() -> None:
    kept = Kept()
    view = PlayersView(kept)
    for event in (started(), asked("utterance"), asked("utterance")):
        view.show(event)
    lines = [one for one in kept.shown if isinstance(one, str)]
    assert lines[0] == f"You are {CY}, known as: The banker."
    assert len(lines) == len(set(lines))
    assert all("\n" not in line for line in lines)
    for words in ("Be paid back.", "40 of 100: Bo should have it. (for Bo Vik)", "Bo Vik 30", "The miller.", "flour"):
        assert any(words in line for line in lines), words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (asked("choice", candidates=[ADA, BO]), f"{CY}, whom do you talk to? 1 {ADA}, 2 {BO}; or /pass."),
        (asked("ballot", ballot="guess", candidates=[ADA]), f"{CY}, who do you think will win? 1 {ADA}; or /pass."),
        (asked("ballot", ballot="closed", candidates=[BO]), "on which you cannot stand? 1 Bo Vik"),
        (asked("utterance", room={"others": [ADA], "public": False}), f"alone with {ADA}; nobody knows that you meet."),
        (asked("utterance"), f"Your turn, {CY}, before everybody."),
        (asked("choice", candidates=[ADA], problem="No."), "or /pass. (No.)"),
    ],
)
def test_every_question_is_one_line(event: Asked, words: str) -> None:
    assert words in asking(event)
    assert "\n" not in asking(event)


class Asks(Control):
    """A control that asks Cy for a choice."""

    def __init__(self, what: Any) -> None:
        super().__init__()
        self._present = [ADA, BO, CY]
        self.ask({"agent": CY, "what": what, "turn": 1, "problem": "", "story": {"candidates": [ADA, BO]}})  # type: ignore[typeddict-item]

    @property
    def talk(self) -> Talk:
        return Talk([ADA, BO, CY], [CY], False, self.asked)


@pytest.mark.parametrize("line", ["2", "bo", " Bo Vik ", f"{CY}: 2"])
def test_a_choice_is_typed(line: str) -> None:
    control = Asks("choice")
    assert answers("2", control.talk)
    assert carry_out(line, control.talk, control) == ""
    assert control._answer == {"choice": BO}


def test_a_wrong_line_leaves_the_question_open() -> None:
    control = Asks("ballot")
    for line in ("3", "Zoe", "", "  "):
        with pytest.raises(InputError) as found:
            carry_out(line, control.talk, control)
        assert "\n" not in str(found.value)
        assert control.asked == (CY, "ballot")
    carry_out("/pass", control.talk, control)
    assert control._answer == {"passes": True}


async def test_words_of_a_player_who_is_not_asked_are_refused() -> None:
    control = Asks("utterance")
    question = control.question
    assert question is not None
    control.begin([ADA, BO, CY], [CY], in_story=True)
    control.ask(question)
    with pytest.raises(InputError, match="nobody whispers"):
        control.say("Psst.", speaker=CY, heard_by=[ADA])
    control.say("Hello.", speaker=CY)
    assert await control.reply() == {"text": "Hello."}
    for unasked in (lambda: control.say("Hello.", speaker=CY), lambda: control.raise_hand(CY)):
        with pytest.raises(InputError, match="in a story, the stages say who speaks"):
            unasked()


def test_the_toolbar_asks_and_shows_no_number_of_utterances() -> None:
    area = Area()
    area.show(started().model_copy(update={"max_messages": 0}))
    (_, question), (_, rest) = area.lines((CY, "choice"), 80)
    assert question == f" {CY}: whom do you talk to? "
    assert rest == ""
    assert order("3", Talk([ADA], [CY], False, (CY, "ballot"))).do == "answer"


@pytest.fixture
def played(finished: Callable[..., Any], root: Path, tmp_path: Path) -> Callable[[str], Any]:
    """Play Aino in the small story, with these lines on standard input."""

    def run(lines: str) -> Any:
        given = tmp_path / "lines"
        given.write_text(lines, encoding="utf-8")
        tiny = str(root / "personas" / "stories" / "tiny.yaml")
        with given.open(encoding="utf-8") as stdin:
            return finished("story", "run", tiny, "--human", "aino", "--model", "offline", "--seed", "1", stdin=stdin)

    return run


@pytest.mark.proof
def test_a_story_is_played_through_a_pipe(played: Callable[[str], Any]) -> None:
    done = played("9\n1\nI speak.\nYes.\n/pass\nTo all.\n1\nThe last word.\n1\n1\n")
    assert done.code == 0, done
    before, _, after = done.out.partition("The story is over. This is what Aino Koskela did not hear:")
    assert "You are Aino Koskela" in before
    assert "votes for" not in before.replace("Aino Koskela votes for", "")
    assert "# Tuuli Koskela votes for" in after
    assert "# Round 1, private" in after
    assert "the story was settled" in after
    assert done.err.count("\n") == 1
    assert "'9' cannot be chosen now" in done.err


@pytest.mark.proof
def test_without_anybody_to_answer_it_stops_as_a_conversation_does(played: Callable[[str], Any]) -> None:
    done = played("")
    assert done.code == 0
    assert "a person was asked, and nobody was there to answer" in done.out
    assert "Continue with: persimchat resume" in done.out
    assert "did not hear" not in done.out
