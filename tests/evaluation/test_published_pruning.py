"""The published figures on pruning are complete: those of the paper and of the design, and read strictly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.evaluation.published.figures import FigurePaper, FigureTable, figures
from persimchat.state.configuration import load_settings

PAPER = figures("pruning")
TABLES = {table.table: table for table in PAPER.tables}
CALLED = {
    "Full default": "Full", "RMm default": "RMm", "Full to Full": "Full", "Full to RMm": "RMm",
    "Basic Info": "b", "Human Needs*": "h", "Memory": "m", "Previous Dialogues": "p", "Environment": "e",
    "Current Dialogue": "c", "RMbmpe (= λ 1)": "RMbmpe", "Full (λ = 0)": "Full", "order bpmec": "bpmec",
}  # fmt: skip
"""Rows of the paper and of the design by what they are called here."""


def text_of(path: Path) -> str:
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    return text_of(shared / "papers/003_231b8301c487ee5e.txt")


@pytest.fixture(scope="module")
def design(shared: Path) -> str:
    text = text_of(shared / "design/pruning.md")
    return text[text.index("Published (LLaMA 3, GA") : text.index("Cost of the λ sweep")]


def rows_above(paper: str, caption: str) -> dict[str, tuple[float, ...]]:
    """The rows of a table, which stands before its caption or, of the first, before the first caption of all."""
    lines = paper[: paper.index(f"\nTable {caption}:")].splitlines()
    found: dict[str, tuple[float, ...]] = {}
    for line in reversed(lines):
        matched = re.fullmatch(r"(\D.*?) ((?:[\d.]+ ?)+)", line)
        if matched:
            found[CALLED.get(matched[1], matched[1])] = tuple(float(part) for part in matched[2].split())
        elif found and line not in ("Order", "Length", "Frequency"):
            break
    return found


@pytest.mark.parametrize(("caption", "rows"), [("2", 6), ("3", 8), ("4", 2), ("5", 13)])
def test_tables_are_those_of_the_paper(paper: str, caption: str, rows: int):
    here = {row.name: row.values for row in TABLES[caption].rows}
    assert here == rows_above(paper, caption)
    assert len(here) == rows


def test_blocks_are_those_of_the_paper(paper: str):
    lines = dict(re.findall(r"^([^\d\n]+) ((?:\d+~)?\d+ [\d.]+) (?:Fixed|Trajectory|Context)", paper, re.MULTILINE))
    found: dict[str, list[float]] = {}
    for title, numbers in lines.items():
        items, words = numbers.split()
        found[CALLED[title]] = [float(items.split("~")[0]), float(items.split("~")[-1]), float(words)]
    assert {row.name: list(row.values) for row in TABLES["1"].rows} == found


@pytest.mark.parametrize(
    ("table", "said", "values"),
    [
        ("section 3.2", "attention decreases by only 19%", (0.19,)),
        ("section 3.2, HA", "dist-3 increases from 0.535 to 0.546", (0.546,)),
        ("section 3.2, one kept", "dist-3 drops from 0.800 to 0.595 for m1Hi", (0.8, 0.595)),
        ("section 6, repeated ends", "the rate is 66.5%, compared to 7.9% in the original Full", (0.079, 0.665)),
        ("section 6, names", "appears 762,023 times, while “Tifa Lockhart” appears only 432 times", (762023, 432)),
    ],
)
def test_single_numbers_are_those_of_the_text(paper: str, table: str, said: str, values: tuple[float, ...]):
    assert said in re.sub(r"\s+", " ", paper)
    assert tuple(row.values[0] for row in TABLES[table].rows) == values


def test_what_is_left_is_that_of_the_text(paper: str):
    left = [row.values[0] for row in TABLES["section 3.2, what is left"].rows]
    assert [f"{100 * value:.1f}%" for value in left] == ["83.4%", "59.3%", "1.6%"]
    said = paper[paper.index("approximately 83.4%") :].partition("\n")[0]
    assert [f"{100 * value:.1f}%" in said for value in left] == [True] * 3


def test_tables_are_those_of_the_design(design: str):
    cells: dict[str, tuple[float, ...]] = {}
    for line in design.splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")]
        for start in (0, 6):
            values = parts[start + 1 : start + 5]
            if len(values) == 4 and all(re.fullmatch(r"\.\d{3}", value) for value in values):
                title = re.sub(r" \((?:len )?[\d.]+\)", "", parts[start]).replace("p=.99", "p=0.99")
                title = title.replace(" + ", "+")
                cells[CALLED.get(title, title)] = tuple(float(f"0{value}") for value in values)
    assert len(cells) == 23
    known = {row.name: row.values[:4] for key in ("2", "3", "5") for row in TABLES[key].rows}
    assert cells == known
    for words in (".881", ".382", ".580", ".720", ".815", ".484", ".699", ".814", "−19 %", ".546", "83.4 %", "59.3 %"):
        assert words in design


def test_settings_that_stand_for_rows_are_settings():
    for table in PAPER.tables:
        for row in table.rows:
            for alternative in row.settings:
                merged = {**PAPER.settings, **alternative}
                del merged["model_top_p"]
                load_settings(environment={}, **merged)


def test_rows_are_found_by_settings():
    def named(**given: Any) -> list[tuple[str, str]]:
        return [(table.table, row.name) for table, row in PAPER.rows_for(given)]

    removed = {"pruning.remove": "m"}
    assert named(**removed) == [("2", "RMm"), ("3", "RMm"), ("4", "RMm"), ("5", "RMm")]
    assert ("2", "RMbmpe") in named(**{"pruning.lambda": 1.0})
    assert named(**removed, model_temperature=1.0) == [("3", "RMm T=1.0")]
    assert named(**{"pruning.lambda": 0.3}) == []
    assert [name for table, name in named() if table in "2345"] == ["Full"] * 4


def test_the_file_is_read_strictly():
    whole: dict[str, Any] = json.loads(PAPER.model_dump_json())
    assert FigurePaper.model_validate_json(json.dumps(whole)) == PAPER
    with pytest.raises(ValidationError, match="of which the paper's settings say nothing"):
        FigurePaper.model_validate_json(json.dumps({**whole, "settings": {}}))
    for table in PAPER.tables:
        plain = json.loads(table.model_dump_json())
        with pytest.raises(ValidationError, match="not one value"):
            FigureTable.model_validate_json(json.dumps({**plain, "n": [1, 2, 3, 4, 5, 6]}))
