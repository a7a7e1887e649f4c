"""One agent's failing model: that agent is silent for a turn, everybody sees it, and the conversation goes on."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from loopback.answering import Fault, _digest, natural_answer
from loopback.failing import Failing
from loopback.scripted import task_of
from loopback.server import LoopbackServer
from run_files import logged, run_json
from talks import NAMES, check_replay, events_of, scenario

from persimchat.graph.conversation import build_conversation
from persimchat.reports.summary import summarise
from persimchat.runs.events import Event, Silenced, Uttered
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.runs.run.branch import branch_run
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
    tmp_path: Path, well: LoopbackServer, serving: Serve, fault: Fault
) -> None:
    failing = Turning(fault, "perception", first=2, count=1 if fault is GONE else 5)
    settings = settings_with(well, serving(failing))
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    (silenced,) = silences(events)
    assert (silenced.agent, silenced.turn, silenced.step) == (BO, 2, "hear")
    assert f"HTTP {fault.status}" in silenced.why
    assert len(said(events)) == MESSAGES
    assert said(events)[2].speaker != BO  # nobody asks it to speak in that turn
    mine = {line["turn"]: line for line in logged(tmp_path / RUN, "mind") if line["agent"] == BO}
    assert [turn for turn, line in mine.items() if line["percept"] is None] == [0, 2]
    assert mine[2]["focal_points"] == []
    assert mine[3]["did"] == ""
    thought = bool(mine[2]["did"])  # what it thought meanwhile is all that it remembers of that turn
    assert mine[2]["long_term_memories"] == mine[1]["long_term_memories"] + thought
    heard = [m["turn"] for m in logged(tmp_path / RUN, "memory") if (m["agent"], m["kind"]) == (BO, "perception")]
    assert heard and 2 not in heard
    assert logged(tmp_path / RUN, "silenced") == [silenced.model_dump(exclude={"event", "version"})]
    assert run_json(tmp_path / RUN)["silences"] == 1
    assert re.search(r"\*Bo Vik did not hear this: .*HTTP", (tmp_path / RUN / "transcript.md").read_text("utf-8"))


@pytest.mark.proof
async def test_a_failing_speaker_is_replaced_in_the_same_turn(
    tmp_path: Path, well: LoopbackServer, serving: Serve
) -> None:
    """The next in need speaks; who was thinking does not think twice, and has done what they did."""
    failing = Turning(GONE, "utterance")
    settings = settings_with(well, serving(failing), pattern="round_robin")
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert [s.speaker for s in said(events)] == [NAMES[0], NAMES[2], NAMES[0], NAMES[2], NAMES[0]]
    assert {(s.agent, s.step) for s in silences(events)} == {(BO, "speak")}
    assert [s.turn for s in silences(events)] == [2, 4, 5]
    calls = logged(tmp_path / RUN, "asked_model")
    for turn in range(MESSAGES):
        for name in NAMES:
            thought = [
                row for row in calls
                if row["agent"] == name and row["turn"] == turn and row["module"] in ("planning", "reflection")
            ]  # fmt: skip
            assert len(thought) <= 1, (turn, name)
    minds = logged(tmp_path / RUN, "mind")
    for line in minds:
        if line["turn"]:
            spoke = said(events)[line["turn"] - 1].speaker == line["agent"]
            assert (line["did"] == "speak") == spoke
    assert [line["did"] for line in minds if line["agent"] == BO and line["turn"] == 2] == [""]
    readable = (tmp_path / RUN / "transcript.md").read_text(encoding="utf-8")
    assert readable.count("*Bo Vik is silent: ") == 3


@pytest.mark.long
@pytest.mark.proof(cases=2)
@pytest.mark.parametrize(
    "more",
    [{}, {"selection": "softmax"}, {"pattern": "round_robin"}, {"pattern": "selector"}],
    ids=["need", "softmax", "round robin", "selector"],
)
async def test_whoever_never_speaks_the_others_do(
    tmp_path: Path, well: LoopbackServer, serving: Serve, more: dict[str, Any]
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
async def test_who_cannot_think_misses_a_thought(tmp_path: Path, well: LoopbackServer, serving: Serve) -> None:
    failing = Turning(GONE, "planning", "reflection")
    settings = settings_with(well, serving(failing), pattern="round_robin")
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    assert {(s.agent, s.step) for s in silences(events)} == {(BO, "think")}
    assert [s.speaker for s in said(events)][1] == BO  # it can speak all the same
    turns = {s.turn for s in silences(events)}
    mine = {line["turn"]: line for line in logged(tmp_path / RUN, "mind") if line["agent"] == BO}
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
        minds = [(line["turn"], line["agent"]) for line in logged(out / RUN, "mind")]
        assert sorted(minds) == sorted((turn, name) for turn in range(MESSAGES + 1) for name in NAMES)


@pytest.mark.proof
async def test_of_two_the_other_goes_on_alone(tmp_path: Path, well: LoopbackServer, serving: Serve) -> None:
    settings = settings_with(well, serving(Turning(GONE, "utterance")))
    events = await events_of(run_simulation(scenario(NAMES[:2]), settings, out=tmp_path, run=RUN))
    assert [s.speaker for s in said(events)] == [NAMES[0]] * MESSAGES
    assert {s.agent for s in silences(events)} == {BO}


@pytest.mark.proof
async def test_in_a_debate_too(tmp_path: Path, well: LoopbackServer, serving: Serve) -> None:
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
    assert [line["turn"] for line in logged(tmp_path / RUN, "verdict")] == [3, 4, 5]
    assert len(said(events)) == MESSAGES


@pytest.mark.proof
@pytest.mark.parametrize("step", ["perception", "utterance"])
def test_in_plain_langgraph(well: LoopbackServer, serving: Serve, step: str) -> None:
    """`graph.invoke`, without a run's folder, a checkpointer or a stream."""
    settings = settings_with(well, serving(Turning(GONE, step)), pattern="round_robin")
    given = input_of(scenario(), RUN)
    output = build_conversation().invoke(given, context=settings)
    assert len(utterances(output["messages"])) == MESSAGES
    assert (BO in {u["speaker"] for u in utterances(output["messages"])}) is False


