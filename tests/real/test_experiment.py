"""An experiment with a real language model, SmolLM2-135M, as speaker and as judge (`make long`). Nothing is
asked of what it says or thinks; the accounts must add up, and what is missing must have a reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from persimchat.app.cli import main
from persimchat.experiments.asking import spent_on_judging
from persimchat.models.local import server
from persimchat.models.local.files import Stored
from persimchat.runs.folder.reading import read_manifest

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(360)]

MOST_CALLS = 21  # and at most four for the questions
STUDY = {
    "name": "real",
    "base": {
        "topic": "Tea or coffee?",
        "participants": ["Jarmila", "Zeynep"],
        "settings": {"model": "smollm2", "max_messages": 2, "timeout_s": 240, "answer_tokens": 120},
    },
    "grid": {"method": ["group_chat", "single_agent"], "seed": [0, 1]},
    "measures": {
        "evaluators": ["balance"],
        "dimensions": {"by": "smollm2", "only": ["BEL"]},
        "pairs": {"by": "smollm2", "axis": "method", "k": 1},
        "settings": {"timeout_s": 240, "answer_tokens": 120},
    },
    "compare": [{"by": "method"}],
    "limits": {"cells": 1, "retries": 0, "budget_calls": MOST_CALLS},
}


def test_totals_add_up_and_what_is_missing_has_a_reason(
    tmp_path: Path, models: Path, smollm2: Stored, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    Path("real.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    try:
        code = main(["experiment", "run", "real.yaml", "--yes", "--json"])
    finally:
        server.stop_all()
    assert code in (0, 1)
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    folder = Path(said["folder"])

    def table(name: str) -> list[dict[str, str]]:
        with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    cells, measured, pairs = table("cells"), table("measures"), table("pairs")
    totals = [read_manifest(path.parent).usage.total for path in (folder / "runs").glob("*/run.sqlite")]
    held = sum(total.calls for total in totals if total is not None)
    judged = spent_on_judging(folder).calls
    assert sum(int(row["calls"] or 0) for row in cells) == held
    assert said["spent"]["calls"] == held
    assert [row for row in measured if bool(row["value"]) == bool(row["missing"])] == []
    assert [row for row in pairs if not row["verdict"] and not row["missing"]] == []
    assert held + judged <= MOST_CALLS
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert f"{held + judged} calls" in report
    valid = sum(bool(row["value"]) for row in measured if row["measure"] == "BEL")
    done, verdicts = said["done"], sum(bool(row["verdict"]) for row in pairs)
    print(f"\nSmolLM2 in an experiment: {done} of 4 conversations held, {held} calls; ", end="")
    print(f"as a judge {valid} of 4 scores and {verdicts} of 2 verdicts, {judged} calls")


def test_questions_are_right_wrong_or_have_a_reason(
    tmp_path: Path, models: Path, smollm2: Stored, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    asked = ["evaluate", "benchmark", "own", "--methods", "zero_shot", "--items", "2", "--rounds", "1"]
    capsys.readouterr()
    try:
        assert main([*asked, "--model", "smollm2", "--set", "timeout_s=240", "--yes", "--json"]) == 0
    finally:
        server.stop_all()
    assert json.loads(capsys.readouterr().out)
    with next(Path("results").glob("*/tables/items.csv")).open(encoding="utf-8", newline="") as file:
        states = [row["state"] for row in csv.DictReader(file)]
    assert len(states) == 2 and set(states) <= {"right", "wrong", "unparseable", "refused"}
    print(f"\nSmolLM2 on two questions: {', '.join(states)}")
