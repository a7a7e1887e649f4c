"""Clocks that jump between processes, and within one: no utterance that was finished is lost or made twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from run_files import read_records

from persimchat.graph.baselines import graph_for
from persimchat.graph.checkpoint_ids import begin_above
from persimchat.personas.scenario import make_scenario
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.conversation import utterances
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings

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
    said = read_records(folder / "transcript.jsonl")
    assert [one["turn"] for one in said] == list(range(1, len(said) + 1))
    return [one["text"] for one in said]


Clock = Callable[[int], None]
PEOPLE: list[Any] = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Vik")]


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
    events = [e async for e in run_simulation(make_scenario("Tea?", PEOPLE), settings, out=tmp_path, run="a")]
    said = [event.text for event in events if event.event == "utterance"]
    for messages, ahead in ((4, -3600), (5, 0), (6, -7200)):
        another_process(ahead)
        events = [event async for event in resume_run(tmp_path / "a", changes={"max_messages": messages})]
        assert events[0].event == "started"
        assert events[0].turn == len(said)
        said = transcript(tmp_path / "a")
        assert len(said) == messages


async def test_a_graph_that_keeps_its_own_checkpoints(tmp_path: Path, another_process: Clock) -> None:
    settings = Settings(model="offline", closing="off", max_messages=2, store="ephemeral")
    config: Any = {"configurable": {"thread_id": str(tmp_path)}}
    path = str(tmp_path / "own.sqlite")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        given = {"topic": "Tea?", "participants": PEOPLE, "simulation": str(tmp_path)}
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


@pytest.mark.proof
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
