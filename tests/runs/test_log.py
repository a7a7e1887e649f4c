"""A log: all of an append or nothing, damage told, one file in the end; and the lock under which it is written."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fixtures import Refused
from run_files import conversation, logged
from run_folders import break_seals, set_format, write_run, write_steered

import persimchat
from persimchat.runs.events import Silenced, Uttered
from persimchat.runs.folder.lock import LOCK, PID, check_free, held, holder, is_held
from persimchat.runs.folder.reading import calls_of, past_events, read_labels, read_polls, read_run
from persimchat.runs.kinds import CONVERSATION, KINDS
from persimchat.runs.log import FORMAT, Log
from persimchat.runs.run.resume import resume_run
from persimchat.state.errors import InputError, MachineError, PerSimChatError

HOLDS = """
import sys
from pathlib import Path
from persimchat.runs.folder.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(folder: Path) -> subprocess.Popen[str]:
    """A process that holds a run until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def enter(folder: Path) -> None:
    with held(folder):
        pass


@pytest.mark.proof
def test_another_process_is_refused_and_told_by_whom(tmp_path: Path, refused: Refused) -> None:
    process = holding(tmp_path)
    try:
        assert is_held(tmp_path)
        assert holder(tmp_path) == process.pid
        refused(lambda: enter(tmp_path), f"process {process.pid}", str(tmp_path))
        refused(lambda: check_free(tmp_path), f"process {process.pid}")
    finally:
        process.communicate()
    assert not is_held(tmp_path)
    enter(tmp_path)


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    process = holding(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (tmp_path / PID).read_text() == f"{process.pid}\n"  # it could not tidy up
    assert holder(tmp_path) is None
    with held(tmp_path):
        assert holder(tmp_path) == os.getpid()
    assert not (tmp_path / PID).exists()


def test_a_second_holder_in_this_process_is_refused(tmp_path: Path, refused: Refused) -> None:
    with held(tmp_path):
        refused(lambda: enter(tmp_path), "this process")
        assert is_held(tmp_path)  # the refused one has taken nothing away
    enter(tmp_path)


def test_a_failing_body_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), held(tmp_path):
        raise RuntimeError
    assert not is_held(tmp_path)


def test_looking_makes_no_files(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("noted", ["", "12x", "\x00", "-"])
def test_a_damaged_note_is_no_obstacle(tmp_path: Path, noted: str, refused: Refused) -> None:
    with held(tmp_path):
        (tmp_path / PID).write_text(noted)
        assert is_held(tmp_path)
        assert holder(tmp_path) is None
        refused(lambda: enter(tmp_path), "another process")


def test_a_folder_that_is_not_there(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "file").write_text("")
    refused(lambda: enter(tmp_path / "file"), "cannot be locked")
    assert LOCK not in {path.name for path in tmp_path.iterdir()}


FLIPS = 1000


def said(turn: int, text: str = "Tea.") -> Uttered:
    return Uttered(turn=turn, speaker="Eva", text=text)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log(tmp_path / "run.sqlite", KINDS) as log:
        yield log


def test_what_is_appended_is_read_in_order(log: Log) -> None:
    log.append([said(1, "\ud800 =x\0"), said(2)], "c1")
    log.append([Silenced(turn=2, agent="Bo", step="hear", why="503")], "c2")
    assert [event.turn for event in log.read()] == [1, 2, 2]
    assert [event.text for event in log.read("utterance", where="turn > ?", values=[1])] == ["Tea."]
    assert next(log.read("utterance")).text == "\ud800 =x\0"
    assert log.rows("SELECT kind, turn, agent, checkpoint FROM events WHERE number = 3") == [
        ("silenced", 2, "Bo", "c2")
    ]
    assert log.delete("checkpoint = ?", "c1") == 2


def test_an_append_is_whole_or_nothing(log: Log) -> None:
    with pytest.raises(KeyError):
        log.append([said(1), persimchat.Settings()], "c1")
    assert list(log.read()) == []


def test_a_disk_that_is_full_is_told_and_nothing_is_half(log: Log) -> None:
    log.append([said(1)], "c1")
    log.rows("PRAGMA max_page_count = 12")
    with pytest.raises(MachineError, match=r"full.*run\.sqlite.*free space"):
        log.append([said(2), said(3, "x" * 900_000)], "c2")
    assert [event.turn for event in log.read()] == [1]
    log.rows("PRAGMA max_page_count = 1000000")
    log.append([said(2)], "c2")
    assert [event.turn for event in log.read()] == [1, 2]


def test_several_threads_append(log: Log) -> None:
    threads = [threading.Thread(target=lambda n=n: log.append([said(n)])) for n in range(1, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(event.turn for event in log.read()) == list(range(1, 30))


def test_one_file_is_left_and_late_requests_reopen_it(log: Log) -> None:
    log.append([said(1)])
    assert log.path.with_name("run.sqlite-wal").exists()
    log.close()
    assert [path.name for path in log.path.parent.iterdir()] == ["run.sqlite"]
    log.append([said(2)])
    assert [path.name for path in log.path.parent.iterdir()] == ["run.sqlite"]
    with Log(log.path, KINDS, read_only=True) as again:
        assert [event.turn for event in again.read()] == [1, 2]


def test_each_kind_is_a_table(tmp_path: Path) -> None:
    """As `sqlite3 run.sqlite "SELECT …"` reads it, without PerSimChat."""
    folder = write_steered(tmp_path)
    with sqlite3.connect(folder / "run.sqlite") as database:
        first = database.execute("SELECT turn, speaker, text FROM utterances").fetchone()
        assert first == (1, "Eva Horáková", "Tea, I say.")
        assert database.execute("SELECT count(*) FROM minds WHERE need_to_talk = 5").fetchone()[0] > 0
        assert database.execute("SELECT json_extract(heard_by, '$[0]') FROM utterances WHERE turn = 2").fetchone() == (
            "Bo Říha",
        )
        for kind in KINDS.values():
            columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({kind.table})")]
            assert columns == kind.columns != []


def test_a_medium_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute("PRAGMA journal_mode = WAL")  # as a killed run leaves it
    folder.chmod(0o500)
    try:
        assert len(read_run(folder).utterances) == 3
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("number", [1, FORMAT + 1])
def test_another_format_is_refused(tmp_path: Path, refused: Refused, number: int) -> None:
    folder = write_run(tmp_path)
    set_format(folder, number)
    refused(lambda: Log(folder / "run.sqlite", KINDS), f"format {number}", f"reads {FORMAT}")


def test_what_is_no_database_is_refused(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "run.sqlite").write_bytes(b"This is no database. " * 99)
    refused(lambda: Log(tmp_path / "run.sqlite", KINDS), "not a database", "run.sqlite")


@pytest.mark.parametrize("kind", ["begun", "utterance", "mind", "turn_ended"])
def test_a_broken_seal_is_told(tmp_path: Path, refused: Refused, kind: str) -> None:
    folder = write_run(tmp_path)
    break_seals(folder, f"kind = '{kind}'")
    refused(lambda: read_run(folder), f"({kind}) does not match its seal", "run.sqlite")


@pytest.fixture(scope="module")
def held_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("held")
    result = persimchat.simulate("Tea?", 3, model="offline", mode="debate", max_messages=4, analysis=True, out=out)
    return Path(result.folder or "")


@pytest.mark.proof
async def test_damaged_events_are_made_again_from_the_checkpoints(held_run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(held_run, tmp_path / held_run.name))
    whole = conversation(folder)
    break_seals(folder, "kind = 'utterance' AND turn = 2 OR kind = 'mind' AND turn = 1")
    with pytest.raises(InputError, match="does not match its seal"):
        await asyncio.to_thread(read_run, folder)
    _ = [event async for event in resume_run(folder, changes={"max_messages": 5})]
    assert conversation(folder)[: len(whole)] == whole
    assert logged(folder, "taken_back") == []


@pytest.mark.proof
async def test_events_that_are_gone_are_made_again(held_run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(held_run, tmp_path / held_run.name))
    whole = conversation(folder)
    with Log(folder / "run.sqlite", KINDS) as log:
        log.delete("checkpoint > (SELECT checkpoint FROM events WHERE kind = 'utterance' AND turn = 2)")
    (folder / "transcript.md").unlink()
    _ = [event async for event in resume_run(folder, changes={"max_messages": 5})]
    assert conversation(folder)[: len(whole)] == whole
    assert "utterances was reached" in (folder / "transcript.md").read_text(encoding="utf-8")


def seen(folder: Path) -> tuple[Any, list[str]]:
    record = read_run(folder, whole=True)
    whole = (
        *(record.manifest.model_dump(), record.utterances, record.minds, record.judge_minds, record.verdicts),
        *(record.scores, record.silences, record.interventions, record.happenings, list(calls_of(record))),
        *(read_polls(folder), read_labels(folder), list(past_events(record))[:-1]),
    )
    return whole, record.notes


@pytest.mark.proof
@pytest.mark.parametrize("flips", [FLIPS // 8, pytest.param(FLIPS, marks=pytest.mark.long)])
def test_a_flipped_bit_anywhere_is_told_or_changes_nothing(held_run: Path, tmp_path: Path, flips: int) -> None:
    whole, _ = seen(held_run)
    data, chance, told = (held_run / "run.sqlite").read_bytes(), Random(5), 0
    for _ in range(flips):
        place = chance.randrange(len(data))
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        (tmp_path / "run.sqlite").write_bytes(changed)
        try:
            found, notes = seen(tmp_path)
        except PerSimChatError:
            told += 1
            continue
        assert found == whole or notes, place
        told += bool(notes)
    assert told > flips / 10


def test_the_kinds_of_a_conversation_follow_from_checkpoints(held_run: Path) -> None:
    with sqlite3.connect(held_run / "run.sqlite") as database:
        kinds = dict(database.execute("SELECT kind, count(*) FROM events WHERE checkpoint IS NOT NULL GROUP BY kind"))
    assert set(kinds) <= set(CONVERSATION)
    assert kinds["utterance"] == kinds["turn_ended"] == 4
