"""Measures by name; what does not apply is missing with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from small_experiment import SMALL

from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.measuring import EVALUATORS, measures_of
from persimchat.experiments.positions import stance_numbers

Make = Callable[..., Experiment]


def test_evaluators_are_known_by_name(make: Make, refused: Callable[..., str]):
    assert {"balance", "repetition", "consensus", "correct"} <= set(EVALUATORS)
    found = measures_of(make(measures={"evaluators": ["balance", "correct"]}))
    assert [measure.name for measure in found] == ["balance", "correct"]
    assert all(measure.about for measure in found)
    refused(lambda: measures_of(make(measures={"evaluators": ["balanc"]})), "'balanc'", "evaluators[0]", "'balance'?")
    refused(lambda: measures_of(make(measures={"evaluators": ["goodbye"] * 2})), "named twice")


def test_what_does_not_apply_is_missing(make: Make, tmp_path: Path):
    base = {**SMALL["base"], "settings": {"model": "offline", "max_messages": 1}}
    wanted = make(base=base, grid={}, measures={"evaluators": ["consensus"]})
    (row,) = run_experiment(wanted, tmp_path).rows("measures")
    assert (row["value"], row["missing"]) == (None, "no debate")


def test_who_moved_is_a_measure(make: Make, tmp_path: Path):
    settings = {"model": "offline", "mode": "debate", "answer_format": "choice", "choices": ["tea", "coffee", "milk"]}
    base = {**SMALL["base"], "settings": {**settings, "baseline": "mad", "rounds": 2, "max_messages": 8}}
    wanted = make(base=base, grid={}, measures={"stances": ["answers", "verdicts"]})
    assert [named.name for source in stance_numbers(wanted) for named in source.named][:2] == [
        "answers_moves",
        "answers_moves_to_majority",
    ]
    rows = {row["measure"]: row for row in run_experiment(wanted, tmp_path).rows("measures")}
    assert 0 <= rows["answers_kept"]["value"] <= 1
    assert rows["answers_moves"]["value"] >= 0
    assert (rows["verdicts_moves"]["value"], rows["verdicts_moves"]["missing"]) == (None, "does not apply")
