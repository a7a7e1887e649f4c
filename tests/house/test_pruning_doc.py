"""The page on pruning is true to the code: its example by hand, and the fields of the record."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean

import pytest

from persimchat.runs.reports.export_pruning import TABLES
from persimchat.state.pruning import Check, Pruned, PrunedItem, select

PAGE = (Path(__file__).resolve().parents[2] / "docs/pruning.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("### An example by hand")[2].partition("\n### ")[0]
PIECES = "ABC"


def rows(text: str, head: str) -> list[list[str]]:
    """The rows of the table under this heading."""
    lines = text[text.index(head) :].splitlines()[2:]
    end = next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines[:end]]


def test_the_scores_of_the_example_are_those_of_its_attention() -> None:
    *heads, sums = rows(EXAMPLE, "| | token 1 |")
    read = [[float(cell) for cell in row[1:]] for row in heads]
    for row in read:
        assert (row[0] + row[1], row[2], row[3]) == pytest.approx(tuple(row[4:]))
    layers = [read[:2], read[2:]]
    scores = [sum(fmean(row[4 + place] for row in layer) for layer in layers) for place in range(3)]
    assert scores == pytest.approx([float(cell) for cell in sums[5:]])
    assert "sum to 1.05" in EXAMPLE
    assert sum(scores) == pytest.approx(1.05)


def test_what_is_left_out_in_the_example_is_what_the_program_leaves_out() -> None:
    scores = [float(cell) for cell in rows(EXAMPLE, "| | token 1 |")[-1][5:]]
    told = {float(row[0]): re.findall(r"\b[ABC]\b", row[3]) for row in rows(EXAMPLE, "| λ |")}
    assert told == {strength: [PIECES[n] for n in select(scores, strength)] for strength in (0.5, 0.6, 1.0)}


def test_every_field_of_the_record_is_explained() -> None:
    record = PAGE.partition("### The record")[2].partition("\n### ")[0]
    names = [field.alias or name for model in (Pruned, PrunedItem, Check) for name, field in model.model_fields.items()]
    assert [name for name in names if f"`{name}`" not in record] == []


def test_both_tables_are_named() -> None:
    export = (Path(__file__).resolve().parents[2] / "docs/export.md").read_text(encoding="utf-8")
    assert [name for name in TABLES if f"| `{name}` |" not in export or f"`{name}`" not in PAGE] == []
