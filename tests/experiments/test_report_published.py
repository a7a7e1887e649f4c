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
PRUNING = {"method": "attention", "query": "prompt", "fill": "skip", "revision": "off"}


def cell(axes: dict[str, Any], **settings: Any) -> Cell:
    return Cell(id=str(axes), axes=axes, topic="", settings={"model": "offline", **settings})


def shown(axes: dict[str, list[Any]], cells: list[Cell], values: Any, embedding: str = "minilm") -> list[Any]:
    found: Any = SimpleNamespace(locked=SimpleNamespace(axes=axes, cells=cells))
    return list(published_shown(found, values, embedding))


def variants(settings: dict[str, dict[str, Any]], measures: dict[str, list[float]], **about: Any) -> list[Any]:
    """What is shown of variants with such settings and means, in their order."""
    cells = [cell({"variant": label, "seed": 0}, **one) for label, one in settings.items()]
    values = {
        ((label,), measure): by_case(mean)
        for measure, means in measures.items()
        for label, mean in zip(settings, means, strict=True)
    }
    return shown({"variant": list(settings), "seed": [0]}, cells, values, **about)


def told_of(table: Any) -> dict[tuple[str, str], str]:
    """What is said of a change, by row and measure."""
    name, measure = table.head.index("row"), table.head.index("measure")
    return {(row[name], row[measure]): row[-1] for row in table.rows}


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
    assert everything[-1] == "not comparable", "p is something else there"
    assert two.notes[0] == CAUTION
    assert "models here: offline" in two.notes[1] and "LLaMA 3 8B" in two.notes[1]
    assert tables.keys() == {"table 2)"}, "each row stands in one table"


def test_lambda_goes_a_published_way():
    axes: dict[str, list[Any]] = {
        "pruning.lambda": [0.0, 0.3, 1.0],
        "pruning.method": ["attention", "length"],
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
        ((str(strength), method), measure): by_case(0.5 + (0.1 * strength if method == "attention" else 0))
        for strength, method in product(*(axes[name] for name in ("pruning.lambda", "pruning.method")))
        for measure in ("dist_1", "sim")
    }
    *_, sweep = shown(axes, cells, values)
    assert "figure 2" in sweep.caption
    told = {(row[0], row[1], row[3]): row[-1] for row in sweep.rows}
    assert told["0.3", "attention", "dist_1"] == "as published"
    assert told["0.3", "attention", "sim"] == "against"
    assert told["1.0", "length", "dist_1"] == "not comparable", "the picture is of attention"
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


def test_of_fewer_than_six_cases_nobody_can_tell():
    assert direction_of(0.1, Estimate(value=0.1, low=0.05, high=0.2, method="", n=5)) == "too few cases"
    assert direction_of(0.1, Estimate(value=0.1, low=0.05, high=0.2, method="", n=6)) == "as published"


def test_revision_is_compared_with_the_first_wordings_of_the_same_conversations():
    """Without revision nothing is checked, so there is nothing else to compare with."""
    axes: dict[str, list[Any]] = {"pruning.lambda": [0.0, 0.6], "pruning.revision": ["off", "again"], "seed": [0]}
    cells = [
        Cell(id="0", axes={"pruning.lambda": 0.0, "pruning.revision": "off", "seed": 0}, topic="", settings={},
             also=({"pruning.lambda": 0.0, "pruning.revision": "again", "seed": 0},)),
        *(
            cell({"pruning.lambda": 0.6, "pruning.revision": one, "seed": 0},
                 pruning={**PRUNING, "lambda": 0.6, "revision": one})
            for one in ("off", "again")
        ),
    ]  # fmt: skip
    levels = list(product(("0.0", "0.6"), ("off", "again")))
    values: dict[Any, Any] = {(each, "dist_1"): by_case(0.5) for each in levels}
    for measure, mean in (("inconsistency", 2.0), ("inconsistency_first", 5.0)):
        values |= {(levels[2], measure): dict.fromkeys(CASES), (levels[3], measure): by_case(mean)}
    figure2, figure6 = shown(axes, cells, values)
    assert [row[:2] for row in figure2.rows] == [["0.6", "off"]], "λ = 0 is not compared with itself"
    (row,) = figure6.rows
    assert (row[0], row[1], row[-1]) == ("0.6", "again", "as published")
    assert row[figure6.head.index("change here")] == pytest.approx(-3)


