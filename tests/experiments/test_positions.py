"""Positions as measures of an experiment: arithmetic from the ledger, or missing with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopback.scripted import prompt_of
from loopback.server import LoopbackServer
from small_experiment import SMALL

from persimchat.experiments import Experiment, run_experiment
from persimchat.runs.reports.stance_summary import VALUES

Make = Callable[..., Experiment]
DEBATE = {"mode": "debate", "answer_format": "yesno", "model": "offline", "max_messages": 4}


def in_debate(**fields: Any) -> dict[str, Any]:
    base = {**SMALL["base"], "settings": DEBATE}
    return {"base": base, "grid": {"method": ["group_chat", "mad"], "seed": [0]}, **fields}


def test_each_source_has_numbers_of_its_own(make: Make, tmp_path: Path) -> None:
    results = run_experiment(make(**in_debate(measures={"stances": True})), tmp_path)
    rows = {(row["method"], row["measure"]): (row["value"], row["missing"]) for row in results.rows("measures")}
    assert {measure for _, measure in rows} == {f"{of}_{name}" for of in ("verdicts", "answers") for name in VALUES}
    assert rows["group_chat", "answers_moves"] == rows["mad", "verdicts_kept"] == (None, "does not apply")
    value, missing = rows["mad", "answers_moves"]
    assert value is not None and missing is None
    seen = results.rows("stances")
    assert {(row["method"], row["source"]) for row in seen} <= {("group_chat", "verdicts"), ("mad", "answers")}
    moves = sum(bool(row["moved"]) for row in seen if row["method"] == "mad")
    assert value == moves
    (group,) = [row for row in results.rows("groups") if (row["method"], row["measure"]) == ("mad", "answers_moves")]
    assert (group["n"], group["mean"]) == (1, moves)
    assert "## stances" in (results.folder / "tables" / "codebook.md").read_text(encoding="utf-8")


def test_polls_at_several_points_are_a_source(
    make: Make, serving: Callable[..., LoopbackServer], tmp_path: Path
) -> None:
    """Jarmila moves to what Zeynep said before, and to nobody else's."""

    def answer(body: dict[str, Any]) -> Any:
        own, _, rest = prompt_of(body).partition("</basic_information>")
        began = ":" not in rest.partition("<transcript>")[2].partition("</transcript>")[0]
        return {"reasoning": "So.", "answer": "no" if began and "Jarmila" in own else "yes"}

    cars = {"id": "cars", "ask": "Cars?", "by": serving(answer).model()}
    measures = {"polls": [cars, {**cars, "id": "once", "at": ["end"]}], "stances": True}
    results = run_experiment(make(grid={"method": ["group_chat"], "seed": [0]}, measures=measures), tmp_path)
    found = {row["measure"]: row["value"] for row in results.rows("measures") if "@" not in row["measure"]}
    assert {name: found[name] for name in ("cars_moves", "cars_kept")} == {"cars_moves": 1.0, "cars_kept": 0.5}
    assert not any(name.startswith(("once_moves", "verdicts")) for name in found)
    assert [row["poll"] for row in results.rows("stances")] == ["cars"] * 4


def test_a_conversation_without_positions_has_none(make: Make, tmp_path: Path) -> None:
    grid = {"method": ["single_agent"], "seed": [0]}
    results = run_experiment(make(grid=grid, measures={"stances": ["verdicts"]}), tmp_path)
    rows = results.rows("measures")
    assert [row["measure"] for row in rows] == [f"verdicts_{name}" for name in VALUES]
    assert {(row["value"], row["missing"]) for row in rows} == {(None, "does not apply")}
    assert results.rows("stances") == []
    plain = run_experiment(make(grid=grid), tmp_path)
    assert not (plain.folder / "tables" / "stances.csv").exists()
