"""Parts of a folder are written anew: all or none, wherever a kill comes, and nothing of the old is left."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from companion_worlds import files_with, told
from hypothesis import given, settings
from hypothesis import strategies as st

from persimchat.runs.companion import forgetting, renewing
from persimchat.runs.companion.renewing import READY, copy_database, copy_lines, renewed, settle
from persimchat.runs.companion.world import opened_world
from persimchat.state.errors import MachineError


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def killed_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """`killed_after(n)`: the process ends before its (n+1)th move or removal of a file, and does nothing more."""

    def begin(left: int) -> None:
        done = 0

        def mortal(call: Any) -> Any:
            def counted(*given: Any, **options: Any) -> Any:
                nonlocal done
                if done >= left:
                    raise Killed
                done += 1
                return call(*given, **options)

            return counted

        for name in ("rename", "replace", "unlink", "mkdir"):
            monkeypatch.setattr(Path, name, mortal(getattr(Path, name)))
        monkeypatch.setattr(renewing.shutil, "rmtree", mortal(shutil.rmtree))

    return begin


def folder_of(root: Path) -> Path:
    """A folder with two files, a folder and a side file of a database."""
    (root / "memory").mkdir(parents=True)
    for name in ("mind.sqlite", "mind.sqlite-wal", "lines.jsonl", "memory/old.bin", "other.txt"):
        (root / name).write_text(f"old {name}")
    return root


def renew(root: Path) -> None:
    with renewed(root) as new:
        (new / "memory").mkdir()
        for name in ("mind.sqlite", "lines.jsonl", "memory/new.bin"):
            (new / name).write_text(f"new {name}")


OLD = {name: f"old {name}" for name in ("mind.sqlite", "mind.sqlite-wal", "lines.jsonl", "memory/old.bin", "other.txt")}
NEW = {name: f"new {name}" for name in ("mind.sqlite", "lines.jsonl", "memory/new.bin")} | {
    "other.txt": "old other.txt"
}


def content(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_new_files_take_the_places_of_the_old(tmp_path: Path) -> None:
    renew(folder_of(tmp_path / "w"))
    assert content(tmp_path / "w") == NEW


def test_after_a_failure_all_is_as_it_was(tmp_path: Path) -> None:
    root = folder_of(tmp_path / "w")
    with pytest.raises(ValueError, match="no"), renewed(root) as new:
        (new / "mind.sqlite").write_text("new")
        raise ValueError("no")
    assert content(root) == OLD
    with pytest.raises(MachineError, match="cannot be written anew"), renewed(root) as new:
        (new / "nowhere" / "file").write_text("")
    assert content(root) == OLD


@pytest.mark.parametrize("moment", range(20))
def test_a_kill_leaves_the_old_or_the_new(
    moment: int, tmp_path: Path, killed_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder_of(tmp_path / "w")
    killed_after(moment)
    with suppress(Killed):
        renew(root)
    complete = (root / READY).exists() or content(root) == NEW
    monkeypatch.undo()
    settle(root)
    assert content(root) == (NEW if complete else OLD)


def test_a_kill_while_a_kill_is_settled(
    tmp_path: Path, killed_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for first in range(3, 12, 2):
        for second in range(0, 8, 2):
            root = folder_of(tmp_path / f"{first}-{second}")
            complete = False
            for moment, work in ((first, renew), (second, settle)):
                killed_after(moment)
                with suppress(Killed):
                    work(root)
                monkeypatch.undo()
                complete = complete or (root / READY).exists() or content(root) == NEW
            settle(root)
            assert content(root) == (NEW if complete else OLD)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.text(), st.binary(), st.integers(-5, 5)), max_size=20))
def test_a_copied_database_has_the_rows_that_stay(rows: list[tuple[str, bytes, int]]) -> None:
    import tempfile

    rows = [(text.replace("\x00", "").encode("utf-8", "ignore").decode(), data, number) for text, data, number in rows]
    with tempfile.TemporaryDirectory() as at:
        old, new = Path(at, "old"), Path(at, "new")
        with closing(sqlite3.connect(old)) as database:
            database.execute('CREATE TABLE "a b" (t TEXT, d BLOB, n INTEGER)')
            database.execute('CREATE INDEX i ON "a b" (n)')
            database.execute("CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID")
            database.executemany('INSERT INTO "a b" VALUES (?, ?, ?)', rows)
            database.commit()
        copy_database(old, new, lambda _, row: {**row, "n": row["n"] + 1} if row["n"] > 0 else None)
        with closing(sqlite3.connect(new)) as database:
            found = database.execute('SELECT * FROM "a b"').fetchall()
            assert database.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND name = 'i'").fetchall()
        assert found == [(text, data, number + 1) for text, data, number in rows if number > 0]


def test_what_is_no_database_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("no database, by any means " * 40)
    with pytest.raises(OSError, match="cannot be copied"):
        copy_database(tmp_path / "old", tmp_path / "new", lambda _, row: row)


def test_copied_lines_keep_their_bytes_and_their_mode(tmp_path: Path) -> None:
    old, new = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines = [b'{"n":  1, "t": "\\u00e9"}\n', b'{"n": 2}\n', b"no json\n", b"[1]\n", b"\n", b'{"n": 3}\n', b'{"torn']
    old.write_bytes(b"".join(lines))
    old.chmod(0o600)
    gone = copy_lines(old, new, lambda row: {"2": None, "3": {"m": "ž"}}.get(str(row["n"]), row))
    assert (
        gone == 3
        and new.read_bytes()
        == lines[0] + json.dumps({"m": "ž"}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    )
    assert new.stat().st_mode & 0o777 == 0o600


@pytest.mark.proof
async def test_a_world_opens_wherever_forgetting_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_after: Callable[[int], None]
) -> None:
    with monkeypatch.context() as patch:
        world = await told(tmp_path / "lake", patch, ("Oda", "Eva", ["I bake."]), ("Oda", "Petr", ["Blue pigeons."]))
    outcomes = []
    for moment in range(0, 40, 3):
        copy = Path(shutil.copytree(world, tmp_path / str(moment)))
        killed_after(moment)
        with suppress(Killed):
            forgetting.forget(copy, "Petr", None)
        monkeypatch.undo()
        async with opened_world(copy) as opened:
            assert await opened.tie("Oda", "Eva") is not None
            knows = await opened.tie("Oda", "Petr") is not None
        assert bool(files_with(copy, "blue pigeons")) == knows
        outcomes.append(knows)
    assert outcomes == sorted(outcomes, reverse=True) and set(outcomes) == {True, False}
