"""A person in a terminal: typing while the conversation scrolls by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from app.conftest import environment
from app.terminal import Terminal
from run_files import read_records, run_json

pytestmark = pytest.mark.proof

Open = Callable[..., Terminal]
ARGUMENTS = ("run", "Tea?", "-n", "2", "--model", "offline", "--out", "o")
NEED, TURN = "Petr, how much do you need to talk, 0 to 10?", "Your turn, Petr."
PETR = (*ARGUMENTS, "--human", "Petr", "--set", "human_turns=need")


@pytest.fixture
def open_terminal() -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(*arguments: str, **options: int) -> Terminal:
        opened.append(Terminal(*arguments, env=environment(), **options))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def test_a_person_joins(open_terminal: Open, only_run: Callable[[Path], Path], tmp_path: Path):
    """They are asked, mistakes cost nothing, and what they say stands above the line and in the transcript."""
    screen = open_terminal(*PETR, "--messages", "4")
    screen.until("with Jarmila", "Petr (a person)", "/help lists the commands", NEED)
    screen.keys("a lot\r")
    screen.until("a need to talk is a whole number from 0 to 10", "Press Up to get back")
    screen.keys("10\r")
    screen.until(TURN)
    screen.keys("\r")
    screen.until("there are no words in it (Petr). Type what you say, or /pass.")
    screen.keys("/wisper Jarmila x\r")
    screen.until("no command '/wisper'. Did you mean '/whisper'?")
    screen.keys("/wh\tJa\tpsst, žluťoučký kůň\r")
    screen.until("to Jarmila Dvořáčková only", "psst, žluťoučký kůň")
    screen.until(NEED)
    screen.keys("/stop\r")
    code, text = screen.end()
    assert code == 0, text
    assert "Ended: the moderator ended the conversation, after " in text
    assert "Continue with: persimchat resume o/" in text
    said = [line for line in read_records(only_run(tmp_path / "o") / "transcript.jsonl") if line["speaker"] == "Petr"]
    assert [(line["text"], line["heard_by"]) for line in said] == [("psst, žluťoučký kůň", ["Jarmila Dvořáčková"])]


def test_a_paste_of_a_hundred_thousand_characters(open_terminal: Open):
    screen = open_terminal(*PETR, "--messages", "2")
    screen.until(NEED)
    screen.keys("10\r")
    screen.until(TURN)
    screen.keys("\x1b[200~" + "many words " * 9_091 + "\x1b[201~\r")
    screen.until("100,000 characters are too many: at most 8,000")
    screen.keys("\x1b[200~Few\x07 words.\x1b[201~\r")
    screen.until("  Few words.", NEED)
    screen.keys("\x04")
    code, text = screen.end()
    assert code == 0, text
    assert "\x07" not in screen.all


def test_what_is_typed_between_two_utterances_is_not_swallowed(
    open_terminal: Open, only_run: Callable[[Path], Path], tmp_path: Path
):
    screen = open_terminal(*ARGUMENTS, "--human", "Petr", "--moderate", "--messages", "60")
    screen.until("/help lists the commands")
    words = "Half a sentence that takes its time, and then its other half."
    for letter in words:
        screen.keys(letter)
    screen.keys("\r")
    screen.until("Petr says it next.")
    screen.keys("/say Now the moderator.\r/pause\r")
    screen.until("Paused.")
    screen.keys("/help\r")
    screen.until("/whisper NAME TEXT", "only they hear it")
    screen.keys("/topic Cocoa?\r/go\r")
    screen.until("The topic is now: Cocoa?")
    screen.keys("/stop\r")
    code, text = screen.end()
    assert code == 0, text
    said = {line["speaker"]: line["text"] for line in read_records(only_run(tmp_path / "o") / "transcript.jsonl")}
    assert said["Petr"] == words
    assert said["Moderator"] == "Now the moderator."


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_interrupting_and_leaving(
    key: str, code: int, open_terminal: Open, only_run: Callable[[Path], Path], tmp_path: Path
):
    """Ctrl-C and Ctrl-D both leave a run that goes on later, and a terminal that shows what is typed."""
    screen = open_terminal(*PETR, "--messages", "4")
    screen.until(NEED)
    screen.keys(key)
    ended, text = screen.end()
    assert ended == code, text
    assert "Traceback" not in text
    assert ("persimchat: interrupted" in text) == (code == 130)
    assert ("You have left" in text) == (code == 0)
    assert "Continue with: persimchat resume o/" in text
    assert screen.all.rindex("\x1b[?2004l") > screen.all.rindex("\x1b[?2004h")  # pasting is as it was
    manifest = run_json(only_run(tmp_path / "o"))
    assert manifest["stop_reason"] == "stopped"

    resumed = open_terminal("resume", str(only_run(tmp_path / "o")), "--messages", "2")
    resumed.until(NEED)
    resumed.keys("10\r")
    resumed.until(TURN)
    resumed.keys("Here I am again.\r")
    resumed.until("  Here I am again.", NEED)
    resumed.keys("\x04")
    assert resumed.end()[0] == 0
