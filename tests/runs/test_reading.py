"""Reading a run back: its folder, its past as events, its requests, and whatever may be wrong with it."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_afterwards import besides
from fixtures import Refused
from loopback.answering import Fault
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import drop, run_json
from run_folders import (
    PEOPLE,
    break_seals,
    mind,
    put,
    score,
    utterance,
    write_debate,
    write_events,
    write_run,
    write_steered,
)
from talks import end_of, events_of

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Silenced, Started, Stopped, TurnEnded, Uttered
from persimchat.runs.folder.reading import UNKNOWN, calls_in, calls_of, past_events, read_run, stopped_event
from persimchat.runs.log import FORMAT
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import belongs, past_calls, recorded_calls
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


def test_a_folder(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path))
    assert [(u.turn, u.speaker) for u in record.utterances] == list(enumerate(PEOPLE, start=1))
    assert record.utterances[0].tokens["output"] == 7
    assert (record.utterances[0].corrections, record.utterances[0].answer) == ([], None)
    assert len(record.minds) == 12
    assert record.minds[0].openness is None
    assert record.manifest.stop_reason == "message_limit"
    assert (record.manifest.stop_source, record.manifest.conclusion) == ("", None)
    assert (record.verdicts, record.scores, record.notes) == ([], [], [])


def test_a_folder_with_everything(tmp_path: Path) -> None:
    record = read_run(write_debate(tmp_path, 9))
    assert record.manifest.stop_source == "judge"
    assert record.manifest.conclusion is not None
    assert record.manifest.conclusion.supporters == list(PEOPLE)
    assert [v.turn for v in record.verdicts] == list(range(3, 10))
    assert record.verdicts[-1].consensus
    assert [s.turn for s in record.scores] == list(range(1, 10))
    assert all(m.openness is not None for m in record.minds)
    assert any(m.plan for m in record.minds)
    assert any(len(m.insights) == 5 for m in record.minds)


def test_a_folder_of_a_run_that_people_steered(tmp_path: Path) -> None:
    eva, bo, li = PEOPLE
    record = read_run(write_steered(tmp_path))
    assert [u.heard_by for u in record.utterances] == [None, [bo], None, None, [eva], None]
    assert [u.turn for u in record.utterances if u.is_given] == [2, 4, 5]
    manifest = record.manifest
    assert (manifest.people, manifest.state_version, len(manifest.resumed)) == ([li], 2, 1)
    assert manifest.branch is not None
    assert (manifest.branch.of, manifest.branch.turn, manifest.branch.why) == ("tea-0000", 1, "branch")
    assert [(s.turn, s.agent, s.step) for s in record.silences] == [(3, eva, "hear"), (6, li, "speak")]
    assert record.interventions[1].more == {"agent": li, "raised": True}
    assert [c.module for c in calls_of(record)][-1] == "plan"
    assert record.notes == []


def test_what_was_recalled_is_read_where_it_is_wanted(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    assert not any(mind.recalled or mind.percept or mind.action for mind in read_run(folder).minds)
    minds = read_run(folder, whole=True).minds
    assert [m.recalled[0].theme for m in minds if m.recalled][:1] == ["Tea was praised"]


def test_requests_are_read_one_by_one(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute("UPDATE events SET seal = 7 WHERE number = (SELECT max(number) - 3 FROM events)")
    record = read_run(folder)
    assert len(list(calls_of(record))) == 14
    assert [re.sub(r"\d+", "N", note) for note in record.notes] == [
        "run.sqlite is damaged: N request is left out, the first is event N."
    ]


def test_what_newer_versions_add_is_ignored(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [utterance(1, PEOPLE[0], mood="blue")], [mind(0, PEOPLE[0], aura=3)], shoes=2)
    assert len(read_run(folder).utterances) == 1


def test_a_baseline_has_no_minds(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path, [utterance(1, PEOPLE[0], answer="yes", confidence=0.8)], []))
    assert record.minds == []
    assert (record.utterances[0].answer, record.utterances[0].confidence) == ("yes", 0.8)
    assert record.notes == []


def test_the_mind_of_a_judge(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    assert read_run(folder).judge_minds == []
    write_events(folder, [("judge_mind", mind(turn, "Judge")) for turn in (1, 2)])
    record = read_run(folder)
    assert [m.turn for m in record.judge_minds] == [1, 2]
    assert all(m.agent != "Judge" for m in record.minds)


def test_a_killed_run(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path, stop_reason=None, ended=None, usage={}))
    assert record.manifest.stop_reason is None
    assert record.manifest.usage.total is None


def test_a_folder_without_a_log(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path)
    (folder / "run.sqlite").unlink()
    refused(lambda: read_run(folder), "it has no run.sqlite", str(folder))
    (folder / "run.json").write_text("{}")
    refused(lambda: read_run(folder), "made before runs were kept in run.sqlite", str(folder))


def test_no_folder_and_a_file(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: read_run(tmp_path / "nowhere"), "no folder to read", "nowhere")
    refused(lambda: read_run(tmp_path / ("x" * 5000)), "no folder to read")
    folder = write_run(tmp_path)
    refused(lambda: read_run(folder / "run.sqlite"), "not a run's folder", str(folder))


@pytest.mark.parametrize("form", [FORMAT + 1, 0, 1])
def test_another_format(tmp_path: Path, refused: Refused, form: int) -> None:
    folder = write_run(tmp_path)
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute(f"PRAGMA user_version = {form}")
    refused(lambda: read_run(folder), f"format {form}", "run.sqlite")


@pytest.mark.parametrize("data", [b"", b"{", b"\0" * 9000, b"no database at all" * 999])
def test_a_file_that_is_no_log(tmp_path: Path, refused: Refused, data: bytes) -> None:
    folder = write_run(tmp_path)
    (folder / "run.sqlite").write_bytes(data)
    refused(lambda: read_run(folder), "run.sqlite")


@pytest.mark.parametrize(
    ("kind", "row", "field"),
    [
        ("utterance", utterance(0, "A"), "turn"),
        ("utterance", utterance(2, "A", response_time_s=-1), "response_time_s"),
        ("utterance", utterance(2, "A", emotion={"anger": 11}), "emotion.anger"),
        ("utterance", {"turn": 2, "speaker": "A"}, "text"),
        ("utterance", utterance(2, "A", confidence=1.5), "confidence"),
        ("mind", mind(2, "A", need_to_talk=11), "record.need_to_talk"),
        ("mind", mind(2, "A", insights=[5]), "record.insights.0"),
        ("verdict", {"turn": 2}, "consensus"),
        ("analysis", score(2, "A", 10.5), "coherence"),
        ("utterance", utterance(2, "A", heard_by="Bo"), "heard_by"),
        ("silenced", {"turn": 2, "step": "hear"}, "agent"),
        ("intervention", {"turn": 2, "say": "x"}, "do"),
    ],
)
def test_a_wrong_event_is_named(tmp_path: Path, refused: Refused, kind: str, row: dict[str, Any], field: str) -> None:
    folder = write_steered(tmp_path)
    write_events(folder, [(kind, row)])
    refused(lambda: read_run(folder), "run.sqlite, event ", f", field {field}")


def test_hostile_values_do_not_steer_the_terminal(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, [utterance(1, "A", response_time_s="\x1b[2J" * 50)])
    message = refused(lambda: read_run(folder), "response_time_s")
    assert "\x1b" not in message
    assert len(message) < 500


@pytest.mark.proof
def test_a_real_run_reads_back(tmp_path: Path) -> None:
    """What the writing side writes, this side reads: no field has another name or range."""
    import persimchat

    result = persimchat.simulate("Tea or coffee?", 3, model="offline", max_messages=4, out=tmp_path)
    record = read_run(Path(result.folder or ""))
    assert [(u.turn, u.speaker, u.text) for u in record.utterances] == [
        (u.turn, u.speaker, u.text) for u in result.utterances
    ]
    assert [(m.turn, m.agent, m.need_to_talk, m.emotion) for m in record.minds] == [
        (m.turn, m.agent, m.need_to_talk, m.emotion) for m in result.minds
    ]
    assert record.manifest.usage.total == result.totals
    assert record.notes == []
    written = run_json(record.path)
    assert record.manifest.settings.max_messages == written["settings"]["max_messages"] == 4


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


@pytest.mark.proof
@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
async def test_the_past_is_what_was_seen(tmp_path: Path, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {"model": "offline", "max_messages": 4, "seed": 3, **settings}
    seen = without_making([e async for e in persimchat.astream_events("Tea or coffee?", 3, out=tmp_path, **options)])
    stopped = end_of(seen)
    past = await asyncio.to_thread(past_of, Path(stopped.folder or ""))
    assert past == [as_a_folder_knows_it(event, stopped.turn) for event in seen]
    assert stopped_event(Path(stopped.folder or "")) == stopped


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
def test_more_than_there_is(tmp_path: Path) -> None:
    assert past_of(write_debate(tmp_path, 4), upto=99) == past_of(tmp_path / "20260101-120000-tea-0001")[:-1]


@pytest.mark.proof
def test_a_killed_run_breaks_off_where_it_did(tmp_path: Path) -> None:
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE][:-1]
    folder = write_run(tmp_path, None, minds, stop_reason=None, ended=None, usage={})
    drop(folder, "kind = 'turn_ended' AND turn = 3")
    turn = ["utterance", *["mind"] * 3, "turn_ended"]
    assert kinds(past_of(folder)) == ["started", *["mind"] * 3, *turn, *turn, "utterance", "mind", "mind"]


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


@pytest.mark.proof
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


@pytest.mark.proof
def test_a_damaged_event_is_named(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path)
    record = read_run(folder)
    break_seals(folder, "kind = 'mind' AND turn = 1")
    refused(lambda: list(past_events(record)), "(mind) does not match its seal")


@pytest.mark.proof
def test_a_run_that_goes_on_has_no_last_event(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reason"):
        stopped_event(write_run(tmp_path, stop_reason=None))


def test_words_are_made_before_they_count():
    assert belongs(3, 2, "natural_language")
    assert belongs(3, 3, "perception")
    assert not belongs(3, 3, "natural_language")
    assert not belongs(3, 2, "perception")
    assert belongs(1, 0, "emotion")  # the awakening
    assert not belongs(2, 0, "emotion")


async def _held(out: Path, **more: object) -> Path:
    settings = Settings(model="offline", max_messages=3, closing="off", **more)
    await events_of(run_simulation(make_scenario("Tea?", default_participants(2)), settings, out=out, run="run"))
    return out / "run"


async def _whole(folder: Path, turn: int) -> None:
    """Every request of an utterance is there, with an answer, and with the prompt of then."""
    found = await past_calls(folder, turn)
    rows = [row for row in calls_in(folder) if belongs(turn, row.turn, row.module)]
    assert len(found) == len(rows) > 0
    assert found[0].module == "natural_language"
    assert all(call.same and call.prompt and call.answer for call in found)
    bare = recorded_calls(folder, turn)
    assert [call.model_copy(update={"prompt": None, "same": None}) for call in found] == bare


@pytest.mark.proof
async def test_prompts_are_those_of_then_and_the_run_stays_as_it_is(tmp_path: Path):
    folder = await _held(tmp_path)
    before = besides(folder, "labels")
    for turn in (1, 2, 3):
        await _whole(folder, turn)
    assert "Tea?" in "".join(part.text for part in (await past_calls(folder, 2))[0].prompt or [])
    assert besides(folder, "labels") == before
    assert await past_calls(folder, 9) == []


@pytest.mark.proof
async def test_branches_and_resumed_runs_have_them_too(tmp_path: Path):
    folder = await _held(tmp_path)
    await events_of(branch_run(folder, 1, say=("Moderator", "And water?"), run="branch"))
    await _whole(tmp_path / "branch", 3)
    assert {call.module for call in recorded_calls(tmp_path / "branch", 1)} <= {"planning", "reflection"}  # after it
    await events_of(resume_run(folder, changes={"max_messages": 5}))
    await _whole(folder, 2)
    await _whole(folder, 5)


@pytest.mark.proof
async def test_a_baseline_is_replayed_from_its_beginning(tmp_path: Path):
    await _whole(await _held(tmp_path, mode="debate", baseline="group_chat"), 2)


@pytest.mark.proof
async def test_where_a_run_cannot_be_replayed_only_answers_are_told(tmp_path: Path):
    folder = await _held(tmp_path, checkpoints="memory")
    assert recorded_calls(folder, 2)
    with pytest.raises(InputError, match="checkpoints"):
        await past_calls(folder, 2)


async def test_a_run_whose_record_is_damaged_says_so(tmp_path: Path):
    folder = write_run(tmp_path)
    assert recorded_calls(folder, 1) == []
    put(folder, "asked_model", [{"turn": 1}])
    with pytest.raises(InputError):
        recorded_calls(folder, 1)
