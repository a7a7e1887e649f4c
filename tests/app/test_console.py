"""People at a terminal or in a pipe: lines, commands, the toolbar."""

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
from app.conftest import environment
from app.terminal import Terminal
from hypothesis import given
from hypothesis import strategies as st
from run_files import logged, run_json

from persimchat.app.console.console_lines import COMMANDS, Order, Talk, answers, completions, order, unknown_speaker
from persimchat.app.console.piped_lines import Lines, PipedLines
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Started
from persimchat.state.errors import InputError
from persimchat.state.intervention import LONGEST_WORDS, words

# What people type: what is understood, what is refused and how, and what is completed


PRESENT = ("Jan Dvořák", "Jan Maria Nováková", "Petr", "Eva Malá")


ALONE = Talk(PRESENT, ("Petr",))


BOTH = Talk(PRESENT, ("Petr", "Eva Malá"))


MODERATOR = Talk(PRESENT, (), moderating=True)


ASKED = Talk(PRESENT, ("Petr", "Eva Malá"), asked=("Eva Malá", "utterance"))


NEED = Talk(PRESENT, ("Petr",), asked=("Petr", "need_to_talk"))


@pytest.mark.parametrize(
    ("line", "talk", "wanted"),
    [
        ("Hello.", ALONE, Order("say", "Hello.", "Petr")),
        ("  Hello.\r\n", ALONE, Order("say", "Hello.", "Petr")),
        ("Well: I think so.", ALONE, Order("say", "Well: I think so.", "Petr")),
        ("Jan: speak up.", ALONE, Order("say", "Jan: speak up.", "Petr")),  # an agent's words are nobody's to type
        ("Eva: Hello.", BOTH, Order("say", "Hello.", "Eva Malá")),
        ("eva mala:Hello: you", BOTH, Order("say", "Hello: you", "Eva Malá")),
        ("Hello.", ASKED, Order("say", "Hello.", "Eva Malá")),
        ("Petr: Hello.", ASKED, Order("say", "Hello.", "Petr")),
        ("7", NEED, Order("answer", "7", "Petr")),
        ("Petr: 7", NEED, Order("answer", "7", "Petr")),
        ("Hello.", MODERATOR, Order("say", "Hello.")),
        ("Moderator: Hello.", Talk(PRESENT, ("Petr",), moderating=True), Order("say", "Hello.")),
        ("Moderator: Hello.", ALONE, Order("say", "Moderator: Hello.", "Petr")),
        ("//say it", ALONE, Order("say", "/say it", "Petr")),
        ("/say Hello.", MODERATOR, Order("say", "Hello.")),
        ("/SAY  Hello.", MODERATOR, Order("say", "Hello.")),
        ("/topic Cocoa?", MODERATOR, Order("topic", "Cocoa?")),
        ("/whisper Eva psst", MODERATOR, Order("say", "psst", "", "Eva Malá")),
        ("/whisper eva mala:  psst, you", MODERATOR, Order("say", "psst, you", "", "Eva Malá")),
        ("/whisper Jan Maria psst", ALONE, Order("say", "psst", "Petr", "Jan Maria Nováková")),
        ("/whisper Jan Maria Nováková psst", ALONE, Order("say", "psst", "Petr", "Jan Maria Nováková")),
        ("/whisper Petr psst", ASKED, Order("say", "psst", "Eva Malá", "Petr")),
        ("/hand", ALONE, Order("hand", who="Petr")),
        ("/hand eva", BOTH, Order("hand", who="Eva Malá")),
        ("/hand", Talk(PRESENT, ("Petr",), raised=frozenset({"Petr"})), Order("hand", who="Petr", raised=False)),
        ("/pass", ASKED, Order("pass")),
        ("/pause", ALONE, Order("pause")),
        ("/go", ALONE, Order("go")),
        ("/stop", ALONE, Order("stop")),
        ("/help", ALONE, Order("help")),
        ("", ALONE, Order("nothing")),
        (" \t\n", ALONE, Order("nothing")),
    ],
)
def test_a_line_is_understood(line: str, talk: Talk, wanted: Order):
    assert order(line, talk) == wanted


