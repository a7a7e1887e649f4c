"""`persimchat companion talk`: in a pipe, in a terminal, and what it refuses."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app.terminal import Terminal

from persimchat.app.console.companion_lines import command_in, help_lines, status_line, time_of
from persimchat.runs.companion.events import Acted, Answered
from persimchat.state.errors import InputError

Run = Callable[..., Any]
Say = Callable[..., Any]

ODA = """\
world: Lake
agents:
  - persona: {name: Oda Brandvik, description: Sells tickets at the ferry stage., traits: [dry]}
"""


@pytest.fixture
def place(tmp_path: Path) -> str:
    (tmp_path / "ferry.yaml").write_text(ODA)
    return "ferry.yaml"


@pytest.fixture
def say(command: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Say]:
    """Give the command lines on standard input, as a pipe does."""
    ends: list[int] = []

    def said(lines: str, *arguments: str) -> Any:
        reader, writer = os.pipe()
        ends.append(reader)
        os.write(writer, lines.encode())
        os.close(writer)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(os.fdopen(os.dup(reader), "rb")))
        return command("companion", "talk", *arguments, "--model", "offline")

    yield said
    for end in ends:
        os.close(end)


def test_lines_of_a_pipe_are_messages_and_its_end_ends_the_talk(say: Say, place: str) -> None:
    done = say("My sister is called Mira.\n", place, "Oda", "--person", "Petr")
    assert done.code == 0 and done.err == ""
    first, second, last = done.out.splitlines()
    assert first.startswith("Oda Brandvik: ") and "Mira" in first
    assert "trust 6 (+1)" in second and last.startswith("  (The talk is over.")
    assert Path("worlds/ferry/exchanges.jsonl").read_text().count("\n") == 1


def test_commands_in_a_pipe(say: Say, place: str) -> None:
    lines = "I like tea.\n/why\n/memory\n/time 2030-01-01 14:00\n/end\n/memory\n/nap\n/quit\nNever read.\n"
    done = say(lines, place, "--person", "Petr", "--world", "w")
    assert done.code == 0
    assert "It is 2030-01-01 14:00:0" in done.out and "fact: Petr likes tea" in done.out
    assert "there is no command '/nap'" in done.err and "Never read" not in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nobody.yaml", "--person", "Petr"], "nobody.yaml"),
        (["ferry.yaml", "Otto", "--person", "Petr"], "there is no agent 'Otto'"),
        (["ferry.yaml", "--person", "<>"], "the person's name is empty"),
        (["ferry.yaml"], "--person"),
        (["ferry.yaml", "--person", "Petr", "--cognition", "fixed", "--set", "pattern=round_robin"], "cognition"),
        (["ferry.yaml", "--person", "Petr", "--world", "."], "not empty, and holds no world"),
    ],
)
def test_bad_input_is_one_line(say: Say, place: str, arguments: list[str], told: str) -> None:
    done = say("Hello.\n", *arguments)
    assert done.code == 2 and told in done.error


def test_a_model_that_fails_ends_a_pipe(say: Say, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from persimchat.models.offline import OfflineChatModel
    from persimchat.state.errors import ModelError

    def down(*_: Any) -> str:
        raise ModelError("it is down", model="offline")

    monkeypatch.setattr(OfflineChatModel, "answer", down)
    done = say("Hello.\nHello?\n", place, "--person", "Petr")
    assert done.code == 3 and "it is down" in done.error


def test_a_line_is_words_or_a_command() -> None:
    assert command_in("  Hello / there ") is None
    assert command_in("/Event  The stove is smoking. ") == ("/event", "The stove is smoking.")
    with pytest.raises(InputError, match="did you mean|Did you mean"):
        command_in("/memry")
    with pytest.raises(InputError, match="/event TEXT"):
        command_in("/event")
    with pytest.raises(InputError, match="/end alone"):
        command_in("/end now")
    assert len(help_lines()) == 8


def test_an_hour_is_the_next_one() -> None:
    now = "2025-03-03T12:30:00"
    assert time_of("14:00", now) == "2025-03-03T14:00:00"
    assert time_of("9:05", now) == "2025-03-04T09:05:00"
    assert time_of("2030-01-01 14:00", now) == "2030-01-01 14:00"


def test_a_remark_says_how_trust_moved() -> None:
    answered = Answered(id="1", talk="t", said="", utterance="", emotion="angry", trust=3, end=False, appraised=True)
    assert status_line(answered, 5) == "angry, trust 3 (−2)"
    assert status_line(answered, 3) == status_line(answered, None) == "angry, trust 3"
    assert status_line(answered.model_copy(update={"appraised": False}), 5) == ""
    assert status_line(Acted(kind="start_talk", about="the stove"), 5) == "The agent begins a talk: the stove"
    assert status_line(Acted(kind="none"), 5) == ""


@pytest.mark.proof
def test_what_is_told_is_known_corrected_and_nobody_elses(finished: Run, place: str) -> None:
    def talk(lines: str, person: str = "Petr") -> str:
        reader, writer = os.pipe()
        os.write(writer, lines.encode())
        os.close(writer)
        done = finished("companion", "talk", place, "Oda", "--person", person, "--world", "w", stdin=reader)
        os.close(reader)
        assert done.code == 0, done.err
        assert done.err == ""
        return str(done.out)

    talk("My sister is called Mira.\nGoodbye!\n")
    assert "Mira" in talk("What is my sister called?\n")
    talk("Actually her name is Mara.\nGoodbye!\n")
    answer = talk("What is my sister called?\n")
    assert "Mara" in answer and "Mira" not in answer
    other = talk("What is my sister called?\n", "Eva")
    assert "Mara" not in other and "Mira" not in other


@pytest.mark.proof
def test_a_second_process_is_refused_and_ctrl_c_leaves_the_talk_open(
    process: Callable[..., subprocess.Popen[str]], finished: Run, place: str
) -> None:
    given = ("companion", "talk", place, "--person", "Petr", "--world", "w")
    first = process(*given, stdin=subprocess.PIPE)
    assert first.stdin is not None and first.stdout is not None
    first.stdin.write("My sister is called Mira.\n")
    first.stdin.flush()
    assert "Mira" in first.stdout.readline()
    second = finished(*given, stdin=subprocess.DEVNULL)
    assert second.code == 2 and f"the world is being worked on by process {first.pid}" in second.error
    first.stdout.readline()  # digested
    first.send_signal(signal.SIGINT)
    assert first.wait(timeout=30) == 130
    done = finished(*given, stdin=subprocess.DEVNULL)
    assert done.code == 0 and "The talk is over." in done.out


@pytest.mark.proof
def test_a_talk_in_a_terminal(place: str) -> None:
    terminal = Terminal("companion", "talk", place, "--person", "Petr", "--model", "offline", env=dict(os.environ))
    terminal.until("Oda Brandvik. Simulated people are not people.", "Petr:")
    terminal.keys("My sister is called Mira.\r")
    terminal.until("Oda Brandvik: ", "Mira", "trust 6 (+1)")
    terminal.keys("/memory\r")
    terminal.until("trust 6")
    terminal.keys("\x04")
    terminal.until("The talk is over.")
    code, _ = terminal.end()
    assert code == 0
