"""Every published number is what the paper says, and what is inferred from them fits them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from pydantic import ValidationError

from persimchat.evaluation.published.paper import Accuracy, DimensionTable, Paper, published
from persimchat.evaluation.statistics.significance import sign_test

THESIS = published("thesis")
TABLES = {table.table: table for table in THESIS.dimensions}
PAIRS = [(table.table, table.tasks * table.rounds, row) for table in THESIS.pairs for row in table.rows]
SHORT = {
    "Single-Agent Zero-Shot": "zero_shot",
    "Single-Agent Zero-Shot CoT": "cot",
    "MAD": "mad",
    "MAD with Judge": "mad_judge",
    "ReConcile": "reconcile",
    "PerSimChat": "need_to_talk",
}

Cells = dict[tuple[str, str, str], tuple[float, float]]


def rounded(value: float, digits: int) -> float:
    """Rounded as people do it, halves up."""
    return float(Decimal(repr(round(value, 9))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def cells() -> Cells:
    """Table, system and measure of every mean and SD."""
    found: Cells = {}
    for table in THESIS.dimensions:
        for system, scores in table.scores.items():
            for measure, mean, sd in zip(table.measures, scores.mean, scores.sd, strict=True):
                found[table.table, system, measure] = (mean, sd)
    for method, benchmarks in THESIS.accuracy.scores.items():
        for benchmark, accuracy in benchmarks.items():
            found["6.11", method, benchmark] = (accuracy.mean, accuracy.sd)
    return found


# ── against the design, which was transcribed by somebody else ─────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def design(shared: Path) -> str:
    """The section of the design with the published results."""
    path = shared / "design/evaluation.md"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    text = path.read_text(encoding="utf-8")
    return text[text.index("## 6. The published results") : text.index("## 7.")]


def markdown_tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Heads and rows of the tables in a document."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield lines[0], lines[2:]


def plus_minus(cell: str) -> tuple[float, float] | None:
    found = re.match(r"([\d.]+)±([\d.]+)", cell)
    return (float(found[1]), float(found[2])) if found else None


def test_means_are_those_of_the_design(design: str):
    wanted: Cells = {}
    for head, rows in markdown_tables(design):
        for name, *row in rows:
            for measure, cell in zip(head[1:], row, strict=True):
                if (value := plus_minus(cell)) is None:
                    continue
                if measure.lower() in ("strategyqa", "ecqa", "gsm8k", "aqua"):
                    wanted["6.11", "need_to_talk" if name == "PerSimChat" else name, measure.lower()] = value
                elif name.startswith("B."):
                    table, _, system = name.partition(" ")
                    wanted[table, system, measure] = value
                else:
                    wanted["6.3" if measure in TABLES["6.3"].measures else "6.4", name, measure] = value
    assert len(wanted) == 42 + 30 + 32 + 24 + 24
    assert cells() == wanted


def test_pairs_are_those_of_the_design(design: str):
    rows = next(rows for head, rows in markdown_tables(design) if head[0] == "table")
    wanted = [
        (table, *pair.split(" – "), [float(n) for n in percent.split(" / ")], json.loads(f"[{counts}]"), float(p))
        for table, pair, percent, counts, p in rows
    ]
    assert len(wanted) == 17
    assert wanted == [(t, row.first, row.second, list(row.percent), list(row.counts), row.p) for t, _, row in PAIRS]


def test_right_answers_are_those_of_the_design(design: str):
    rows = next(rows for head, rows in markdown_tables(design) if "StrategyQA" in head)
    for method, benchmarks in THESIS.accuracy.scores.items():
        row = next(row for row in rows if row[0] == ("PerSimChat" if method == "need_to_talk" else method))
        for cell, accuracy in zip(row[1:], benchmarks.values(), strict=True):
            found = re.search(r"\((\d+)(°?)\)", cell)
            assert (accuracy.right, accuracy.rounded) == ((int(found[1]), bool(found[2])) if found else (None, False))


def test_what_people_said_is_that_of_the_design(design: str):
    said, people = design[design.index("Section 6.4:") :], THESIS.people
    for words in (
        f"α {people.krippendorff_alpha}",
        f"p {people.wilcoxon.p} (level {people.wilcoxon.level};",
        f"{people.raters} raters, {people.prefer_short.count} ({people.prefer_short.percent:.0f} %) prefer short",
        "single agent about {SA}, AutoGen {AG}, PerSimChat {Base}".format(**people.words_a_message),
    ):
        assert words in said
    assert people.prefer_short.percent == 100 * people.prefer_short.count / people.raters


def test_conditions_and_models_are_those_of_the_design(design: str):
    assert f"judge {THESIS.judge}" in design
    assert {(t.tasks, t.rounds, t.messages) for t in (*THESIS.dimensions, *THESIS.pairs)} == {(30, 1, 10), (15, 3, 20)}
    assert [t.table for t in (*THESIS.dimensions, *THESIS.pairs) if t.rounds == 3] == ["B.3", "6.10"]
    for part, whole in re.findall(r"\b(B\.\d) \((6\.\d)", design):
        table = TABLES[part]
        assert table.part is not None and table.part.table == whole
    models = {system.model for system in THESIS.systems.values() if system.model}
    assert len(models) == 3
    assert [model for model in models if model not in design] == []


# ── against the paper itself ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    found = sorted((shared / "papers").glob("000_*.txt"))
    if not found:
        pytest.skip(f"the thesis is not in {shared / 'papers'}")
    return found[0].read_text(encoding="utf-8")


def table_before(paper: str, caption: str) -> list[list[str]]:
    """The rows of the table that stands before its caption, cells without their marks."""
    above = paper[: paper.index(f"\nTable {caption}:")].rstrip("\n").splitlines()
    rows: list[list[str]] = []
    for line in reversed(above):
        if "\t" not in line:
            break
        rows.append([re.sub(r"</?\w+>|\$|\\pm", " ", cell).strip() for cell in line.split("\t")])
    return rows[::-1]


def names() -> dict[str, str]:
    return {system.title: name for name, system in THESIS.systems.items()}


@pytest.mark.parametrize("caption", ["6.3", "6.4", "6.5", "6.6", "6.7", "B.1", "B.2", "B.3", "6.11"])
def test_means_are_those_of_the_paper(paper: str, caption: str):
    parts = {table.part.table: table for table in THESIS.dimensions if table.part}
    here = parts[caption].table if caption in parts else caption
    head, *rows = table_before(paper, caption)
    known = cells()
    found = {}
    for title, *row in rows:
        for measure, cell in zip(head[1:], row, strict=True):
            mean, sd = (float(n) for n in re.findall(r"\d+\.\d+", cell))
            at = (here, SHORT[title], measure.lower()) if here == "6.11" else (here, names()[title], measure)
            found[at] = (mean, sd)
    part = parts[caption].part if caption in parts else None
    assert found == {
        at: value for at, value in known.items() if at[0] == here and (part is None or at[2] in part.measures)
    }


@pytest.mark.parametrize("caption", ["6.8", "6.9", "6.10"])
def test_pairs_are_those_of_the_paper(paper: str, caption: str):
    _, *rows = table_before(paper, caption)
    wanted = [(names()[first], names()[second], tuple(map(float, percent))) for first, second, *percent in rows]
    assert wanted == [(row.first, row.second, row.percent) for table, _, row in PAIRS if table == caption]


# ── what is inferred fits what is published ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("table", "planned", "row"), PAIRS, ids=lambda v: f"{v.first}-{v.second}" if hasattr(v, "p") else str(v)
)
def test_counts_give_percentages_and_p(table: str, planned: int, row: Any):
    wins, ties, losses = row.counts
    n = wins + ties + losses
    assert n <= planned
    assert tuple(rounded(100 * count / n, 2) for count in row.counts) == row.percent
    found = sign_test(wins, losses, ties)
    assert found.p == pytest.approx(row.p, abs=5e-4)
    assert row.p > 0.05, "no published difference is significant by itself"
    for larger in range(n + 1, planned + 1):
        fits = [any(rounded(100 * k / larger, 2) == share for k in range(larger + 1)) for share in row.percent]
        assert not all(fits), f"{larger} pairs would give the percentages, too"


def test_the_final_comparison_has_no_ranking():
    """In the published percentages each of the three systems beats one and loses to the other."""
    beaten = {
        (r.first, r.second) if r.percent[0] > r.percent[2] else (r.second, r.first) for t, _, r in PAIRS if t == "6.10"
    }
    assert beaten == {("AG", "SA"), ("SA", "Base"), ("Base", "AG")}


def rounds_that_fit(mean: float, sd: float, *, first_rounded: bool) -> set[int]:
    """How many of 90 can be right, if three rounds of 30 give this mean and sample SD in percent."""
    fitting = set()
    for right in combinations_with_replacement(range(31), 3):
        shares = [100 * k / 30 for k in right]
        shares = [rounded(share, 1) for share in shares] if first_rounded else shares
        if rounded(fmean(shares), 1) == mean and rounded(stdev(shares), 1) == sd:
            fitting.add(sum(right))
    return fitting


@pytest.mark.proof
@pytest.mark.parametrize(
    "accuracy",
    [
        pytest.param(accuracy, id=f"{method} {benchmark}")
        for method, benchmarks in THESIS.accuracy.scores.items()
        for benchmark, accuracy in benchmarks.items()
    ],
)
def test_right_answers_give_mean_and_deviation(accuracy: Accuracy):
    plain = rounds_that_fit(accuracy.mean, accuracy.sd, first_rounded=False)
    after = rounds_that_fit(accuracy.mean, accuracy.sd, first_rounded=True)
    if accuracy.right is None:
        assert plain == after == set()
    else:
        assert (after if accuracy.rounded else plain) == {accuracy.right}
        assert plain == set() or not accuracy.rounded


@pytest.mark.parametrize(
    ("tables", "n", "least", "whole", "all_of_them"), [(("6.3", "6.4"), 30, 28, 39, 42), (("B.3",), 45, 40, 19, 24)]
)
def test_means_are_whole_numbers_over_conversations(
    tables: tuple[str, ...], n: int, least: int, whole: int, all_of_them: int
):
    """One integer a conversation, and now and then one missing: why the scale is an integer a conversation."""
    means = [mean for (table, _, _), (mean, _) in cells().items() if table in tables]
    assert len(means) == all_of_them
    fitting = {size: {rounded(k / size, 2) for k in range(10 * size + 1)} for size in range(least, n + 1)}
    assert sum(mean in fitting[n] for mean in means) == whole
    assert all(any(mean in fitting[size] for size in fitting) for mean in means)


# ── the reader ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_find():
    found = THESIS.find("BEL", "need_to_talk", "Base")
    assert [(row.table, row.value, row.sd, row.messages) for row in found] == [
        ("6.3", 8.53, 0.94, 10),
        ("B.2", 8.67, 0.88, 10),
        ("B.3", 8.76, 0.59, 20),
    ]
    assert [row.table for row in THESIS.find("REL", "single_agent", "Base")] == ["B.1"]
    (accuracy,) = THESIS.find("gsm8k", "cot")
    assert (accuracy.value, accuracy.sd, accuracy.judge, accuracy.messages) == (90.0, 6.7, None, None)
    assert THESIS.find("BEL", "mad") == []
    assert len(list(THESIS.values())) == len(cells()) == 152
    assert published("thesis") is THESIS


def test_a_paper_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        published("nothing")


def changed(**values: Any) -> str:
    return json.dumps({**json.loads(THESIS.model_dump_json()), **values})


def test_the_file_is_read_strictly():
    assert Paper.model_validate_json(changed()) == THESIS
    for wrong in ({"paper": 3}, {"extra": 1}, {"systems": {}}, {"dimensions": [{}]}):
        with pytest.raises(ValidationError):
            Paper.model_validate_json(changed(**wrong))
    table = json.loads(TABLES["B.1"].model_dump_json())
    with pytest.raises(ValidationError, match="SA has not one mean and SD for each of the 3 measures"):
        DimensionTable.model_validate_json(json.dumps({**table, "measures": ["GOAL", "BEL", "KNO"]}))