@pytest.mark.parametrize(
    ("line", "talk", "what", "remedy"),
    [
        ("", ASKED, "there are no words in it (Eva Malá)", "Type what you say, or /pass."),
        ("\x07", NEED, "this is not a number (Petr)", "a number from 0 to 10"),
        ("\x1b[2J\x07", ALONE, "there are no words in it", "/help"),
        ("Nobody: Hello.", BOTH, "no participant is called 'Nobody'; several people take part", "Petr: …"),
        ("Hello.", BOTH, "several people take part", "Petr: …"),
        ("Hello.", Talk(PRESENT), "no person takes part", "/help"),
        ("/wisper Jan psst", ALONE, "no command '/wisper'", "Did you mean '/whisper'?"),
        ("/", ALONE, "no command '/'", "Choose one of: /say"),
        ("/" + "x" * 100_000, ALONE, "no command '/xxx", "Choose one of"),
        ("/say", MODERATOR, "/say says nothing", "Write /say TEXT."),
        ("/whisper", MODERATOR, "/whisper says nothing", "Write /whisper NAME TEXT."),
        ("/whisper Eva", MODERATOR, "there are no words to whisper to Eva Malá", "/whisper NAME TEXT"),
        ("/whisper Jan psst", MODERATOR, "'Jan' may be Jan Dvořák or Jan Maria Nováková", "full name"),
        ("/whisper Evva psst", MODERATOR, "no participant 'Evva'", "Did you mean 'Eva Malá'?"),
        ("/whisper " + "x" * 100_000, MODERATOR, "this is not a name", "/whisper NAME TEXT"),
        ("/whisper Eva psst", BOTH, "not clear who whispers", "when a person is asked"),
        ("/say Hello.", ALONE, "only the moderator can use /say", "--moderate"),
        ("/topic Cocoa?", ALONE, "only the moderator can use /topic", "--moderate"),
        ("/hand", BOTH, "several people", "/hand Petr"),
        ("/hand", MODERATOR, "no person takes part", "/say"),
        ("/hand Jan", BOTH, "no person 'Jan'", "Choose one of: Petr, Eva Malá."),
        ("/stop now", ALONE, "/stop takes nothing after it", "Write /stop alone."),
    ],
)
def test_a_wrong_line_is_one_clear_line(line: str, talk: Talk, what: str, remedy: str):
    with pytest.raises(InputError) as found:
        order(line, talk)
    text = str(found.value)
    assert what in text
    assert remedy in text
    assert "\n" not in text
    assert len(text) < 300


@pytest.mark.parametrize(
    ("line", "talk", "nobody"),
    [
        ("Nobody: what", ALONE, "Nobody"),
        ("Nobody: what", ASKED, "Nobody"),
        ("Nobody: what", MODERATOR, "Nobody"),
        ("Eva: what", BOTH, ""),
        ("Jan: what", ALONE, ""),  # takes part, though it is not theirs to say
        ("At 10:30 then", ALONE, ""),
        ("See http://x", ALONE, ""),
        ("http: //x", ALONE, "http"),
        ("Two words: what", ALONE, ""),
        ("/whisper Petr Nobody: what", MODERATOR, ""),
    ],
)
def test_a_name_that_is_nobodys(line: str, talk: Talk, nobody: str):
    assert unknown_speaker(order(line, talk), talk) == nobody


TALKS = st.sampled_from([ALONE, BOTH, MODERATOR, ASKED, NEED, Talk(PRESENT), Talk()])


LINES = st.one_of(
    st.text(max_size=60),
    st.builds("{} {}".format, st.sampled_from([*COMMANDS, "/x"]), st.text(max_size=40)),
    st.builds("/whisper {} {}".format, st.sampled_from(PRESENT), st.text(max_size=40)),
)


@given(LINES, TALKS)
def test_every_line_is_an_order_or_a_clear_error(line: str, talk: Talk):
    try:
        found = order(line, talk)
    except InputError as error:
        assert "\n" not in str(error)
        assert error.remedy
        return
    assert found.do in {"nothing", "answer", "say", "topic", "hand", "pass", "pause", "go", "stop", "help"}
    assert (found.text != "") == (found.do in ("answer", "say", "topic"))
    assert found.who in ("", *talk.people)
    assert found.to in ("", *talk.present)
    if found.do in ("say", "topic") and not found.who:
        assert talk.moderating


@given(st.sampled_from(PRESENT), st.from_regex(r"[a-z0-9.,!?] ?[a-z0-9.,!?: ]{0,30}[a-z0-9.!?]", fullmatch=True))
def test_a_whisper_by_full_name_loses_no_word(name: str, text: str):
    assert order(f"/whisper {name} {text}", MODERATOR) == Order("say", text, "", name)


@given(LINES, st.sampled_from([ALONE, BOTH]))
def test_only_words_without_a_name_wait_for_a_question(line: str, talk: Talk):
    if not answers(line, talk):
        return
    try:
        found = order(line, Talk(talk.present, talk.people, asked=("Petr", "utterance")))
    except InputError:
        assert line.strip().casefold().startswith("/pass")
        return
    assert found.do == "pass" or (found.do, found.who) == ("say", "Petr")


def test_words_for_somebody_else_do_not_wait():
    assert answers("Hello.", BOTH)
    assert answers("/pass", BOTH)
    assert not answers("Eva: Hello.", BOTH)
    assert not answers("/stop", BOTH)
    assert not answers("", BOTH)
    assert not answers("Hello.", MODERATOR)


@pytest.mark.parametrize(
    ("before", "talk", "wanted"),
    [
        ("/wh", ALONE, [("/whisper ", 3)]),
        ("/p", ALONE, [("/pass", 2), ("/pause", 2)]),
        ("/whisper J", ALONE, [("Jan Dvořák ", 1), ("Jan Maria Nováková ", 1)]),
        ("/whisper mal", ALONE, [("Eva Malá ", 3)]),
        ("/hand ", BOTH, [("Petr", 0), ("Eva Malá", 0)]),
        ("/say J", ALONE, []),
        ("ev", BOTH, [("Eva Malá: ", 2)]),
        ("ev", ALONE, []),
        ("", BOTH, []),
    ],
)
def test_commands_and_names_are_completed(before: str, talk: Talk, wanted: list[tuple[str, int]]):
    assert completions(before, talk) == wanted


