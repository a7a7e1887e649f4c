"""Comparisons are paired by task; what lacks a value on one side is left out and counted."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from evaluation.judging import REASON, first_words, run_about, topic_in
from fixtures import Refused, Serve
from loopback.answering import natural_answer
from loopback.scripted import task_of
from small_experiment import Make, planned, report_of

from persimchat.evaluation.pairs import Pair, PairResult
from persimchat.evaluation.statistics.claims import family
from persimchat.evaluation.statistics.intervals import NUMBER
from persimchat.evaluation.statistics.significance import Outcome, Verdict
from persimchat.evaluation.transcripts import read_conversation
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import Results
from persimchat.experiments.comparing import Comparison, compare, groups
from persimchat.experiments.contests import CellPair, JudgedPair, PairVerdicts, beaten, contests
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell, plan
from persimchat.experiments.report import _environment, at_each_level
from persimchat.experiments.robustness import Robustness, robustness

AXES = {"method": ["a", "b", "c"], "seed": [0, 1, 2, 3], "memory": [1, 2]}


def cells(*methods: str) -> list[Cell]:
    return [
        Cell(
            id=f"{method}{seed}{memory}",
            axes={"method": method, "seed": seed, "memory": memory},
            topic="?",
            settings={},
        )
        for method in methods
        for seed in (0, 1, 2, 3)
        for memory in (1, 2)
    ]


def compared(wanted: Compare, held: list[Cell], value: Callable[[Cell], float | None]) -> list[Comparison]:
    """What is found where each cell has this value."""
    axes = {**AXES, "method": sorted({str(cell.axes["method"]) for cell in held})}
    return compare(wanted, axes, held, {"m": NUMBER}, {(cell.id, "m"): value(cell) for cell in held})


def level(cell: Cell, axis: str) -> float:
    return float(str(cell.axes[axis]))


def test_differences_within_a_task_are_averaged_first():
    """Seeds make tasks; the other axis does not: n is 4, not 8."""
    wanted = Compare(by="method", reference="b")
    (one,) = compared(wanted, cells("a", "b"), lambda cell: level(cell, "seed") + 6 * (cell.axes["method"] == "a"))
    assert (one.a, one.b, one.difference.n, one.left_out) == ("a", "b", 4, 0)
    assert (one.first.value, one.second.value, one.difference.value) == (7.5, 1.5, 6.0)
    assert one.first.low == pytest.approx(5.446, abs=1e-3)  # 6, 7, 8, 9: E2
    assert one.effect == 1.0


def test_a_task_without_a_value_on_one_side_is_left_out():
    (one,) = compared(Compare(by="method"), cells("a", "b"), lambda cell: None if cell.id == "a01" else 1.0)
    assert (one.difference.n, one.left_out) == (3, 1)


def test_all_pairs_or_a_reference_and_one_family():
    def of_three(**wanted: Any) -> list[Comparison]:
        held = cells("a", "b", "c")
        return compared(
            Compare(by="method", **wanted), held, lambda cell: ord(str(cell.axes["method"])) * (1 + level(cell, "seed"))
        )

    every, others = of_three(), of_three()
    assert [(one.a, one.b) for one in every] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert every[0].test.p == 0.125 and every[0].p_holm is None
    assert family(every, others)[0][0].p_holm == pytest.approx(0.75)  # six tests
    some = of_three(reference="a", within={"memory": 1})
    assert [(one.a, one.b) for one in some] == [("b", "a"), ("c", "a")]


def test_a_cell_that_stands_for_several_levels_counts_for_each_and_is_not_compared_with_itself():
    """A baseline that does not heed `memory` is held once a seed, and is a pair of both levels of the other method."""
    held = cells("a")
    held += [
        cell.model_copy(update={"also": [{**cell.axes, "memory": 2}]})
        for cell in cells("b")
        if cell.axes["memory"] == 1
    ]
    for wanted, n, difference in (
        (Compare(by="method"), 4, -6.5),
        (Compare(by="memory"), 4, 1.0),
        (Compare(by="memory", within={"method": "b"}), 0, None),
    ):
        (one,) = compared(wanted, held, lambda cell: level(cell, "memory") + 6 * (cell.axes["method"] == "a"))
        assert (one.difference.n, one.left_out, one.difference.value) == (n, 0, difference)


# Which cells make a pair, and what verdicts come to; tasks are the unit, and groups have means over them


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


def test_participants_in_another_order_are_the_same_people(make: Make, refused: Refused):
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
        return JudgedPair(CellPair(a, b, cell, cell, (task,)), result)

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
    wins = [judged("a", "b", f"t{n}", "win") for n in range(8)] + [judged("c", "a", f"t{n}", "loss") for n in range(8)]
    found = contests(measure_with("b", "a", "c"), wins)
    assert beaten(found) == []  # nothing may be said before p is adjusted
    (found,) = family(found)
    assert beaten(found) == [("a", "b"), ("a", "c")]
    assert [one.p_holm for one in found] == [4 / 2**8, 4 / 2**8]
    nothing = contests(measure_with("b", "a"), [judged("a", "b", "t1", None)])
    assert (nothing[0].rate.value, nothing[0].test.p, nothing[0].tasks) == (None, None, 0)


def test_groups_leave_out_what_is_missing_and_what_does_not_apply():
    def cell(number: int, method: str, seed: int) -> Cell:
        return Cell(id=f"c{number}", axes={"method": method, "seed": seed}, topic="Tea?", settings={})

    cells = [cell(1, "x", 0), cell(2, "x", 1), cell(3, "x", 2), cell(4, "x", 3), cell(5, "y", 0)]
    values = {("c1", "m"): 4.0, ("c2", "m"): 8.0, ("c3", "m"): None, ("c4", "m"): None, ("c5", "m"): 1.0}
    x, y = groups({"method": ["x", "y"], "seed": [0, 1, 2, 3]}, cells, {"m": NUMBER}, values, {("c4", "m")})
    assert (x.levels, x.n, x.missing, x.not_applicable, x.mean, x.interval.n) == ({"method": "x"}, 2, 1, 1, 6.0, 2)
    assert (y.n, y.sd, y.interval.low) == (1, None, None)
    plain, _ = groups({"method": ["x", "y"], "seed": [0]}, cells, {"m": NUMBER}, values, intervals=False)
    assert (plain.interval.value, plain.interval.low) == (6.0, None)


# The preset of a paper, and its published values beside an experiment's own


VARIANTS = {
    "Base": {},
    "MF": {"memory_filtering": True},
    "Own": {"utterance_words": 20},
}
NOBODY = "m@http://127.0.0.1:9/v1"


def words_of(results: Results) -> str:
    text = report_of(results)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_a_preset_is_below_the_base_and_the_axes(make: Make):
    base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline", "closing": "on"}}
    grid = {"variant": VARIANTS, "method": ["need_to_talk", "group_chat"]}
    found = plan(make(base=base, grid=grid, preset="thesis")).cells
    settings = {(each.cell.axes["variant"], each.cell.axes["method"]): each.settings for each in found}
    one = settings["Base", "need_to_talk"]
    assert (one.utterance_words, one.speech_register, one.social_goals, one.closing) == (42, "neutral", False, "on")
    assert settings["MF", "need_to_talk"].memory_filtering
    assert settings["Own", "group_chat"].utterance_words == 20
    assert settings["Own", "group_chat"].baseline == "group_chat"


def test_published_values_stand_beside_groups_comparisons_and_pairs(make: Make, tmp_path: Path):
    measures = {
        "dimensions": {"by": NOBODY, "only": ["BEL", "CLO"]}, "pairs": {"by": NOBODY, "axis": "variant"}
    }  # fmt: skip
    base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline"}}
    compare = [{"by": "variant", "reference": "Base"}]
    wanted = make(base=base, preset="thesis", grid={"variant": VARIANTS}, measures=measures, compare=compare)
    results = planned(wanted, tmp_path / "x")
    groups = {(row["measure"], row["variant"]): row for row in results.rows("groups")}
    base_row, own = groups["BEL", "Base"], groups["BEL", "Own"]
    assert (base_row["published"], base_row["published_sd"], base_row["published_table"]) == (8.53, 0.94, "6.3")
    assert (own["published"], own["published_table"], base_row["n"], base_row["missing"]) == (None, None, 0, 1)
    rows = {(row["measure"], row["a"]): row for row in results.rows("comparisons")}
    assert (rows["BEL", "MF"]["published_a"], rows["BEL", "MF"]["published_b"]) == (8.79, 8.53)
    assert rows["BEL", "Own"]["published_table"] is None
    contests = {(row["a"], row["b"]): row for row in results.rows("contests")}
    assert (contests["MF", "Base"]["published_win"], contests["MF", "Base"]["published_table"]) == (24.14, "6.8")
    report = words_of(results)
    assert "8.79 ± 0.74 (Table 6.3), 8.53 ± 0.94 (Table 6.3)" in report
    assert "24 / 31 / 45 % (Table 6.8)" in report
    assert "models gpt-4o-2024-08-06, here offline" in report
    assert "prompt_order" in report and "strict_answers" in report
    assert "The published values are no target" in report


def test_without_a_shared_key_nothing_is_published(make: Make, tmp_path: Path):
    results = planned(make(measures={"dimensions": {"by": NOBODY}}), tmp_path / "x")
    assert {row["published"] for row in results.rows("groups")} == {None}
    assert "What differed from" not in words_of(results)


# Answers and differences over levels that should not matter: what flips, what survives, what is reversed


VARIED = {
    "method": ["b", "a"],
    "wording": ["asked", "softer"],
    "order": ["listed", "reversed"],
    "seed": [*range(12)],
}
CELLS = [
    Cell(
        id=f"{method}-{wording}-{order}-{seed}",
        axes=dict(zip(VARIED, levels, strict=True)),
        topic="?",
        settings={},
    )
    for levels in itertools.product(*VARIED.values())
    for method, wording, order, seed in [levels]
]


def looked_at(answer: Callable[[Cell], str | None], score: Callable[[Cell], float | None]) -> Robustness:
    values = {(cell.id, "BEL"): score(cell) for cell in CELLS}
    found = compare(Compare(by="method", reference="b"), VARIED, CELLS, {"BEL": NUMBER}, values)
    answers = {"conclusion": {cell.id: answer(cell) for cell in CELLS}}
    looked = robustness(VARIED, CELLS, answers, found, values, {"BEL": NUMBER})
    return looked.adjusted(*family(found, looked.answers, looked.levels))


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
        noise = 0.1 * (int(str(cell.axes["seed"])) - 5.5)
        return (cell.axes["method"] == "a") * ((3 if cell.axes["wording"] == "asked" else softer) + noise)

    found = looked_at(lambda _: "yes", score)
    (one,) = [each for each in found.contrasts if each.axis == "wording"]
    assert (one.ruling, one.reversed_in) == (ruling, reversed_in)
    order = next(each for each in found.contrasts if each.axis == "order")
    assert order.reversed_in == [] and not order.missing
    contrasts = {"wording": [(one, at_each_level(one))]}
    shown = _environment().get_template("robustness.html.jinja").render(robust=found, contrasts=contrasts)
    assert {word for word in ("survives", "reversed", "undecided") if f"<b>{word}</b>" in shown} == {ruling}
    assert ("<b>reversed</b> in softer." in shown) == bool(reversed_in)


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
    found = robustness(axes, cells, {"conclusion": {cell.id: "yes" for cell in cells}}, [], {}, {})
    assert (found.axes, found.answers, found.contrasts) == (["seed"], [], [])


@pytest.mark.proof
def test_a_model_that_heeds_nothing_but_the_wording(make: Make, serving: Serve, tmp_path: Path):
    """Its answers flip with the wording and never with seed or order; two seeds are too few to call one reversed."""

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
    assert levels["wording", "asked"] == (3, "undecided") and levels["wording", "softer"] == (-1, "undecided")
    assert levels["order", "listed"] == levels["order", "reversed"] == (1, "undecided")  # −1 to 3 over tasks
    assert {one.axis for one in results.robustness().contrasts} == {"wording", "order"}
    report = report_of(results)
    assert "the sign is the same at 1 of 2 levels" in report and "the sign is the same at 2 of 2 levels" in report
    assert "no difference could be shown: 1 on average" in report
    assert (results.folder / "tables" / "flips.csv").is_file()
