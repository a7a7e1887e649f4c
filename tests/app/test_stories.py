"""Stories on the command line, and people who play in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Run, Write
from run_files import read_table

from persimchat.app.console.console import Area
from persimchat.app.console.console_lines import Talk, answers, order
from persimchat.app.console.taking_part import carry_out
from persimchat.app.views.plain_view import asking
from persimchat.app.views.view import PlayersView
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Event, Happened, Silenced, Speaking, Started, Stopped, Uttered
from persimchat.state.errors import InputError

# `persimchat story`, and stories with the other commands: what they print, and how they refuse


@pytest.fixture
def tiny(root: Path) -> str:
    """The file of the small story."""
    return str(root / "personas" / "stories" / "tiny.yaml")


@pytest.mark.proof
def test_a_story_runs_from_its_file_and_can_be_read_shown_exported_and_replayed(command: Run, tiny: str) -> None:
    told = command("run", tiny, "--model", "offline", "--seed", "1")
    assert told.code == 0
    for words in ("# Round 1, private", "meet alone; nobody else knows.", "votes for", "the story was settled"):
        assert words in told.out
    shown = command("show", "latest")
    assert shown.code == 0
    assert "winner" in shown.out
    assert "Where they stand at the end" in shown.out
    assert command("export", "latest", "--out", "tables").code == 0
    assert {"met", "standing", "ballot", "outcome"} <= {row["do"] for row in read_table("tables/happenings.csv")}
    assert "`heard_by`" in Path("tables/codebook.md").read_text(encoding="utf-8")
    assert command("export", "latest", "--for", "Olle", "--out", "eyes").code == 0
    own = [row["agent"] for row in read_table("eyes/happenings.csv") if row["heard_by"] == "[]"]
    assert set(own) == {"Olle Granat"}
    assert command("show", "latest", "--html").code == 0
    report = next(Path("conversations").glob("*/report.html")).read_text(encoding="utf-8")
    assert "meet alone" in report
    assert command("replay", "latest", "--quiet").code == 0


@pytest.mark.proof
def test_the_story_command_takes_the_generated_options(command: Run, tiny: str) -> None:
    done = command("story", "run", tiny, "--rounds", "1", "--model", "offline", "--json")
    assert done.code == 0
    events = [json.loads(line) for line in done.out.splitlines()]
    kinds = {"started", "happening", "utterance", "mind", "turn_ended", "stopped"}
    assert {event["event"] for event in events} >= kinds
    assert events[0]["mode"] == "story"
    assert events[0]["max_messages"] == 20
    assert events[-1]["outcome"]["winners"]


@pytest.mark.proof
def test_an_estimate_of_a_story_counts_its_calls(command: Run, root: Path) -> None:
    examples = {"ferries": 471, "thinkers": 498, "festival": 415, "museum": None}
    for name, calls in examples.items():
        done = command("estimate", str(root / "examples" / "stories" / f"{name}.yaml"), "--json")
        found = done.data["at_most"]["total"]["calls"]
        assert calls is None or found == calls, name


BAD = {
    "no story": (("story", "run", "{root}/examples/family.yaml"), "no section story"),
    "a debate": (("run", "{tiny}", "--mode", "debate"), "cannot be held as a debate"),
    "a mode alone": (("run", "Tea?", "--mode", "story"), "needs characters and stages"),
    "somebody without a part": (("run", "{tiny}", "--human", "Petr"), "'Petr' has no part in the story"),
    "people alone": (
        ("story", "run", "{tiny}", *(o for n in ("Aino", "Veikko", "Tuuli", "Olle") for o in ("--human", n))),
        "all participants are people",
    ),
    "others": (("run", "{tiny}", "-n", "3"), "cannot be replaced"),
    "a limit": (("run", "{tiny}", "--max-messages", "9"), "Leave max_messages out"),
    "a missing file": (("run", "nothing.yaml"), "there is no such file"),
    "a folder that is no story": (("story", "convert", ".", "-o", "x.yaml"), "no released story"),
    "rooms of strategists": (
        ("run", "{root}/examples/stories/workshop.yaml", "--cognition", "strategist"),
        "or leave the stages plenary and rooms out",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused_in_one_line(case: str, command: Run, root: Path, tiny: str, tmp_path: Path) -> None:
    arguments, words = BAD[case]
    done = command(*(one.format(root=root, tiny=tiny) for one in arguments))
    assert done.code == 2
    assert done.out == ""
    assert words in done.error
    assert not list(tmp_path.iterdir())


def test_a_released_folder_is_converted_and_not_over_an_existing_file(command: Run, shared: Path) -> None:
    folder = shared / "data" / "stories" / "succession"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    done = command("story", "convert", str(folder), "-o", "made.yaml", "--decider", "Logan")
    assert done.code == 0
    assert "persimchat run made.yaml" in done.out
    assert "was inferred" in done.err
    assert "decider: Logan Roy" in Path("made.yaml").read_text(encoding="utf-8")
    assert command("story", "convert", str(folder), "-o", "made.yaml").code == 2


def test_the_graph_of_a_story_is_drawn(command: Run) -> None:
    done = command("graph", "story", "--outer")
    assert done.code == 0
    assert "agenda -.-> stocktake" in done.out


# `persimchat branch --choose`: from a story to its branch, their difference, and what is refused in one line


@pytest.mark.long
@pytest.mark.proof
def test_a_branch_chooses_and_the_difference_is_shown(command: Run, tiny: str) -> None:
    assert command("run", tiny, "--model", "offline", "--seed", "1", "--quiet").code == 0
    (run,) = (path.name for path in Path("conversations").iterdir())
    made = command("branch", run, "--at", "0", "--choose", "Tuuli=nobody")
    assert made.code == 0, made.err
    assert f"# Branch of {run} after utterance 2" in made.out
    assert "Tuuli Koskela is to talk to nobody: chosen by the branch." in made.out
    told = command("diff", run, "latest").out
    assert "a branch chose whom a host talks to" in told
    assert "Where they stand before the first round, the same in both" in told
    assert "Where they stand at the end" in told
    assert "Ballots" in told
    refused = command("branch", run, "--at", "0", "--choose", "Tuuli=Tuuli")
    assert refused.code == 2
    told = "may not choose Tuuli Koskela after utterance 2 (round 1, private) (--choose). Choose one of:"
    assert told in refused.error
    assert "the turn at which the branch begins is missing (--at)" in command("branch", run).error
    found = command("evaluate", "stances", run)
    assert found.code == 0
    assert "Supports" in found.out
    assert command("export", run, "--tables", "rooms,standings", "--out", "story").code == 0
    assert sorted(path.name for path in Path("story").iterdir()) == ["codebook.md", "rooms.csv", "standings.csv"]


@pytest.mark.parametrize("given", ["Tuuli", "Tuuli=", "=Olle", "Tuuli: Olle"])
def test_a_choice_in_the_wrong_form_is_refused(command: Run, given: str) -> None:
    done = command("branch", "x", "--at", "0", "--choose", given)
    assert done.code == 2
    assert "the host or the partner is missing (--choose)" in done.error
    assert "--choose Tuuli=Olle" in done.error


def test_an_unknown_table_is_refused(command: Run, out: Path) -> None:
    from run_folders import write_run

    write_run(out, run="20260101-tea")
    done = command("export", "latest", "--tables", "roms")
    assert (done.code, "there is no table 'roms' (--tables)" in done.error) == (2, True)


# A story at the command line in which a person plays: what is asked, shown, and opened at the end


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


def spoken(turn: int, speaker: str, heard_by: list[str] | None = None) -> Uttered:
    return Uttered(turn=turn, speaker=speaker, text=f"Words {turn}.", heard_by=heard_by)


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


HIDDEN: list[Event] = [
    happened("met", ADA, [BO], others=[BO]),
    spoken(1, ADA, [BO]),
    spoken(2, BO, [ADA]),
    VOTE,
]


BETWEEN: list[Event] = [
    Speaking(turn=1, speaker=ADA, need_to_talk={}), Silenced(turn=1, agent=BO, step="review", why="timeout")
]  # fmt: skip


HEARD: list[Event] = [
    happened("met", ADA, [CY], others=[CY]),
    Speaking(turn=3, speaker=ADA, need_to_talk={}),
    spoken(3, ADA, [CY]),
]


def shown(*events: Event) -> list[Any]:
    """What players are shown of these events."""
    kept = Kept()
    view = PlayersView(kept)
    for event in events:
        view.show(event)
    return kept.shown


def test_players_see_what_they_hear_and_at_the_end_everything() -> None:
    told = (started(), STAGE, *HIDDEN, *BETWEEN, *HEARD, NEXT, spoken(4, BO))
    first, *seen = shown(*told)
    assert (first.turn, first.max_messages) == (0, 0), "the number of utterances tells of rooms"
    assert seen == [STAGE, *HEARD, NEXT, spoken(4, BO)]
    line, *opened, end = shown(*told, stopped("settled"))[1 + len(seen) :]
    assert line == f"The story is over. This is what {CY} did not hear:"
    assert opened == [STAGE, *HIDDEN, BETWEEN[1]], "no heading without anything below"
    assert end == stopped("settled")


@pytest.mark.parametrize("reason", ["stopped", "budget", "error"])
def test_nothing_opens_before_the_end(reason: str) -> None:
    heard = stopped(reason).model_copy(update={"turn": 1})
    _, *seen = shown(started(), *HIDDEN, spoken(4, BO), stopped(reason))
    assert seen == [spoken(4, BO), heard], "nor does its number of utterances tell of rooms"


def test_a_conversation_is_shown_as_it_is() -> None:
    told = [started("discussion"), *HIDDEN, *BETWEEN]
    assert shown(*told) == told


def test_the_first_question_tells_what_the_character_knows() -> None:
    lines = [one for one in shown(started(), asked("utterance"), asked("utterance")) if isinstance(one, str)]
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
def played(finished: Run, tiny: str, write: Write) -> Callable[[str], Any]:
    """Play Aino in the small story, with these lines on standard input."""

    def run(lines: str) -> Any:
        with write("lines", lines).open(encoding="utf-8") as stdin:
            return finished("story", "run", tiny, "--human", "aino", "--model", "offline", "--seed", "1", stdin=stdin)

    return run


@pytest.mark.long
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
