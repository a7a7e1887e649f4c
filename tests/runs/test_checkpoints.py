"""Checkpoints: where they are kept, states of any turn, clocks that jump, and damage that is told."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from loopback.server import free_port
from run_files import logged
from run_folders import write_run

from persimchat.graph.kinds import graph_for
from persimchat.graph.langgraph_compat import begin_above
from persimchat.personas.scenario import make_scenario
from persimchat.runs.folder.checkpoints import CHECKPOINTS, check_location, opened, without_password
from persimchat.runs.folder.listing import deletable, delete_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.resume_input import Graph, complete_turn, is_between, state_at, states_at
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError, MachineError, MissingExtraError, PerSimChatError
from persimchat.state.settings import Settings

PEOPLE = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Berg")]

SERVER = os.environ.get("PERSIMCHAT_TEST_POSTGRES", "")
"""Read while this module is imported: what tests share removes it from the environment."""


async def talk(location: str, folder: Path | None, run: str, messages: int = 3) -> list[str]:
    """A conversation in one saver, read back in another; what was said in it."""
    settings = Settings(model="offline", max_messages=messages, store="ephemeral")
    config: Any = {"configurable": {"thread_id": run}}
    async with opened(location, folder) as saver:
        given = {"topic": "Tea?", "participants": PEOPLE, "simulation": run}
        said = await graph_for(settings, saver).ainvoke(given, config, context=settings)
    async with opened(location, folder) as saver:
        found = (await states_at(graph_for(settings, saver), config, {messages}))[messages].values
    assert found["messages"] == said["messages"]
    assert type(found["messages"][0]) is type(said["messages"][0])
    return [utterance["text"] for utterance in utterances(found["messages"])]


@pytest.mark.proof
async def test_a_file_in_the_runs_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(await talk("run", tmp_path, str(tmp_path))) == 3
    assert [record for record in caplog.records if "langgraph" in record.name] == []
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINTS]  # closed: no journal is left


async def test_the_file_is_safe_against_a_kill(tmp_path: Path) -> None:
    async with opened("run", tmp_path) as saver:
        async with saver.conn.execute("PRAGMA journal_mode") as rows:  # type: ignore[union-attr]
            assert await rows.fetchone() == ("wal",)
        async with saver.conn.execute("PRAGMA busy_timeout") as rows:  # type: ignore[union-attr]
            assert await rows.fetchone() == (30_000,)


async def test_memory_and_no_folder(tmp_path: Path) -> None:
    async with opened("memory", tmp_path) as saver:
        assert saver is not None
    async with opened("run", None) as saver:
        assert saver is None
    assert list(tmp_path.iterdir()) == []


async def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINTS).write_bytes(b"This is no database at all, but a text. " * 30)
    with pytest.raises(InputError, match="cannot be opened"):
        async with opened("run", tmp_path):
            pass


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        async with opened("run", tmp_path / "nowhere"):
            pass


async def test_a_failure_of_the_database_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="disk is full.*free space"):
        async with opened("run", tmp_path):
            raise sqlite3.OperationalError("disk is full")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("rum", "Did you mean 'run'"),
        ("memry", "Did you mean 'memory'"),
        ("mysql://eva:hunter2@host/db", "postgresql://user@host/database"),
        ("", "run, memory"),
        ("a/folder", "run, memory"),
    ],
)
def test_places_that_are_none(location: str, said: str, refused: Refused) -> None:
    assert "hunter2" not in refused(lambda: check_location(location), said)


@pytest.mark.parametrize("location", ["run", "memory", "postgresql://host/db", "postgres://eva:x@host:1/db?a=b"])
def test_places_that_are_some(location: str) -> None:
    check_location(location)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persimchat.runs.folder.checkpoints.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[postgres\]'"):
        check_location("postgresql://host/db")


SECRET = "hunter2"


@given(
    user=st.sampled_from(["", "eva", f"eva:{SECRET}", f":{SECRET}"]),
    query=st.sampled_from(["", f"?password={SECRET}", f"?sslmode=require&password={SECRET}", f"?sslpassword={SECRET}"]),
)
def test_an_address_is_shown_without_its_password(user: str, query: str) -> None:
    shown = without_password(f"postgresql://{user + '@' if user else ''}host:5432/runs{query}")
    assert SECRET not in shown
    assert "host:5432/runs" in shown
    assert ("eva" in user) == ("eva@" in shown)
    assert ("sslmode" in query) == ("sslmode=require" in shown)


@pytest.mark.parametrize("location", ["postgresql://[eva:hunter2@host/db", "postgres://eva:hunter2@host:bad/db"])
def test_an_address_that_cannot_be_read_shows_nothing_secret(location: str) -> None:
    assert SECRET not in without_password(location)


def _program(name: str) -> str | None:
    """A server's program, also where distributions hide it."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((found for p in places if (found := shutil.which(name, path=str(p)))), None)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a real server: the one that PERSIMCHAT_TEST_POSTGRES names, or one of our own on loopback."""
    if SERVER:
        yield SERVER
        return
    initdb, server = _program("initdb"), _program("pg_ctl")
    if initdb is None or server is None:
        pytest.skip("no PostgreSQL server here; install one, or name one with PERSIMCHAT_TEST_POSTGRES")
    who: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        import pwd

        known = {user.pw_name: user for user in pwd.getpwall()}
        user = known.get("postgres") or known.get("nobody")
        if user is None:
            pytest.skip("PostgreSQL refuses to run as root, and there is no other user")
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="persimchat-postgres-", ignore_cleanup_errors=True) as place:
        if who:
            os.chown(place, who["user"], who["group"])
        data, password = Path(place) / "data", Path(place) / "password"
        password.write_text(SECRET)
        password.chmod(0o644)
        quiet: dict[str, Any] = {"cwd": place, "capture_output": True, "text": True, "timeout": 120, **who}
        made = subprocess.run(
            [initdb, "-D", data, "-U", "eva", "-A", "scram-sha-256", f"--pwfile={password}", "-N"], **quiet
        )
        if made.returncode:
            pytest.skip(f"PostgreSQL cannot be set up here: {made.stderr.strip()[-300:]}")
        port = free_port()
        options = f"-h 127.0.0.1 -p {port} -k {place} -F"
        log = Path(place) / "log"
        begun = subprocess.run([server, "-D", data, "-w", "-l", log, "-o", options, "start"], **quiet)
        if begun.returncode:
            pytest.skip(f"PostgreSQL does not start here: {log.read_text()[-300:] if log.exists() else begun.stderr}")
        try:
            yield f"postgresql://eva:{SECRET}@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([server, "-D", data, "-m", "immediate", "-w", "stop"], **quiet)


