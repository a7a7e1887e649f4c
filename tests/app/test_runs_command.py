"""`persimchat runs`: what it lists, and that it deletes only what it may."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import HOSTILE, write_debate, write_run

from persimchat.memory.store import store

Run = Callable[..., Any]


class Keyboard(io.StringIO):
    """A person at a terminal."""

    def isatty(self) -> bool:
        return True


def names(done: Any) -> list[str]:
    assert (done.code, done.err) == (0, "")
    return [run["run"] for run in json.loads(done.out)]


def test_the_list(command: Run, out: Path) -> None:
    write_run(out, run="talk", started="2026-01-01T12:00:00+00:00")
    write_debate(out, 4, run="debate", started="2026-02-01T12:00:00+00:00")
    lines = command("runs").out.splitlines()
    assert len(lines) == 3
    for word in ("debate", "2026-02-01 12:00 UTC", "Tea or coffee?", "Bo Říha", "offline", "4", "consensus", "$0.0151"):
        assert word in lines[1]
    assert "message limit" in lines[2]


@pytest.mark.proof
def test_filters(command: Run, out: Path) -> None:
    write_run(out, run="talk", stop_reason=None)
    write_debate(out, 4, run="debate")
    assert names(command("runs", "--json", "--mode", "debate")) == ["debate"]
    assert names(command("runs", "--json", "--ended", "unfinished")) == ["talk"]
    assert names(command("runs", "--json", "--text", "riha tea", "--out", str(out))) == ["talk", "debate"]
    assert names(command("runs", "--json", "--text", "wine")) == []
    assert "None of 2 runs" in command("runs", "--text", "wine").out


def test_no_runs(command: Run) -> None:
    done = command("runs")
    assert done.code == 0
    assert "persimchat run TOPIC" in done.out


def test_a_damaged_run_is_said_and_hides_no_other(command: Run, out: Path) -> None:
    write_run(out, run="good")
    (out / "bad").mkdir()
    (out / "bad/run.sqlite").write_text("{")
    done = command("runs", "--json")
    assert [run["run"] for run in json.loads(done.out)] == ["good"]
    assert done.err.count("\n") == 1
    assert "bad/run.sqlite" in done.err


def test_hostile_text_steers_nothing(command: Run, out: Path) -> None:
    write_run(out, scenario={"topic": f"[bold]{HOSTILE}\n\n", "participants": [{"name": "[red]A"}]})
    text = command("runs").out
    assert "[bold]" in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert len(text.splitlines()) == 2


@pytest.mark.proof
def test_delete_with_memories(command: Run, out: Path, tmp_path: Path) -> None:
    given = ("-n", "2", "--messages", "2", "--model", "offline", "--quiet", "--set", "store=memories")
    for _ in range(2):
        assert command("run", "Tea?", *given).code == 0
    going, staying = sorted(path.name for path in out.iterdir())
    held = store(str(tmp_path / "memories"))
    assert len(held.agents(going)) == 2
    done = command("runs", "delete", going, "--yes")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in out.iterdir()] == [staying]
    assert held.agents(going) == []
    assert len(held.agents(staying)) == 2


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_it_asks_first(command: Run, out: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: int) -> None:
    write_run(out, run="one")
    write_run(out, run="two", stop_reason=None)
    monkeypatch.setattr("sys.stdin", Keyboard(answer))
    done = command("runs", "delete", "one", "two", "one")
    assert done.code == 0
    assert "Delete these 2 runs?" in done.out
    assert "it may still be running" in done.out
    assert len(list(out.iterdir())) == left


def test_an_end_of_input_is_no_yes(command: Run, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(out)
    monkeypatch.setattr("sys.stdin", Keyboard(""))
    assert command("runs", "delete", "latest").code == 130
    assert len(list(out.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("delete", "good"), "Add --yes"),
        (("delete", "nobody", "--yes"), "there is no run"),
        (("delete", "good", "plain", "--yes"), "not a run's folder"),
        (("delete", "lost", "--yes"), "--keep-memories"),
        (("delete", "--yes"), "RUN"),
        (("--mode", "debate", "delete", "good", "--yes"), "Write them after it"),
        (("--ended", "never"), "never"),
        (("wrong",), "wrong"),
    ],
)
def test_bad_input_deletes_nothing(command: Run, out: Path, arguments: tuple[str, ...], said: str) -> None:
    write_run(out, run="good")
    write_run(out, run="lost", settings={"store": "nowhere"})
    Path("plain").mkdir()
    done = command("runs", *arguments)
    assert done.code == 2
    assert said in done.error
    assert sorted(path.name for path in out.iterdir()) == ["good", "lost"]
    assert not Path("nowhere").exists()


@pytest.mark.proof
def test_a_run_gets_a_name_and_tags(command: Run, out: Path) -> None:
    write_run(out, run="talk")
    write_run(out, run="other")
    assert "no name, no tags" in command("runs", "label", "talk").out
    said = command("runs", "label", "talk", "--name", "First [bold]try", "--tag", "pilot", "--tag", "tea").out
    assert said == "talk: First [bold]try (pilot, tea)\n"
    assert names(command("runs", "--json", "--tag", "PILOT", "--tag", "tea")) == ["talk"]
    assert "First [bold]try" in (text := command("runs").out)
    assert "pilot, tea" in text
    assert command("runs", "label", "talk", "--untag", "Tea").out == "talk: First [bold]try (pilot)\n"
    assert command("runs", "label", "talk", "--name", "", "--untag", "pilot").out == "talk: no name, no tags\n"
    assert "name" not in command("runs").out.splitlines()[0].split()  # as before
    done = command("runs", "label", "talk", "--tag", "a,b")
    assert (done.code, "commas" in done.error) == (2, True)
