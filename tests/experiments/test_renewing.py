"""`--renew`: stale conversations are held again, and none is lost before the new one is complete."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from run_folders import write_run

from persimchat.app.cli import main
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import prepare
from persimchat.experiments.engine import LocalEngine
from persimchat.experiments.holding import Attempt
from persimchat.experiments.place import Place, stale, stale_cells
from persimchat.experiments.plan import plan
from persimchat.prompts import prompt_hash
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import ModelError

Make = Callable[..., Experiment]


def other_prompts(folder: Path) -> None:
    """Have a run say that it was held with other prompts."""
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**manifest, "prompt_hash": "0" * 64}), encoding="utf-8")


def run_like(place: Place, name: str, run: str) -> Path:
    folder = place.runs / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"run": run}), encoding="utf-8")
    return folder


def test_the_new_run_takes_the_place_of_the_old_one(tmp_path: Path):
    place = Place(tmp_path)
    run_like(place, "c1", "old")
    run_like(place, "c1-00", "new")
    place.replace("c1")
    assert [path.name for path in place.runs.iterdir()] == ["c1"]
    assert json.loads((place.runs / "c1" / "run.json").read_text()) == {"run": "new"}
    place.replace("c1")
    assert [path.name for path in place.runs.iterdir()] == ["c1"]


def test_killed_between_the_two_the_new_run_is_found_and_the_old_one_removed(tmp_path: Path):
    place = Place(tmp_path)
    run_like(place, ".c1.replaced", "old")
    run_like(place, "c1-00", "new")
    with place.driven():
        assert [path.name for path in place.runs.iterdir()] == ["c1-00"]
        assert place.named("c1") == place.runs / "c1"


def test_what_a_baseline_does_not_heed_makes_nothing_stale(make: Make, tmp_path: Path):
    """Its id leaves such settings out, though its run.json has them."""
    grid = {"method": ["single_agent"], "memory_tokens": [444]}
    results = run_experiment(make(grid=grid), tmp_path)
    assert [row["stale"] for row in results.rows("cells")] == [None]


def test_how_to_prune_makes_nothing_stale_where_nothing_is_left_out(make: Make, tmp_path: Path):
    """The id of a cell without pruning leaves the group out, though its run.json has it."""
    wanted = make(
        base={"topic": "Tea?", "settings": {"pruning": {"method": "embedding"}}}, grid={"pruning.lambda": [0.0, 0.6]}
    )
    for each in plan(wanted).cells:
        folder = write_run(tmp_path, run=each.cell.id, settings=each.settings.model_dump(mode="json", by_alias=True))
        held = read_manifest(folder)
        assert not stale(each.cell, held, held.prompt_hash)
        other = {**each.cell.settings, "pruning": {"method": "length", "lambda": 0.9}}
        told = stale(each.cell.model_copy(update={"settings": other}), held, held.prompt_hash)
        assert told == "the default of pruning has changed"


@pytest.mark.proof
def test_stale_conversations_are_held_again(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    wanted = make()
    first = run_experiment(wanted, tmp_path)
    place = Place(first.folder)
    old, *others = [cell.id for cell in first.tables.locked.cells]
    other_prompts(place.runs / old)
    before = {cell: read_manifest(place.runs / cell).run for cell in (old, *others)}
    monkeypatch.chdir(tmp_path)
    run = ["experiment", "run", str(tmp_path / "small.yaml"), "--out", str(tmp_path), "--yes"]
    assert main(run) == 0
    told = capsys.readouterr().out
    assert "1 of them stale (it was held with other prompts): they are kept; --renew holds them again." in told
    assert "4 of 4 done, 0 calls" in told
    assert main([*run, "--renew"]) == 0
    told = capsys.readouterr().out
    assert "3 of 4 done, 1 to hold." in told and "they are held again." in told
    after = {cell: read_manifest(place.runs / cell).run for cell in (old, *others)}
    assert {cell for cell in after if after[cell] != before[cell]} == {old}
    assert {path.name for path in place.runs.iterdir()} == {old, *others}
    cells = {each.cell.id: each.cell for each in plan(wanted).cells}
    assert not stale_cells(cells.values(), {cell: place.standing(cell) for cell in cells})


@pytest.mark.proof
def test_nothing_is_lost_if_it_fails(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The old conversation stays, complete; what the new one has is gone on with the next time."""
    wanted = make(grid={}, limits={"retries": 0})
    results = run_experiment(wanted, tmp_path)
    (cell,) = results.tables.locked.cells
    place = Place(results.folder)
    other_prompts(place.runs / cell.id)
    held = LocalEngine.hold

    async def failing(self: LocalEngine, attempt: Attempt) -> None:
        await held(self, replace(attempt, own={"budget_calls": 10}))
        raise ModelError("the model is gone", model="m")

    monkeypatch.setattr(LocalEngine, "hold", failing)
    failed = run_experiment(wanted, tmp_path, renew=True)
    assert failed.outcome is not None and failed.outcome.failed.keys() == {cell.id}
    standing = place.standing(cell.id)
    assert standing.status == "done" and standing.manifest is not None
    assert stale(cell, standing.manifest, prompt_hash())
    assert place.standing(cell.id, anew=True).status == "budget"
    monkeypatch.setattr(LocalEngine, "hold", held)
    assert prepare(wanted, tmp_path, renew=True).standings[cell.id].status == "budget"
    outcome = run_experiment(wanted, tmp_path, renew=True).outcome
    assert outcome is not None and outcome.done == {cell.id}
    assert [path.name for path in place.runs.iterdir()] == [cell.id]
    assert not prepare(wanted, tmp_path).stale