@pytest.mark.proof
async def test_a_conversation_kept_by_postgresql(postgres: str, caplog: pytest.LogCaptureFixture) -> None:
    run = f"test-{uuid.uuid4()}"
    with caplog.at_level(logging.WARNING):
        assert len(await talk(postgres, None, run)) == 3
    assert [record for record in caplog.records if "langgraph" in record.name] == []
    settled: list[bool] = []
    async with opened(postgres, None, lambda: settled.append(True)) as saver:
        assert saver is not None
        graph = graph_for(Settings(model="offline", store="ephemeral"), saver)
        await graph.aupdate_state({"configurable": {"thread_id": run}}, {"topic": "Coffee?"}, as_node="intervene")
        assert settled  # the run's log is kept before what follows from it
        await saver.adelete_thread(run)


@pytest.mark.proof
async def test_a_clock_that_goes_back_while_postgresql_keeps_checkpoints(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"test-{uuid.uuid4()}"
    await talk(postgres, None, run, 1)
    now = time.time_ns
    monkeypatch.setattr(ids, "_last_v6_timestamp", None)  # as in another process
    monkeypatch.setattr(time, "time_ns", lambda: now() - 3600 * 10**9)
    config: Any = {"configurable": {"thread_id": run}}
    async with opened(postgres, None) as saver:
        assert saver is not None
        graph = graph_for(Settings(model="offline", store="ephemeral"), saver)
        await graph.aupdate_state(config, {"topic": "Coffee?"}, as_node="intervene")
        assert (await graph.aget_state(config)).values["topic"] == "Coffee?"
        await saver.adelete_thread(run)


@pytest.mark.proof
async def test_deleting_a_run_takes_its_checkpoints_from_the_server(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"test-{uuid.uuid4()}"
    await talk(postgres, None, run, 1)
    shown = without_password(postgres)
    assert SECRET not in shown
    folder = write_run(tmp_path, run=run, settings={"store": "run", "checkpoints": shown})
    monkeypatch.setenv("PGPASSWORD", SECRET)
    found = deletable(folder)
    assert found.checkpoints == shown
    assert await delete_run(found) == ""
    assert not folder.exists()
    async with opened(postgres, None) as saver:
        assert saver is not None
        assert await saver.aget_tuple({"configurable": {"thread_id": run}}) is None


@pytest.mark.proof
async def test_a_wrong_password_is_told_without_it(postgres: str) -> None:
    if SERVER:
        pytest.skip("a server that is not our own may take any password")
    wrong = postgres.replace(SECRET, "hunter3")
    with pytest.raises(InputError, match="PostgreSQL server cannot be used.*eva@127.0.0.1") as caught:
        async with opened(wrong, None):
            pass
    assert "hunter3" not in str(caught.value)


@pytest.mark.parametrize("location", ["postgresql://eva:hunter2@127.0.0.1:1/db", "postgresql://eva:hunter2@[x/db"])
async def test_a_server_that_is_not_there(location: str) -> None:
    with pytest.raises(InputError, match="cannot be (used|read)") as caught:
        async with opened(location, None):
            pass
    assert SECRET not in str(caught.value)
    assert "checkpoints=run" in caught.value.remedy or "%23" in caught.value.remedy


async def test_checkpoints_on_a_server_that_is_gone_do_not_hold_up_deleting(tmp_path: Path) -> None:
    folder = write_run(tmp_path, settings={"checkpoints": "postgresql://eva@127.0.0.1:1/db"})
    left = await delete_run(deletable(folder))
    assert "checkpoints are left" in left
    assert not folder.exists()


NAMESPACES = 12

ROUNDS = 12


def checkpoint(draw: random.Random) -> Any:
    words = [draw.choice(["tea", "coffee", "water", "Brno", "town"]) * draw.randint(1, 9) for _ in range(200)]
    return {**empty_checkpoint(), "channel_values": {"words": words}}


@pytest.mark.proof
async def test_checkpoints_that_are_kept_at_the_same_time_are_read_back(tmp_path: Path) -> None:
    draw, kept = random.Random(1), {}
    async with opened("run", tmp_path) as saver:
        assert saver is not None
        await saver.setup()

        async def put(namespace: str, value: Any) -> None:
            place: Any = {"configurable": {"thread_id": "run", "checkpoint_ns": namespace}}
            where = await saver.aput(place, value, {}, {})
            await saver.aput_writes(where, [("words", value["channel_values"])], "task")
            kept[namespace, where["configurable"]["checkpoint_id"]] = value["channel_values"]

        for _ in range(ROUNDS):
            await asyncio.gather(*(put(f"mind{n}" if n else "", checkpoint(draw)) for n in range(NAMESPACES)))
    assert len(kept) == ROUNDS * NAMESPACES
    async with opened("run", tmp_path) as saver:
        assert saver is not None
        await saver.setup()
        for (namespace, number), values in kept.items():
            place: Any = {"thread_id": "run", "checkpoint_ns": namespace, "checkpoint_id": number}
            found = await saver.aget_tuple({"configurable": place})
            assert found is not None and found.checkpoint["channel_values"] == values
            assert found.pending_writes == [("task", "words", values)]


@pytest.fixture
def simulation(tmp_path: Path) -> str:
    """A simulation's id that nobody else uses."""
    return str(tmp_path)


PEOPLE_WALKED = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Berg", "Cy Dahl")]


@asynccontextmanager
async def conversation(
    folder: Path, simulation: str, **more: Any
) -> AsyncIterator[tuple[Graph, RunnableConfig, dict[int, Any]]]:
    """A conversation that has ended: its graph, its thread, and its values whenever an end check was over, by turn."""
    settings = Settings(**{"model": "offline", "max_messages": 6, "store": "ephemeral", **more})
    config: RunnableConfig = {"configurable": {"thread_id": simulation}}
    seen: dict[int, Any] = {}
    async with opened("run", folder) as saver:
        graph = graph_for(settings, saver)
        given = {"topic": "Tea?", "participants": PEOPLE_WALKED, "simulation": simulation}
        step: set[str] = set()
        async for mode, payload in graph.astream(given, config, context=settings, stream_mode=["updates", "values"]):
            if mode == "updates":
                step |= set(payload)  # type: ignore[arg-type]
            else:
                if "end_check" in step:
                    seen[payload["turn"]] = payload  # type: ignore[index,call-overload]
                step = set()
        yield graph, config, seen


@pytest.mark.proof
async def test_every_turn_of_a_conversation_can_be_gone_back_to(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation) as (graph, config, seen):
        found = await states_at(graph, config, range(7), first=True)
        assert list(found) == list(range(7))
        for turn, snapshot in found.items():
            assert len(utterances(snapshot.values["messages"])) == turn
            assert is_between(snapshot)
            assert complete_turn(snapshot) == turn
            assert snapshot.values["agents"] == seen[turn]["agents"]
            assert snapshot.values["messages"] == seen[turn].get("messages", [])
        assert found[6].next == ()


@pytest.mark.proof
async def test_the_newest_state_of_a_turn(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation, pattern="selector", max_messages=3) as (graph, config, _):
        assert (await states_at(graph, config, {1}, first=True))[1].next == ("select",)
        assert "speak" in (await state_at(graph, config, 1)).next
        assert (await state_at(graph, config, 3)).next == ()


@pytest.mark.proof
async def test_states_in_between_say_how_far_everybody_is(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation, max_messages=2, analysis=True) as (graph, config, _):
        history = [snapshot async for snapshot in graph.aget_state_history(config)][::-1]
    complete = [complete_turn(snapshot) for snapshot in history]
    assert complete == sorted(complete)
    assert set(complete) == {-1, 0, 1, 2}
    for snapshot, turn in zip(history, complete, strict=True):
        if "publish" in snapshot.next:
            assert not is_between(snapshot)
            assert turn == snapshot.values["turn"]
        if "hear" in snapshot.next:
            assert turn == snapshot.values["turn"] - 1
        if is_between(snapshot):
            assert turn == snapshot.values["turn"]


@pytest.mark.proof
async def test_what_channels_are_made_of_is_what_langgraph_finds_itself(tmp_path: Path, simulation: str) -> None:
    channels = ["messages", "agents", "judge_mind", "carried_out", "usage", "streaks"]
    async with conversation(tmp_path, simulation, max_messages=7) as (graph, config, _):
        saver, whole = graph.checkpointer, 0
        assert isinstance(saver, AsyncSqliteSaver)
        for place in [found.config async for found in saver.alist(config)]:
            history = await saver.aget_delta_channel_history(config=place, channels=channels)
            plainly = await AsyncSqliteSaver.aget_delta_channel_history(saver, config=place, channels=channels)
            assert dumpd(history) == dumpd(plainly)
            whole += "seed" in history["agents"]
        assert whole > 5


@pytest.mark.proof
@pytest.mark.parametrize(("turn", "said"), [(7, "has 6 utterances; there is no turn 7"), (-1, "no turn -1")])
async def test_a_turn_that_is_not_there(tmp_path: Path, simulation: str, turn: int, said: str) -> None:
    async with conversation(tmp_path, simulation) as (graph, config, _):
        with pytest.raises(InputError, match=said) as caught:
            await state_at(graph, config, turn)
    assert "from 0 to 6" in caught.value.remedy


async def test_a_thread_that_is_not_there(tmp_path: Path) -> None:
    async with opened("run", tmp_path) as saver:
        graph = graph_for(Settings(model="offline"), saver)
        with pytest.raises(InputError, match="no states of this run are kept"):
            await state_at(graph, {"configurable": {"thread_id": "nowhere"}}, 0)


async def test_a_baseline_goes_in_whole_rounds(tmp_path: Path, simulation: str) -> None:
    more = {"mode": "debate", "baseline": "mad", "rounds": 2}
    async with conversation(tmp_path, simulation, **more) as (graph, config, _):
        assert len((await state_at(graph, config, 3)).values["messages"]) == 3
        with pytest.raises(InputError, match="cannot continue after utterance 2|there is no turn"):
            await state_at(graph, config, 2)


async def test_a_graph_without_checkpoints_has_no_history() -> None:
    with pytest.raises(TypeError):
        await state_at(graph_for(Settings(model="offline")), {"configurable": {"thread_id": "x"}}, 0)
    assert graph_for(Settings(model="offline")) is graph_for(Settings(model="offline"))
    mad = Settings(model="offline", mode="debate", baseline="mad")
    assert graph_for(mad) is graph_for(mad)


PROGRAM = """
import asyncio, json, os, signal, sys, time
task = json.loads(sys.argv[1])
now, now_ns = time.time, time.time_ns
shift = [task["shift"]]
time.time = lambda: now() + shift[0]
time.time_ns = lambda: now_ns() + shift[0] * 10**9

from pathlib import Path
from persimchat.personas.scenario import make_scenario
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

PEOPLE = [{"name": n, "description": "Likes tea."} for n in ("Ada Lind", "Bo Vik")]
SETTINGS = dict(model="offline", closing="off", seed=3, checkpoints=task["checkpoints"])

async def follow(events, until=None):
    said = {}
    async for event in events:
        if event.event == "started" and event.turn:
            said["past"] = event.turn
        if event.event == "utterance":
            said[event.turn] = event.text
        if event.event == "turn_ended" and event.turn == until:
            os.kill(os.getpid(), signal.SIGKILL)
    return said

async def main():
    out = Path(task["out"])
    if task["do"] == "run":
        settings = Settings(max_messages=task["messages"], **SETTINGS)
        return await follow(run_simulation(make_scenario("Tea?", PEOPLE), settings, out=out, run=task["run"]),
                            task.get("kill"))
    if task["do"] == "branch":
        events = branch_run(out / task["run"], task["turn"], run="b", changes={"max_messages": task["messages"]})
        return await follow(events)
    said = {}
    for messages, moved in task["resumes"]:
        shift[0] = moved
        said |= await follow(resume_run(out / task["run"], changes={"max_messages": messages}))
    return said

print(json.dumps(asyncio.run(main())))
"""


def process(out: Path, do: str, *, shift: int = 0, dies: bool = False, **more: Any) -> dict[str, Any]:
    """What was said, by turn, in a process whose clock is so many seconds ahead; at "past", what it began with."""
    task = {"out": str(out), "do": do, "shift": shift, "run": "a", "checkpoints": "run", **more}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(task)], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert done.returncode == (-9 if dies else 0), done.stderr
    return dict(json.loads(done.stdout)) if done.stdout else {}


def transcript(folder: Path) -> list[str]:
    """What a run's folder says was said."""
    said = logged(folder, "utterance")
    assert [one["turn"] for one in said] == list(range(1, len(said) + 1))
    return [one["text"] for one in said]


Clock = Callable[[int], None]

PEOPLE_CLOCK: list[Any] = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Vik")]


@pytest.fixture
def another_process(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Makes LangGraph's ids begin anew, as in another process, whose clock is so many seconds ahead."""
    now = time.time_ns

    def begin(ahead: int) -> None:
        monkeypatch.setattr(ids, "_last_v6_timestamp", None)
        monkeypatch.setattr(ids.time, "time_ns", lambda: now() + ahead * 10**9)

    return begin


@pytest.mark.proof
async def test_a_run_goes_on_from_where_it_was(tmp_path: Path, another_process: Clock) -> None:
    settings = Settings(model="offline", closing="off", max_messages=2)
    events = [e async for e in run_simulation(make_scenario("Tea?", PEOPLE_CLOCK), settings, out=tmp_path, run="a")]
    said = [event.text for event in events if event.event == "utterance"]
    for messages, ahead in ((4, -3600), (5, 0), (6, -7200)):
        another_process(ahead)
        events = [event async for event in resume_run(tmp_path / "a", changes={"max_messages": messages})]
        assert events[0].event == "started"
        assert events[0].turn == len(said)
        said = transcript(tmp_path / "a")
        assert len(said) == messages


@pytest.mark.proof
async def test_a_graph_that_keeps_its_own_checkpoints(tmp_path: Path, another_process: Clock) -> None:
    settings = Settings(model="offline", closing="off", max_messages=2, store="ephemeral")
    config: Any = {"configurable": {"thread_id": str(tmp_path)}}
    path = str(tmp_path / "own.sqlite")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        given = {"topic": "Tea?", "participants": PEOPLE_CLOCK, "simulation": str(tmp_path)}
        await graph_for(settings, saver).ainvoke(given, config, context=settings)
    another_process(-3600)
    with SqliteSaver.from_conn_string(path) as kept:
        graph_for(settings, kept).update_state(config, {"topic": "Coffee?"}, as_node="intervene")
        assert graph_for(settings, kept).get_state(config).values["topic"] == "Coffee?"
    another_process(-7200)
    longer = settings.model_copy(update={"max_messages": 4})
    over = {"stop_reason": "", "stop_source": "", "stop_detail": "", "conclusion": None}
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = graph_for(longer, saver)
        await graph.aupdate_state(config, over, as_node="intervene")
        await graph.ainvoke(None, config, context=longer)
        found = (await graph.aget_state(config)).values
        assert (len(utterances(found["messages"])), found["topic"]) == (4, "Coffee?")


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("back", [-60, -3600, 3600])
def test_a_clock_that_is_put_right_again_loses_nothing(tmp_path: Path, back: int) -> None:
    process(tmp_path, "run", messages=9, kill=3, dies=True)
    process(tmp_path, "resume", shift=back, resumes=[[6, back]])
    then = transcript(tmp_path / "a")
    assert len(then) == 6
    assert process(tmp_path, "resume", resumes=[[8, 0]])["past"] == 6
    assert transcript(tmp_path / "a")[:6] == then
    expected = process(tmp_path / "other", "run", messages=8)
    assert transcript(tmp_path / "a") == list(expected.values())


@pytest.mark.long
def test_several_resumes_in_one_process_and_a_branch(tmp_path: Path) -> None:
    process(tmp_path, "run", messages=2)
    process(tmp_path, "resume", resumes=[[3, -60], [4, 7200], [5, -86400]])
    assert process(tmp_path, "resume", shift=-7200, resumes=[[6, -7200]])["past"] == 5
    process(tmp_path, "branch", shift=-90000, turn=5, messages=7)
    expected = list(process(tmp_path / "other", "run", messages=7).values())
    assert transcript(tmp_path / "a") == expected[:6]
    assert transcript(tmp_path / "b") == expected


@pytest.mark.parametrize(
    "damaged", ["", "no id", "1f1e622f-a739-424f-809e-20e3ccf7e25c", "ffffffff-ffff-6fff-809e-20e3ccf7e25c"]
)
def test_what_is_no_id_is_told_as_that(damaged: str) -> None:
    with pytest.raises(PerSimChatError, match="no new checkpoint can come after"):
        begin_above(damaged)
