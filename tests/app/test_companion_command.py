"""`persimchat companion`: talk in a pipe and in a terminal, list, export, forget, measure; and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app.terminal import Terminal
from companion_talks import FERRY
from companion_worlds import files_with, kept_in, told

from persimchat.app.cli import main
from persimchat.app.console.companion_talk import command_in, help_lines, status_line, time_of
from persimchat.evaluation.companion import measuring
from persimchat.evaluation.companion.rows import Row
from persimchat.personas.place_file import place_from_text
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


@pytest.mark.proof
def test_lines_of_a_pipe_are_messages_and_its_end_ends_the_talk(say: Say, place: str) -> None:
    done = say("My sister is called Mira.\n", place, "Oda", "--person", "Petr")
    assert done.code == 0 and done.err == ""
    first, second, last = done.out.splitlines()
    assert first.startswith("Oda Brandvik: ") and "Mira" in first
    assert "trust 6 (+1)" in second and last.startswith("  (The talk is over.")
    assert len(kept_in(Path("worlds/ferry"), "exchange")) == 1


@pytest.mark.proof
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


@pytest.mark.long
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


@pytest.mark.long
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
    assert first.wait(timeout=60) == 130
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


Told3 = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_companion(capsys: pytest.CaptureFixture[str]) -> Told3:
    """Exit code, output and errors of a command."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["companion", *words])
        out, error = capsys.readouterr()
        assert "Traceback" not in error and error.count("\n") <= 1, error
        return code, out, error

    return run


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one world in `worlds/` of the working directory."""
    import asyncio

    monkeypatch.chdir(tmp_path)
    talks = ("Oda Brandvik", "Petr", ["My sister is Mira."]), ("Oda Brandvik", "Eva", ["Petr bakes bread."])
    return asyncio.run(told(tmp_path / "worlds" / "lake", monkeypatch, *talks))


@pytest.mark.proof
def test_a_person_is_listed_exported_and_forgotten(run_companion: Told3, lake: Path) -> None:
    code, out, _ = run_companion("list")
    assert code == 0 and "worlds/lake" in out and "Oda Brandvik  Petr: trust 6, 1 talk, 1 fact, last 20" in out
    (row,) = json.loads(run_companion("list", "--world", "lake", "--json")[1])
    assert [one["person"] for one in row["people"]] == ["Eva", "Petr"] and not row["in_use"]
    code, out, _ = run_companion("export", "--agent", "Oda", "--person", "Petr")
    assert code == 0 and json.loads(out)["facts"][0]["quote"] == "My sister is Mira."
    code, out, _ = run_companion("export", "--agent", "Oda", "--person", "petr", "--md", "--world", str(lake))
    assert code == 0 and out.startswith("# What Oda Brandvik remembers of Petr\n")
    code, out, _ = run_companion("export", "--place")
    assert code == 0 and place_from_text(out, where="place.yaml") == FERRY
    code, out, _ = run_companion("forget", "--agent", "Oda", "--person", "Petr", "--yes")
    assert code == 0 and "Petr is forgotten by Oda Brandvik." in out and "Out of reach: copies and backups" in out
    assert "kept (--mentions deletes them)" in out and "Petr bakes bread." in out and "still have the name" in out
    assert files_with(lake, "Mira") == []
    code, _, error = run_companion("export", "--agent", "Oda", "--person", "Petr")
    assert code == 2 and "nobody here is called 'Petr'" in error


@pytest.mark.proof
@pytest.mark.parametrize(
    ("words", "told_"),
    [
        (["export", "--agent", "Oda", "--person", "Eva", "--world", "sea"], "there is no world 'sea'"),
        (["export", "--agent", "Olga", "--person", "Eva"], "Oda Brandvik"),
        (["forget", "--person", "Eva", "--yes"], "not clear who forgets"),
        (["forget", "--person", "Eva", "--agent", "Oda", "--all-agents", "--yes"], "contradict each other"),
        (["forget", "--person", "Eva", "--agent", "Oda"], "Add --yes"),
        (["forget", "--person", "Ewa", "--all-agents", "--yes"], "Eva"),
    ],
)
def test_what_export_and_forget_refuse(words: list[str], told_: str, run_companion: Told3, lake: Path) -> None:
    code, out, error = run_companion(*words)
    assert code == 2 and told_ in error and out == ""
    assert files_with(lake, "Mira")


def test_without_worlds(run_companion: Told3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_companion("list")[:2] == (
        0,
        "There are no worlds in worlds. Begin one: persimchat companion talk PLACE --person NAME\n",
    )
    code, _, error = run_companion("export", "--agent", "Oda", "--person", "Petr")
    assert code == 2 and "there is no world in worlds" in error


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Nobody talks; which worlds would have been measured, and with what."""
    asked: list[tuple[str, str]] = []

    async def found(what: str, name: str, talks: int, seed: int, **given: Any) -> list[Row]:
        asked.append((name, str(given["settings"].model)))
        rows = [Row(name, "single 1", "right", 1.0), Row(name, "reaction", "accepted_at_first", float(seed))]
        times = [Row(name, f"1 {n}", m, 10.0 * n) for n in (1, 2) for m in ("first_words_ms", "bare_first_words_ms")]
        return times if what == "latency" else rows

    monkeypatch.setattr(measuring, "measured", found)
    return asked


