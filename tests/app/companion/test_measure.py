"""`persimchat companion measure`: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.evaluation.companion import measuring
from persimchat.evaluation.companion.rows import Row

Run = Callable[..., Any]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Nobody talks; which worlds would have been measured, and with what."""
    asked: list[tuple[str, str]] = []

    async def found(what: str, name: str, talks: int, seed: int, **given: Any) -> list[Row]:
        asked.append((name, str(given["settings"].model)))
        rows = [Row(name, "single 1", "right", 1.0), Row(name, "reaction", "accepted_at_first", float(seed))]
        times = [Row(name, f"1 {n}", m, 10.0 * n) for n in (1, 2) for m in ("first_words_ms", "bare_first_words_ms")]
        return times if what == "latency" else rows

    monkeypatch.setattr(measuring, "measured", found)
    return asked


def test_a_table_of_measures_with_intervals(command: Run, quick: list[tuple[str, str]]) -> None:
    done = command("companion", "measure", "recall", "Jarmila", "--talks", "1,2", "--seeds", "2", "--out", "res")
    assert done.code == 0 and [name for name, _ in quick] == ["recall-1-0", "recall-2-0", "recall-1-1", "recall-2-1"]
    assert "requests to offline" in done.err
    assert "recall 1  right" in done.out and "0.34 to 1.00" in done.out and "accepted_at_first   0.50" in done.out
    with (Path("res") / "companion.csv").open(encoding="utf-8", newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)][::2] == [name for name, _ in quick]


def test_all_measures_take_latency_only_where_http_is_spoken(command: Run, quick: list[tuple[str, str]]) -> None:
    done = command("companion", "measure", "all", "Jarmila", "--talks", "1", "--json")
    assert "its latency is not measured" in done.err and [name for name, _ in quick] == ["recall-1-0", "trust-0"]
    found = json.loads(done.out)
    assert {"run": "recall 1", "measure": "right"}.items() <= found["measures"][0].items() and len(found["rows"]) == 4
    quick.clear()
    model = "m@http://127.0.0.1:9/v1"
    done = command("companion", "measure", "all", "Jarmila", "--talks", "1", "--model", model)
    assert [name for name, _ in quick] == ["recall-1-0", "trust-0", "latency"]
    assert {given for _, given in quick} == {model} and "take 1.00 times as long" in done.out


@pytest.mark.parametrize("talks", ["", "0", "21", "1;2", "one", "-1"])
def test_numbers_of_talks_that_are_none_are_refused(command: Run, quick: list[tuple[str, str]], talks: str) -> None:
    done = command("companion", "measure", "recall", "Jarmila", f"--talks={talks}")
    assert done.code == 2 and "--talks" in done.err and "1,2,5" in done.err and not quick


def test_what_is_wrong_is_said_in_one_line(command: Run, quick: list[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "kept" / "recall-1-0").mkdir(parents=True)
    done = command("companion", "measure", "recall", "Jarmila", "--talks", "1", "--keep", str(tmp_path / "kept"))
    assert done.code == 2 and "is there already" in done.err and not quick
    assert command("companion", "measure", "recall", "Nobody").code == 2
    assert command("companion", "measure", "recall", "Jarmila", "--set", "companion.x=1").code == 2
    assert command("companion", "measure", "taste", "Jarmila").code == 2


def test_the_offline_model_has_no_latency(command: Run) -> None:
    done = command("companion", "measure", "latency", "Jarmila", "--talks", "1")
    assert done.code == 2 and "not asked over HTTP" in done.err


@pytest.mark.proof
def test_the_whole_of_it_offline(command: Run, tmp_path: Path) -> None:
    given = ("--talks", "1", "--keep", str(tmp_path / "kept"))
    done = command("companion", "measure", "all", "Jarmila", *given, "--json")
    values = {(one["run"], one["measure"]): one["value"] for one in json.loads(done.out)["measures"]}
    assert values["recall 1", "right"] == 1 and values["trust friendly", "course_as_expected"] == 1
    assert values["reaction", "accepted_at_first"] == 1
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "recall-1-0", "trust-0-friendly", "trust-0-hostile", "trust-0-apologising", "trust-0-neutral",
    }  # fmt: skip
