"""A server that fails for a while: a run outlasts it, or ends with the error and goes on where it was."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.failing import HEARING, Failing
from loopback.server import LoopbackServer
from run_files import read_records, run_json

from persimchat.memory.store import MemoryStore
from persimchat.models.exchange import Exchange
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import Event, Stopped
from persimchat.runs.folder.run_folder import MEMORIES
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("quick_retries")]

RUN = "a-run"
SCENARIO = make_scenario("Should the square be free of cars?", default_participants(3))
MESSAGES = 5

FAULTS = {
    "busy": Fault(429, headers={"retry-after": "0.02"}),
    "broken": Fault(500),
    "hung up": Fault(hang_up=True),
    "cut stream": Fault(partial="I was about to say that"),
    "endless stream": Fault(partial="I was about to say that", silent=True),
    "too slow": Fault(503, delay_s=0.9),
    "unavailable": Fault(503, "<html>Down for maintenance</html>"),
}
"""What passes by itself, so that it is worth trying again."""


def settings_with(server: LoopbackServer, **more: Any) -> Settings:
    return Settings(**{"model": server.model(), "max_messages": MESSAGES, "timeout_s": 30, **more})


async def to_the_end(events: AsyncIterator[Event]) -> list[Event]:
    """All events; an error that comes after them must be a model's."""
    seen = []
    try:
        async for event in events:
            seen.append(event)
    except ModelError as error:
        stopped = seen[-1]
        assert isinstance(stopped, Stopped)
        assert (stopped.reason, stopped.detail) == ("error", str(error))
    return seen


def left_behind(out: Path) -> dict[str, Any]:
    """What a run left, without the time that anything took."""
    folder = out / RUN
    left: dict[str, Any] = {}
    for name in ("minds.jsonl", "transcript.md", "verdicts.jsonl", "judge_mind.jsonl", "analysis.jsonl"):
        left[name] = (folder / name).read_text(encoding="utf-8") if (folder / name).exists() else None
    said = read_records(folder / "transcript.jsonl")
    left["said"] = [{key: value for key, value in line.items() if key != "response_time_s"} for line in said]
    manifest = run_json(folder)
    left["run"] = {key: manifest[key] for key in ("turn", "stop_reason", "stop_source", "detail", "conclusion")}
    store = MemoryStore(str(folder / MEMORIES))
    for found in store._of(RUN):
        got = found.get(include=["metadatas", "embeddings"])
        rows = zip(got["ids"], got["metadatas"] or [], got["embeddings"], strict=True)
        left[f"memories of {(found.metadata or {})['agent']}"] = {i: (m["memory"], v.tobytes()) for i, m, v in rows}
    store.close()
    return left


def stop_reason(out: Path) -> str | None:
    manifest = run_json(out / RUN)
    return manifest["stop_reason"]  # type: ignore[no-any-return]


