"""One agent's failing model: that agent is silent for a turn, everybody sees it, and the conversation goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.failing import Failing
from loopback.scripted import task_of
from loopback.server import LoopbackServer
from run_files import read_records, run_json
from talks import NAMES, events_of, scenario

from persimchat.graph.conversation import build_conversation
from persimchat.runs.events import Event, Silenced, Uttered
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import input_of, run_simulation
from persimchat.state.conversation import utterances
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

pytestmark = pytest.mark.usefixtures("quick_retries")

RUN = "a-run"
BO = NAMES[1]
GONE, BROKEN = Fault(401), Fault(500)
MESSAGES = 5


@pytest.fixture
def well() -> Iterator[LoopbackServer]:
    """A server that never fails."""
    with LoopbackServer() as server:
        yield server


class Turning(Failing):
    """Fails at some tasks, from the n-th request for the first of them on, until it has failed so many times."""

    def __init__(self, fault: Fault, *tasks: str, first: int = 1, count: int | None = None) -> None:
        super().__init__(fault, tasks=tasks, count=count)
        self.first = first

    def __call__(self, body: dict[str, Any]) -> Any:
        if self.asked.count(next(iter(self.tasks))) + 1 < self.first:
            self.asked.append(task_of(body))
            return self.answer(body)
        return super().__call__(body)


def settings_with(well: LoopbackServer, ill: LoopbackServer, **more: Any) -> Settings:
    given = {"model": well.model(), "agent_models": {BO: ill.model("bo")}, "max_messages": MESSAGES, "closing": "off"}
    return Settings(**{**given, **more})


def silences(events: list[Event]) -> list[Silenced]:
    return [event for event in events if isinstance(event, Silenced)]


def said(events: list[Event]) -> list[Uttered]:
    return [event for event in events if isinstance(event, Uttered)]


@pytest.mark.proof
@pytest.mark.parametrize("fault", [GONE, BROKEN], ids=["at once", "for long"])
async def test_who_cannot_hear_is_silent_for_a_turn_and_hears_again(
    tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer], fault: Fault
) -> None:
    failing = Turning(fault, "perception", first=2, count=1 if fault is GONE else 5)
    settings = settings_with(well, serving(failing))
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    (silenced,) = silences(events)
    assert (silenced.agent, silenced.turn, silenced.step) == (BO, 2, "hear")
    assert f"HTTP {fault.status}" in silenced.why
    assert len(said(events)) == MESSAGES
    assert said(events)[2].speaker != BO  # nobody asks it to speak in that turn
    mine = {line["turn"]: line for line in read_records(tmp_path / RUN / "minds.jsonl") if line["agent"] == BO}
    assert [turn for turn, line in mine.items() if line["percept"] is None] == [0, 2]
    assert mine[2]["focal_points"] == []
    assert mine[3]["did"] == ""
    assert mine[2]["long_term_memories"] == mine[1]["long_term_memories"]
    of_then = [memory["turn"] for line in mine.values() for memory in line.get("memories", [])]
    assert of_then and 2 not in of_then
    assert read_records(tmp_path / RUN / "silences.jsonl") == [silenced.model_dump(exclude={"event", "version"})]
    assert run_json(tmp_path / RUN)["silences"] == 1
    assert re.search(r"\*Bo Vik did not hear this: .*HTTP", (tmp_path / RUN / "transcript.md").read_text("utf-8"))


@pytest.mark.proof
async def test_a_failing_speaker_is_replaced_in_the_same_turn(
    tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer]
) -> None:
    """The next in need speaks; who was thinking does not think twice, and has done what they did."""
    failing = Turning(GONE, "utterance")
    settings = settings_with(well, serving(failing), pattern="round_robin")
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert [s.speaker for s in said(events)] == [NAMES[0], NAMES[2], NAMES[0], NAMES[2], NAMES[0]]
    assert {(s.agent, s.step) for s in silences(events)} == {(BO, "speak")}
    assert [s.turn for s in silences(events)] == [2, 4, 5]
    calls = read_records(tmp_path / RUN / "calls.jsonl")
    for turn in range(MESSAGES):
        for name in NAMES:
            thought = [
                row for row in calls
                if row["agent"] == name and row["turn"] == turn and row["module"] in ("planning", "reflection")
            ]  # fmt: skip
            assert len(thought) <= 1, (turn, name)
    minds = read_records(tmp_path / RUN / "minds.jsonl")
    for line in minds:
        if line["turn"]:
            spoke = said(events)[line["turn"] - 1].speaker == line["agent"]
            assert (line["did"] == "speak") == spoke
    assert [line["did"] for line in minds if line["agent"] == BO and line["turn"] == 2] == [""]
    readable = (tmp_path / RUN / "transcript.md").read_text(encoding="utf-8")
    assert readable.count("*Bo Vik is silent: ") == 3


@pytest.mark.proof
@pytest.mark.parametrize(
    "more",
    [{}, {"selection": "softmax"}, {"pattern": "round_robin"}, {"pattern": "selector"}],
    ids=["need", "softmax", "round robin", "selector"],
)
async def test_whoever_never_speaks_the_others_do(
    tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer], more: dict[str, Any]
) -> None:
    settings = settings_with(well, serving(Turning(BROKEN, "utterance")), max_messages=8, **more)
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert [s.turn for s in said(events)] == list(range(1, 9))
    assert BO not in {s.speaker for s in said(events)}
    assert {s.step for s in silences(events)} <= {"speak"}
    tried = [(s.turn, s.agent) for s in silences(events)]
    assert len(set(tried)) == len(tried)  # once a turn
    assert tried or more == {}


@pytest.mark.proof
async def test_who_cannot_think_misses_a_thought(
    tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer]
) -> None:
    failing = Turning(GONE, "planning", "reflection")
    settings = settings_with(well, serving(failing), pattern="round_robin")
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert {(s.agent, s.step) for s in silences(events)} == {(BO, "think")}
    assert [s.speaker for s in said(events)][1] == BO  # it can speak all the same
    turns = {s.turn for s in silences(events)}
    mine = {line["turn"]: line for line in read_records(tmp_path / RUN / "minds.jsonl") if line["agent"] == BO}
    assert all(mine[turn]["did"] == "" for turn in turns)
    assert all(line["percept"] for turn, line in mine.items() if turn)


@pytest.mark.proof
async def test_where_everybody_fails_the_run_ends_and_goes_on(tmp_path: Path) -> None:
    for task in ("perception", "utterance"):
        failing = Failing(GONE, after=2, tasks={task})
        with LoopbackServer(answer=failing) as server:
            settings = Settings(model=server.model(), max_messages=MESSAGES, closing="off")
            out = tmp_path / task
            with pytest.raises(ModelError, match="HTTP 401"):
                await events_of(run_simulation(scenario(), settings, out=out, run=RUN))
            failing.heal()
            events = await events_of(resume_run(out / RUN))
        assert [s.turn for s in said(events)] == list(range(1, MESSAGES + 1))
        minds = [(line["turn"], line["agent"]) for line in read_records(out / RUN / "minds.jsonl")]
        assert sorted(minds) == sorted((turn, name) for turn in range(MESSAGES + 1) for name in NAMES)


@pytest.mark.proof
async def test_of_two_the_other_goes_on_alone(
    tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer]
) -> None:
    settings = settings_with(well, serving(Turning(GONE, "utterance")))
    events = await events_of(run_simulation(scenario(NAMES[:2]), settings, out=tmp_path, run=RUN))
    assert [s.speaker for s in said(events)] == [NAMES[0]] * MESSAGES
    assert {s.agent for s in silences(events)} == {BO}


@pytest.mark.proof
async def test_in_a_debate_too(tmp_path: Path, well: LoopbackServer, serving: Callable[..., LoopbackServer]) -> None:
    failing = Turning(GONE, "openness", first=3, count=1)
    settings = settings_with(well, serving(failing), mode="debate", judge="persona", analysis=True)
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert [(s.agent, s.turn, s.step) for s in silences(events)] == [(BO, 2, "hear")]
    assert [e.turn for e in events if e.event == "verdict"] == list(range(3, len(said(events)) + 1))
    assert events[-1].event == "stopped"


@pytest.mark.proof
async def test_a_failing_judge_ends_the_debate_which_goes_on(tmp_path: Path, well: LoopbackServer) -> None:
    failing = Failing(BROKEN, tasks={"judge"})
    with LoopbackServer(answer=failing) as judging:
        models = {"judge": judging.model("judge")}
        settings = Settings(model=well.model(), module_models=models, mode="debate", max_messages=MESSAGES)  # type: ignore[arg-type]
        with pytest.raises(ModelError, match="module judge"):
            await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
        failing.heal()
        events = await events_of(resume_run(tmp_path / RUN))
    assert [line["turn"] for line in read_records(tmp_path / RUN / "verdicts.jsonl")] == [3, 4, 5]
    assert len(said(events)) == MESSAGES


@pytest.mark.proof
@pytest.mark.parametrize("step", ["perception", "utterance"])
def test_in_plain_langgraph(well: LoopbackServer, serving: Callable[..., LoopbackServer], step: str) -> None:
    """`graph.invoke`, without a run's folder, a checkpointer or a stream."""
    settings = settings_with(well, serving(Turning(GONE, step)), pattern="round_robin")
    given = input_of(scenario(), RUN)
    output = build_conversation().invoke(given, context=settings)
    assert len(utterances(output["messages"])) == MESSAGES
    assert (BO in {u["speaker"] for u in utterances(output["messages"])}) is False
