"""`persimchat experiment` says on one line what is wrong, before anything is held."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from experiment_tables import rows
from small_experiment import SMALL, Command, Make, planned

from persimchat.evaluation.statistics.claims import paired
from persimchat.evaluation.statistics.intervals import mean_over_tasks, stats
from persimchat.experiments.comparing import Comparison
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan
from persimchat.experiments.report import forest
from persimchat.state.errors import InputError, MachineError


def test_an_estimate(make: Make, tmp_path: Path, command: Command):
    make()
    told = command("estimate", "small.yaml").out
    assert told.startswith("small: 4 conversations (method 2 × seed 2)\noffline: about ")
    data = json.loads(command("estimate", "small.yaml", "--json").out)
    assert (data["cells"], data["done"]) == (4, 0)
    assert f"about {data['missing']['calls']} calls" in told
    assert not (tmp_path / "results").exists()


def test_what_is_wrong(make: Make, tmp_path: Path, command: Command):
    make(grid={"memroy_filtering": [True]})
    for arguments, words in (
        (["run", "missing.yaml"], "there is no such file"),
        (["run", "small.yaml"], "Did you mean 'memory_filtering'?"),
        (["report", "."], "experiment.yaml"),
    ):
        said = command(*arguments, code=2)
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert words in said.err
    assert not (tmp_path / "results").exists()


def test_a_small_budget_is_refused(make: Make, command: Command):
    make()
    told = command("run", "small.yaml", "--yes", "--budget-calls", "3", code=2).err
    assert "budget_calls=3 is below what the smallest cell is expected to use" in told


@pytest.fixture
def nobody_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody answers what a command asks."""
    with Path(os.devnull).open(encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        yield


@pytest.mark.proof
def test_it_asks_where_it_is_long(make: Make, tmp_path: Path, nobody_there: None, command: Command):
    make(grid={"seed": {"from": 0, "count": 200}})
    assert "Add --yes." in command("run", "small.yaml", code=2).err
    assert not (tmp_path / "results").exists()


UNPRICED = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "m@http://127.0.0.1:9/v1"}}
REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a price that is not known": (
        {"base": UNPRICED, "limits": {"budget_usd": 5}},
        ("the price of m@http://127.0.0.1:9/v1 is not known", "prices"),
    ),
    "a budget for nothing": ({"limits": {"budget_calls": 3}}, ("below what the smallest cell", "Raise it")),
    "a rate of a model that nobody asks": (
        {"limits": {"requests_per_second": {"ofline": 3}}},
        ("no conversation asks the model 'ofline'", "limits.requests_per_second", "'offline'?"),
    ),
    "slots of a model that nobody asks": ({"limits": {"slots": {"gpt": 3}}}, ("'gpt'", "limits.slots.gpt", "offline")),
    "a rate of nothing": ({"limits": {"requests_per_second": {"offline": 0}}}, ("limits.requests_per_second",)),
    "an unknown measure of stories": ({"measures": {"story": ["winner"]}}, ("story", "winners")),
    **{
        f"diversity with {name}": ({"measures": {"diversity": {name: value}}}, ("measures.diversity", name))
        for name, value in {
            "embedding": "openai:text-embedding-3-small",
            "tokens": "signs",
            "group": 1,
            "windows": 3,
        }.items()
    },
    "diversity as a word": ({"measures": {"diversity": "yes"}}, ("measures.diversity",)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_file_says_wrongly(tmp_path: Path, command: Command, case: str):
    """One line: what, where, what to do; nothing is held or written."""
    fields, words = REFUSED[case]
    with (tmp_path / "small.yaml").open("w", encoding="utf-8") as file:
        yaml.safe_dump({**SMALL, "grid": {}, **fields}, file, allow_unicode=True, sort_keys=False)
    told = command("run", "small.yaml", "--yes", code=2)
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert [word for word in words if word not in told.err] == []
    assert not (tmp_path / "results").exists()


def test_many_cells_are_allowed_where_they_are_meant(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("persimchat.experiments.plan.MOST_CELLS", 3)
    with pytest.raises(InputError, match="4 cells"):
        plan(make())
    assert len(plan(make(), many=True).cells) == 4


def test_another_folder(make: Make, tmp_path: Path, nobody_there: None, command: Command):
    """That of another experiment is refused; changed cells are counted, and it asks."""
    place = Place(tmp_path / "results" / "small")
    with place.driven():
        place.keep(plan(make()))
    make(grid={"seed": [0, 1, 2]})
    told = command("run", "small.yaml", code=2)
    assert "The file has changed: 2 kept, 1 new, 2 no longer in it." in told.out and "Add --yes." in told.err
    make(name="other")
    (tmp_path / "results" / "small").rename(tmp_path / "results" / "other")
    assert "the folder of another experiment, 'small'" in command("run", "small.yaml", "--yes", code=2).err


def test_comparisons_need_the_extra(make: Make, monkeypatch: pytest.MonkeyPatch, command: Command):
    make(compare=[{"by": "method"}])
    stats.cache_clear()
    for name in ("scipy", "scipy.stats"):  # another test may have loaded it
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'persimchat[evaluation]'" in command("run", "small.yaml", "--yes", code=2).err
    monkeypatch.undo()
    stats.cache_clear()


# Tables and report of what was not held yet: everything missing says why, and text of files is data


HOSTILE = "<script>alert(1)</script>"


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
    cells = rows(tmp_path / "x", "cells")
    assert [row["wording"] for row in cells] == [HOSTILE, "'=1+1"]
    assert cells[1]["topic"] == "'=cmd|x"
    assert len(results.rows("cells")) == 2


def test_a_heading_is_no_formula_and_a_negative_level_is_a_number(make: Make, tmp_path: Path):
    axis = '=HYPERLINK("http://x")'
    grid = {axis: {"each": "participants", "topic": "x"}, "status": {"each": "participants"}, "variant": {"-1": {}}}
    for name in (axis, "status"):
        grid[name]["scenario"] = {"rules": ["{participant} is late."]}
        grid[name].pop("topic", None)
    planned(make(grid=grid), tmp_path / "x")
    (at_top, *_) = found = rows(tmp_path / "x", "cells")
    assert f"'{axis}" in at_top and axis not in at_top
    assert {row["variant"] for row in found} == {"-1"}
    for table in ("cells", "measures", "groups"):
        assert "axis_status" in rows(tmp_path / "x", table)[0], table


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
        return Comparison(
            measure="m",
            by="by",
            a=a,
            b="b",
            within={},
            left_out=0,
            first=mean,
            second=mean,
            **vars(paired(differences)),
        )

    drawn = forest([one("x", [1, 2, 3]), one("y", [-1.0])])
    assert drawn is not None
    first, second = drawn.lines
    assert first.low is not None and first.high is not None
    assert first.low < first.point < first.high
    assert second.low is None and second.point < drawn.zero < first.point
    assert [text for _, text in drawn.ticks if text == "0"] == ["0"]
    assert forest([one("x", [])]) is None


# The folder of an experiment: what it holds, where else its report is, what is beside it


PERSONA = {"name": "Ida", "description": "Somebody who keeps bees."}


def of_files(folder: Path, *, scenario: bool) -> None:
    """An experiment whose scenario (or personas alone, of the base and of a task) and tasks are files beside it."""
    (folder / "near").mkdir(parents=True)
    others = {} if scenario else {"scenario": {"participants": [{"persona": "near/ota.yaml"}, "Zeynep"]}}
    texts: dict[str, Any] = {
        "near/ida.yaml": PERSONA,
        "near/ota.yaml": {"name": "Ota", "description": "A driver."},
        "near/talk.yaml": {
            "topic": "Tea?",
            "participants": ["ida.yaml", {"name": "Ota", "description": "A driver."}],
            "relationships": [{"from": "Ida", "to": "Ota", "type": "parent_child"}],
            "settings": {"utterance_words": 12},
        },
        "near/tasks.yaml": {"tasks": [{"id": "a", "topic": "Tea?"}, {"id": "b", "topic": "Jam?", **others}]},
        "files.yaml": {
            "name": "files",
            "base": {
                **({"scenario": "near/talk.yaml"} if scenario else {"participants": ["near/ida.yaml", "Zeynep"]}),
                "settings": SMALL["base"]["settings"],
            },
            "tasks": {"file": "near/tasks.yaml"},
        },
    }
    for name, data in texts.items():
        (folder / name).write_text(yaml.safe_dump(data), encoding="utf-8")


@pytest.mark.proof
@pytest.mark.parametrize("scenario", [True, False])
def test_a_folder_can_be_moved_and_held_again(
    scenario: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
):
    of_files(tmp_path / "old", scenario=scenario)
    monkeypatch.chdir(tmp_path / "old")
    command("run", "files.yaml", "--yes")
    held = rows(Path("results/files"), "cells")
    shutil.move("results", tmp_path / "new")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree("old")
    again = ["run", "new/files/experiment.yaml", "--out", "new"]
    assert "2 of 2 done, 0 to hold" in command(*again).out
    assert rows(Path("new/files"), "cells") == held
    shutil.rmtree(Path("new/files/runs", held[0]["cell"]))
    command(*again, "--yes")
    assert [row["cell"] for row in rows(Path("new/files"), "cells")] == [row["cell"] for row in held]
    assert {row["status"] for row in rows(Path("new/files"), "cells")} == {"done"}


def test_a_report_is_written_elsewhere(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command):
    planned(make(), tmp_path / "results" / "small")
    before = sorted((path, path.stat().st_mtime_ns) for path in Path("results").rglob("*"))
    command("report", "results/small", "--out", "else where")
    assert sorted((path, path.stat().st_mtime_ns) for path in Path("results").rglob("*")) == before
    assert Path("else where/small/report.html").is_file() and Path("else where/small/tables/cells.csv").is_file()

    def refusing(*_: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("persimchat.experiments.api.write_tables", refusing)
    said = command("report", "results/small", code=2).err
    assert "Read-only file system" in said and "persimchat experiment report results/small --out DIR" in said


@pytest.mark.proof
def test_a_new_start_names_the_folder_that_is_there(make: Make, tmp_path: Path, command: Command):
    there = tmp_path / "results" / "small"
    planned(make(), there)
    assert "A new start" not in command("estimate", "small.yaml").out
    told = command("estimate", "small.yaml", "--out", "other").out
    assert f"A new start in other/small: what {there} holds goes on with --out {there.parent}." in told


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), "of a run"])
def test_after_a_full_disk_the_same_command_goes_on(
    make: Make, monkeypatch: pytest.MonkeyPatch, command: Command, error: Any
):
    full = OSError(errno.ENOSPC, "No space left on device")
    told = MachineError.caused_by(full, "the run cannot be kept", "run.sqlite").resumable(Path("results/small/runs/x"))

    async def failing(*_: Any, **__: Any) -> None:
        raise error if isinstance(error, OSError) else told

    monkeypatch.setattr("persimchat.experiments.api.drive", failing)
    make()
    said = " ".join(command("run", "small.yaml", code=4).err.split())
    assert "No space left on device" in said and "Check free space and permissions." in said
    assert said.endswith("Then give the same command again: persimchat experiment run small.yaml")
    assert "resume" not in said
