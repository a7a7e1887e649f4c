"""What the machine does to a run, and what a run that is over lets go of."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from chromadb.api.shared_system_client import SharedSystemClient
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from run_files import conversation, drop, logged, read_whole
from run_folders import break_seals
from talks import end_of, events_of

import persimchat
from persimchat.app.cli import main
from persimchat.app.web.live_runs import ENDED_KEPT, LiveRuns
from persimchat.memory import recollection
from persimchat.memory import store as stores
from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import Event, Started, Stopped, TurnEnded, Uttered
from persimchat.runs.log import Log
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, MachineError
from persimchat.state.settings import Settings

RUN = "r"
RUN_FILE = "run.sqlite"

NOWHERE = "postgresql://user@127.0.0.1:1/none"


def begun(out: Path, **settings: object) -> AsyncGenerator[Event, None]:
    chosen = Settings.model_validate({"model": "offline", "max_messages": 3, **settings})
    return run_simulation(make_scenario("Tea or coffee?", default_participants(2)), chosen, out=out, run=RUN)


async def failed(events: AsyncGenerator[Event, None], at: Callable[[Event], bool], harm: Callable[[], None]) -> Stopped:
    """The end of a run that is harmed while it goes on."""
    told: list[Event] = []
    with pytest.raises(MachineError, match=r"Then resume it: persimchat resume \S+") as caught:
        async for event in events:
            told.append(event)
            if at(event):
                harm()
    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)
    (stopped,) = [event for event in told if isinstance(event, Stopped)]
    assert stopped == told[-1]
    assert (stopped.reason, stopped.source) == ("error", "error")
    return stopped


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run to which nothing happened."""
    out = tmp_path_factory.mktemp("undisturbed")
    scenario = make_scenario("Tea or coffee?", default_participants(2))
    return Path(persimchat.simulate(scenario, model="offline", max_messages=3, out=out).folder or "")


@pytest.mark.proof
@pytest.mark.parametrize("last", [False, True])
async def test_a_run_that_cannot_be_written_any_more_goes_on_later(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, last: bool
) -> None:
    write = Log.append

    def full(self: Log, *given: Any) -> None:
        raise MachineError("the log cannot be written: database or disk is full", where=str(self.path), remedy="Free.")

    def at(event: Event) -> bool:
        return isinstance(event, TurnEnded) and event.turn == 3 if last else isinstance(event, Uttered)

    stopped = await failed(begun(tmp_path), at, lambda: monkeypatch.setattr(Log, "append", full))
    assert "run.sqlite" in stopped.detail
    monkeypatch.setattr(Log, "append", write)
    said = conversation(tmp_path / RUN)
    assert said == conversation(undisturbed)[: len(said)] != []
    events = await events_of(resume_run(tmp_path / RUN))
    assert end_of(events).reason == "message_limit"
    assert read_whole(tmp_path / RUN) == read_whole(undisturbed)


