"""Which cells make a pair, and what verdicts come to; tasks are the unit, and groups have means over them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evaluation.judging import run_about
from persimchat.evaluation.pair_results import PairResult
from persimchat.evaluation.pairs import Pair
from persimchat.evaluation.statistics.verdicts import Outcome, Verdict
from persimchat.evaluation.transcripts import read_conversation
from persimchat.experiments import Experiment
from persimchat.experiments.comparing import groups
from persimchat.experiments.pairing import CellPair, JudgedPair, PairVerdicts, beaten, contests
from persimchat.experiments.plan import Cell, plan

Make = Callable[..., Experiment]
BY = "m@http://127.0.0.1:9/v1"


def measure_of(experiment: Experiment) -> tuple[PairVerdicts, list[Cell]]:
    planned = plan(experiment)
    axes = {axis.name: [level.label for level in axis.levels] for axis in planned.axes}
    found = PairVerdicts.of(experiment, axes)
    assert found is not None
    found.check(planned)
    return found, [each.cell for each in planned.cells]


def shown(pairs: list[CellPair], *axes: str) -> list[tuple[Any, ...]]:
    return [(one.a, one.b, *(one.first.axes[axis] for axis in axes)) for one in pairs]


def test_pairs_differ_in_one_axis_alone(make: Make):
    grid = {"method": ["need_to_talk", "round_robin", "group_chat"], "seed": [0, 1]}
    measure, cells = measure_of(make(grid=grid, measures={"pairs": {"by": BY, "axis": "method"}}))
    found = measure.pairs(cells)
    assert shown(found, "seed") == [
        ("round_robin", "need_to_talk", 0), ("round_robin", "need_to_talk", 1),
        ("group_chat", "need_to_talk", 0), ("group_chat", "need_to_talk", 1),
        ("group_chat", "round_robin", 0), ("group_chat", "round_robin", 1),
    ]  # fmt: skip
    assert all(one.first.axes["seed"] == one.second.axes["seed"] for one in found)
    assert len({one.task for one in found}) == 2


def test_pairs_within_other_levels_and_without_what_is_excluded(make: Make):
    grid = {"variant": {"Base": {}, "MF": {"memory_filtering": True}}, "method": ["need_to_talk", "single_agent"]}
    exclude = [{"method": "single_agent", "variant": "MF"}]
    pairs: dict[str, Any] = {"by": BY, "axis": "method"}
    measure, cells = measure_of(make(grid=grid, exclude=exclude, measures={"pairs": pairs}))
    assert shown(measure.pairs(cells), "variant") == [("single_agent", "need_to_talk", "Base")]
    pairs = {"by": BY, "axis": "variant", "within": {"method": "need_to_talk"}}
    measure, cells = measure_of(make(grid=grid, exclude=exclude, measures={"pairs": pairs}))
    assert shown(measure.pairs(cells), "method") == [("MF", "Base", "need_to_talk")]


def test_a_cell_that_stands_for_several_levels_makes_no_pair_with_itself(make: Make):
    grid = {"variant": {"Base": {}, "MF": {"memory_filtering": True}}, "method": ["need_to_talk", "single_agent"]}
    measure, cells = measure_of(make(grid=grid, measures={"pairs": {"by": BY, "axis": "variant"}}))
    assert len(cells) == 3
    assert shown(measure.pairs(cells), "method") == [("MF", "Base", "need_to_talk")]
    measure, cells = measure_of(make(grid=grid, measures={"pairs": {"by": BY, "axis": "method"}}))
    assert shown(measure.pairs(cells), "variant") == [
        ("single_agent", "need_to_talk", "Base"), ("single_agent", "need_to_talk", "MF")
    ]  # fmt: skip


def test_participants_in_another_order_are_the_same_people(make: Make, refused: Callable[..., str]):
    measure, _ = measure_of(
        make(grid={"order": ["listed", "reversed"]}, measures={"pairs": {"by": BY, "axis": "order"}})
    )
    assert measure.levels == ["listed", "reversed"]
    other = {"variant": {"two": {}, "others": {"scenario": {"participants": ["Jarmila", "Rowan"]}}}}
    wanted = make(grid=other, measures={"pairs": {"by": BY, "axis": "variant"}})
    refused(lambda: measure_of(wanted), "other participants", "Pair by another axis")


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., JudgedPair]:
    """A pair of a task with a verdict: `judged("a", "b", "task", "win")`."""
    conversation = read_conversation(run_about(tmp_path))

    def make_one(a: str, b: str, task: str, outcome: Outcome | None) -> JudgedPair:
        cell = Cell(id="x", axes={}, topic="Tea?", settings={})
        score = {"win": Fraction(2), "tie": Fraction(0), "loss": Fraction(-2), None: None}[outcome]
        verdict = Verdict(
            outcome=outcome,
            missing="" if outcome else "no answer",
            score_a=None if score is None else 5 + score,
            score_b=None if score is None else Fraction(5),
            alone=(outcome, outcome),
            position=None if score is None else Fraction(0),
            conflict=None if score is None else False,
            bpde=None,
            n=2,
            dropped=0,
        )
        result = PairResult(Pair(conversation, conversation), verdict, {})
        return JudgedPair(CellPair(a, b, cell, cell, (task,)), result, 0.0)

    return make_one


def measure_with(*levels: str) -> PairVerdicts:
    return PairVerdicts(BY, "method", 1, {}, list(levels))


def test_pairs_of_one_task_are_averaged_first(judged: Callable[..., JudgedPair]):
    outcomes = [("t1", "win"), ("t1", "win"), ("t1", "loss"), ("t2", "tie"), ("t2", "loss"), ("t3", None)]
    (one,) = contests(measure_with("b", "a"), [judged("a", "b", task, outcome) for task, outcome in outcomes])
    assert (one.pairs, one.tasks, one.counts.win, one.counts.tie, one.counts.loss) == (6, 2, 2, 1, 2)
    assert one.missing == {"no answer": 1}
    assert one.rate.value == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert (one.test.n, one.test.p, one.ahead) == (2, 1, None)
    assert (one.conflicts.value, one.conflicts.n, one.position.value) == (0, 2, 0)


def test_who_is_ahead_of_whom(judged: Callable[..., JudgedPair]):
    wins = [judged("a", "b", f"t{n}", "win") for n in range(6)] + [judged("c", "a", f"t{n}", "loss") for n in range(6)]
    found = contests(measure_with("b", "a", "c"), wins)
    assert beaten(found) == [("a", "b"), ("a", "c")]
    assert [one.p_holm for one in found] == [4 / 2**6, 4 / 2**6]
    nothing = contests(measure_with("b", "a"), [judged("a", "b", "t1", None)])
    assert (nothing[0].rate.value, nothing[0].p_holm, nothing[0].tasks) == (None, None, 0)


def test_groups_leave_out_what_is_missing_and_what_does_not_apply():
    def cell(number: int, method: str, seed: int) -> Cell:
        return Cell(id=f"c{number}", axes={"method": method, "seed": seed}, topic="Tea?", settings={})

    cells = [cell(1, "x", 0), cell(2, "x", 1), cell(3, "x", 2), cell(4, "x", 3), cell(5, "y", 0)]
    values = {("c1", "m"): 4.0, ("c2", "m"): 8.0, ("c3", "m"): None, ("c4", "m"): None, ("c5", "m"): 1.0}
    x, y = groups({"method": ["x", "y"], "seed": [0, 1, 2, 3]}, cells, ["m"], values, {("c4", "m")})
    assert (x.levels, x.n, x.missing, x.not_applicable, x.mean, x.interval.n) == ({"method": "x"}, 2, 1, 1, 6.0, 2)
    assert (y.n, y.sd, y.interval.low) == (1, None, None)
    plain, _ = groups({"method": ["x", "y"], "seed": [0]}, cells, ["m"], values, intervals=False)
    assert (plain.interval.value, plain.interval.low) == (6.0, None)
