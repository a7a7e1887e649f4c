"""The published figures on stories are those of the paper and of the design, and are read strictly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.evaluation.published.figures import FigurePaper, FigureTable, figures

PAPER = figures("agentgroupchat")
ATTITUDE, FORM, ENTROPY = PAPER.tables
OBSERVED = ("Logan Roy", "Conor Roy", "Kendall Roy", "Roman Roy", "Shiv Roy")


def text_of(path: Path) -> str:
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    return text_of(shared / "papers/001_8fb1ce7cab37bfa8.txt")


@pytest.fixture(scope="module")
def design(shared: Path) -> str:
    text = text_of(shared / "design/stories.md")
    return text[text.index("**Published**") : text.index("**Ours, at no cost:**")]


def numbers(line: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\w.-])\d+\.\d+(?!\w)", line)]


def test_attitude_is_that_of_the_paper(paper: str):
    tables = paper[paper.index("Show Negative Attitude to") : paper.index("Table 2:")]
    for name in ATTITUDE.names:
        (line,) = (line for line in tables.splitlines() if re.search(rf"\b{re.escape(name)}\t", line))
        rows = [row for row in ATTITUDE.rows if row.name == name]
        assert tuple(row.of for row in rows) == OBSERVED
        assert [value for row in rows for value in row.values] == numbers(line.partition(name)[2])


def test_attitude_is_that_of_the_design(design: str):
    for name in ATTITUDE.names:
        (line,) = (line for line in design.splitlines() if line.startswith(f"| {name} |") and "/" in line)
        *pairs, means = [[float(part) for part in cell.split("/")] for cell in line.strip("| ").split("|")[1:]]
        values = [ATTITUDE.values(name, measure) for measure in ATTITUDE.measures]
        assert pairs == [list(pair) for pair in zip(*values, strict=True)]
        assert means == [round(fmean(each)) for each in values]


def test_what_is_counted_fits_the_percentages():
    """Five rounds make multiples of 20, twenty changes multiples of 5."""
    for row in ATTITUDE.rows:
        for value, n in zip(row.values, ATTITUDE.n, strict=True):
            assert value * n % 100 == 0


def test_form_is_that_of_the_paper(paper: str, design: str):
    table = paper[paper.index("Instruction Understanding") : paper.index("Table 3:")]
    formed = design[design.index("| model | CS |") :]
    for text, mark in ((table, "\t"), (formed, " |")):
        for row in FORM.rows:
            begins = f"{row.name}{mark}"
            (line,) = (line for line in text.splitlines() if line.removeprefix("| ").startswith(begins))
            assert list(row.values) == numbers(line.partition(row.name)[2])[:5]
    for measure, n in zip(FORM.measures, FORM.n, strict=True):
        assert f"{measure.removeprefix('form_')}\t{n:,}\t" in paper


def test_entropy_is_that_of_the_paper(paper: str, design: str):
    table = paper[paper.index("Structure Ablation") : paper.index("Table 5:")]
    values = [value for row in ENTROPY.rows for value in row.values]
    assert values == numbers(table) == numbers(design[design.index("Entropy-2:") :].partition("Seven")[0])


def test_the_file_is_read_strictly():
    assert PAPER.table_of("form_CS") is FORM
    assert PAPER.table_of("balance") is None
    plain: dict[str, Any] = json.loads(FORM.model_dump_json())
    assert FigureTable.model_validate_json(json.dumps(plain)) == FORM
    for wrong, why in (({"n": [1]}, "not one value"), ({"more": 1}, "Extra"), ({"table": 3}, "string")):
        with pytest.raises(ValidationError, match=why):
            FigureTable.model_validate_json(json.dumps({**plain, **wrong}))
    with pytest.raises(ValidationError):
        FigurePaper.model_validate_json("{}")
    with pytest.raises(FileNotFoundError):
        figures("nothing")
