"""Answers and differences over levels that should not matter: what flips, what survives, what is reversed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from loopback.answering import natural_answer
from loopback.scripted import task_of
from loopback.server import LoopbackServer

from evaluation.judging import REASON, first_words, topic_in
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.comparing import compare
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell
from persimchat.experiments.robustness import Robustness, robustness

AXES = {"method": ["b", "a"], "wording": ["asked", "softer"], "order": ["listed", "reversed"], "seed": [0, 1, 2, 3]}
CELLS = [
    Cell(id=f"{method}-{wording}-{order}-{seed}", axes=dict(zip(AXES, levels, strict=True)), topic="?", settings={})
    for levels in itertools.product(*AXES.values())
    for method, wording, order, seed in [levels]
]


def looked_at(answer: Callable[[Cell], str | None], score: Callable[[Cell], float | None]) -> Robustness:
    values = {(cell.id, "BEL"): score(cell) for cell in CELLS}
    found = compare(Compare(by="method", reference="b"), AXES, CELLS, ["BEL"], values)
    return robustness(AXES, CELLS, {"conclusion": {cell.id: answer(cell) for cell in CELLS}}, found, values)


def test_answers_and_scores_that_depend_on_the_wording_only():
    """Flip rate 1 for wording, 0 for seed and order; the contrast is reversed in the other wording."""
    found = looked_at(
        lambda cell: "yes" if cell.axes["wording"] == "asked" else "no",
        lambda cell: (cell.axes["method"] == "a") * (3 if cell.axes["wording"] == "asked" else -1.0),
    )
    rates = {one.axis: (one.flips.rate.value, one.flips.floor.value, one.alike) for one in found.answers}
    assert found.axes == ["wording", "order", "seed"]
    assert rates == {"wording": (1.0, 0.0, 1), "order": (0.0, 0.0, 2)}
    by_axis = {one.axis: one for one in found.contrasts}
    assert (by_axis["wording"].ruling, by_axis["wording"].reversed_in) == ("reversed", ["softer"])
    assert {label: one.difference.value for label, one in by_axis["wording"].at.items()} == {"asked": 3, "softer": -1}


@pytest.mark.parametrize(
    ("softer", "ruling", "reversed_in"),
    [(2.0, "survives", []), (-2.0, "reversed", ["softer"]), (0.0, "undecided", [])],
)
def test_a_difference_survives_or_is_reversed(softer: float, ruling: str, reversed_in: list[str]):
    def score(cell: Cell) -> float:
        noise = 0.1 * (int(str(cell.axes["seed"])) - 1.5)
        return (cell.axes["method"] == "a") * ((3 if cell.axes["wording"] == "asked" else softer) + noise)

    found = looked_at(lambda _: "yes", score)
    (one,) = [each for each in found.contrasts if each.axis == "wording"]
    assert (one.ruling, one.reversed_in) == (ruling, reversed_in)
    order = next(each for each in found.contrasts if each.axis == "order")
    assert order.reversed_in == [] and not order.missing


def test_a_level_without_values_leaves_it_undecided():
    found = looked_at(
        lambda _: None,
        lambda cell: (
            None
            if cell.axes["wording"] == "softer"
            else (cell.axes["method"] == "a") * (3 + 0.1 * int(str(cell.axes["seed"])))
        ),
    )
    (one,) = [each for each in found.contrasts if each.axis == "wording"]
    assert (one.ruling, one.missing) == ("undecided", ["softer"])
    assert [each.flips.rate.value for each in found.answers] == [0, 0]


def test_nothing_is_said_of_what_is_not_varied():
    axes = {"method": ["b", "a"], "seed": [0, 1, 2, 3]}
    cells = [Cell(id=f"{m}{s}", axes={"method": m, "seed": s}, topic="?", settings={}) for m in "ab" for s in range(4)]
    found = robustness(axes, cells, {"conclusion": {cell.id: "yes" for cell in cells}}, [], {})
    assert (found.axes, found.answers, found.contrasts) == (["seed"], [], [])


@pytest.mark.proof
def test_a_model_that_heeds_nothing_but_the_wording(
    make: Callable[..., Experiment], serving: Callable[..., LoopbackServer], tmp_path: Path
):
    """Its answers flip with the wording and never with seed or order; a difference is reversed in the softer one."""

    def answer(body: dict[str, Any]) -> Any:
        softer = "What if" in str(body["messages"])
        if task_of(body) == "dimension":
            longer = len(first_words(body, "transcript").strip().splitlines()) > 2
            assert ("What if" in topic_in(body)) == softer
            return {"reasoning": REASON, "score": 5 + longer * (-1 if softer else 3)}
        given = natural_answer(body)
        return {**given, "answer": "no" if softer else "yes"} if isinstance(given, dict) else given

    model = serving(answer).model()
    settings = {"model": model, "mode": "debate", "baseline": "mad", "answer_format": "yesno"}
    experiment = make(
        base={"topic": "Close the centre?", "participants": ["Jarmila", "Zeynep"], "settings": settings},
        grid={
            "variant": {"one": {"rounds": 1}, "two": {"rounds": 2}},
            "wording": {"asked": "", "softer": "What if we closed it?"},
            "order": ["listed", "reversed"],
            "seed": [0, 1],
        },
        measures={"dimensions": {"by": model, "only": ["BEL"]}},
        compare=[{"by": "variant", "reference": "one"}],
    )
    results = run_experiment(experiment, tmp_path / "results")
    flips = {(row["question"], row["axis"]): row for row in results.rows("flips")}
    assert flips["conclusion", "wording"]["rate"] == 1 and flips["conclusion", "wording"]["excess"] == 1
    assert flips["conclusion", "order"]["rate"] == 0 and flips["conclusion", "order"]["floor"] == 0
    assert flips["consensus", "wording"]["rate"] == 0 and flips["conclusion", "wording"]["alike"] == 1
    levels = {(row["axis"], row["level"]): (row["difference"], row["ruling"]) for row in results.rows("contrasts")}
    assert levels["wording", "asked"] == (3, "reversed") and levels["wording", "softer"] == (-1, "reversed")
    assert levels["order", "listed"] == levels["order", "reversed"] == (1, "undecided")  # −1 to 3 over tasks
    assert {one.axis for one in results.robustness().contrasts} == {"wording", "order"}
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "<b>reversed</b> in softer." in report and "the sign is the same at 2 of 2 levels" in report
    assert "no difference could be shown: 1 on average" in report
    assert (results.folder / "tables" / "flips.csv").is_file()
