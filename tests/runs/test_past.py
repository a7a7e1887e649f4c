"""What a run's folder says of the past is what those have seen who followed it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_folders import PEOPLE, lines, mind, score, utterance, verdict, write_debate, write_run

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Silenced, Started, Stopped, Token, TurnEnded, Uttered
from persimchat.runs.folder.past import UNKNOWN, past_events, stopped_event
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

RUNS: dict[str, dict[str, Any]] = {
    "discussion": {},
    "analysed": {"analysis": True, "planning_and_reflection": False},
    "debate": {"mode": "debate", "judge": "persona", "analysis": True, "answer_format": "yesno"},
    "single_agent": {"baseline": "single_agent", "analysis": True},
    "group_chat": {"baseline": "group_chat", "max_messages": 5, "analysis": True},
    "group_chat that debates": {"mode": "debate", "baseline": "group_chat", "max_messages": 6, "analysis": True},
    "mad": {"mode": "debate", "baseline": "mad", "rounds": 2, "max_messages": 8, "analysis": True},
    "mad_judge": {"mode": "debate", "baseline": "mad_judge", "rounds": 3, "max_messages": 9, "analysis": True},
    "reconcile": {"mode": "debate", "baseline": "reconcile", "rounds": 2, "max_messages": 9},
}


def kinds(events: list[Event]) -> list[str]:
    return [event.event for event in events]


def without_making(events: list[Event]) -> list[Event]:
    return [event for event in events if event.event not in ("speaking", "token")]


def as_a_folder_knows_it(event: Event, utterances: int) -> Event:
    """A live event without what a folder does not know: this list is the whole difference."""
    match event:
        case Started():
            return event.model_copy(update={"turn": utterances, "notice": ""})
        case TurnEnded():
            return event.model_copy(update={"totals": UNKNOWN})
        case _:
            return event


def past_of(folder: Path, **options: Any) -> list[Event]:
    return list(past_events(read_run(folder), **options))


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
async def test_the_past_is_what_was_seen(tmp_path: Path, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {"model": "offline", "max_messages": 4, "seed": 3, **settings}
    seen = without_making([e async for e in persimchat.astream_events("Tea or coffee?", 3, out=tmp_path, **options)])
    stopped = seen[-1]
    assert isinstance(stopped, Stopped)
    past = await asyncio.to_thread(past_of, Path(stopped.folder or ""))
    assert past == [as_a_folder_knows_it(event, stopped.turn) for event in seen]
    assert stopped_event(Path(stopped.folder or "")) == stopped


async def test_a_run_that_its_follower_leaves(tmp_path: Path) -> None:
    seen: list[Event] = []
    events = persimchat.astream_events("Tea?", 3, out=tmp_path, model="offline", max_messages=9)
    async for event in events:
        seen.append(event)
        if isinstance(event, Uttered) and event.turn == 3:
            break
    await events.aclose()
    *past, stopped = past_of(next(tmp_path.iterdir()))
    assert past == [as_a_folder_knows_it(event, 3) for event in without_making(seen)]
    assert isinstance(stopped, Stopped)
    assert (stopped.reason, stopped.source, stopped.turn) == ("stopped", "user", 3)


@pytest.mark.parametrize("upto", [0, 1, 5, 12])
def test_a_part_of_the_past(tmp_path: Path, upto: int) -> None:
    folder = write_debate(tmp_path, 12)
    started, *whole, stopped = past_of(folder)
    first, *part = past_of(folder, upto=upto)
    assert isinstance(first, Started) and isinstance(stopped, Stopped)
    assert first == started.model_copy(update={"turn": upto})
    assert part == whole[: len(part)]
    assert [e.turn for e in part if isinstance(e, Uttered)] == list(range(1, upto + 1))
    assert kinds(part)[-1] == ("turn_ended" if upto else "mind")


def test_more_than_there_is(tmp_path: Path) -> None:
    assert past_of(write_debate(tmp_path, 4), upto=99) == past_of(tmp_path / "20260101-120000-tea-0001")[:-1]


def test_a_killed_run_breaks_off_where_it_did(tmp_path: Path) -> None:
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE][:-1]
    folder = write_run(tmp_path, None, minds, stop_reason=None, ended=None, usage={})
    turn = ["utterance", *["mind"] * 3, "turn_ended"]
    assert kinds(past_of(folder)) == ["started", *["mind"] * 3, *turn, *turn, "utterance", "mind", "mind"]
    transcript = folder / "transcript.jsonl"
    transcript.write_bytes(transcript.read_bytes()[:-20])
    assert kinds(past_of(folder)) == ["started", *["mind"] * 3, *turn, *turn]


def test_an_utterance_without_minds_has_not_ended(tmp_path: Path) -> None:
    minds = [mind(turn, name) for turn in range(3) for name in PEOPLE]
    judges = [mind(turn, "Judge") for turn in range(2)]
    folder = write_run(tmp_path, None, minds, stop_reason="error", detail="It broke.")
    assert kinds(past_of(folder))[-3:] == ["turn_ended", "utterance", "stopped"]
    (folder / "judge_mind.jsonl").write_text(lines(judges), encoding="utf-8")
    assert kinds(past_of(folder))[-7:] == ["turn_ended", "utterance", *["mind"] * 3, "utterance", "stopped"]


@pytest.mark.proof
async def test_silences_and_topics_stand_where_they_were_seen(tmp_path: Path) -> None:
    asked = {"utterance": 0, "perception": 0, "reflection": 0}

    def fails_now_and_then(task: str, answer: Any) -> Callable[[dict[str, Any]], Any]:
        def answered(body: dict[str, Any]) -> Any:
            asked[task] += 1
            return Fault(401, {"error": {"message": "bad key"}}) if asked[task] % 3 == 0 else answer

        return answered

    percept = {"theme": "tea", "keywords": ["tea"], "importance": 3}
    scripted = Scripted(
        utterance=fails_now_and_then("utterance", "I like tea a lot."),
        perception=fails_now_and_then("perception", percept),
        reflection=fails_now_and_then("reflection", {"insights": []}),
    )
    control, seen = Control(), []
    with LoopbackServer(answer=scripted) as server:
        settings = Settings(model=server.model(), max_messages=5, repetition_check=False)
        scenario = make_scenario("Tea?", default_participants(3))
        async for event in run_simulation(scenario, settings, out=tmp_path, control=control):
            seen.append(event)
            if isinstance(event, TurnEnded) and event.turn == 2:
                control.change_topic("Coffee?")
    silent = [(event.step, event.turn) for event in seen if isinstance(event, Silenced)]
    assert {step for step, _ in silent} == {"speak", "hear", "think"}, silent
    assert "topic" in kinds(seen)
    past = await asyncio.to_thread(past_of, next(tmp_path.iterdir()))
    assert past == [as_a_folder_knows_it(event, 5) for event in without_making(seen)]


def test_silence_before_and_after_an_utterance(tmp_path: Path) -> None:
    folder = write_run(tmp_path, verdicts=[verdict(2)], scores=[score(2, PEOPLE[1])])
    silent = [(2, "speak"), (2, "think"), (2, "hear"), (4, "speak")]
    silences = [{"turn": turn, "agent": PEOPLE[0], "step": step, "why": "503"} for turn, step in silent]
    (folder / "silences.jsonl").write_text(lines(silences), encoding="utf-8")
    past = past_of(folder)
    assert kinds(past)[9:15] == ["silenced", "silenced", "utterance", "silenced", "analysis", "verdict"]
    assert kinds(past)[-3:] == ["turn_ended", "silenced", "stopped"]
    assert past[9] == Silenced(turn=2, agent=PEOPLE[0], step="speak", why="503")
    assert past_of(folder, upto=3) == past[:-1]
    assert kinds(past_of(folder, upto=2))[-2:] == ["mind", "turn_ended"]


def test_people_whispers_and_what_an_analyst_could_not_score(tmp_path: Path) -> None:
    people = [{"name": name, "human": name == PEOPLE[1]} for name in PEOPLE]
    said = [utterance(1, PEOPLE[0], heard_by=[PEOPLE[1]]), utterance(2, PEOPLE[1], emotion={}, need_to_talk={})]
    failed = {"turn": 2, "speaker": PEOPLE[1], "reasoning": None, "failed": "no JSON"}
    models = {PEOPLE[0]: {"natural_language": "offline", "perception": "other"}}
    folder = write_run(
        tmp_path,
        said,
        scores=[{**failed, "coherence": None, "sentiment": None, "engagement": None}],
        scenario={"topic": "Tea?", "participants": people},
        models=models,
    )
    past = past_of(folder)
    assert isinstance(past[0], Started)
    assert past[0].people == [PEOPLE[1]]
    assert past[0].models == {PEOPLE[0]: "offline"}
    assert [e.heard_by for e in past if isinstance(e, Uttered)] == [[PEOPLE[1]], None]
    assert [e.failed for e in past if e.event == "analysis"] == ["no JSON"]


def test_folders_of_the_first_version(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [{"turn": 1, "speaker": PEOPLE[0], "text": "Tea."}], [{"turn": 1, "agent": PEOPLE[0]}])
    assert kinds(past_of(folder)) == ["started", "utterance", "mind", "turn_ended", "stopped"]
    (folder / "minds.jsonl").unlink()
    assert kinds(past_of(folder)) == ["started", "utterance", "turn_ended", "stopped"]


def test_a_damaged_line_is_named(tmp_path: Path, refused: Callable[..., str]) -> None:
    folder = write_run(tmp_path)
    record = read_run(folder)
    rows = (folder / "minds.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for broken in ("{no\n", '{"turn": 0, "agent": 5}\n', "[1]\n"):
        (folder / "minds.jsonl").write_text("".join([rows[0], broken, *rows[2:]]), encoding="utf-8")
        refused(lambda: list(past_events(record)), "minds.jsonl, line 2")


def test_a_run_that_goes_on_has_no_last_event(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reason"):
        stopped_event(write_run(tmp_path, stop_reason=None))


def test_a_long_past_is_given_line_by_line(tmp_path: Path) -> None:
    """The first events come before the rest is read: a file that is damaged far behind is found out only there."""
    folder = write_debate(tmp_path, 300)
    record = read_run(folder)
    rows = (folder / "minds.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "minds.jsonl").write_text("".join([*rows[:600], "{\n", *rows[600:]]), encoding="utf-8")
    given: list[Event] = []
    with pytest.raises(InputError):
        given.extend(past_events(record))  # extend keeps what came before the error
    assert not any(isinstance(event, Token) for event in given)
    assert max(e.turn for e in given if isinstance(e, Uttered)) == 199
