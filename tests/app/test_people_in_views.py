"""What the views show of people: who is asked, whispers, silences, a past that comes first."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from persimchat.app.console.console import PLAIN, TURN, Area
from persimchat.app.views.live_view import LiveView
from persimchat.app.views.past_banner import Lead, branched, resumed
from persimchat.app.views.plain_view import JsonView, PlainView, QuietView
from persimchat.app.views.transcript import Transcript
from persimchat.runs.events import (
    Asked,
    Continued,
    Event,
    HandRaised,
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

NAMES = ["Jan", "Eva", "Petr"]


def said(turn: int, speaker: str = "Jan", text: str = "", **more: Any) -> Uttered:
    given = {"addressees": [], "emotion": {}, "need_to_talk": {}, "response_time_s": 0.0, "tokens": {}}
    return Uttered(turn=turn, speaker=speaker, text=text or f"Words {turn}.", **{**given, **more})


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
    assert "# Ended: a person was asked, and nobody was there to answer, after 3 ut" in capsys.readouterr().out


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
