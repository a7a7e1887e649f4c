"""Published figures on pruning beside an experiment's: rows by settings, changes paired by case, directions."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from persimchat.evaluation.published.figures import figures
from persimchat.evaluation.statistics.intervals import Estimate
from persimchat.experiments.plan import Cell
from persimchat.experiments.report_published import CAUTION, direction_of, published_shown, studied

CASES = [f"case{n}" for n in range(8)]
PRUNING = {"method": "random", "query": "prompt", "fill": "skip", "revision": "off"}


def cell(axes: dict[str, Any], **settings: Any) -> Cell:
    return Cell(id=str(axes), axes=axes, topic="", settings={"model": "offline", **settings})


def shown(axes: dict[str, list[Any]], cells: list[Cell], values: Any) -> list[Any]:
    found: Any = SimpleNamespace(locked=SimpleNamespace(axes=axes, cells=cells))
    return list(published_shown(found, values))


def by_case(value: float, spread: float = 0.001) -> dict[str, float]:
    return {case: value + spread * (n % 3) for n, case in enumerate(CASES)}


def rows_of(table: Any, measure: str) -> list[Any]:
    place = table.head.index("measure")
    return [row for row in table.rows if row[place] == measure]


def test_blocks_stand_beside_their_rows():
    axes = {"pruning.remove": ["[]", '["m"]', '["e", "p", "m", "b"]', '["n"]'], "seed": [0]}
    removed = [[], ["m"], ["e", "p", "m", "b"], ["n"]]
    cells = [
        cell({"pruning.remove": label, "seed": 0}, **({"pruning": {"remove": one}} if one else {}))
        for label, one in zip(axes["pruning.remove"], removed, strict=True)
    ]
    means = {"[]": 0.4, '["m"]': 0.6, '["e", "p", "m", "b"]': 0.3, '["n"]': 0.9}
    values = {((label,), "dist_3"): by_case(mean) for label, mean in means.items()}
    tables = {one.caption.rpartition("(")[2]: one for one in shown(axes, cells, values)}
    two = tables["table 2)"]
    names = [row[two.head.index("row")] for row in two.rows]
    assert names == ["Full", "RMm", "RMbmpe"], "what nobody published has no row"
    full, memories, everything = rows_of(two, "dist_3")
    assert full[-1] == ""
    assert (memories[3], memories[5], memories[-1]) == (0.636, 0.101, "as published")
    assert memories[6] == pytest.approx(0.2)
    assert everything[-1] == "against"
    assert two.notes[0] == CAUTION
    assert "models here: offline" in two.notes[1] and "LLaMA 3 8B" in two.notes[1]
    assert tables.keys() == {"table 2)", "table 3)", "table 5)"}


def test_lambda_goes_a_published_way():
    axes: dict[str, list[Any]] = {
        "pruning.lambda": [0.0, 0.3, 1.0],
        "pruning.method": ["random", "length"],
        "seed": [0],
    }
    cells = [
        cell(
            {"pruning.lambda": strength, "pruning.method": method, "seed": 0},
            **({"pruning": {**PRUNING, "lambda": strength, "method": method}} if strength else {}),
        )
        for strength, method in product(*(axes[name] for name in ("pruning.lambda", "pruning.method")))
    ]
    values = {
        ((str(strength), method), measure): by_case(0.5 + (0.1 * strength if method == "random" else 0))
        for strength, method in product(*(axes[name] for name in ("pruning.lambda", "pruning.method")))
        for measure in ("dist_1", "sim")
    }
    *_, sweep = shown(axes, cells, values)
    assert "figure 2" in sweep.caption
    told = {(row[0], row[1], row[3]): row[-1] for row in sweep.rows}
    assert told["0.3", "random", "dist_1"] == "as published"
    assert told["0.3", "random", "sim"] == "against"
    assert told["1.0", "length", "dist_1"] == "within spread"
    assert len(told) == 2 * 2 * 2, "each method is compared with its own λ = 0"


def test_a_temperature_of_ones_own_does_not_hide_a_row():
    axes = {"pruning.remove": ["[]", '["m"]'], "seed": [0]}
    cells = [
        cell({"pruning.remove": "[]", "seed": 0}, model_temperature=0.4),
        cell({"pruning.remove": '["m"]', "seed": 0}, model_temperature=0.4, pruning={"remove": ["m"]}),
    ]
    values = {((label,), "sim"): by_case(0.5) for label in axes["pruning.remove"]}
    (two, *_) = shown(axes, cells, values)
    (_, row) = rows_of(two, "sim")
    assert row[-1] == "within spread"


def test_other_experiments_have_no_such_table():
    axes = {"method": ["need_to_talk"], "seed": [0]}
    assert shown(axes, [cell({"method": "need_to_talk", "seed": 0})], {(("need_to_talk",), "sim"): by_case(0.5)}) == []


@pytest.mark.parametrize(
    ("published", "low", "high", "told"),
    [
        (0.1, 0.05, 0.2, "as published"),
        (-0.1, 0.05, 0.2, "against"),
        (-0.1, -0.2, -0.05, "as published"),
        (0.1, -0.05, 0.2, "within spread"),
        (0.0, 0.05, 0.2, "no change published"),
        (0.1, None, None, "too few cases"),
    ],
)
def test_directions(published: float, low: float | None, high: float | None, told: str):
    value = 0.1 if low is None or high is None else (low + high) / 2
    assert direction_of(published, Estimate(value=value, low=low, high=high, method="", n=8)) == told
    assert direction_of(published, Estimate(value=None, method="", n=0)) == "not measured"


def test_settings_are_read_by_dotted_name():
    one = cell({}, pruning={"lambda": 0.5, "remove": ["e", "b"]}, model_temperature=1.0)
    assert studied(one, list(figures("pruning").settings)) == {
        "pruning.lambda": 0.5,
        "pruning.remove": "be",
        "model_temperature": 1.0,
    }
