"""Pruning with a real language model, SmolLM2-135M, as speaker and as scorer (`make real-pruning`): one meeting, three
seeds, nothing and everything left out. The measures are printed; nothing is asked of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from persimchat.app.cli import main
from persimchat.models.local import server
from persimchat.models.local.files import Stored
from persimchat.runs.folder.calls import read_calls
from persimchat.runs.folder.reading import read_run

pytestmark = [pytest.mark.real, pytest.mark.timeout(360)]

UTTERANCES, SEEDS, LAMBDAS = 2, 3, [0.0, 1.0]
MOST_CALLS = 2 * UTTERANCES * SEEDS * len(LAMBDAS)
"""Words that are cut are asked for once more."""


def study(root: Path) -> dict[str, Any]:
    """The example for a real model, with its first meeting alone."""
    found: dict[str, Any] = yaml.safe_load((root / "examples/experiments/pruning_real.yaml").read_text("utf-8"))
    cases = yaml.safe_load((root / "examples/studies/cases.yaml").read_text(encoding="utf-8"))
    found["tasks"] = {"list": cases["tasks"][:1]}
    assert found["grid"] == {"pruning.lambda": LAMBDAS, "seed": {"from": 0, "count": SEEDS}}
    found["base"]["settings"]["max_messages"] = UTTERANCES
    return found


def test_a_real_model_speaks_with_everything_and_with_nothing(
    tmp_path: Path,
    root: Path,
    models: Path,
    smollm2: Stored,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    Path("real.yaml").write_text(yaml.safe_dump(study(root), allow_unicode=True), encoding="utf-8")
    try:
        assert main(["experiment", "run", "real.yaml", "--yes", "--json"]) == 0
    finally:
        server.stop_all()
    folder = Path(json.loads(capsys.readouterr().out)["folder"])
    runs = [path.parent for path in sorted(folder.glob("runs/*/run.json"))]
    assert len(runs) == SEEDS * len(LAMBDAS)
    asked = 0
    for run in runs:
        record = read_run(run)
        rows = read_calls(run)
        asked += sum(row.calls for row in rows)
        pruned = [mind.pruned for mind in record.minds if mind.pruned is not None]
        if record.manifest.settings.given.get("pruning", {}).get("lambda"):
            assert len(pruned) == len(record.utterances)
            assert all(one.removed == one.units > 0 and one.scorer == "smollm2" for one in pruned)
            scorings = [row for row in rows if row.part == "score"]
            assert [row.calls for row in scorings] == [0] * len(pruned)
            assert all(row.input_tokens > 100 and row.seconds > 0 for row in scorings)
        else:
            assert pruned == []
    with (folder / "tables/diversity.csv").open(encoding="utf-8", newline="") as file:
        measured = [row for row in csv.DictReader(file) if row["measure"] in ("dist_1", "dist_3", "sim", "words")]
    assert {row["measure"] for row in measured} == {"dist_1", "dist_3", "sim", "words"}
    assert asked <= MOST_CALLS
    with capsys.disabled():
        print(f"\n1 meeting, {SEEDS} runs a setting, {asked} calls")
        for row in measured:
            print({key: row[key] for key in row if row[key]})