async def test_what_stops_a_run_before_it_begins_is_bad_input_and_leaves_nothing(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    (tmp_path / "file").touch()
    for settings in ({"checkpoints": NOWHERE}, {"store": str(tmp_path / "file" / "memory")}):
        with pytest.raises(InputError) as caught:
            await events_of(begun(tmp_path / "out", **settings))
        assert caught.value.exit_code == 2
        assert list((tmp_path / "out").glob("*")) == []


async def test_a_branch_that_cannot_begin_leaves_nothing(tmp_path: Path, undisturbed: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="PostgreSQL"):
        await events_of(branch_run(undisturbed, 1, changes={"checkpoints": NOWHERE}, out=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["/dev/null", "file/runs", "link"])
def test_a_server_is_not_started_where_no_run_can_be_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert main(["serve", "--port", "0", "--out", str(tmp_path / out), "--library", str(tmp_path / "library")]) == 2
    assert "runs cannot be kept there" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.proof
async def test_damaged_requests_hold_up_no_run_and_are_told(tmp_path: Path) -> None:
    await events_of(begun(tmp_path))
    folder = tmp_path / RUN
    made = len(logged(folder, "asked_model"))
    break_seals(folder, "number IN (SELECT number FROM events WHERE kind = 'asked_model' LIMIT 2)")
    events = await events_of(resume_run(folder, changes={"max_messages": 4}))
    assert isinstance(events[0], Started)
    assert f"2 of the run's requests are damaged. run.sqlite holds {made - 2} of {made} requests" in events[0].notice
    assert "budgets count the known part" in events[0].notice
    assert end_of(events).turn == 4
    with pytest.raises(InputError, match="does not match its seal"):
        await events_of(Replay(folder).events())
    drop(folder, "kind = 'asked_model'")
    events = await events_of(resume_run(folder, changes={"max_messages": 5}))
    assert isinstance(events[0], Started)
    assert "run.sqlite holds 0 of" in events[0].notice


def command(
    *arguments: object, room: int | None = None, stdout: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Give a command, with so many bytes for every file."""
    limit = (room if room is not None else resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with (stdout or Path(os.devnull)).open("w") as out:
        return subprocess.run(
            [sys.executable, "-m", "persimchat", *map(str, arguments)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        )


WORDS = ("Tea or coffee?", "-n", 2, "--messages", 8, "--model", "offline", "--quiet")


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("room", [0, 1_000, 40_000, 180_000, 260_000, 400_000, 900_000])
def test_files_that_may_not_grow(tmp_path: Path, room: int) -> None:
    """Whatever cannot be written first: the run's files, Chroma's, or the checkpoints."""
    done = command("run", *WORDS, "--out", tmp_path, room=room)
    assert done.returncode in (2, 4), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("persimchat: error: ")
    if done.returncode == 2:
        assert list(tmp_path.iterdir()) == []
        return
    (folder,) = tmp_path.iterdir()
    assert f"persimchat resume {folder}" in line
    said = conversation(folder)
    assert command("resume", folder, "--quiet").returncode == 0
    assert conversation(folder)[: len(said)] == said
    whole = tmp_path / "whole"
    assert command("run", *WORDS, "--out", whole).returncode == 0
    (other,) = whole.iterdir()
    assert read_whole(folder) == read_whole(other)


@pytest.mark.proof
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
async def test_a_disk_that_is_full_from_any_page_on(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """SQLite itself refuses a page of the run's file, of the log or of a checkpoint, one after the other."""
    connect, room = sqlite3.connect, 0

    def with_room(database: Any, *given: Any, **more: Any) -> sqlite3.Connection:
        made = connect(database, *given, **more)
        if RUN_FILE in str(database) and room:
            made.execute(f"PRAGMA max_page_count = {room}")
        return made

    monkeypatch.setattr(sqlite3, "connect", with_room)
    with closing(connect(undisturbed / RUN_FILE)) as whole:
        (pages,) = whole.execute("PRAGMA page_count").fetchone()
    ends = Counter[str]()
    for pages_there in range(1, pages, step):
        out, room = tmp_path / f"{pages_there}", pages_there
        try:
            await events_of(begun(out))
        except (InputError, MachineError) as error:
            assert "full" in str(error) and "\n" not in str(error)
            ends[type(error).__name__] += 1
        room = 0
        if not (out / RUN).exists():  # it could not begin
            continue
        await events_of(resume_run(out / RUN))
        assert read_whole(out / RUN) == read_whole(undisturbed), pages_there
    assert ends["MachineError"] > 2, (ends, pages)


@pytest.mark.long
@pytest.mark.proof
def test_output_that_cannot_be_written(tmp_path: Path, undisturbed: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full on this system")
    shown = command("show", undisturbed, stdout=full)
    assert (shown.returncode, len(shown.stderr.splitlines())) == (2, 1)
    for form, hint in (("--json", "persimchat resume"), ("--quiet", "persimchat show")):
        run = command("run", *WORDS[:-1], form, "--out", tmp_path, stdout=full)
        assert run.returncode == 4, run.stderr
        assert "Traceback" not in run.stderr
        assert hint in run.stderr


def hold(seed: int, out: Path | None) -> persimchat.Result:
    return persimchat.simulate("Tea or coffee?", 3, model="offline", max_messages=2, seed=seed, out=out)


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.mark.proof
@pytest.mark.parametrize("kept", [False, True])
def test_nothing_of_a_run_stays_at_hand(kept: bool, tmp_path: Path) -> None:
    result = hold(1, tmp_path if kept else None)
    assert len(result.utterances) == 2
    assert result.minds
    assert not [key for key in recollection._mirrors._mirrors if key[2] == result.run]
    assert not [key for key in utterance_vectors._kept if key[1] == result.run]
    if not kept:
        assert stores.store("ephemeral").agents(result.run) == []


def test_an_empty_ephemeral_store_is_closed_and_opens_again() -> None:
    store = stores.MemoryStore("ephemeral")
    store.forget("nobody")
    others = store._open is not None  # whoever else keeps memories in this process
    assert store.agents("nobody") == []
    assert others or store._open is not None
    store.close()  # or Chroma would keep its indexes for the tests that follow


def left_behind() -> dict[str, int]:
    """What a conversation may leave in the process, counted."""
    gc.collect()
    names = ("Running", "LiveRun", "Collection", "FileSaver", "Ledger", "RunResources", "Mirror", "MemoryStore")
    kinds = Counter(type(found).__name__ for found in gc.get_objects())
    own = [thread for thread in threading.enumerate() if not thread.name.startswith(("asyncio_", "persimchat-sync"))]
    return {
        **{name: kinds[name] for name in names},
        "clients": len(SharedSystemClient._identifier_to_system),
        "stores": len(stores._stores),
        "mirrors": len(recollection._mirrors),
        "vectors": len(utterance_vectors),
        "threads": len(own),
    }


def test_a_kept_run_with_an_ephemeral_store_lets_go(tmp_path: Path) -> None:
    settings = {"max_messages": 1, "store": "ephemeral"}
    result = persimchat.simulate("Tea or coffee?", 2, model="offline", out=tmp_path, **settings)
    assert stores.store("ephemeral").agents(result.run) == []


@pytest.mark.parametrize("alone", [True, False])
async def test_a_graph_without_checkpoints_lets_go(alone: bool) -> None:
    settings = Settings(model="offline", max_messages=1)
    before = left_behind()
    if alone:
        graph, given = persimchat.build_conversation(), {"topic": "Tea or coffee?"}
        heard = await graph.ainvoke(given, context=settings)
    else:
        builder = StateGraph(MessagesState)
        builder.add_node("group", persimchat.conversation_node(settings))
        builder.add_edge(START, "group")
        heard = await builder.compile().ainvoke({"messages": [("user", "Tea or coffee?")]})
    assert heard["messages"]
    after = left_behind()
    assert {name: after[name] for name in ("mirrors", "vectors", "Collection")} == {
        name: before[name] for name in ("mirrors", "vectors", "Collection")
    }


async def test_a_conversation_with_checkpoints_keeps_its_memories() -> None:
    graph = persimchat.build_conversation(InMemorySaver())
    place: RunnableConfig = {"configurable": {"thread_id": "letting-go"}}
    await graph.ainvoke({"topic": "Tea or coffee?"}, place, context=Settings(model="offline", max_messages=1))
    simulation = (await graph.aget_state(place)).values["simulation"]
    assert stores.store("ephemeral").agents(simulation)
    recollection.let_go("ephemeral", simulation)


@pytest.mark.long
@pytest.mark.proof
async def test_ten_conversations_at_once_let_go_and_end() -> None:
    async def one(seed: int) -> persimchat.Result:
        return await persimchat.asimulate("Tea or coffee?", 2, model="offline", max_messages=1, seed=seed)

    for _ in range(2):
        results = await asyncio.wait_for(asyncio.gather(*map(one, range(10))), 120)  # a lock cycle would never end
        assert [len(result.utterances) for result in results] == [1] * 10
        for result in results:
            assert stores.store("ephemeral").agents(result.run) == []


@pytest.mark.long
@pytest.mark.proof
async def test_a_server_keeps_no_more_than_its_last_runs(tmp_path: Path) -> None:
    live, counts = LiveRuns(tmp_path), []
    others = left_behind()["LiveRun"]  # of tests before
    scenario = make_scenario("Tea or coffee?", default_participants(2))
    for seed in range(14):
        run = await live.start(scenario, Settings(model="offline", max_messages=1, seed=seed))
        await run.ended()
        await live.board(run.run)
        del run
        if seed in (9, 13):
            counts.append({**left_behind(), "boards": len(live._boards), "live": len(live._live)})
    assert counts[0] == counts[1]
    assert counts[1]["LiveRun"] - others <= ENDED_KEPT + 1


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="reads /proc")
@pytest.mark.parametrize("kept", [False, True])
def test_memory_stays_flat_over_many_conversations(kept: bool, tmp_path: Path) -> None:
    out, sizes, counts = tmp_path if kept else None, [], []
    stores.store("ephemeral").close()  # a store in which other tests have left memories never is
    for seed in range(24):
        hold(seed, out)
        if seed % 8 == 7:
            counts.append(left_behind())
            sizes.append(resident_mb())
    assert counts[0] == counts[1] == counts[2]
    assert sizes[2] - sizes[1] < 32, sizes  # with three agents it was 64 MB for eight conversations
