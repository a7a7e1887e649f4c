"""Comparisons are paired by task; what lacks a value on one side is left out and counted."""

from __future__ import annotations

import pytest

from persimchat.experiments.comparing import compare
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell

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


def test_differences_within_a_task_are_averaged_first():
    """Seeds make tasks; the other axis does not: n is 4, not 8."""
    held = cells("a", "b")
    values: dict[tuple[str, str], float | None] = {
        (cell.id, "m"): float(str(cell.axes["seed"])) + (6 if cell.axes["method"] == "a" else 0) for cell in held
    }
    (one,) = compare(Compare(by="method", reference="b"), {**AXES, "method": ["a", "b"]}, held, ["m"], values)
    assert (one.a, one.b, one.difference.n, one.left_out) == ("a", "b", 4, 0)
    assert (one.first.value, one.second.value, one.difference.value) == (7.5, 1.5, 6.0)
    assert one.first.low == pytest.approx(5.446, abs=1e-3)  # 6, 7, 8, 9: E2
    assert one.effect == 1.0


def test_a_task_without_a_value_on_one_side_is_left_out():
    held = cells("a", "b")
    values: dict[tuple[str, str], float | None] = {(cell.id, "m"): 1.0 for cell in held}
    values["a01", "m"] = None
    (one,) = compare(Compare(by="method"), {**AXES, "method": ["a", "b"]}, held, ["m"], values)
    assert (one.difference.n, one.left_out) == (3, 1)


def test_all_pairs_or_a_reference_and_one_family():
    held = cells("a", "b", "c")
    values: dict[tuple[str, str], float | None] = {
        (cell.id, "m"): ord(str(cell.axes["method"])) * (1.0 + int(str(cell.axes["seed"]))) for cell in held
    }
    every = compare(Compare(by="method"), AXES, held, ["m"], values)
    assert [(one.a, one.b) for one in every] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert every[0].test.p == 0.125 and every[0].p_holm == pytest.approx(0.375)
    some = compare(Compare(by="method", reference="a", within={"memory": 1}), AXES, held, ["m"], values)
    assert [(one.a, one.b) for one in some] == [("b", "a"), ("c", "a")]


def test_a_cell_that_stands_for_several_levels_counts_for_each_and_is_not_compared_with_itself():
    """A baseline that does not heed `memory` is held once a seed, and is a pair of both levels of the other method."""
    held = cells("a")
    held += [
        cell.model_copy(update={"also": [{**cell.axes, "memory": 2}]})
        for cell in cells("b")
        if cell.axes["memory"] == 1
    ]
    axes = {**AXES, "method": ["a", "b"]}
    values: dict[tuple[str, str], float | None] = {
        (cell.id, "m"): float(str(cell.axes["memory"])) + (6 if cell.axes["method"] == "a" else 0) for cell in held
    }
    (one,) = compare(Compare(by="method"), axes, held, ["m"], values)
    assert (one.difference.n, one.left_out, one.difference.value) == (4, 0, -6.5)
    (one,) = compare(Compare(by="memory"), axes, held, ["m"], values)
    assert (one.difference.n, one.left_out, one.difference.value) == (4, 0, 1.0)
    (one,) = compare(Compare(by="memory", within={"method": "b"}), axes, held, ["m"], values)
    assert (one.difference.n, one.left_out, one.difference.value) == (0, 0, None)
