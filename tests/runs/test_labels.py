"""The name and the tags of a run: kept beside it, bounded, and never in its record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import write_run

from persimchat.runs.folder.labels import (
    LABELS,
    LONGEST_NAME,
    LONGEST_TAG,
    MOST_TAGS,
    Labels,
    labels,
    read_labels,
    write_labels,
)
from persimchat.runs.folder.listing import list_runs, matching

Refused = Callable[..., str]


def test_they_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_labels(folder, labels("First try", ["pilot", "Říjen"]))
    assert read_labels(folder) == Labels(name="First try", tags=["pilot", "Říjen"])
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LABELS} == before
    write_labels(folder, labels("", []))
    assert not (folder / LABELS).exists()
    assert read_labels(folder) == Labels()


def test_they_are_plain_lines_and_a_tag_is_there_once() -> None:
    given = labels("  One\n\x1b[31mtwo\u202e ", ["Pilot", " pilot ", "", "pílot", "two"])
    assert given == Labels(name="One two", tags=["Pilot", "two"])
    assert given.with_tags(["three"], ["PILOT"]).tags == ["two", "three"]


def test_they_are_bounded(refused: Refused) -> None:
    refused(lambda: labels("x" * (LONGEST_NAME + 1), []), "name", str(LONGEST_NAME))
    refused(lambda: labels("", ["x" * (LONGEST_TAG + 1)]), "tag", str(LONGEST_TAG))
    refused(lambda: labels("", ["a, b"]), "commas")
    refused(lambda: labels("", map(str, range(MOST_TAGS + 1))), "tags", str(MOST_TAGS))


@pytest.mark.parametrize("damage", ["{", "[]", '{"tags": "pilot"}', json.dumps({"name": "x" * 200}), " " * 70_000])
def test_damaged_labels_hide_no_run(tmp_path: Path, damage: str) -> None:
    folder = write_run(tmp_path)
    (folder / LABELS).write_text(damage)
    listing = list_runs(tmp_path)
    assert [run.run for run in listing.runs] == [folder.name]
    assert len(listing.unread) == 1
    assert LABELS in listing.unread[0]


def test_no_other_folder_gets_any(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: write_labels(tmp_path, labels("x", [])), "not a run's folder")
    assert list(tmp_path.iterdir()) == []


def test_runs_are_found_by_them(tmp_path: Path) -> None:
    for name, tags in {"a": ["pilot", "debate"], "b": ["Pilot"], "c": []}.items():
        write_labels(write_run(tmp_path, run=name), labels(f"Number {name * 3}", tags))
    runs = list_runs(tmp_path).runs

    def found(**wanted: Any) -> set[str]:
        return {run.run for run in matching(runs, **wanted)}

    assert found(tags=["PILOT"]) == {"a", "b"}
    assert found(tags=["pilot", "debate"]) == {"a"}
    assert found(tags=["pil"]) == set()
    assert found(text="number CCC") == {"c"}
    assert found(text="debate tea") == {"a"}
