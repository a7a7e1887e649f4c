"""`persimchat companion list`, `export`, `forget`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from companion_worlds import files_with, told

from persimchat.app.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
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


def test_a_person_is_listed_exported_and_forgotten(command: Run, lake: Path) -> None:
    code, out, _ = command("list")
    assert code == 0 and "worlds/lake" in out and "Oda Brandvik  Petr: trust 6, 1 talk, 1 fact, last 20" in out
    (row,) = json.loads(command("list", "--world", "lake", "--json")[1])
    assert [one["person"] for one in row["people"]] == ["Eva", "Petr"] and not row["in_use"]
    code, out, _ = command("export", "--agent", "Oda", "--person", "Petr")
    assert code == 0 and json.loads(out)["facts"][0]["quote"] == "My sister is Mira."
    code, out, _ = command("export", "--agent", "Oda", "--person", "petr", "--md", "--world", str(lake))
    assert code == 0 and out.startswith("# What Oda Brandvik remembers of Petr\n")
    code, out, _ = command("forget", "--agent", "Oda", "--person", "Petr", "--yes")
    assert code == 0 and "Petr is forgotten by Oda Brandvik." in out and "Out of reach: copies and backups" in out
    assert "kept (--mentions deletes them)" in out and "Petr bakes bread." in out and "still have the name" in out
    assert files_with(lake, "Mira") == []
    code, _, error = command("export", "--agent", "Oda", "--person", "Petr")
    assert code == 2 and "nobody here is called 'Petr'" in error


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
def test_bad_input_is_one_line(words: list[str], told_: str, command: Run, lake: Path) -> None:
    code, out, error = command(*words)
    assert code == 2 and told_ in error and out == ""
    assert files_with(lake, "Mira")


def test_without_worlds(command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("list")[:2] == (
        0,
        "There are no worlds in worlds. Begin one: persimchat companion talk PLACE --person NAME\n",
    )
    code, _, error = command("export", "--agent", "Oda", "--person", "Petr")
    assert code == 2 and "there is no world in worlds" in error
