"""The experiments on pruning: cases, what each costs, and that each is planned, held and reported at a small size."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from persimchat.app.cli import app
from persimchat.experiments import Experiment, arun_experiment
from persimchat.experiments.plan import plan

ROOT = Path(__file__).parents[2]
REAL = "pruning_real"
"""Its model is SmolLM2; `make real-pruning` holds it."""
EXAMPLES = sorted(path for path in (ROOT / "examples/experiments").glob("pruning_*.yaml") if path.stem != REAL)
BIG = [path for path in EXAMPLES if path.stem != "pruning_small"]
CASES = ROOT / "examples/studies/cases.yaml"
HELD = {
    "pruning_blocks": 1_400,
    "pruning_decoding": 1_200,
    "pruning_fill": 2_600,
    "pruning_lambda": 1_800,
    "pruning_methods": 4_200,
    "pruning_order": 1_200,
    "pruning_query": 2_000,
    "pruning_revision": 2_200,
}
"""Conversations; those that λ = 0 makes the same are held once."""


def _ends(levels: Any) -> Any:
    """The first two levels of an axis and the last."""
    if isinstance(levels, dict):
        return {name: levels[name] for name in _ends(list(levels))}
    return levels if len(levels) <= 3 else [*levels[:2], levels[-1]]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An example with two cases, two seeds and two utterances, offline and scored by similarity."""
    monkeypatch.setenv("PERSIMCHAT_MODEL", "offline")
    monkeypatch.setenv("PERSIMCHAT_PRUNING__METHOD", "embedding")

    def make(path: Path, *, fewer: bool = False) -> Path:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        given["tasks"] = {"file": str(CASES), "sample": 2}
        given["grid"]["seed"] = [0, 1]
        given["base"]["settings"] |= {"max_messages": 2, "utterance_words": 8}
        methods = given["grid"].get("pruning.method", [])
        if "attention" in methods:
            methods.remove("attention")
        if fewer:
            given["grid"] = {name: _ends(levels) for name, levels in given["grid"].items()}
        own = tmp_path / path.name
        own.write_text(yaml.safe_dump(given, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return own

    return make


def test_there_are_twenty_cases_of_two_people_with_memories(tmp_path: Path):
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump({"name": "x", "base": {}, "tasks": {"file": str(CASES)}}), encoding="utf-8")
    cells = plan(Experiment.load(path)).cells
    assert len(cells) == 20
    people = Counter[str]()
    for cell in cells:
        scenario = cell.scenario
        assert len(scenario.participants) == 2
        assert len(scenario.rules) == 2 and scenario.rules[0].startswith("The place is")
        assert len(scenario.relationships) == 1
        for persona in scenario.participants:
            people[persona.name] += 1
            assert len(persona.memories) == 10
            assert len(persona.traits) == 3 and persona.social_goals and persona.characteristics
    assert len(people) == 20 and set(people.values()) == {2}
    assert len({cell.scenario.topic for cell in cells}) == 20
    assert len({tie.type for cell in cells for tie in cell.scenario.relationships}) >= 10


def test_every_example_says_what_it_costs():
    assert {path.stem for path in BIG} == HELD.keys()
    for path in BIG:
        head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        assert "requests" in " ".join(head) and "million tokens in" in " ".join(head)
        assert head[-1] == f"# persimchat experiment estimate examples/experiments/{path.name}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_planned_at_a_small_size(path: Path, small: Any):
    made = plan(Experiment.load(small(path)))
    assert {cell.settings.cognition for cell in made.cells} == {"fixed"}
    assert {cell.settings.pattern for cell in made.cells} == {"round_robin"}
    assert len({cell.cell.task for cell in made.cells}) == 2


@pytest.mark.proof
@pytest.mark.parametrize("path", BIG, ids=lambda path: path.stem)
def test_the_estimate_says_what_the_example_costs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PERSIMCHAT_MODEL", "offline")
    told = CliRunner().invoke(app, ["experiment", "estimate", str(path), "--out", str(tmp_path), "--json"])
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert data["cells"] == HELD[path.stem]
    head = path.read_text(encoding="utf-8").partition("\nname:")[0]
    assert f"{data['in_all']['calls']:,} requests" in head
    assert f"{round(data['in_all']['input_tokens'] / 1e6)} million tokens in" in head


@pytest.mark.proof
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_each_example_runs_offline_at_a_small_size(path: Path, small: Any, tmp_path: Path):
    results = await arun_experiment(Experiment.load(small(path, fewer=True)), tmp_path / "results")
    assert results.outcome is not None and not results.outcome.failed
    measured = {row["measure"] for row in results.rows("diversity")}
    assert {"sim", "dist_1", "dist_2", "dist_3"} <= measured
    told = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "Another model, other cases: compare directions, not values." in told
