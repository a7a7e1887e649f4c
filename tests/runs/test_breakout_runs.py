"""Breakouts, and stories whose minds hear, as runs: folder, past, replay, resume, branch, estimate, exports."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from minds_told import breakouts
from run_files import read_records, run_json

from persimchat.personas.scenario import load_story
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Happened, MindChanged, Stopped, TurnEnded, Uttered
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.diff import compare
from persimchat.runs.reports.estimate import estimate
from persimchat.runs.reports.export import seen_by
from persimchat.runs.reports.report import report_html
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

RUN = "a-workshop"
COMPARED = ("transcript.jsonl", "transcript.md", "story.jsonl", "minds.jsonl")
STAGES: list[dict[str, Any]] = [
    {"kind": "plenary", "utterances": 2},
    {"kind": "rooms", "split": {"size": 2}, "utterances": 2, "report": True},
    {"kind": "plenary", "utterances": 3},
]
WORKSHOP = breakouts(4, STAGES)


def settings_of(scenario: Scenario, **more: Any) -> Settings:
    given = {"model": "offline", "seed": 1, "rounds": 1, "cognition": "lean", **more}
    return Settings(**{**scenario.settings, **given})


async def begin(out: Path, scenario: Scenario = WORKSHOP, control: Control | None = None, **more: Any) -> list[Event]:
    run = run_simulation(scenario, settings_of(scenario, **more), out=out, run=RUN, control=control)
    return [event async for event in run]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The workshop, held once, and its events."""
    out = tmp_path_factory.mktemp("held")
    return out / RUN, asyncio.run(begin(out))


@pytest.fixture
def folder(held: tuple[Path, list[Event]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(held[0], tmp_path / RUN))


def test_a_folder_tells_of_rooms_and_of_minds_after_each_turn(held: tuple[Path, list[Event]]) -> None:
    folder, events = held
    assert (run_json(folder)["stop_reason"], run_json(folder)["turn"]) == ("finished", 9)
    happened = read_records(folder / "story.jsonl")
    assert [one["do"] for one in happened] == ["stage", "stage", "met", "met", *["summary"] * 4, "stage"]
    minds = read_records(folder / "minds.jsonl")
    assert [mind["turn"] for mind in minds[::4]] == [0, 1, 2, 4, 6, 7, 8, 9]
    assert all(mind["percept"] for mind in minds[4:]), "everybody has heard something in each turn"
    read = (folder / "transcript.md").read_text(encoding="utf-8")
    assert "## Round 1, rooms" in read
    assert "*Room 1: Ada Lind and" in read
    assert isinstance(events[-1], Stopped)


def test_the_past_is_told_as_it_happened(held: tuple[Path, list[Event]]) -> None:
    folder, events = held

    def told(all_: Any) -> list[Any]:
        shown = [event for event in all_ if isinstance(event, (Uttered, Happened, MindChanged, TurnEnded))]
        return [e.model_copy(update={"totals": None}) if isinstance(e, TurnEnded) else e for e in shown]

    assert told(past_events(read_run(folder, whole=True))) == told(events)


@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
async def test_calls_are_those_estimated(cognition: str, tmp_path: Path) -> None:
    for number, story in enumerate((WORKSHOP, load_story())):
        out = tmp_path / str(number)
        await begin(out, story, cognition=cognition)
        said = read_records(out / RUN / "transcript.jsonl")
        again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
        found = estimate(story, settings_of(story, cognition=cognition))
        assert len(read_records(out / RUN / "calls.jsonl")) - again == found.total.calls
        assert len(said) == found.utterances
        expected = {"full": 391, "compact": 219, "lean": 163}[cognition]
        assert found.total.calls == expected or story is WORKSHOP


async def test_a_replay_is_the_same_byte_for_byte(folder: Path) -> None:
    replay = Replay(folder)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.same, replay.comparison.parts
    assert replay.comparison.prompts == []


@pytest.mark.parametrize("turn", [1, 4, 6, 8])
async def test_a_workshop_that_was_stopped_ends_as_if_it_had_not_been(
    turn: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    control = Control()
    run = run_simulation(WORKSHOP, settings_of(WORKSHOP), out=tmp_path, run=RUN, control=control)
    async for event in run:
        if isinstance(event, Uttered) and event.turn == turn:
            control.stop()
    (tmp_path / RUN / "minds.jsonl").unlink()
    async for _ in resume_run(tmp_path / RUN):
        pass
    for name in COMPARED:
        then, now = ((at / name).read_bytes().split(b"\n") for at in (held[0], tmp_path / RUN))
        assert [line for line in now if line and b"The moderator ended" not in line] == [one for one in then if one], (
            name
        )


@pytest.mark.parametrize("calls", [3, 7, 14, 20, 33, 40])
async def test_a_workshop_whose_budget_is_used_up_anywhere_goes_on_from_there(
    calls: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    events = await begin(tmp_path, budget_calls=calls, concurrent=False)
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "budget"
    async for _ in resume_run(tmp_path / RUN, changes={"budget_calls": 1000}):
        pass
    for name in ("transcript.jsonl", "story.jsonl", "minds.jsonl"):
        assert (tmp_path / RUN / name).read_bytes() == (held[0] / name).read_bytes(), name


async def test_a_workshop_goes_on_with_more_rounds_and_a_branch_with_other_words(folder: Path, tmp_path: Path) -> None:
    events = [event async for event in resume_run(folder, changes={"rounds": 2})]
    assert isinstance(events[-1], Stopped)
    assert (events[-1].reason, events[-1].turn) == ("finished", 18)
    said = read_records(folder / "transcript.jsonl")
    async for _ in branch_run(folder, 1, say=(said[1]["speaker"], "I would rather have a bakery."), run="branch"):
        pass
    made = read_records(tmp_path / "branch" / "transcript.jsonl")
    assert (made[0], made[1]["text"]) == (said[0], "I would rather have a bakery.")
    assert "heard_by" not in made[1]
    a, b = (read_run(path, whole=True) for path in (folder, tmp_path / "branch"))
    assert not compare(a, b).equal
    replay = Replay(tmp_path / "branch")
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.same, replay.comparison.parts


async def test_the_middle_of_a_lockstep_cannot_be_branched_and_a_plenary_s_words_are_made_again(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot continue after utterance 3"):
        async for _ in branch_run(folder, 3):
            pass
    with pytest.raises(InputError, match="all speak at once there"):
        async for _ in branch_run(folder, 2, say=("Ada Lind", "Me first.")):
            pass
    said = read_records(folder / "transcript.jsonl")
    async for _ in regenerate_run(folder, 8, run="again"):
        pass
    made = read_records(tmp_path / "again" / "transcript.jsonl")
    assert made[7]["speaker"] == said[7]["speaker"]


def test_an_export_for_somebody_has_its_own_room_alone(held: tuple[Path, list[Event]]) -> None:
    record = read_run(held[0], whole=True)
    for name in record.manifest.names:
        own = seen_by(record, name)
        assert [
            one.turn for one in own.utterances if one.heard_by is not None and name not in [one.speaker, *one.heard_by]
        ] == []
        assert len(own.utterances) == 2 + 2 + 3
        assert [one.speaker for one in own.happenings if one.do == "summary"] == [name]
        assert sum(one.do == "met" for one in own.happenings) == 2, "all know who is in which room"


def test_a_report_shows_the_rooms(held: tuple[Path, list[Event]]) -> None:
    assert "Room 2: " in report_html(read_run(held[0], whole=True))