# Models that answer, but wrongly: minds stay as they were, it is written, and only a hopeless module ends the run


WEAK_MESSAGES = 4
MODULES = {
    "perception", "focal_points", "need_to_talk", "openness", "action", "emotion", "reflection", "planning",
    "memory_filtering",
}  # fmt: skip


class Weak:
    """Answers as it should, but for judgements: of some tasks, or a share of all, what comes is of no use.

    Args:
        *tasks: whose answers are wrong; all judgements' where there is none.
        share: of them, how many are.
        until: an utterance after which all is well.
        wrong: what is answered.
    """

    def __init__(self, *tasks: str, share: float = 1.0, until: int = 10**9, wrong: Any = "Well, I think so!") -> None:
        self.tasks, self.share, self.until, self.wrong = set(tasks) or MODULES, share, until, wrong
        self.uttered = 0

    def heal(self) -> None:
        self.tasks = set()

    def __call__(self, body: dict[str, Any]) -> Any:
        task = task_of(body)
        self.uttered += task == "utterance"
        unlucky = random.Random(_digest(body["messages"])).random() < self.share
        if task in self.tasks and unlucky and self.uttered < self.until:
            return self.wrong(body) if callable(self.wrong) else self.wrong
        return natural_answer(body)


def weak_settings(server: LoopbackServer, **more: Any) -> Settings:
    return Settings(**{"model": server.model(), "max_messages": WEAK_MESSAGES, "closing": "off", **more})


def kinds(events: list[Event]) -> list[str]:
    return [event.event for event in events if event.event not in ("speaking", "token")]


