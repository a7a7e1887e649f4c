"""Damaged checkpoints: a flipped bit that matters gives one clear error, and never another conversation."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from run_files import logged, read_whole
from talks import events_of

from persimchat.graph.kinds import graph_for
from persimchat.personas.scenario import make_scenario
from persimchat.runs.folder.checkpoint_file import Serializer
from persimchat.runs.folder.checkpoints import CHECKPOINTS, opened
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.resume_input import states_at
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

PEOPLE: list[Any] = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Vik")]
SETTINGS = Settings(model="offline", closing="off", max_messages=2)


async def begin(out: Path) -> Path:
    """A run of two utterances that has come to its end."""
    await events_of(run_simulation(make_scenario("Tea?", PEOPLE), SETTINGS, out=out, run="a"))
    return out / "a"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(begin(tmp_path_factory.mktemp("ended")))


async def states(folder: Path) -> dict[Any, Any]:
    """The run's newest state, and those of all turns."""
    config: Any = {"configurable": {"thread_id": "a"}}
    async with opened("run", folder) as saver:
        graph = graph_for(SETTINGS, saver)
        newest = await graph.aget_state(config)
        found = {"newest": newest, **await states_at(graph, config, range(3))}
    return {turn: (dumpd(state.values), state.next, state.config) for turn, state in found.items()}


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_value_is_as_it_was_or_damaged() -> None:
    serializer = Serializer("here")
    for value in (None, b"bytes", bytearray(b"more"), "ě" * 500, {"a": [1, 2.5, None]}, list(range(300))):
        kind, data = serializer.dumps_typed(value)
        assert serializer.loads_typed((kind, data)) == value
        for bit in range(0, 8 * len(data), 7):
            with pytest.raises(InputError, match=r"checkpoints are damaged.*here.*backup"):
                serializer.loads_typed((kind, flipped(data, bit)))


@pytest.mark.proof
@pytest.mark.parametrize(("anywhere", "in_the_head"), [(10, 0), pytest.param(40, 20, marks=pytest.mark.long)])
async def test_flipped_bits_are_noticed(ended: Path, tmp_path: Path, anywhere: int, in_the_head: int) -> None:
    whole, data = await states(ended), (ended / CHECKPOINTS).read_bytes()
    folder = tmp_path / "flipped"
    folder.mkdir()
    chosen, noticed = random.Random(1), 0
    for number in range(anywhere + in_the_head):
        bit = chosen.randrange(8 * (len(data) if number < anywhere else 100))
        (folder / CHECKPOINTS).write_bytes(flipped(data, bit))
        for left in folder.glob(f"{CHECKPOINTS}-*"):
            left.unlink()
        try:
            assert await states(folder) == whole, f"bit {bit}"
        except InputError as error:
            assert error.remedy, f"bit {bit}"
            assert "\n" not in str(error)
            noticed += 1
    assert noticed > in_the_head / 2


