"""What `persimchat run` writes to standard output, in each of its forms, and what it leaves on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from pydantic import TypeAdapter
from run_files import read_records

from persimchat.runs.events import Event

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]

EVENT: TypeAdapter[Any] = TypeAdapter(Event)


@pytest.mark.proof
def test_json_is_events_and_nothing_else(finished: Run, serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path):
    done = finished("run", "Tea?", "-n", "3", "--messages", "2", "--model", serve().model(), "--out", "o", "--json")
    assert (done.code, done.err) == (0, "")
    events = [EVENT.validate_json(line) for line in done.out.split("\n")[:-1]]
    kinds = [event.event for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "stopped"
    assert [kinds.count(kind) for kind in ("speaking", "utterance", "turn_ended", "mind")] == [2, 2, 2, 9]
    assert events[-1].reason == "message_limit"
    run = only_run(tmp_path / "o")
    assert Path(events[-1].folder) == Path("o") / run.name
    spoken = read_records(run / "transcript.jsonl")
    assert [s["text"] for s in spoken] == [e.text for e in events if e.event == "utterance"]


@pytest.mark.proof
def test_json_survives_an_ascii_terminal_and_odd_characters(finished: Run, serve: Serve):
    server = serve(Scripted(utterance="Čaj\u2028and\x9b2J coffee – 陳."))
    arguments = ("run", "Čaj?", "-n", "2", "--messages", "1", "--model", server.model(), "--json")
    for encoding in ("ascii", "utf-8"):
        done = finished(*arguments, env={"PYTHONIOENCODING": encoding})
        assert done.code == 0, done.err
        events = [EVENT.validate_json(line) for line in done.out.splitlines()]
        assert events[0].topic == "Čaj?"
        assert next(e.text for e in events if e.event == "utterance").endswith("coffee – 陳.")


def test_piped_output_is_plain_lines(command: Run, serve: Serve):
    done = command("run", "Tea?", "-n", "3", "--messages", "2", "--model", serve().model())
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "# Topic: Tea?"
    assert lines[1].startswith("# Participants: Jarmila Dvořáčková, ")
    spoken = [line for line in lines if line and not line.startswith("#")]
    assert len(spoken) == 2
    assert all(": " in line for line in spoken)
    assert "\x1b" not in done.out
    assert "# Ended: the message limit was reached, after 2 utterances." in lines
    assert lines[-1].startswith("# Run: conversations/")


def test_an_utterance_of_many_lines_is_one_line(command: Run, serve: Serve):
    server = serve(Scripted(utterance="One.\n\nTwo.\x1b[2J\nThree [red]as it is[/red]."))
    done = command("run", "Tea?", "-n", "2", "--messages", "1", "--model", server.model())
    assert "One. Two. Three [red]as it is[/red].\n" in done.out


@pytest.mark.proof
def test_colours_stay_away_from_pipes(finished: Run, serve: Serve):
    arguments = ("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model())
    assert "\x1b" not in finished(*arguments, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).out


@pytest.mark.proof
def test_an_ascii_terminal_gets_question_marks(finished: Run, serve: Serve):
    arguments = ("run", "Čaj?", "-n", "2", "--messages", "1", "--model", serve().model())
    done = finished(*arguments, env={"PYTHONIOENCODING": "ascii"})
    assert (done.code, done.err) == (0, "")
    assert "# Topic: ?aj?" in done.out


def test_quiet_prints_the_folder_alone(command: Run, serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path):
    done = command("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model(), "--quiet", "--out", "o")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"o/{only_run(tmp_path / 'o').name}\n"
    names = {path.name for path in (tmp_path / done.out.strip()).iterdir()}
    texts = {"run.json", "transcript.jsonl", "minds.jsonl", "transcript.md", "calls.jsonl"}
    assert names == {*texts, "checkpoint.sqlite", "memory", "run.lock"}


def test_who_chose_no_model_is_told(command: Run):
    for form, place in (("--quiet", "err"), ("--json", "out")):
        done = command("run", "Tea?", "-n", "2", "--messages", "1", form)
        assert done.code == 0, done.err
        assert "No model was chosen" in getattr(done, place)


@pytest.mark.proof
@pytest.mark.parametrize("command_line", [["personas", "list"], ["personas", "list", "--json"], ["graph"]])
def test_nothing_that_is_piped_has_escape_codes(command_line: list[str], finished: Run):
    done = finished(*command_line, env={"FORCE_COLOR": "1"})
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