@pytest.mark.proof
async def test_numbers_out_of_range_are_moved_and_counted(tmp_path: Path, serving: Serve) -> None:
    def too_much(body: dict[str, Any]) -> Any:
        answer = natural_answer(body)
        assert isinstance(answer, dict)
        return {**answer, "need_to_talk": "12/10", "importance": 14, "happiness": -3, "keywords": ["tea"] * 9}

    server = serving(Weak("need_to_talk", "emotion", "perception", wrong=too_much))
    await events_of(run_simulation(scenario(), weak_settings(server), out=tmp_path, run=RUN))
    folder = tmp_path / RUN
    for line in logged(folder, "mind"):
        awakening = ["need_to_talk", "emotion"]
        assert line["corrected"] == (["perception", *awakening] if line["turn"] else awakening)
        assert (line["need_to_talk"], line["emotion"]["happiness"]) == (10, 0)
        assert "failed" not in line
        if line["turn"]:
            assert (line["percept"]["importance"], line["percept"]["keywords"]) == (10, ["tea"] * 8)
    counts = run_json(folder)["judgements"]
    assert counts["emotion"] == {"asked": 15, "valid": 0, "again": 0, "corrected": 15, "failed": 0}
    assert counts["action"] == {"asked": 12, "valid": 12, "again": 0, "corrected": 0, "failed": 0}
    assert not [row for row in logged(folder, "asked_model") if row["n"]]  # nobody was asked once more
    await check_replay(folder)


@pytest.mark.long
@pytest.mark.proof
async def test_one_answer_in_five_is_no_json_and_the_conversation_is_held(tmp_path: Path, serving: Serve) -> None:
    server = serving(Weak(share=0.2))
    settings = weak_settings(server, mode="debate", judge="persona", memory_filtering=True, max_messages=6)
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    folder = tmp_path / RUN
    assert kinds(events).count("utterance") == 6
    assert "silenced" not in kinds(events)
    counts = run_json(folder)["judgements"]
    assert sum(row["again"] for row in counts.values()) > 10
    written = Counter(
        module for line in (*logged(folder, "mind"), *logged(folder, "judge_mind")) for module in line.get("failed", ())
    )
    failed = {module: row["failed"] for module, row in counts.items()}
    for module in failed:  # memories are filtered when a mind hears and when it thinks; a record names both once
        most = written[module] * (2 if module == "memory_filtering" else 1)
        assert written[module] <= failed[module] <= most, module
    assert written.total() > 0
    assert list(past_events(read_run(folder)))[1:4] == events[1:4]
    await check_replay(folder)


@pytest.mark.proof
async def test_at_awakening_things_are_neutral(tmp_path: Path, serving: Serve) -> None:
    server = serving(Weak(until=1))
    settings = weak_settings(server, mode="debate")
    await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    for line in logged(tmp_path / RUN, "mind"):
        if line["turn"] == 0:
            assert line["failed"] == ["need_to_talk", "openness", "emotion"]
            assert (line["need_to_talk"], line["openness"], set(line["emotion"].values())) == (5, 5, {0})
            assert line["long_term_memories"] == 2
        else:
            assert "failed" not in line
            assert line["need_reasoning"]
    await check_replay(tmp_path / RUN)


@pytest.mark.proof
async def test_all_is_wrong_and_minds_go_on_with_what_they_have(tmp_path: Path, serving: Serve) -> None:
    """Of one agent: what is written is what it has heard, felt before and would ask itself anyway."""
    bad, good = serving(Weak()), serving()
    settings = weak_settings(good, agent_models={BO: bad.model("bo")}, memory_filtering=True)
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN))
    said = {event.turn: event for event in events if event.event == "utterance"}
    assert len(said) == WEAK_MESSAGES
    assert "silenced" not in kinds(events)
    mine = {line["turn"]: line for line in logged(tmp_path / RUN, "mind") if line["agent"] == BO}
    for turn, line in mine.items():
        if not turn:
            continue
        words = said[turn].text
        assert line["percept"]["theme"].startswith(f"{said[turn].speaker}: {words.split('.')[0][:20]}")
        assert line["percept"]["importance"] == 5
        assert all(word in words for word in line["percept"]["keywords"])
        assert line["focal_points"] == [
            "What do I know and think of this: Tea or coffee?",
            f"What do I know about {said[turn].speaker}?",
            "What do I want, and what matters to me?",
        ]
        assert line["recalled"]
        assert (line["need_to_talk"], set(line["emotion"].values()), line["action"]) == (5, {0}, "plan")
        assert (line["plan"], line["insights"], line["need_reasoning"]) == (None, [], "")
        thought = ["planning"] if line["did"] == "plan" else []
        filtered = ["memory_filtering"] if turn > 1 else []
        modules = ["perception", "focal_points", *filtered, "need_to_talk", "action", "emotion", *thought]
        assert line["failed"] == modules
    assert any(line["did"] == "plan" for line in mine.values())
    await check_replay(tmp_path / RUN)


