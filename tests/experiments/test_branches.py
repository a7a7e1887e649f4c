"""Experiments whose cells are branches of a kept run: what they share, what they may change, and how they go on."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from run_files import drop
from small_experiment import Make

from persimchat.experiments import run_experiment
from persimchat.experiments.api import prepare
from persimchat.experiments.driver import check_cells
from persimchat.experiments.estimate import estimates
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan
from persimchat.experiments.run_cell import attempt_at, hold
from persimchat.personas.scenario import make_scenario
from persimchat.runs.api import collected
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

SAY = "Jarmila: I will never drink tea again."


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four utterances."""
    out = tmp_path_factory.mktemp("kept")
    scenario = make_scenario("Tea or coffee?", ["Jarmila", "Zeynep"])
    settings = Settings(model="offline", max_messages=4, closing="off", utterance_words=20)
    asyncio.run(collected(run_simulation(scenario, settings, out=out, run="origin")))
    return out / "origin"


def base(kept: Path, **more: Any) -> dict[str, Any]:
    return {"branch": {"run": str(kept), "at": 2, **more}}


@pytest.mark.proof
def test_a_cell_is_its_run_its_turn_and_what_it_changes(make: Make, kept: Path):
    def ids(**fields: Any) -> list[str]:
        return [each.cell.id for each in plan(make(**{"base": base(kept), "grid": {"seed": [0, 1]}, **fields})).cells]

    assert len({*ids()}) == 2
    assert ids() == ids(base={**base(kept), "settings": {"utterance_words": 20, "timeout_s": 3}})
    assert not {*ids()} & {*ids(base=base(kept, say=SAY))}
    assert not {*ids()} & {*ids(base=base(kept, at=1))}
    elsewhere = kept.with_name("moved")
    shutil.copytree(kept, elsewhere, dirs_exist_ok=True)
    assert ids() == ids(base={"branch": {"run": str(elsewhere), "at": 2}})


def test_settings_are_those_of_the_run(make: Make, kept: Path):
    first, second = plan(make(base=base(kept), grid={"utterance_words": [20, 50]})).cells
    assert [first.settings.utterance_words, second.settings.utterance_words] == [20, 50]
    assert first.settings.max_messages == 4
    assert first.cell.branch == {"run": "origin", "at": 2, "say": None}


def test_the_estimate_is_of_what_is_not_shared(make: Make, kept: Path):
    whole = plan(make(base=base(kept, at=0), grid={}))
    half = plan(make(base=base(kept), grid={}))
    (all_of,), (rest,) = estimates(whole).values(), estimates(half).values()
    assert rest.utterances == 2
    assert 0.3 * all_of.total.calls < rest.total.calls < 0.7 * all_of.total.calls


def test_what_a_level_says(make: Make, kept: Path):
    """With and without one's words; one level a participant."""
    variants = {"Silent": {"say": ""}, "Said": {}, "Other": {"say": "Zeynep: Me neither."}}
    found = plan(make(base=base(kept, say=SAY), grid={"variant": variants})).cells
    said = [each.cell.branch and each.cell.branch["say"] for each in found]
    assert said == [None, ["Jarmila", "I will never drink tea again."], ["Zeynep", "Me neither."]]
    each = {"who": {"each": "participants", "none": "nobody", "say": "{participant}: No."}}
    assert len(plan(make(base=base(kept), grid=each)).cells) == 3


WRONG: list[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ({"at": 5}, {}, ("has 4 utterances", "there is no turn 5", "base")),
    ({"at": 4}, {}, ("message limit is 4",)),
    ({"say": "Nobody At All: Hm."}, {}, ("Nobody At All", "participant")),
    ({"say": "Hm."}, {}, ("the speaker or the words are missing", "base.branch")),
    ({}, {"embedding": ["lexical", "minilm"]}, ("cell (embedding: minilm)", "cannot change embedding", "grid")),
    ({}, {"method": ["single_agent"]}, ("cell (method: single_agent)", "baseline=single_agent")),
    ({}, {"utterance_words": [0]}, ("cell (utterance_words: 0)", "utterance_words")),
    ({}, {"order": ["reversed"]}, ("cell (order: reversed)", "those of its run")),
    ({}, {"wording": {"other": "Cocoa?"}}, ("cell (wording: other)", "those of its run")),
    ({}, {"variant": {"A": {"scenario": {"rules": ["x"]}}}}, ("cell (variant: A)", "those of its run")),
]


