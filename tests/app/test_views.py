"""The views of a run: live, plain, JSON, quiet; words for figures."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from rich.console import Console

from persimchat.app.views.live_view import LiveView
from persimchat.runs.events import (
    Concluded,
    Event,
    Judged,
    Position,
    Speaking,
    Started,
    Stopped,
    Token,
    Totals,
    TurnEnded,
    Uttered,
)

# The live view: what stays in the scrollback, what moves below it, and that nothing in it is taken for markup


Serve = Callable[..., LoopbackServer]


Terminal = Callable[..., tuple[int, str]]


CALM = dict.fromkeys(("happiness", "sadness", "anger", "fear", "disgust", "surprise"), 0)


EVIL = "[bold]Eve[/bold] :smile:"


def events(text: str = "Tea, [red]please[/red]. :tea: \x1b[2Jgone\x07", others: int = 1) -> list[Event]:
    names = [EVIL, *(f"Person {n}" for n in range(others))]
    needs = dict.fromkeys(names, 3)
    totals = Totals(calls=9, input_tokens=100, output_tokens=20, estimated=True, cost_usd=0.0)
    return [
        Started(run="r", topic="[i]Tea?[/i]", participants=names, models=dict.fromkeys(names, "m"), max_messages=2),
        Speaking(turn=1, speaker=EVIL, need_to_talk=needs),
        Token(turn=1, speaker=EVIL, text="Tea, "),
        Uttered(
            turn=1, speaker=EVIL, text=text, addressees=["Person 0"], emotion={**CALM, "anger": 4},
            need_to_talk=needs, response_time_s=0.1, tokens={},
        ),
        TurnEnded(turn=1, max_messages=2, totals=totals),
        Stopped(run="r", reason="message_limit", turn=1, totals=totals, usage=[], folder="out/[b]r[/b]"),
    ]  # fmt: skip


def shown(told: list[Event], width: int = 80, height: int = 24) -> str:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=width, height=height, color_system="truecolor", highlight=False,
        markup=False, emoji=False, _environ={},
    )  # fmt: skip
    view = LiveView(console)
    for event in told:
        view.show(event)
        view._live.refresh()
    view.close()
    return file.getvalue()


def test_what_people_wrote_is_text(plain: Callable[[str], str]):
    screen = shown(events())
    assert "[bold]Eve[/bold] :smile:" in plain(screen)
    assert "[i]Tea?[/i]" in plain(screen)
    assert "  Tea, [red]please[/red]. :tea: gone" in plain(screen)
    assert "Run: out/[b]r[/b]" in plain(screen)
    assert "\x1b[2J" not in screen
    assert "\x07" not in screen


def test_it_shows_speaker_emotion_needs_progress_and_tokens(plain: Callable[[str], str]):
    text = plain(shown(events()))
    assert "[bold]Eve[/bold] :smile:  >:( anger 4  to Person 0\n" in text
    assert "> [bold]Eve[/bold] :s" in text
    assert "Person 0" in text
    assert "━━━───────  3" in text
    assert "turn 1/2 ━━━━━━━━━━────────── about 120 tokens, no cost, 0:00" in text
    assert "Ended: the message limit was reached, after 1 message." in text
    assert "Used: 9 model calls, 100 tokens in, 20 out (estimated), no cost, 0:00." in text
    assert "This is a simulation." in text


def test_a_speaker_keeps_its_colour():
    screen = shown(events())
    assert screen.count("\x1b[1;36m[bold]Eve") > 3
    assert screen.count("\x1b[1;35mPerson 0") == 1


def test_the_cursor_comes_back():
    screen = shown(events())
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")
    interrupted = shown(events()[:3])
    assert interrupted.rindex("\x1b[?25h") > interrupted.rindex("\x1b[?25l")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 30), (40, 10), (20, 5), (8, 3)])
@pytest.mark.parametrize("others", [1, 99])
def test_the_live_area_fits_the_terminal(width: int, height: int, others: int):
    """A live area taller than the terminal would scroll, and leave pieces of itself in the scrollback."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, height=height, _environ={})
    view = LiveView(console)
    told = events("word " * 500, others)
    for event in [*told[:3], Token(turn=1, speaker=EVIL, text="many words " * 300)]:
        view.show(event)
    lines = console.render_lines(view.area(), pad=False)
    view.close()
    assert len(lines) <= max(height, 5)
    assert all(sum(segment.cell_length for segment in line) <= width for line in lines)