@pytest.mark.proof
async def test_a_module_that_fails_everybody_stops_the_run_which_goes_on_with_another_model(
    tmp_path: Path, serving: Serve
) -> None:
    bad, good = serving(Weak("emotion")), serving()
    settings = weak_settings(bad, mode="debate")
    stop = (
        "The module emotion had no usable answer for anybody, turn after turn; right at first try were 0 of 6 by "
        f"{bad.model()} (turn 1). Go on with another model: persimchat resume {RUN} --model …"
    )
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN), re.escape(stop))
    folder = tmp_path / RUN
    assert kinds(events)[-2:] == ["turn_ended", "stopped"]
    assert (events[-1].source, events[-1].conclusion) == ("answers", None)  # type: ignore[union-attr]
    assert {run_json(folder)[key] for key in ("stop_reason", "stop_source")} == {"error", "answers"}
    await check_replay(folder, error="module emotion")
    # The same model gets two turns more.
    events = await events_of(resume_run(folder), "module emotion")
    assert kinds(events).count("utterance") == 3
    assert [again.get("reopened") for again in run_json(folder)["resumed"]] == [True]
    await check_replay(folder, error="module emotion")
    events = await events_of(resume_run(folder, changes={"model": good.model()}))
    assert [event.turn for event in events if event.event == "utterance"] == list(range(1, WEAK_MESSAGES + 1))
    assert run_json(folder)["stop_reason"] == "message_limit"
    turns = [line["turn"] for line in logged(folder, "mind")]
    assert turns == [turn for turn in range(WEAK_MESSAGES + 1) for _ in NAMES]
    assert run_json(folder)["judgements"]["emotion"]["failed"] == 12
    await check_replay(folder)
    branched = await events_of(branch_run(folder, 1, changes={"model": good.model()}, run="b", out=tmp_path))
    assert kinds(branched).count("utterance") == WEAK_MESSAGES
    assert run_json(tmp_path / "b")["judgements"]["emotion"] == {
        "asked": 15, "valid": 9, "again": 0, "corrected": 0, "failed": 6
    }  # fmt: skip
    summary = summarise(read_run(tmp_path / "b"))
    assert summary.judgements["emotion"].failed == 6


@pytest.mark.proof
async def test_where_all_modules_fail_the_run_stops_after_its_first_utterance(tmp_path: Path, serving: Serve) -> None:
    events = await events_of(
        run_simulation(scenario(), weak_settings(serving(Weak())), out=tmp_path, run=RUN), "no usable answer"
    )
    assert kinds(events).count("utterance") == 1
    assert len(logged(tmp_path / RUN, "mind")) == 6


@pytest.mark.proof
async def test_a_module_model_is_named_as_it_is_to_be_changed(tmp_path: Path, serving: Serve) -> None:
    bad, good = serving(Weak()), serving()
    settings = weak_settings(good, module_models={"emotion": bad.model("e")})
    await events_of(
        run_simulation(scenario(), settings, out=tmp_path, run=RUN), r"--set 'module_models=\{emotion: …\}'"
    )
    events = await events_of(resume_run(tmp_path / RUN, changes={"module_models": {"emotion": good.model()}}))
    assert kinds(events).count("utterance") == WEAK_MESSAGES


@pytest.mark.proof
async def test_strict_answers_are_as_they_were(tmp_path: Path, serving: Serve) -> None:
    """Wrong twice at awakening ends the run, wrong twice later silences the agent; numbers are not moved."""
    weak = Weak("emotion", until=1)
    settings = weak_settings(serving(weak), strict_answers=True)
    await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN), "wrong answer twice.*module emotion")
    assert logged(tmp_path / RUN, "utterance") == []
    weak.heal()
    events = await events_of(resume_run(tmp_path / RUN))
    assert kinds(events).count("utterance") == WEAK_MESSAGES
    later = Weak("need_to_talk", wrong={"reasoning": "r", "need_to_talk": 12})
    later.tasks = set()
    ill, well = serving(later), serving()
    settings = weak_settings(well, strict_answers=True, agent_models={BO: ill.model("bo")})
    told = []
    async for event in run_simulation(scenario(), settings, out=tmp_path, run="b"):
        told.append(event)
        if event.event == "turn_ended":
            later.tasks = {"need_to_talk"}
    assert {(event.agent, event.step) for event in told if event.event == "silenced"} == {(BO, "hear")}
    minds = logged(tmp_path / "b", "mind")
    assert not [line for line in minds if "failed" in line or "corrected" in line]


