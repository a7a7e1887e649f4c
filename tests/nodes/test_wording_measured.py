"""The check of wordings on real conversations, and its benchmark in small."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.state.repetition import nearness


def test_people_of_a_real_simulation_repeat_nothing_in_the_eyes_of_the_check(shared: Path) -> None:
    """Two agents' chats as a language model wrote them, polite and on one topic, yet every line says something else."""
    nearest = []
    for file in sorted((shared / "data" / "memory_streams").glob("*.json")):
        nodes = json.loads(file.read_text(encoding="utf-8")).values()
        for chat in ([text for _, text in node["filling"]] for node in nodes if node["type"] == "chat"):
            vectors = np.array(LexicalEmbeddings().embed_documents(chat))
            for i in range(1, len(chat)):
                cosines = (vectors[:i] @ vectors[i]).tolist()
                nearest.append(max(nearness(chat[i], chat[:i], cosines, overlap=0.45, similarity=0.9)))
    assert len(nearest) > 100
    assert sum(degree >= 1 for degree in nearest) == 0
    assert max(nearest) > 0.5  # some do come near


@pytest.fixture
def benchmark(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("repetition_benchmark", root / "benchmarks" / "repetition.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.proof
def test_the_check_makes_a_model_that_repeats_itself_repeat_less(benchmark: ModuleType) -> None:
    rows = benchmark.before_and_after(["Is it ever right to lie?"], 24, 0.7, 1.0)
    before, after = rows["repeats itself, check off"], rows["repeats itself, check on"]
    assert before.utterances == after.utterances == 24
    assert before.repeated >= 5
    assert after.repeated <= 1
    assert rows["  as answered, check on"].repeated >= 5
    assert after.corrections["asked_again_for_repetition"] >= 5
    assert before.corrections["asked_again_for_repetition"] == before.corrections["still_repeats"] == 0
    for count in (before, after):
        assert count.for_others == count.own_name == 0
    assert rows["offline, check on"].corrections["asked_again_for_repetition"] == 0


@pytest.mark.proof
def test_it_costs_little(benchmark: ModuleType) -> None:
    assert benchmark.cost(50, 25, turns=30) < 25  # milliseconds of CPU; about 1 on an idle machine