@pytest.mark.proof
def test_in_a_terminal(terminal: Terminal, serve: Serve, plain: Callable[[str], str]):
    said = iter(["I have said it before and I say it again.", "I have said all that I have to say."])

    def slowly(_: object) -> str:  # a server that takes its time before the first word, so that the wait is to be seen
        time.sleep(0.6)
        return next(said)

    server = serve(Scripted(utterance=slowly), token_delay_s=0.03)
    code, screen = terminal("run", "Tea?", "-n", "3", "--messages", "2", "--model", server.model(), columns=80)
    text = plain(screen)
    assert code == 0, text
    for name in ("Jarmila Dvořáčková", "Adébáyọ̀ Ọládélé", "Inés Quiroga"):
        assert name in text
    assert "need to talk" in text
    assert "━━━━━─────  5" in text
    assert "is thinking" in text
    assert ":) happiness 3" in text
    assert "turn 1/2" in text
    assert "Ended: the message limit was reached, after 2 messages." in text
    assert "Run: conversations/" in text
    assert "\x1b[1;3" in screen  # names are coloured
    pieces = {line.strip() for line in text.splitlines() if line.strip().startswith("I have said")}
    assert len(pieces) > 2  # the words came one by one


@pytest.mark.proof
def test_without_colours(terminal: Terminal, serve: Serve, plain: Callable[[str], str]):
    arguments = ("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model())
    code, screen = terminal(*arguments, NO_COLOR="1")
    assert code == 0
    assert "need to talk" in plain(screen)
    assert "\x1b[1;3" not in screen
    assert "\x1b[36m" not in screen


@pytest.mark.long
@pytest.mark.proof
def test_in_a_dumb_terminal_it_is_plain_lines(terminal: Terminal, serve: Serve):
    arguments = ("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model())
    code, screen = terminal(*arguments, TERM="dumb")
    assert code == 0
    assert "\x1b" not in screen
    assert "# Ended:" in screen


@pytest.mark.long
@pytest.mark.proof
def test_in_an_ascii_terminal(terminal: Terminal, serve: Serve):
    server = serve(Scripted(utterance="Čaj – or coffee?"))
    code, screen = terminal(
        "run", "Čaj?", "-n", "2", "--messages", "1", "--model", server.model(), PYTHONIOENCODING="ascii"
    )
    assert code == 0, screen
    assert screen.isascii()
    assert "#####....." in screen
    assert "?aj ? or coffee?" in screen


@pytest.mark.proof
def test_an_error_in_a_terminal_leaves_it_usable(terminal: Terminal, serve: Serve, plain: Callable[[str], str]):
    server = serve(Scripted(emotion="no JSON at all"))
    strict = ["--set", "strict_answers=true"]
    code, screen = terminal("run", "Tea?", "-n", "2", "--messages", "1", "--model", server.model(), *strict)
    assert code == 3
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")
    assert "persimchat: error: wrong answer twice" in plain(screen)


def test_a_debate_shows_the_judge_s_view_and_what_it_came_to(plain: Callable[[str], str]):
    told = events()
    positions = [Position(agent=EVIL, position="Tea.", agrees=True), Position(agent="B", position="No.", agrees=False)]
    judged = Judged(
        turn=1, reasoning="r", consensus=False, answer="", positions=positions, progress="circling", overruled=""
    )
    met = judged.model_copy(update={"consensus": True, "answer": "Tea."})
    overruled = judged.model_copy(update={"overruled": "Openness is 0: B."})
    came_to = Concluded(
        answer="Tea, [red]hot[/red]\nfor all", consensus=True, reasoning="r", supporters=[EVIL], by="judge"
    )
    stopped = told[-1].model_copy(update={"reason": "consensus", "conclusion": came_to})
    text = plain(shown([*told[:-1], judged, overruled, met, stopped]))
    assert text.count("judge: no consensus yet") == text.count("judge: no consensus yet, 1 of 2 agree, circling") > 0
    assert "judge: consensus is not accepted. Openness is 0: B." in text
    assert "judge: consensus\n" in text
    assert "Consensus: Tea, [red]hot[/red] for all  held by [bold]Eve[/bold] :smile:" in text
    assert "Ended: consensus was reached, after 1 message." in text


# What the views show of people: who is asked, whispers, silences, a past that comes first