@pytest.mark.parametrize(("embedding", "told"), [("lexical", "not comparable"), ("minilm", "as published")])
def test_likeness_of_words_is_not_judged_by_likeness_of_meanings(embedding: str, told: str):
    settings = {"Full": {}, "RMm": {"pruning": {"remove": ["m"]}}}
    two, *_ = variants(settings, {"sim": [0.5, 0.4], "dist_3": [0.4, 0.5]}, embedding=embedding)
    verdicts = told_of(two)
    assert (verdicts["RMm", "sim"], verdicts["RMm", "dist_3"]) == (told, "as published")
    assert f"embedding here: {embedding}" in two.notes[1]


def test_a_row_stands_in_the_table_of_which_most_is_there():
    settings: dict[str, dict[str, Any]] = {
        "Full": {}, "RMm": {"pruning": {"remove": ["m"]}}, "Full T=1.0": {"model_temperature": 1.0},
        "bmecp": {"prompt_order": "bnrmecp"},
    }  # fmt: skip
    settings = {label: {"model_temperature": 0.8, **one} for label, one in settings.items()}
    tables = variants(settings, {"dist_3": [0.4, 0.5, 0.5, 0.5]})
    three, five = map(told_of, tables)
    assert list(three) == [("Full", "dist_3"), ("RMm", "dist_3"), ("Full T=1.0", "dist_3")]
    assert five == {("bmecp", "dist_3"): "not comparable"}


def test_settings_that_differ_are_named():
    own = {"method": "embedding", "query": "response", "fill": "reach", "lambda": 0.6}
    settings = {"off": {"max_messages": 7}, "on": {"max_messages": 7, "pruning": own}}
    (figure,) = variants(settings, {"dist_3": [0.4, 0.5]})
    assert figure.notes[1].endswith(
        "; embedding here: minilm; here model_temperature: not set; here model_top_p: not set; here cognition: full; "
        "here pruning.method: embedding; here pruning.responses: 1; here pruning.fill: reach; here max_messages: 7."
    )


def test_responses_are_not_named_where_none_is_asked_for():
    settings = {"off": {}, "on": {"pruning": {**PRUNING, "responses": 1, "lambda": 0.6}}}
    (figure,) = variants(settings, {"dist_3": [0.4, 0.5]})
    assert "here pruning.query: prompt; here max_messages" in figure.notes[1]


def test_settings_as_in_the_paper_are_not_named():
    """Nor how pieces are scored, where none is."""
    base = {"model_temperature": 0.8, "model_top_p": 0.9, "cognition": "fixed"}
    settings = {"Full": base, "RMm": {**base, "pruning": {"remove": ["m"], "method": "random"}}}
    two, *_ = variants(settings, {"dist_3": [0.4, 0.5]})
    assert two.notes[1].endswith("; embedding here: minilm; here max_messages: 10.")


def test_a_measure_without_a_reference_has_no_row():
    settings = {"Full": {}, "RMm": {"pruning": {"remove": ["m"]}}}
    cells = [cell({"variant": label, "seed": 0}, **one) for label, one in settings.items()]
    values = {(("RMm",), "max_sim"): by_case(0.5)}
    assert shown({"variant": list(settings), "seed": [0]}, cells, values) == []


def test_settings_are_read_by_dotted_name():
    one = cell({}, pruning={"lambda": 0.5, "remove": ["e", "b"]}, model_temperature=1.0)
    assert studied(one, list(figures("pruning").settings)) == {
        "pruning.lambda": 0.5,
        "pruning.remove": "be",
        "model_temperature": 1.0,
    }
