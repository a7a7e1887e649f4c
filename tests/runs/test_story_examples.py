"""The example stories as runs: calls as estimated, the same bytes again, replays equal, and different winners."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_files import read_records, run_json

from persimchat.personas.scenario import load_scenario
from persimchat.runs.reports.estimate import estimate
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

CALLS = {"ferries": 471, "thinkers": 498, "festival": 415, "museum": 258}


async def held(name: str, root: Path, out: Path, seed: int = 1) -> Path:
    scenario = load_scenario(root / "examples" / "stories" / f"{name}.yaml")
    settings = Settings(**{**scenario.settings, "model": "offline", "seed": seed})
    async for _ in run_simulation(scenario, settings, out=out, run=name):
        pass
    return out / name


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CALLS)
async def test_calls_are_as_estimated_and_a_replay_is_equal(name: str, root: Path, tmp_path: Path) -> None:
    folder = await held(name, root, tmp_path)
    scenario = load_scenario(root / "examples" / "stories" / f"{name}.yaml")
    found = estimate(scenario, Settings(**{**scenario.settings, "model": "offline"}))
    rows, said = read_records(folder / "calls.jsonl"), read_records(folder / "transcript.jsonl")
    again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
    assert (found.total.calls, len(rows) - again) == (CALLS[name], CALLS[name])
    assert found.utterances == len(said)
    assert run_json(folder)["stop_reason"] == "settled"
    replay = Replay(folder)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.same, replay.comparison.parts


@pytest.mark.timeout(400)
async def test_a_seed_gives_the_same_story_and_other_seeds_other_winners(root: Path, tmp_path: Path) -> None:
    winners = set()
    for seed in (1, 2, 4):
        folder = await held("ferries", root, tmp_path / str(seed), seed)
        winners |= set(run_json(folder)["outcome"]["winners"])
    assert len(winners) > 1
    again = await held("ferries", root, tmp_path / "again", 4)
    for name in ("transcript.md", "story.jsonl", "minds.jsonl"):
        assert (folder / name).read_bytes() == (again / name).read_bytes()
