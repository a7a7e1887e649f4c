"""The requests of a past utterance: its recorded answers, and its prompts made again word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.calls import read_calls
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.past_calls import belongs, past_calls, recorded_calls
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


def test_words_are_made_before_they_count():
    assert belongs(3, 2, "natural_language")
    assert belongs(3, 3, "perception")
    assert not belongs(3, 3, "natural_language")
    assert not belongs(3, 2, "perception")
    assert belongs(1, 0, "emotion")  # the awakening
    assert not belongs(2, 0, "emotion")


async def _held(out: Path, **more: object) -> Path:
    settings = Settings(model="offline", max_messages=3, closing="off", **more)
    async for _ in run_simulation(make_scenario("Tea?", default_participants(2)), settings, out=out, run="run"):
        pass
    return out / "run"


async def _whole(folder: Path, turn: int) -> None:
    """Every request of an utterance is there, with an answer, and with the prompt of then."""
    found = await past_calls(folder, turn)
    rows = [row for row in read_calls(folder) if belongs(turn, row.turn, row.module)]
    assert len(found) == len(rows) > 0
    assert found[0].module == "natural_language"
    assert all(call.same and call.prompt and call.answer for call in found)
    bare = recorded_calls(folder, turn)
    assert [call.model_copy(update={"prompt": None, "same": None}) for call in found] == bare


@pytest.mark.proof
async def test_prompts_are_those_of_then_and_the_run_stays_as_it_is(tmp_path: Path):
    folder = await _held(tmp_path)
    names = ("run.json", "transcript.jsonl", "calls.jsonl", "minds.jsonl")
    before = [(folder / name).read_bytes() for name in names]
    for turn in (1, 2, 3):
        await _whole(folder, turn)
    assert "Tea?" in "".join(part.text for part in (await past_calls(folder, 2))[0].prompt or [])
    assert [(folder / name).read_bytes() for name in names] == before
    assert await past_calls(folder, 9) == []


@pytest.mark.proof
async def test_branches_and_resumed_runs_have_them_too(tmp_path: Path):
    folder = await _held(tmp_path)
    async for _ in branch_run(folder, 1, say=("Moderator", "And water?"), run="branch"):
        pass
    await _whole(tmp_path / "branch", 3)
    assert {call.module for call in recorded_calls(tmp_path / "branch", 1)} <= {"planning", "reflection"}  # after it
    async for _ in resume_run(folder, changes={"max_messages": 5}):
        pass
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


async def test_a_run_without_a_record_says_so(tmp_path: Path):
    assert recorded_calls(tmp_path, 1) == []
    with pytest.raises(InputError):
        (tmp_path / "calls.jsonl").write_text("{]\n{}\n", encoding="utf-8")
        recorded_calls(tmp_path, 1)