@pytest.mark.parametrize(("branch", "grid", "words"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_what_cannot_be_branched_is_refused(
    make: Make, kept: Path, refused: Refused, branch: dict[str, Any], grid: dict[str, Any], words: Any
):
    refused(lambda: plan(make(base=base(kept, **branch), grid=grid)), *words)


def test_a_run_without_its_checkpoints_is_refused(make: Make, kept: Path, tmp_path: Path, refused: Refused):
    bare = tmp_path / "bare"
    shutil.copytree(kept, bare)
    with sqlite3.connect(bare / "run.sqlite") as database:
        database.execute("DROP TABLE checkpoints")
    refused(lambda: plan(make(base=base(bare), grid={})), "kept no checkpoints", "base.branch.run")


@pytest.mark.long
@pytest.mark.proof
def test_cells_share_the_past_and_differ_after_it(make: Make, kept: Path, tmp_path: Path):
    grid = {"variant": {"Silent": {}, "Said": {"say": SAY}}, "seed": [3, 4]}
    wanted = make(base=base(kept), grid=grid, limits={"cells": 4})
    before = {path: path.read_bytes() for path in kept.glob("*.json*")}
    results = run_experiment(wanted, tmp_path)
    assert results.outcome is not None and len(results.outcome.done) == 4 and not results.outcome.failed
    assert {path: path.read_bytes() for path in kept.glob("*.json*")} == before
    shared = [(said.speaker, said.text) for said in read_run(kept).utterances[:2]]
    for cell, standing in results.tables.standings.items():
        assert standing.folder is not None and standing.folder.name == cell
        record = read_run(standing.folder)
        assert [(said.speaker, said.text) for said in record.utterances[:2]] == shared
        assert len(record.utterances) == 4
    said = {row["variant"]: row["cell"] for row in results.rows("cells")}
    place = Place(results.folder)
    assert read_run(place.runs / said["Said"]).utterances[2].text == "I will never drink tea again."
    assert read_run(place.runs / said["Silent"]).utterances[2].text != "I will never drink tea again."
    assert not any(row["stale"] for row in results.rows("cells"))
    again = run_experiment(wanted, tmp_path).outcome
    assert again is not None and again.made == 0


@pytest.mark.proof
def test_a_branch_that_was_killed_goes_on(make: Make, kept: Path, tmp_path: Path):
    """Killed before it asked a model it begins again; later it is resumed; a budget that is used up can be raised."""
    wanted = make(base=base(kept), grid={})
    (planned,) = plan(wanted).cells
    place = Place(tmp_path / "small")
    torn = place.runs / f"{planned.cell.id}-00"
    shutil.copytree(kept, torn)
    drop(torn, "kind IN ('ended', 'asked_model')")
    with sqlite3.connect(torn / "run.sqlite") as database:
        database.execute("DROP TABLE checkpoints")
    asyncio.run(hold(attempt_at(planned, place, {"budget_calls": 5})))
    assert place.standing(planned.cell.id).status == "budget"
    assert not torn.exists()
    outcome = run_experiment(wanted, tmp_path).outcome
    assert outcome is not None and outcome.done == {planned.cell.id}
    assert [one.resumed for one in Place(tmp_path / "small").told() if one.status == "started"] == [False, True]


def test_a_turn_without_a_checkpoint_is_refused_before_the_first_call(
    make: Make, kept: Path, tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
):
    from persimchat.runs.run import branch
    from persimchat.runs.run.resume_input import no_turn

    async def missing(*_: Any, **__: Any) -> Any:
        raise no_turn(2, "origin", 4)

    monkeypatch.setattr(branch, "state_at", missing)
    prepared = prepare(make(base=base(kept), grid={}), tmp_path)
    refused(lambda: asyncio.run(check_cells(prepared.plan)), "cannot continue after utterance 2", "base.branch")
