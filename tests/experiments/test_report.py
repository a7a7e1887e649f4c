"""Tables and report of what was not held yet: everything missing says why, and text of files is data."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from persimchat.evaluation.statistics.intervals import mean_over_tasks
from persimchat.evaluation.statistics.significance import wilcoxon
from persimchat.experiments import Experiment
from persimchat.experiments.api import Results, report_on
from persimchat.experiments.comparing import Comparison
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan
from persimchat.experiments.report import forest

Make = Callable[..., Experiment]
HOSTILE = "<script>alert(1)</script>"


def planned(experiment: Experiment, path: Path) -> Results:
    """The results of an experiment that nobody has run."""
    place = Place(path)
    with place.driven():
        place.keep(plan(experiment))
    return report_on(experiment, place)


def test_what_was_not_held_is_missing(make: Make, tmp_path: Path):
    results = planned(make(compare=[{"by": "method"}]), tmp_path / "x")
    assert {row["status"] for row in results.rows("cells")} == {"planned"}
    measured = results.rows("measures")
    assert {(row["value"], row["missing"]) for row in measured} == {(None, "the conversation is not complete: planned")}
    (one,) = results.rows("comparisons")
    assert (one["tasks"], one["left_out"], one["difference"], one["p"]) == (0, 2, None, None)
    report = (tmp_path / "x" / "report.html").read_text(encoding="utf-8")
    assert "<b>Missing:</b> 4 (4 planned)" in report
    assert "2 left out" in report


def test_text_of_files_is_data(make: Make, tmp_path: Path):
    grid = {"wording": {HOSTILE: HOSTILE, "=1+1": "=cmd|x"}, "model": ["offline"]}
    results = planned(make(grid=grid, compare=[{"by": "wording"}]), tmp_path / "x")
    report = (tmp_path / "x" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in report and "&lt;script&gt;" in report
    assert not re.search(r"https?://|\bon\w+=", report)
    assert "default-src 'none'" in report
    with (tmp_path / "x" / "tables" / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [row["wording"] for row in cells] == [HOSTILE, "'=1+1"]
    assert cells[1]["topic"] == "'=cmd|x"
    assert len(results.rows("cells")) == 2


def test_the_codebook_explains_every_column(make: Make, tmp_path: Path):
    planned(make(), tmp_path / "x")
    tables = tmp_path / "x" / "tables"
    codebook = (tables / "codebook.md").read_text(encoding="utf-8")
    for name in ("cells", "measures", "comparisons"):
        heading = (tables / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
        part = codebook[codebook.index(f"## {name}\n") :]
        assert [column for column in heading if f"| `{column}` |" not in part] == []
        assert re.findall(r"^\| `\w+` \|.*\|  \|$", part, re.MULTILINE) == []


def test_a_forest_plot():
    def one(a: str, differences: list[float]) -> Comparison:
        mean = mean_over_tasks(differences)
        return Comparison("m", "by", a, "b", {}, 0, mean, mean, mean, None, wilcoxon(differences))

    drawn = forest([one("x", [1, 2, 3]), one("y", [-1.0])])
    assert drawn is not None
    first, second = drawn.lines
    assert first.low is not None and first.high is not None
    assert first.low < first.point < first.high
    assert second.low is None and second.point < drawn.zero < first.point
    assert [text for _, text in drawn.ticks if text == "0"] == ["0"]
    assert forest([one("x", [])]) is None