def test_a_story_has_no_whispers_and_no_hands() -> None:
    """Its rooms say who hears whom, and its agenda who speaks."""
    story = Talk(PRESENT, PRESENT[:1], story=True)
    assert ALONE.commands.keys() - story.commands.keys() == {"/whisper", "/hand"}
    assert completions("/wh", story) == []
    assert completions("/wh", ALONE) != []


def test_an_empty_line_puts_the_question_that_is_due() -> None:
    due = Talk(PRESENT, ("Petr",), asked=("Petr", "utterance"), puts="Tea or coffee?")
    assert order("", due) == Order("say", "Tea or coffee?", "Petr")
    assert order("Tea, then?", due) == Order("say", "Tea, then?", "Petr")


def test_a_position_is_an_answer() -> None:
    stands = Talk(PRESENT, ("Petr",), asked=("Petr", "position"))
    assert order("4", stands) == Order("answer", "4", "Petr")
    with pytest.raises(InputError, match="no answer in it"):
        order("", stands)


# A person in a terminal: typing while the conversation scrolls by


pytestmark = pytest.mark.proof


Open = Callable[..., Terminal]


ARGUMENTS = ("run", "Tea?", "-n", "2", "--model", "offline", "--out", "o")


FELT, TURN = "Petr, how much do you need to talk, 0 to 10?", "Your turn, Petr."


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
    screen.until("with Jarmila", "Petr (a person)", "/help lists the commands", FELT)
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
    screen.until(FELT)
    screen.keys("/stop\r")
    code, text = screen.end()
    assert code == 0, text
    assert "Ended: the moderator ended the conversation, after " in text
    assert "Continue with: persimchat resume o/" in text
    said = [line for line in logged(only_run(tmp_path / "o"), "utterance") if line["speaker"] == "Petr"]
    assert [(line["text"], line["heard_by"]) for line in said] == [("psst, žluťoučký kůň", ["Jarmila Dvořáčková"])]


def test_a_paste_of_a_hundred_thousand_characters(open_terminal: Open):
    screen = open_terminal(*PETR, "--messages", "2")
    screen.until(FELT)
    screen.keys("10\r")
    screen.until(TURN)
    screen.keys("\x1b[200~" + "many words " * 9_091 + "\x1b[201~\r")
    screen.until("100,000 characters are too many: at most 8,000")
    screen.keys("\x1b[200~Few\x07 words.\x1b[201~\r")
    screen.until("  Few words.", FELT)
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
    said = {line["speaker"]: line["text"] for line in logged(only_run(tmp_path / "o"), "utterance")}
    assert said["Petr"] == words
    assert said["Moderator"] == "Now the moderator."


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_interrupting_and_leaving(
    key: str, code: int, open_terminal: Open, only_run: Callable[[Path], Path], tmp_path: Path
):
    """Ctrl-C and Ctrl-D both leave a run that goes on later, and a terminal that shows what is typed."""
    screen = open_terminal(*PETR, "--messages", "4")
    screen.until(FELT)
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
    resumed.until(FELT)
    resumed.keys("10\r")
    resumed.until(TURN)
    resumed.keys("Here I am again.\r")
    resumed.until("  Here I am again.", FELT)
    resumed.keys("\x04")
    assert resumed.end()[0] == 0


# People, and programs for them, take part through a pipe


Process = Callable[..., "subprocess.Popen[str]"]


AFTER = ("--model", "offline", "--set", "human_turns=need")


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


async def test_a_line_of_which_not_all_is_kept_is_not_counted_wrongly(pipe: tuple[int, int]):
    reader, writer = pipe

    def flood() -> None:
        for _ in range(80):
            os.write(writer, "ž".encode() * 32_768)
        os.write(writer, b"\n")

    thread = threading.Thread(target=flood)
    thread.start()
    line = await Lines(reader).next()
    thread.join()
    with pytest.raises(InputError, match="1,000,000 or more characters are too many: at most 8,000"):
        words(line)


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
        done = finished("run", "Tea?", "-n", "2", "--messages", "4", "--human", "Petr", *AFTER, stdin=lines)
    assert done.code == 0, done.err
    assert "\nPetr: I'd rather have cocoa.\n" in done.out
    assert "there is no command '/foo'" in done.err
    assert "after 4 messages" in done.out


@pytest.mark.proof
def test_who_leaves_is_waited_for_on_disk(finished: Callable[..., Any]):
    done = finished("run", "Tea?", "-n", "2", "--messages", "4", "--human", "Petr", *AFTER, stdin=subprocess.DEVNULL)
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
        "run",
        "Tea?",
        "-n",
        "2",
        "--messages",
        "3",
        "--human",
        "Petr",
        "--json",
        *AFTER,
        stdin=subprocess.PIPE,
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
    assert child.wait(timeout=60) == 0
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
