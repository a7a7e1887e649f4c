"""Cases from released memory streams: people with their best memories at four times of a day."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pruning_cases

from persimchat.experiments import Experiment
from persimchat.experiments.plan import plan


def test_memory_streams_become_cases(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not (shared / "data" / "memory_streams").is_dir():
        pytest.skip(f"there are no memory streams in {shared}")
    out = tmp_path / "cases.yaml"
    monkeypatch.setattr(sys, "argv", ["pruning_cases", str(out), "--shared", str(shared)])
    pruning_cases.main()
    experiment = tmp_path / "x.yaml"
    experiment.write_text(yaml.safe_dump({"name": "x", "base": {}, "tasks": {"file": "cases.yaml"}}), encoding="utf-8")
    scenarios = [cell.scenario for cell in plan(Experiment.load(experiment)).cells]
    assert len(scenarios) == 4
    for scenario in scenarios:
        assert [person.name for person in scenario.participants] == list(pruning_cases.STREAMS)
        for person in scenario.participants:
            texts = [memory.text for memory in person.memories]
            assert len(texts) == len(set(texts)) == pruning_cases.KEPT
    morning, *_, evening = (scenario.participants[1].memories for scenario in scenarios)
    assert morning != evening
    assert any("Isabella" in memory.text for memory in evening)


def test_without_streams_it_says_where_they_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["pruning_cases", "--shared", str(tmp_path)])
    with pytest.raises(SystemExit) as left:
        pruning_cases.main()
    assert left.value.code == 2
    assert "--shared" in capsys.readouterr().err