class Broken:
    """A server that fails for good, until it is well."""

    def __init__(self, status: int = 401) -> None:
        self.fault: Fault | None = Fault(status)

    def __call__(self, body: dict[str, Any]) -> Any:
        return self.fault or natural_answer(body)


@pytest.mark.parametrize("status", [401, pytest.param(500, marks=pytest.mark.proof)])
async def test_who_cannot_awaken_begins_neutral_and_silent(tmp_path: Path, serving: Serve, status: int) -> None:
    broken = Broken(status)
    settings = weak_settings(serving(), agent_models={BO: serving(broken).model("bo")}, mode="debate", judge="persona")
    events = []
    async for event in run_simulation(scenario(), settings, out=tmp_path, run=RUN):
        events.append(event)
        if event.event == "turn_ended" and event.turn == 1:
            broken.fault = None
    folder = tmp_path / RUN
    silenced = [event for event in events if event.event == "silenced"]
    assert [(event.agent, event.turn, event.step) for event in silenced] == [(BO, 0, "awaken"), (BO, 1, "hear")]
    assert f"HTTP {status}" in silenced[0].why
    assert kinds(events)[1:6] == ["silenced", "mind", "mind", "mind", "judge_mind"]
    assert kinds(events).count("utterance") == WEAK_MESSAGES
    assert [event.speaker for event in events if event.event == "utterance"][0] != BO
    mine = {line["turn"]: line for line in logged(folder, "mind") if line["agent"] == BO}
    assert (mine[0]["need_to_talk"], mine[0]["openness"], set(mine[0]["emotion"].values())) == (5, 5, {0})
    assert (mine[0]["long_term_memories"], "failed" in mine[0]) == (2, False)
    assert mine[2]["percept"] and mine[2]["need_reasoning"]
    assert run_json(folder)["silences"] == 2
    readable = (folder / "transcript.md").read_text(encoding="utf-8")
    assert re.search(r"\*Bo Vik begins without a first feeling: .*HTTP", readable)
    told = ("speaking", "token", "turn_ended", "stopped", "started")
    past = [event for event in past_events(read_run(folder)) if event.event not in told]
    assert past == [event for event in events if event.event not in told]
    await check_replay(folder)


@pytest.mark.proof
async def test_where_nobody_can_awaken_the_run_ends_and_goes_on(tmp_path: Path, serving: Serve) -> None:
    broken = Broken()
    settings = weak_settings(serving(broken), mode="debate", judge="persona")
    folder = tmp_path / RUN
    events = await events_of(run_simulation(scenario(), settings, out=tmp_path, run=RUN), "HTTP 401")
    assert kinds(events) == ["started", "stopped"]
    events = await events_of(resume_run(folder), "HTTP 401")
    assert kinds(events) == ["started", "stopped"]
    broken.fault = None
    events = await events_of(resume_run(folder))
    assert kinds(events).count("utterance") == WEAK_MESSAGES
    assert "silenced" not in kinds(events)
    assert logged(folder, "silenced") == []
    assert {line["turn"] for line in logged(folder, "mind")} == set(range(WEAK_MESSAGES + 1))


@pytest.mark.proof
def test_in_plain_langgraph_of_weak_answers(serving: Serve) -> None:
    """`graph.invoke`: one cannot awaken, and one is always wrong; and a hopeless module is a reason to stop."""
    models = {BO: serving(Broken()).model("bo"), NAMES[2]: serving(Weak()).model("cleo")}
    given = input_of(scenario(), RUN)
    output = build_conversation().invoke(given, context=weak_settings(serving(), agent_models=models))
    assert len(utterances(output["messages"])) == WEAK_MESSAGES
    output = build_conversation().invoke(given, context=weak_settings(serving(Weak("perception"))))
    assert (output["stop_reason"], output["stop_source"], output["turn"]) == ("error", "answers", 2)
    assert "module perception" in output["stop_detail"]
