"""Stories that differ in one private word or one choice: who else wins, and where the characters end, pair by pair."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from experiment_tables import rows
from recorded_stories import AINO, OLLE, TUULI, VEIKKO, happened, recorded

from persimchat.evaluation.stories import story_in
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.file import Compare
from persimchat.experiments.needs import estimates
from persimchat.experiments.plan import Cell, plan
from persimchat.experiments.report_story_effects import effects
from persimchat.experiments.story_ends import ends
from persimchat.experiments.tables import Tables
from persimchat.personas.scenario import load_story
from persimchat.runs.folder.reading import read_run
from persimchat.runs.result import collected
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

Make = Callable[..., Experiment]
EXAMPLES = Path(__file__).parents[2] / "examples/experiments"


def test_where_a_story_ends(tmp_path: Path) -> None:
    near = {VEIKKO: 13, TUULI: 20, OLLE: 6}
    record = recorded(
        tmp_path,
        happenings=[
            happened("standing", AINO, round=0, closeness={VEIKKO: 10}, beliefs=[60, 10, 10], supports=""),
            happened("standing", AINO, closeness=near, beliefs=[51, 15, 16], supports="", influence=30),
        ],
        outcome={"winners": [TUULI], "elected": [TUULI], "open": {TUULI: 2, AINO: 1}, "closed": {VEIKKO: 1}},
    )
    story = story_in(record)
    assert story is not None
    found = [(one.measure, one.unit, one.who, one.value) for one in ends(record, story, cast(Cell, None))]
    assert found == [
        ("belief", "belief", f"{AINO}: The company should be sold.", 51),
        ("belief", "belief", f"{AINO}: Veikko should lead it.", 15),
        ("belief", "belief", f"{AINO}: Tuuli should lead it.", 16),
        *(("closeness", "pair", f"{AINO} → {name}", score) for name, score in near.items()),
        *(("open_ballots", "candidate", name, n) for name, n in ((AINO, 1), (VEIKKO, 0), (TUULI, 2))),
        *(("closed_ballots", "candidate", name, n) for name, n in ((AINO, 0), (VEIKKO, 1), (TUULI, 0))),
    ]


def compared(won: dict[str, list[str]], belief: dict[str, list[float]], **wanted: Any) -> list[Any]:
    """The tables on an axis `word`: by level, who won and how strong one belief was, seed by seed."""
    cells, measures = [], []
    for level, winners in won.items():
        for seed, winner in enumerate(winners):
            cell = Cell(id=f"{level}{seed}", axes={"word": level, "seed": seed}, topic="", settings={})
            cells.append(cell)
            values = {("won", who): float(who == winner) for who in ("R", "S")}
            values["belief", "R: I lead."] = belief[level][seed]
            for (measure, who), value in values.items():
                row = {"cell": cell.id, "measure": measure, "who": who, "value": value}
                measures.append(SimpleNamespace(model_dump=row.copy))
    axes = {"word": list(won), "seed": [0, 1, 2, 3]}
    found: Any = SimpleNamespace(
        experiment=SimpleNamespace(compare=[Compare(by="word", **wanted)]),
        locked=SimpleNamespace(axes=axes, cells=cells),
        rows={"measures": measures},
    )
    return list(effects(cast(Tables, found)))


def test_pairs_are_equal_in_seed_and_counted_one_by_one() -> None:
    winners, end = compared(
        {"as it was": ["R", "R", "S", "S"], "another": ["R", "S", "S", "R"]},
        {"as it was": [50, 52, 54, 56], "another": [51, 54, 57, 60]},
        reference="as it was",
    )
    assert winners.caption == "How often another wins, by word"
    ((label, pairs, other, share, interval),) = winners.rows
    assert (label, pairs, other, share) == ("another, as it was", 4, 2, 0.5)
    assert interval == pytest.approx((0.150, 0.850), abs=5e-4), "Wilson's, of 2 in 4"
    ((label, of, who, pairs, second, difference, interval),) = end.rows
    assert (label, of, who, pairs) == ("another − as it was", "belief", "R: I lead.", 4)
    assert (second, difference) == (53, 2.5)
    assert interval == pytest.approx((0.446, 4.554), abs=5e-4), "Student's: 2.5 ± 3.182·1.291/2"


def test_without_values_there_is_no_table() -> None:
    assert compared({"as it was": [], "another": []}, {"as it was": [], "another": []}) == []


# ── choices in files ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small story, held once."""
    out, story = tmp_path_factory.mktemp("kept"), load_story()
    settings = Settings(**{**story.settings, "model": "offline", "seed": 1})
    asyncio.run(collected(run_simulation(story, settings, out=out, run="origin")))
    return out / "origin"


def base(kept: Path, **more: Any) -> dict[str, Any]:
    return {"branch": {"run": str(kept), **more}}


