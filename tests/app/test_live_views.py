"""What the terminal shows while a run goes on, and of runs that are over."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fixtures import Run
from hypothesis import given
from hypothesis import strategies as st
from pruned_lines import heavy, pruned
from rich.console import Console
from run_files import logged
from run_folders import PEOPLE, mind, utterance, write_run

from persimchat.app.console.console import PLAIN, TURN, Area
from persimchat.app.views.lead import Lead, branched, resumed
from persimchat.app.views.live_view import LiveView, bar, fitted, needs_lines
from persimchat.app.views.plain_view import JsonView, PlainView, QuietView, status_line
from persimchat.app.views.text import cost, ending, models_in_words, mood, tokens, used
from persimchat.app.views.transcript import Transcript
from persimchat.runs.events import (
    Asked,
    Continued,
    Event,
    HandRaised,
    MindChanged,
    Paused,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    TopicChanged,
    Totals,
    Uttered,
)
from persimchat.runs.folder.parts import MindRecord

EVA, BO, LI = PEOPLE


NAMES = ["Jan", "Eva", "Petr"]


def said(turn: int, speaker: str = "Jan", text: str = "", **more: Any) -> Uttered:
    return Uttered(turn=turn, speaker=speaker, text=text or f"Words {turn}.", **more)


def started(turn: int = 0) -> Started:
    models = {"Jan": "offline", "Eva": "offline"}
    return Started(
        run="r", topic="Tea?", participants=NAMES, models=models, max_messages=30, people=["Petr"], turn=turn
    )


def stopped(reason: str = "stopped", source: str = "user", folder: str | None = "conversations/r", detail: str = ""):
    return Stopped.model_validate(
        {"run": "r", "reason": reason, "source": source, "turn": 3, "totals": Totals(), "usage": [], "folder": folder,
         "detail": detail}
    )  # fmt: skip


WHISPER = said(1, "Moderator", "Say \x1b[2Jno.", heard_by=["Jan"])


EVENTS: list[Event] = [
    started(),
    WHISPER,
    Asked(turn=1, agent="Petr", what="utterance"),
    Asked(turn=1, agent="Petr", what="utterance", problem="no words"),
    Asked(turn=1, agent="Petr", what="need_to_talk"),
    HandRaised(turn=1, agent="Petr", raised=True),
    TopicChanged(turn=1, topic="Cocoa?"),
    Silenced(turn=2, agent="Eva", step="hear", why="HTTP 500"),
    Silenced(turn=2, agent="Petr", step="speak", why="passed"),
    Paused(turn=0),
    Continued(turn=1),
]


def live(events: list[Event]) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=30, _environ={}, highlight=False, markup=False)
    view = LiveView(console)
    for event in events:
        view.show(event)
        view._live.refresh()
    view.close()
    return file.getvalue()


PAST: list[Event] = [
    started(turn=2),
    said(1),
    said(2),
    Speaking(turn=3, speaker="Eva", need_to_talk={}),
    said(3, "Eva"),
]


@pytest.mark.parametrize(
    ("lead", "mark"),
    [(branched("other", 2, again=True), "New from here on."), (resumed(None), "The run continues here.")],
)
def test_where_the_past_comes_from_and_ends(lead: Lead, mark: str, capsys: pytest.CaptureFixture[str]):
    view, printed = PlainView(lead), io.StringIO()
    transcript = Transcript(Console(file=printed, width=80).print, unicode=True, lead=lead)
    for event in PAST:
        view.show(event)
        transcript.show(event)
    plain, text = capsys.readouterr().out, printed.getvalue()
    assert plain.endswith(f"Jan: Words 1.\nJan: Words 2.\n# {mark}\nEva: Words 3.\n")
    assert text.index("Words 2.") < text.index(f" {mark} ─") < text.index("Words 3.")
    heading = "Branch of other after utterance 2: utterance 3 is worded again"
    assert (f"# {heading}\n" in plain, f"{heading}\n" in text) == (bool(lead.heading),) * 2


def test_a_branch_that_shares_nothing_has_no_past_to_end(capsys: pytest.CaptureFixture[str]):
    view = PlainView(branched("other", 0, again=False))
    for event in (started(), said(1)):
        view.show(event)
    told = capsys.readouterr().out
    assert "# Branch of other at the awakening\n" in told
    assert "New from here on" not in told


def test_plain_text(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    for event in EVENTS:
        view.show(event)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["# Participants: Jan, Eva, Petr (a person)", "# Model: offline"]
    assert lines[5:] == [
        "Moderator (to Jan only): Say no.",
        "# Your turn, Petr.",
        "# Your turn, Petr. (no words)",
        "# Petr, how much do you need to talk, 0 to 10?",
        "# Petr raises a hand.",
        "# The topic is now: Cocoa?",
        "# Eva did not hear this: HTTP 500",
        "# Petr passes.",
        "# Paused.",
        "# The conversation continues.",
    ]


def test_a_terminal(plain: Callable[[str], str]):
    screen = live(EVENTS)
    text = plain(screen)
    assert "with Jan, Eva, Petr (a person)" in text
    assert "\x1b[1mModerator\x1b[0m" in screen  # who takes no part has no colour
    assert "\x1b[2J" not in screen
    for line in ("Moderator  to Jan only", "Your turn, Petr. (no words)", "Petr raises a hand.", "Petr passes."):
        assert line in text


def test_words_of_somebody_who_falls_silent_are_taken_back(plain: Callable[[str], str]):
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=30, _environ={})
    view = LiveView(console)
    area = Area()
    for event in (started(), Speaking(turn=1, speaker="Jan", need_to_talk={"Jan": 5}), Token(turn=1, speaker="Jan", text="Half a sent")):  # fmt: skip  # noqa: E501
        view.show(event)
        area.show(event)
    assert "Half a sent" in str(area.lines(None, 80))
    silenced = Silenced(turn=1, agent="Jan", step="speak", why="HTTP 500")
    view.show(silenced)
    area.show(silenced)
    lines = "".join(segment.text for line in console.render_lines(view.area()) for segment in line)
    view.close()
    assert "Half a sent" not in lines + str(area.lines(None, 80))
    assert "Jan found no words this turn: HTTP 500" in plain(file.getvalue())


def test_of_a_past_the_text_shows_the_last_few_and_json_all(
    capsys: pytest.CaptureFixture[str], plain: Callable[[str], str]
):
    events: list[Event] = [started(16), *(said(turn) for turn in range(1, 18))]
    events.insert(3, Silenced(turn=2, agent="Eva", step="hear", why="HTTP 500"))
    for view in (PlainView(), JsonView()):
        for event in events:
            view.show(event)
    text, _, data = capsys.readouterr().out.partition("\n{")
    shown = [line for line in text.splitlines() if line.startswith(("Jan", "# …"))]
    assert shown == ["# … 12 earlier utterances", *(f"Jan: Words {turn}." for turn in range(13, 18))]
    assert "HTTP 500" not in text
    assert sum(json.loads(line)["event"] == "utterance" for line in f"{{{data}".splitlines()) == 17
    seen = plain(live(events))
    assert "… 12 earlier utterances" in seen
    assert "Words 12." not in seen
    assert "Words 13." in seen


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (stopped(), "# Continue with: persimchat resume r"),
        (stopped("error", "error"), "# Continue with: persimchat resume r"),
        (
            stopped("budget", "budget_calls", "my runs/r"),
            "# Continue with a greater budget: persimchat resume 'my runs/r' --budget-calls N",
        ),
        (stopped("message_limit"), ""),
        (stopped("closed"), ""),
        (stopped(folder=None), ""),
    ],
)
def test_how_it_goes_on(end: Stopped, line: str, capsys: pytest.CaptureFixture[str], plain: Callable[[str], str]):
    PlainView().show(end)
    out = capsys.readouterr().out
    assert [found for found in out.splitlines() if "resume" in found] == ([line] if line else [])
    assert ("resume" in plain(live([started(), end]))) == bool(line)


def test_an_end_by_people_is_told_in_its_own_words(capsys: pytest.CaptureFixture[str]):
    PlainView().show(stopped(source="person", detail="A person was asked, and nobody was there to answer."))
    assert "# Ended: a person was asked, and nobody was there to answer, after 3 me" in capsys.readouterr().out


def test_quiet_asks_on_standard_error(capsys: pytest.CaptureFixture[str]):
    view = QuietView()
    for event in [*EVENTS, stopped()]:
        view.show(event)
    told = capsys.readouterr()
    assert told.out == "conversations/r\n"
    assert told.err.splitlines()[0] == "Your turn, Petr."


@pytest.mark.parametrize("width", [10, 40, 80])
def test_the_lines_below_the_typing_fit(width: int):
    area = Area()
    needs = {"Jan": 3, "Eva": 9, "陳小姐": 5}
    for event in (started(), Speaking(turn=1, speaker="陳小姐", need_to_talk=needs)):
        area.show(event)
    assert area.lines(None, 80)[0] == (PLAIN, "陳小姐 is thinking")
    area.show(Token(turn=1, speaker="陳小姐", text="茶" * 5000 + " the end"))
    from rich.cells import cell_len

    for asked in (None, ("Petr", "utterance"), ("Petr", "need_to_talk")):
        lines = area.lines(asked, width)
        assert len(lines) == 2
        assert all(cell_len(text) <= width for _, text in lines)
        assert "\n" not in lines[0][1] + lines[1][1]
    assert area.lines(None, 80)[0][1].endswith("茶 the end")
    assert area.lines(None, 80)[1][1] == "turn 0/30 | need to talk: Eva 9, 陳小姐 5, Jan 3"
    assert area.lines(("Petr", "utterance"), 80)[0] == (TURN, " Your turn, Petr ")


# What utterances were worded without, on the command line: show, diff, and a line while a run goes on


def minds(records: dict[tuple[int, str], dict[str, Any]], turns: int = 4) -> list[dict[str, Any]]:
    own = {key: {"pruned": record} for key, record in records.items()}
    return [mind(turn, name, **own.get((turn, name), {})) for turn in range(turns) for name in PEOPLE]


@pytest.mark.proof
def test_show_has_means_and_what_was_left_out_most_often(command: Run, out: Path) -> None:
    write_run(out, None, minds({(1, EVA): pruned(1), (2, BO): pruned(2, 1.0), (3, EVA): pruned(3, 0.2)}))
    text = command("show", "latest").out
    assert "left out       λ 0.6, 1, 0.2, embedding: 3.3 of 5.0 pieces of information, 13.7 of 22.0 words" in text
    _, _, below = text.partition("Worded without, an utterance on average\n")
    lines = below.split("\n")
    often = "Trait: patient (2 of 2); Description: A keeper of bees. (1 of 2); Memory 2: =SUM(A1:A9) (1 of 2)"
    assert re.split(" {2,}", lines[1]) == [EVA, "2", "40 %", "2.5 of 5.0", "9.5 of 22.0", often]
    assert lines[2].startswith(BO)
    assert not lines[3]
    data = command("show", "latest", "--json").data
    assert data["pruned"]["mean_words_removed"] == pytest.approx(41 / 3)
    assert [one["agent"] for one in data["pruned_by_agent"]] == [EVA, BO]


@pytest.mark.proof
def test_show_says_nothing_of_it_without_pruning(command: Run, out: Path) -> None:
    write_run(out)
    text = command("show", "latest").out
    assert "left out" not in text
    assert "Worded without" not in text
    assert not {"pruned", "pruned_by_agent"} & command("show", "latest", "--json").data.keys()


def test_show_warns_of_one_piece_that_holds_nearly_all(command: Run, out: Path) -> None:
    write_run(out, None, minds({(1, EVA): heavy(1), (3, EVA): heavy(3)}))
    text = command("show", "latest").out
    warning = f"{EVA}: one item (description) holds 93 % of the score; split the description into traits"
    assert text.count(warning) == 1


@pytest.mark.proof
def test_show_has_the_checks_of_revision(command: Run, out: Path) -> None:
    checks = [{"scores": [7, 8, 6], "taken": False}, {"scores": [2, 3, 2], "taken": True}]
    write_run(out, None, minds({(1, EVA): pruned(1, checks=checks), (2, BO): pruned(2)}))
    text = command("show", "latest").out
    assert "contradiction" in text
    assert [line.split()[11] for line in text.splitlines() if line.startswith((EVA, BO)) and " %" in line] == [
        "2.3",
        "–",
    ]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("record", "field"), [("x", "pruned"), ({**pruned(1), "items": [7]}, "pruned.items.0"), ({}, "pruned.turn")]
)
def test_a_damaged_record_is_one_line(command: Run, out: Path, record: Any, field: str) -> None:
    write_run(out, None, minds({(1, EVA): record}))
    for arguments in (
        ("show", "latest"),
        ("show", "latest", "--html"),
        ("export", "latest"),
        ("diff", "latest", "latest"),
    ):
        done = command(*arguments)
        assert done.code == 2
        assert "run.sqlite, event" in done.err
        assert field in done.err
        assert "Traceback" not in done.err


def event(turn: int, name: str, record: dict[str, Any] | None) -> MindChanged:
    return MindChanged(record=MindRecord.model_validate(mind(turn, name, pruned=record)))


def test_one_line_while_a_run_goes_on() -> None:
    assert status_line(event(1, EVA, pruned(1))) == f"{EVA} spoke without 2 of 5 pieces of information."
    assert status_line(event(1, "Bo\x1b[2J\nRed", pruned(1))).startswith("Bo Red spoke without")
    assert status_line(event(1, BO, None)) == ""


def printed(view: PlainView, told: Sequence[MindChanged], capsys: pytest.CaptureFixture[str]) -> list[str]:
    view.show(Started(run="r", topic="Tea?", participants=[EVA], models={EVA: "m"}, max_messages=20, turn=10))
    capsys.readouterr()
    for one in told:
        view.show(one)
    return capsys.readouterr().out.splitlines()


def test_the_hidden_past_stays_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    told = [event(turn, EVA, pruned(turn)) for turn in (1, 6, 7, 10, 11)]
    assert len(printed(PlainView(Lead(heading="", mark="new")), told, capsys)) == 3


@pytest.mark.proof
def test_a_run_says_it_after_each_utterance(command: Run, out: Path) -> None:
    done = command(
        "run", "Tea or coffee?", "-n", "2", "--messages", "2", "--model", "offline", "--set", "closing=off",
        "--set", "pruning.lambda=0.6", "--set", "pruning.method=embedding",
    )  # fmt: skip
    assert done.code == 0
    (folder,) = out.iterdir()
    speakers = [line["speaker"] for line in logged(folder, "utterance")]
    said = [line for line in done.out.splitlines() if "pieces of information" in line]
    assert [line.partition(" spoke without ")[0] for line in said] == [f"# {name}" for name in speakers]
    shown = command("show", "latest").out
    assert "left out" in shown
    assert len(shown.partition("Worded without")[2].split("\n\n")[0].splitlines()) == 2 + len(set(speakers))
    exported = command("export", "latest", "--tables", "pruning")
    assert exported.code == 0


def two_runs(out: Path, then: dict[Any, Any], now: dict[Any, Any]) -> tuple[str, str]:
    names = "20260101-120000-tea-0001", "20260101-130000-tea-0002"
    for run, records in zip(names, (then, now), strict=True):
        write_run(out, None, minds(records), run=run)
    return names


def test_diff_has_it_side_by_side_where_it_differs(command: Run, out: Path) -> None:
    same = {(1, EVA): pruned(1)}
    runs = two_runs(out, {**same, (2, BO): pruned(2)}, {**same, (2, BO): pruned(2, 1.0), (3, LI): pruned(3)})
    text = command("diff", *runs).out
    table = text.partition("Worded without\n")[2].split("\n")
    assert [re.split(" {2,}", line.strip()) for line in table[1:3]] == [
        ["2", "0.6", "1", "2 of 5", "5 of 5", "8 of 22", "22 of 22"],
        ["3", "–", "0.6", "–", "2 of 5", "–", "8 of 22"],
    ]
    data = json.loads(command("diff", *runs, "--json").out)["pruned"]
    assert [(one["turn"], one["a"] and one["a"]["lambda"], one["b"]["lambda"]) for one in data] == [
        (2, 0.6, 1.0),
        (3, None, 0.6),
    ]
    assert data[0]["b"] == {
        "agent": BO, "lambda": 1.0, "units": 5, "removed": 5, "words": 22, "words_removed": 22, "share": 1.0
    }  # fmt: skip


@pytest.mark.proof
def test_diff_says_nothing_of_it_where_it_is_the_same(command: Run, out: Path) -> None:
    for records in ({}, {(1, EVA): pruned(1)}):
        runs = two_runs(out / str(len(records)), records, records)
        done = command("diff", *runs, "--out", str(out / str(len(records))))
        assert done.code == 0
        assert "Worded without" not in done.out
        assert "pruned" not in json.loads(command("diff", *runs, "--out", str(out / str(len(records))), "--json").out)


def test_diff_of_many_differences_is_cut(command: Run, out: Path) -> None:
    turns = range(1, 31)
    said = [utterance(turn, EVA) for turn in turns]
    for run, strength in (("20260101-120000-tea-0001", 0.2), ("20260101-130000-tea-0002", 1.0)):
        told = [mind(turn, EVA, pruned=pruned(turn, strength)) for turn in turns]
        write_run(out, said, told, run=run)
    text = command("diff", "20260101-120000-tea-0001", "20260101-130000-tea-0002").out
    assert "Worded without, the first 20 of 30" in text
    assert len(text.partition("Worded without")[2].rstrip().splitlines()) == 2 + 20


# Text on its way to a terminal


def test_moods_can_be_told_without_colour():
    none = dict.fromkeys(("happiness", "sadness", "anger", "fear", "disgust", "surprise"), 0)
    assert mood(none) == ":| calm"
    assert mood({**none, "anger": 7, "fear": 3}) == ">:( anger 7"
    assert len({mood({**none, name: 5}) for name in none}) == 6


def test_figures_in_words():
    estimated = Totals(calls=1, input_tokens=1200, output_tokens=34, estimated=True, cost_usd=0.0)
    assert used(estimated) == "1 model call, 1,200 tokens in, 34 out (estimated), no cost"
    assert tokens(estimated) == "about 1,234 tokens"
    assert cost(Totals(cost_usd=None)) == "cost unknown"
    assert cost(Totals(cost_usd=0.01234)) == "$0.0123"
    stopped = Stopped(run="r", reason="message_limit", source="message_limit", turn=1, totals=estimated, usage=[])
    assert ending(stopped) == "the message limit was reached, after 1 message"
    rounds = stopped.model_copy(update={"source": "mad", "detail": "2 of 3 hold it after 1 round.", "turn": 3})
    assert ending(rounds) == "2 of 3 hold it after 1 round"
    assert models_in_words({"A": "offline", "B": "offline"}) == "offline"
    assert models_in_words({"A": "offline", "B": "x@http://h/v1"}) == "A: offline; B: x@http://h/v1"


@given(st.floats(-5, 15), st.integers(0, 40), st.booleans())
def test_a_bar_is_as_wide_as_asked(value: float, width: int, unicode: bool):
    assert len(bar(value, 10, width, unicode=unicode)) == width


def test_bars_fill_in_proportion():
    assert bar(0, 10, 10, unicode=False) == "." * 10
    assert bar(3, 10, 10, unicode=False) == "###......."
    assert bar(10, 10, 10, unicode=True) == "━" * 10


@given(st.text(st.characters(categories=["L", "M"]), min_size=1, max_size=40), st.integers(4, 20))
def test_names_fit_their_column(name: str, width: int):
    from rich.cells import cell_len

    assert cell_len(fitted(name, width, unicode=True)) == width


def test_needs_show_name_bar_number_and_who_speaks():
    lines = needs_lines({"Ada": 3, "Bo": 10}, {}, speaker="Bo", width=30, unicode=False)
    assert [line.plain.rstrip() for line in lines] == ["  Ada  ###.......  3", "> Bo   ########## 10"]


def test_a_hundred_needs_fit_a_small_terminal():
    needs = {f"Agent number {n}": n % 11 for n in range(100)}
    lines = needs_lines(needs, {}, width=80, height=6)
    assert len(lines) == 6
    assert all(line.cell_len <= 80 for line in lines)
    assert lines[-1].plain.strip() == "and 90 more with less need"
    assert all(" 0" not in line.plain[-3:] for line in lines[:-1])