COLUMNS = [("checkpoints", column) for column in ("checkpoint_id", "parent_checkpoint_id", "type", "checkpoint")]
COLUMNS += [("checkpoints", "metadata"), ("checkpoints", "thread_id")]
COLUMNS += [
    ("writes", column) for column in ("checkpoint_id", "task_id", "task_path", "idx", "channel", "type", "value")
]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
async def test_whatever_is_changed_in_a_row_is_noticed(ended: Path, tmp_path: Path, table: str, column: str) -> None:
    folder = Path(shutil.copytree(ended, tmp_path / "a"))
    with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection, connection:
        agents = "WHERE channel = 'agents'" if table == "writes" else ""
        keys = "rowid" if table == "checkpoints" else "checkpoint_id || task_id || idx"
        query = f"SELECT {keys}, {column} FROM {table} {agents} ORDER BY 1 DESC"
        row, value = next(row for row in connection.execute(query) if row[1] is not None)
        if isinstance(value, bytes):
            new: Any = flipped(value, 8 * len(value) - 3)
        else:
            new = value + 100 if isinstance(value, int) else flipped(value.encode(), 0).decode()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {keys} = ?", (new, row))
    before = read_whole(folder)
    with pytest.raises(InputError, match="checkpoints are damaged") as caught:
        await events_of(resume_run(folder, changes={"max_messages": 3}))
    assert "backup" in caught.value.remedy
    turn = 2 if column in ("checkpoint", "value") else 1  # a value hinders those alone who need it
    with pytest.raises(InputError, match="checkpoints are damaged"):
        await events_of(branch_run(folder, turn, changes={"max_messages": 3}, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert read_whole(folder) == before


@pytest.mark.proof
async def test_a_damaged_value_holds_up_one_turn_at_most(ended: Path, tmp_path: Path) -> None:
    whole, folder = await states(ended), Path(shutil.copytree(ended, tmp_path / "a"))
    with closing(sqlite3.connect(ended / CHECKPOINTS)) as connection:
        rows = connection.execute("SELECT rowid, checkpoint FROM checkpoints ORDER BY rowid").fetchall()
    held_up = []
    for row, value in rows:
        shutil.copyfile(ended / CHECKPOINTS, folder / CHECKPOINTS)
        with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection, connection:
            new = flipped(value, 8 * len(value) - 3)
            connection.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (new, row))
        async with opened("run", folder) as saver:
            graph, config = graph_for(SETTINGS, saver), {"configurable": {"thread_id": "a"}}
            for turn in range(3):
                try:
                    (found,) = (await states_at(graph, config, {turn})).values()
                except InputError as error:
                    assert "checkpoints are damaged" in str(error)
                    held_up.append((row, turn))
                else:
                    assert dumpd(found.values) == whole[turn][0]
    assert {turn for _, turn in held_up} == {0, 1, 2}
    assert len(held_up) == len({row for row, _ in held_up})
    for left in (tmp_path / "a").glob(f"{CHECKPOINTS}-*"):
        left.unlink()
    oldest, value = rows[0]
    shutil.copyfile(ended / CHECKPOINTS, folder / CHECKPOINTS)
    with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection, connection:
        connection.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (value[:-1], oldest))
    events = [event async for event in branch_run(folder, 1, run="b")]
    assert events[-1].event == "stopped"


@pytest.mark.proof
async def test_utterances_whose_checkpoints_are_gone_are_told_of_and_kept(ended: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ended, tmp_path / "a"))
    with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection:
        ((newest,),) = connection.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchall()
    await events_of(resume_run(folder, changes={"max_messages": 4}))
    before = [line["text"] for line in logged(folder, "utterance")]
    with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection, connection:
        for table in ("checkpoints", "writes"):
            connection.execute(f"DELETE FROM {table} WHERE checkpoint_id > ?", (newest,))
    events = [event async for event in resume_run(folder, changes={"max_messages": 5})]
    assert events[0].event == "started"
    assert (events[0].turn, "end before utterance 3: 2 utterances will be made again" in events[0].notice) == (2, True)
    assert [line["text"] for line in logged(folder, "taken_back")] == before[2:]
    assert len(logged(folder, "utterance")) == 5
    events = [event async for event in resume_run(folder, changes={"max_messages": 6})]
    assert events[0].event == "started"
    assert events[0].notice == ""


async def test_what_is_over_takes_little_room(ended: Path) -> None:
    with closing(sqlite3.connect(ended / CHECKPOINTS)) as connection:
        last = connection.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchone()[0]
        left = connection.execute(
            "SELECT channel FROM writes WHERE checkpoint_id < ? AND (channel = ? OR channel GLOB 'branch*')",
            (last, "__pregel_tasks"),
        ).fetchall()
        rows = connection.execute("SELECT type, checkpoint FROM checkpoints").fetchall()
        serializer = Serializer("here")
        for (kept,) in connection.execute("SELECT value FROM dictionaries"):
            serializer.know(kept)
    assert left == []
    tasks = [task for row in rows for task in serializer.loads_typed(row)["channel_values"].get("__pregel_tasks") or []]
    assert {task.node for task in tasks} >= {"hear", "speak"}
    assert [task for task in tasks if task.arg is not None] == []