DEBATE: dict[str, Any] = {"mode": "debate", "analysis": True}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What a discussion and a debate leave behind whose server never fails."""
    left = {}
    for kind, more in (("discussion", {}), ("debate", DEBATE)):
        out = tmp_path_factory.mktemp(kind)
        with LoopbackServer() as server:
            asyncio.run(to_the_end(run_simulation(SCENARIO, settings_with(server, **more), out=out, run=RUN)))
        left[kind] = left_behind(out)
        assert left[kind]["run"]["turn"] == MESSAGES
    return left


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_passes_soon_is_outlasted(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], fault: str
) -> None:
    tasks = ("utterance",) if "stream" in fault else ()
    failing = Failing(FAULTS[fault], after=2, tasks=tasks, count=2 if fault == "too slow" else 3)
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, timeout_s=0.8 if fault == "too slow" else 30)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
    assert len(failing.failed) == failing.count
    assert left_behind(tmp_path) == undisturbed["discussion"]
    assert not (tmp_path / RUN / "silences.jsonl").exists()


@pytest.mark.parametrize("kind", ["discussion", "debate"])
@pytest.mark.parametrize("fault", ["busy", "broken", "refuses the key", "no protocol"])
async def test_what_lasts_ends_the_run_which_goes_on(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], kind: str, fault: str
) -> None:
    lasting = {"refuses the key": Fault(401), "no protocol": Fault(200, "<html>Welcome</html>")}
    failing = Failing({**FAULTS, **lasting}[fault], after=3, tasks=HEARING)
    more = DEBATE if kind == "debate" else {}
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, **more)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
        assert stop_reason(tmp_path) == "error"
        await to_the_end(resume_run(tmp_path / RUN))  # in vain
        assert stop_reason(tmp_path) == "error"
        failing.heal()
        events = await to_the_end(resume_run(tmp_path / RUN))
    assert [event.turn for event in events if event.event == "utterance"] == list(range(1, MESSAGES + 1))
    assert left_behind(tmp_path) == undisturbed[kind]  # everybody has heard everything, and nobody was silent


async def test_nobody_listens_from_the_start(tmp_path: Path, undisturbed: dict[str, dict[str, Any]]) -> None:
    with LoopbackServer() as server:
        server.stop()
        events = await to_the_end(run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN))
        assert [event.event for event in events] == ["started", "stopped"]
        assert stop_reason(tmp_path) == "error"
        server.start()
        await to_the_end(resume_run(tmp_path / RUN))
    assert left_behind(tmp_path) == undisturbed["discussion"]


async def test_the_server_is_restarted_and_nobody_notices(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: Counter[str] = Counter()
    explained = Exchange._explained
    with LoopbackServer() as server:

        def back_after_a_while(self: Exchange, error: Exception) -> ModelError:
            refused[self.module] += 1
            if sum(refused.values()) == 8:
                server.start()
            return explained(self, error)

        monkeypatch.setattr(Exchange, "_explained", back_after_a_while)
        events = []
        async for event in run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN):
            events.append(event)
            if event.event == "utterance" and event.turn == 3:
                server.stop()
    assert sum(refused.values()) >= 8
    assert refused.keys() == HEARING
    assert left_behind(tmp_path) == undisturbed["discussion"]


async def test_the_server_goes_and_comes_back_later(tmp_path: Path, undisturbed: dict[str, dict[str, Any]]) -> None:
    with LoopbackServer() as server:
        events = []
        with pytest.raises(ModelError, match="nothing listens at"):
            async for event in run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN):
                events.append(event)
                if event.event == "utterance" and event.turn == 3:
                    server.stop()
        assert not [event for event in events if event.event == "silenced"]  # nobody heard: it is heard again
        server.start()
        await to_the_end(resume_run(tmp_path / RUN))
    assert left_behind(tmp_path) == undisturbed["discussion"]


@pytest.mark.parametrize("task", ["judge", "analysis", "utterance", "emotion"])
async def test_one_task_fails_for_everybody(tmp_path: Path, task: str) -> None:
    """Whatever it is, nothing is said or remembered twice when the run goes on."""
    failing = Failing(Fault(500), after=3, tasks={task})
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, mode="debate", analysis=True)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
        assert stop_reason(tmp_path) == "error"
        failing.heal()
        events = await to_the_end(resume_run(tmp_path / RUN))
    said = [event.turn for event in events if event.event == "utterance"]
    assert said == list(range(1, MESSAGES + 1))
    left = left_behind(tmp_path)
    assert left["run"]["stop_reason"] == "message_limit"
    for name, least in (("verdicts.jsonl", 3), ("analysis.jsonl", 1)):
        turns = [json.loads(line)["turn"] for line in left[name].splitlines()]
        assert turns == list(range(least, MESSAGES + 1)), name
    minds = Counter(json.loads(line)["turn"] for line in left["minds.jsonl"].splitlines())
    assert minds == dict.fromkeys(range(MESSAGES + 1), 3)
