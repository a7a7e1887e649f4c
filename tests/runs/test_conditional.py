"""A debate's answer keeps what it hangs on, with everybody's position and words beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_files import read_records, run_json

from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.report import report_html
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

QUESTION = "Should our town close its centre to cars?"


async def debate(out: Path, seed: int, **more: Any) -> Path:
    settings = Settings(**{"model": "offline", "mode": "debate", "answer_format": "yesno", "seed": seed, **more})
    async for _ in run_simulation(make_scenario(QUESTION, default_participants(3)), settings, out=out, run="run"):
        pass
    return out / "run"


async def test_everybody_said_yes_with_conditions(tmp_path: Path) -> None:
    folder = await debate(tmp_path, 2)
    conclusion = run_json(folder)["conclusion"]
    assert (conclusion["answer"], conclusion["consensus"]) == ("yes", True)
    assert conclusion["conditional"] == "nobody named them"
    names = [person.name for person in default_participants(3)]
    assert [one["agent"] for one in conclusion["positions"]] == names
    assert all("a yes with conditions" in one["position"] for one in conclusion["positions"])
    said = {u.speaker: u.text for u in read_run(folder).utterances}
    assert [one["words"] for one in conclusion["positions"]] == [said[name] for name in names]
    assert "nobody holds back" not in conclusion["reasoning"]
    verdict = read_records(folder / "verdicts.jsonl")[-1]
    assert verdict["conditional"] == "nobody named them"

    text = (folder / "transcript.md").read_text(encoding="utf-8")
    assert "**Conditions:** nobody named them" in text
    assert all(f"- {name}: " in text for name in names)
    record = read_run(folder)
    page = report_html(record)
    assert "<b>Conditions:</b> nobody named them" in page
    assert "Consensus, under conditions" in page
    assert page.count(" messages): ") + page.count(" message): ") == len(names)
    *_, stopped = past_events(record)
    assert stopped.event == "stopped"
    assert stopped.conclusion is not None
    assert stopped.conclusion.model_dump() == conclusion
    export_runs([folder], tmp_path / "tables", "jsonl")
    (row,) = (tmp_path / "tables" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["conditional"] == "nobody named them"
    assert list(json.loads(row)["standings"]) == names


@pytest.mark.proof
async def test_conditions_of_some_are_theirs(tmp_path: Path) -> None:
    found = 0
    for seed in range(10):
        conclusion = run_json(await debate(tmp_path / str(seed), seed))["conclusion"]
        stands = conclusion.get("positions", [])
        holders = [one["agent"] for one in stands if one["position"].endswith("a yes with conditions.")]
        if 0 < len(holders) < 3:
            found += 1
            assert conclusion["conditional"] == f"nobody named them ({' and '.join(holders)})"
    assert found


async def test_without_conditions_nothing_is_written(tmp_path: Path) -> None:
    folder = await debate(tmp_path, 0, max_messages=2, answer_format="free")
    assert "conditional" not in (folder / "verdicts.jsonl").read_text(encoding="utf-8")
    assert run_json(folder)["conclusion"].keys() == {"answer", "consensus", "reasoning", "supporters", "by"}


@pytest.mark.proof
@pytest.mark.parametrize("baseline", ["reconcile", "mad_judge"])
async def test_votes_are_counted_with_their_conditions(baseline: str, tmp_path: Path) -> None:
    folder = await debate(tmp_path, 1, baseline=baseline)
    conclusion = run_json(folder)["conclusion"]
    assert conclusion["answer"] == "yes"
    assert conclusion["conditional"] == "a yes with conditions"
    positions = {one["agent"]: one["position"] for one in conclusion["positions"]}
    assert [positions[name] for name in conclusion["supporters"]] == ["yes (a yes with conditions)"] * 2
