"""People, and programs for them, take part through a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from persimchat.app.console.piped_lines import Lines, PipedLines
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Started
from persimchat.state.intervention import LONGEST_WORDS

Process = Callable[..., "subprocess.Popen[str]"]
NEED = ("--model", "offline", "--set", "human_turns=need")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for end in (reader, writer):
        with contextlib.suppress(OSError):  # the test has closed it
            os.close(end)


def started(*people: str) -> Started:
    return Started(run="r", topic="T", participants=["Jan", *people], models={}, max_messages=9, people=list(people))


async def asked(people: PipedLines, what: Literal["utterance", "need_to_talk"], turn: int) -> Any:
    """Ask Petr as a run does, and wait for the answer."""
    people.control.ask({"agent": "Petr", "what": what, "turn": turn, "problem": ""})
    people.take(Asked(turn=turn, agent="Petr", what=what))
    return await people.control.reply()


async def test_lines_are_whole_whatever_the_pieces(pipe: tuple[int, int]):
    reader, writer = pipe
    lines = Lines(reader)
    os.write(writer, "čaj\r\n\ntw".encode() + b"o\xff\nlast")
    os.close(writer)
    found = [await lines.next() for _ in range(5)]
    assert found == ["čaj", "", "two\ufffd", "last", None]


async def test_nothing_is_read_before_it_is_wanted(pipe: tuple[int, int]):
    reader, writer = pipe
    lines = Lines(reader)
    os.write(writer, b"one\ntwo\n")
    os.set_blocking(reader, False)
    assert os.read(reader, 4) == b"one\n"
    assert await lines.next() == "two"


async def test_a_line_without_an_end_takes_no_more_than_its_share(pipe: tuple[int, int]):
    reader, writer = pipe
    lines = Lines(reader)

    def flood() -> None:
        for _ in range(40):
            os.write(writer, b"x" * 65_536)
        os.write(writer, b"\nshort\n")

    thread = threading.Thread(target=flood)
    thread.start()
    first = await lines.next()
    assert first is not None
    assert len(first) == 1_000_000
    assert await lines.next() == "short"
    thread.join()


@pytest.mark.parametrize("descriptor", [None, 999_999])
async def test_no_standard_input_is_an_empty_one(descriptor: int | None):
    assert await Lines(descriptor).next() is None


async def test_answers_wait_and_none_is_lost(pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]):
    """Two lines that come at once answer two questions; what is wrong is told, and the next line is tried."""
    reader, writer = pipe
    control = Control()
    people = PipedLines(control, Lines(reader), moderating=False)
    control.begin(["Jan", "Petr"], ["Petr"])
    people.take(started("Petr"))
    reading = asyncio.create_task(people.read())
    long = "x" * (LONGEST_WORDS + 92_000)
    os.write(writer, b"seven\n7\n" + long.encode()[:60_000])
    assert await asked(people, "need_to_talk", 1) == {"need_to_talk": 7}
    os.write(writer, long.encode()[60_000:] + b"\nOne.\n/whisper Jan Two.\n/pass\n")
    assert await asked(people, "utterance", 1) == {"text": "One."}
    assert await asked(people, "need_to_talk", 2) == {"passes": True}
    os.close(writer)
    await reading
    assert [wanted["text"] for wanted in control.take(2)] == ["Two."]
    told = capsys.readouterr().err.splitlines()
    assert "a whole number from 0 to 10" in told[0]
    assert f"100,000 characters are too many: at most {LONGEST_WORDS:,}" in told[1]
    assert told[2] == "Petr whispers it to Jan next."
    assert len(told) == 3


async def test_nothing_is_no_answer(pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]):
    reader, writer = pipe
    control = Control()
    people = PipedLines(control, Lines(reader), moderating=False)
    control.begin(["Jan", "Petr"], ["Petr"])
    people.take(started("Petr"))
    control.ask({"agent": "Petr", "what": "utterance", "turn": 1, "problem": ""})
    os.write(writer, b"  \n\x1b[2J\n")
    os.close(writer)
    await people.read()
    assert control.asked == ("Petr", "utterance")
    assert capsys.readouterr().err.count("there are no words in it (Petr). Type what you say, or /pass.\n") == 2


async def test_what_is_told_of_hands_and_of_names_that_are_nobodys(
    pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]
):
    reader, writer = pipe
    control = Control()
    people = PipedLines(control, Lines(reader), moderating=False)
    control.begin(["Jan", "Petr"], ["Petr"])
    people.take(started("Petr"))
    control.ask({"agent": "Petr", "what": "utterance", "turn": 1, "problem": ""})
    os.write(writer, b"/hand\nNobody: Hello.\n\x1b[2J\n")
    os.close(writer)
    await people.read()
    assert capsys.readouterr().err.splitlines() == [
        "Petr has raised a hand.",
        "No participant is called Nobody, so Petr says the whole line.",
        "persimchat: there are no words in it. Type it again in letters; /help lists the commands.",
    ]


async def test_while_it_is_paused_words_are_said_next(pipe: tuple[int, int]):
    reader, writer = pipe
    control = Control()
    people = PipedLines(control, Lines(reader), moderating=False)
    control.begin(["Jan", "Petr"], ["Petr"])
    people.take(started("Petr"))
    os.write(writer, b"/pause\nNext.\n/go\n")
    os.close(writer)
    await people.read()
    assert [wanted["text"] for wanted in control.take(0)] == ["Next."]
    assert not control.paused


@pytest.mark.proof
def test_a_conversation_given_at_once(finished: Callable[..., Any], tmp_path: Path):
    given = tmp_path / "lines.txt"
    given.write_text("10\nI'd rather have cocoa.\n/foo\n0\n0\n0\n0\n0\n", encoding="utf-8")
    with given.open() as lines:
        done = finished("run", "Tea?", "-n", "2", "--messages", "4", "--human", "Petr", *NEED, stdin=lines)
    assert done.code == 0, done.err
    assert "\nPetr: I'd rather have cocoa.\n" in done.out
    assert "there is no command '/foo'" in done.err
    assert "after 4 utterances" in done.out


@pytest.mark.proof
def test_who_leaves_is_waited_for_on_disk(finished: Callable[..., Any]):
    done = finished("run", "Tea?", "-n", "2", "--messages", "4", "--human", "Petr", *NEED, stdin=subprocess.DEVNULL)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert any(line.startswith("# Ended: a person was asked, and nobody was there") for line in lines), done.out
    assert lines[-1].startswith("# Continue with: persimchat resume 20")
    resumed = finished("resume", "latest", "--quiet", stdin=subprocess.DEVNULL)
    assert resumed.code == 0, resumed.err
    assert resumed.err == "Petr, how much do you need to talk, 0 to 10?\n"


@pytest.mark.proof
def test_a_program_drives_a_run(process: Process):
    """It answers what it is asked, and the run ends while its pipe is still open."""
    child = process(
        "run", "Tea?", "-n", "2", "--messages", "3", "--human", "Petr", "--json", *NEED, stdin=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    spoken = []
    for line in child.stdout:
        event = json.loads(line)
        if event["event"] == "asked":
            need = "10" if not spoken else "0"
            child.stdin.write("I am Petr.\n" if event["what"] == "utterance" else f"{need}\n")
            child.stdin.flush()
        if event["event"] == "utterance" and event["speaker"] == "Petr":
            spoken.append(event["text"])
    assert child.wait(timeout=20) == 0
    assert spoken == ["I am Petr."]
    assert child.stderr is not None
    assert child.stderr.read() == ""
    child.stdin.close()
    child.stdin = None


@pytest.mark.proof
def test_who_takes_no_part_is_not_asked_for_lines(process: Process):
    """Standard input stays whole for others where nobody takes part."""
    reader, writer = os.pipe()
    os.write(writer, b"for somebody else\n")
    child = process("run", "Tea?", "-n", "2", "--messages", "1", "--model", "offline", "--quiet", stdin=reader)
    assert child.wait(timeout=60) == 0
    os.set_blocking(reader, False)
    assert os.read(reader, 100) == b"for somebody else\n"
    os.close(reader)
    os.close(writer)