@pytest.mark.proof
def test_a_choice_is_a_part_of_the_cell(make: Make, kept: Path) -> None:
    variants = {"own": {"choose": ""}, "Olle": {}, "nobody": {"choose": "Tuuli=nobody"}}
    wanted = make(base=base(kept, at=2, choose="Tuuli=Olle"), grid={"variant": variants}, measures={})
    cells = [each.cell.branch for each in plan(wanted).cells]
    assert cells == [
        {"run": "origin", "at": 2, "say": None},
        {"run": "origin", "at": 2, "say": None, "choose": ["Tuuli", "Olle"]},
        {"run": "origin", "at": 2, "say": None, "choose": ["Tuuli", "nobody"]},
    ]
    last = plan(make(base=base(kept, choose="Tuuli=Olle"), grid={}, measures={})).cells[0]
    assert last.cell.branch and last.cell.branch["at"] == 8, "the last choice"
    (found,) = estimates(plan(make(base=base(kept, at=8), grid={}, measures={}))).values()
    assert found.utterances == 12
    assert 67 * 0.5 < found.total.calls < 67 * 0.7


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"choose": "Tuuli"}, {}, "the host or the partner is missing"),
    ({"choose": "Tuuli=Bob"}, {}, "no participant 'Bob'"),
    ({"at": 9, "choose": "Tuuli=Olle"}, {}, "no choice after utterance 9 or later"),
    ({}, {}, "the turn at which the branch begins is missing"),
    ({"at": 2}, {"variant": {"A": {"choose": 3}}}, "choose is not a text"),
    ({"at": 2, "say": "Tuuli: Hm.", "choose": "Tuuli=Olle"}, {}, "words and a choice are both given"),
]


@pytest.mark.proof
@pytest.mark.parametrize(("branch", "grid", "words"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_wrong_choices_are_refused(
    make: Make, kept: Path, refused: Callable[..., str], branch: dict[str, Any], grid: dict[str, Any], words: str
) -> None:
    refused(lambda: plan(make(base=base(kept, **branch), grid=grid, measures={})), words)


def test_only_a_branch_chooses(make: Make, refused: Callable[..., str]) -> None:
    grid = {"variant": {"A": {"choose": "Jarmila=Zeynep"}}}
    refused(lambda: plan(make(grid=grid)), "chooses for a host", "only a branch")


# ── the example ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proof
def test_the_example_says_what_one_private_word_does(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "personas").symlink_to(root / "personas")
    folder = tmp_path / "examples/experiments"
    folder.mkdir(parents=True)
    for name in ("one_story", "private_word"):
        given = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
        if name == "private_word":
            given["grid"]["seed"]["count"] = 3
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
        results = run_experiment(Experiment.load(folder / f"{name}.yaml"), Path("results"))
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "How often another wins, by variant" in report
    assert "What differs at the end, by variant" in report
    assert "say nothing about people" in report
    ended = {
        (row["variant"], row["seed"], row["measure"], row["who"]): float(row["value"])
        for row in rows(results.folder, "measures")
        if row["measure"] in ("belief", "closeness")
    }
    moved = {
        who.partition(":")[0].partition(" →")[0]
        for (variant, seed, measure, who), value in ended.items()
        for other in ("another word", "in other words")
        if variant == "as it was" and value != ended[other, seed, measure, who]
    }
    assert moved == {AINO}, "who did not hear the word ends where they would have ended without it"
    said = {
        row["variant"]: read_run(results.folder / "runs" / row["cell"]).utterances[2]
        for row in rows(results.folder, "cells")
    }
    assert {one.speaker for one in said.values()} == {TUULI}
    assert [one.heard_by for one in said.values()] == [[AINO]] * 3
    assert [one.text for one in said.values()] == [
        "Good that we are alone, Aino. I speak for myself, and you may repeat that.",
        "We are alone at last, Aino. I speak for myself, and you may pass that on.",
        "Good that we are alone, Aino. I speak for Veikko, and you may repeat that.",
    ]


@pytest.mark.proof
def test_an_experiment_holds_stories_in_which_a_branch_chooses(make: Make, kept: Path, tmp_path: Path) -> None:
    variants = {"own": {"choose": "Tuuli=Aino"}, "nobody": {"choose": "Tuuli=nobody"}}
    measures = {"story": ["winners", "ends", "talks"], "stances": True}
    wanted = make(
        base=base(kept, at=2), grid={"variant": variants, "seed": [0]}, measures=measures, compare=[{"by": "variant"}]
    )
    folder = run_experiment(wanted, tmp_path).folder
    talks = {
        (row["variant"], row["who"]): float(row["mean"]) for row in rows(folder, "parts") if row["measure"] == "talks"
    }
    assert talks["own", f"{TUULI} → {AINO}"] > 0
    measured = {row["measure"] for row in rows(folder, "measures")}
    assert {"supports_moves", "supports_kept", "won", "belief"} <= measured
    assert rows(folder, "stances")