def test_a_table_of_measures_with_intervals(command: Run, quick: list[tuple[str, str]]) -> None:
    done = command("companion", "measure", "recall", "Jarmila", "--talks", "1,2", "--seeds", "2", "--out", "res")
    assert done.code == 0 and [name for name, _ in quick] == ["recall-1-0", "recall-2-0", "recall-1-1", "recall-2-1"]
    assert "requests to offline" in done.err
    assert "recall 1  right" in done.out and "0.16 to 1.00" in done.out and "accepted_at_first   0.50" in done.out
    with (Path("res") / "companion.csv").open(encoding="utf-8", newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)][::2] == [name for name, _ in quick]


def test_all_measures_take_latency_only_where_http_is_spoken(command: Run, quick: list[tuple[str, str]]) -> None:
    done = command("companion", "measure", "all", "Jarmila", "--talks", "1", "--json")
    assert "its latency is not measured" in done.err and [name for name, _ in quick] == ["recall-1-0", "trust-0"]
    found = json.loads(done.out)
    assert {"run": "recall 1", "measure": "right"}.items() <= found["measures"][0].items() and len(found["rows"]) == 4
    quick.clear()
    model = "m@http://127.0.0.1:9/v1"
    done = command("companion", "measure", "all", "Jarmila", "--talks", "1", "--model", model)
    assert [name for name, _ in quick] == ["recall-1-0", "trust-0", "latency"]
    assert {given for _, given in quick} == {model} and "take 1.00 times as long" in done.out


@pytest.mark.parametrize("talks", ["", "0", "21", "1;2", "one", "-1"])
def test_numbers_of_talks_that_are_none_are_refused(command: Run, quick: list[tuple[str, str]], talks: str) -> None:
    done = command("companion", "measure", "recall", "Jarmila", f"--talks={talks}")
    assert done.code == 2 and "--talks" in done.err and "1,2,5" in done.err and not quick


def test_what_is_wrong_is_said_in_one_line(command: Run, quick: list[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "kept" / "recall-1-0").mkdir(parents=True)
    done = command("companion", "measure", "recall", "Jarmila", "--talks", "1", "--keep", str(tmp_path / "kept"))
    assert done.code == 2 and "is there already" in done.err and not quick
    assert command("companion", "measure", "recall", "Nobody").code == 2
    assert command("companion", "measure", "recall", "Jarmila", "--set", "companion.x=1").code == 2
    assert command("companion", "measure", "taste", "Jarmila").code == 2


def test_the_offline_model_has_no_latency(command: Run) -> None:
    done = command("companion", "measure", "latency", "Jarmila", "--talks", "1")
    assert done.code == 2 and "not asked over HTTP" in done.err


@pytest.mark.proof
def test_the_whole_of_it_offline(command: Run, tmp_path: Path) -> None:
    given = ("--talks", "1", "--keep", str(tmp_path / "kept"))
    done = command("companion", "measure", "all", "Jarmila", *given, "--json")
    values = {(one["run"], one["measure"]): one["value"] for one in json.loads(done.out)["measures"]}
    assert values["recall 1", "right"] == 1 and values["trust friendly", "course_as_expected"] == 1
    assert values["reaction", "accepted_at_first"] == 1
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "recall-1-0", "trust-0-friendly", "trust-0-hostile", "trust-0-apologising", "trust-0-neutral",
    }  # fmt: skip
