"""The benchmark of pruning in small: its figures are right, and each command of it runs."""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from persimchat.models.attention.forward import Layer, Llama, Shape

pytest.importorskip("tokenizers", reason="needs pip install 'persimchat[pruning]'")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import pruning as benchmark
import pruning_agreement as agreement
from pruning_agreement import ANOTHER, END, OWN, Case

CASE = Case(
    "one", [1, 2, 4, 1, 1], {OWN: [5.0, 3.0, 1.0, 0.5, 0.25], ANOTHER: [5.0, 3.0, 1.0, 0.25, 0.5], END: [2.0] * 5}
)


def test_figures_by_hand() -> None:
    same = agreement.compared(CASE, OWN)
    assert [value for value in same.values() if not math.isclose(value or 0, 1)] == []
    other = agreement.compared(CASE, ANOTHER)
    assert other["rho"] == pytest.approx(0.9)  # two neighbours of five change places: 1 - 6 · 2 / (5 · 24)
    # By token 5, 1.5, .25, .5, .25 and 5, 1.5, .25, .25, .5: ranks 5, 4, 1.5, 3, 1.5 and 5, 4, 1.5, 1.5, 3.
    assert other["rho per token"] == pytest.approx(7.25 / 9.5)
    # λ = .3 of 9.75: 2.925. Of the first, 1 + .5 + .25; of the second the same three, in another order.
    assert other["skip 0.3"] == 1.0
    # All are equal: rho is unknown, and λ = .3 of five equal ones takes the first.
    equal = agreement.compared(CASE, END)
    assert equal["rho"] is None
    assert equal["skip 0.3"] == 0.0  # the first beside the third to fifth
    assert equal["reach 0.3"] == 0.5  # the first two beside the first


def test_medians_over_prompts_and_a_paired_difference() -> None:
    (another, *figures), (end, *others) = agreement.summed([CASE] * 8)
    assert (another, end) == (ANOTHER, END)
    assert figures[0] == "0.90 (0.90–0.90)"
    assert others[0] == "–"
    assert agreement.difference([CASE] * 8, OWN, ANOTHER, "rho") == "rho: +0.100, n 8", "nothing varies"


def tiny_llama() -> Llama:
    """Two layers with random weights and fifty tokens."""
    shape = Shape(layers=2, width=16, heads=4, kv_heads=2, head=4, hidden=24, epsilon=1e-5)
    drawn = np.random.default_rng(1)

    def matrix(*size: int) -> np.ndarray:
        return drawn.normal(size=size).astype(np.float32)

    layer = Layer(matrix(16), matrix(32, 16), matrix(16, 16), matrix(16), matrix(48, 16), matrix(16, 24))
    return Llama(shape, matrix(50, 16), [layer, layer], np.ones(2))


class Characters:
    """A model whose tokens are pairs of characters."""

    def __init__(self) -> None:
        self.llama = tiny_llama()

    def neutral(self, text: str) -> str:
        return text

    def encode(self, text: str) -> SimpleNamespace:
        begins = range(0, len(text), 2)
        return SimpleNamespace(ids=[ord(text[at]) % 50 for at in begins], begins=np.array(begins))

    def prompt(self, system: str, user: str) -> tuple[list[int], np.ndarray]:
        found = self.encode(f"{system}{user}")
        return found.ids, found.begins - len(system)


def test_readings_are_timed_in_turns() -> None:
    llama = tiny_llama()
    asked: list[int] = []

    def reading(last: int) -> object:
        asked.append(last)
        return llama.read([index % 50 for index in range(400)], llama.cache(400), last=last)

    found = benchmark.timed(400, reading, 2)
    assert asked == [0, benchmark.QUERIES] * 2
    assert found.tokens == 400
    assert found.plain_s > 0
    assert found.resident_mb > 10


@pytest.mark.proof
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if not find_spec("torch"):
        with pytest.raises(SystemExit, match="pruning-torch"):
            benchmark.gpu(argparse.Namespace())
        return
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    benchmark.gpu(argparse.Namespace())
    assert "no GPU here" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.skipif(not (find_spec("torch") and find_spec("transformers")), reason="needs the extra pruning-torch")
def test_the_gpus_table_on_a_tiny_model(capsys: pytest.CaptureFixture[str]) -> None:
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    benchmark.on_device("cpu", {**shape, "num_key_value_heads": 2, "vocab_size": 300}, [120, 160], 1)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 6
    for row in out[1:3]:
        apart = row.split()[1]
        assert float(apart) < 1e-5
    assert [row.split()[0] for row in (*out[1:3], *out[4:])] == ["120", "160"] * 2


@pytest.mark.long
@pytest.mark.proof
def test_prompts_come_from_conversations_of_four_and_need_no_attention() -> None:
    past = asyncio.run(agreement.recorded([], 4))
    assert [prompt.turn for prompt in past] == [2] * 4
    asked = agreement.Question.of(past[0].prompt.template, past[0].prompt.filled(past[0].mind))
    found = asyncio.run(agreement.from_words(past[0], asked, "The tower should be mended first."))
    assert {len(scores) for scores in found.values()} == {len(agreement.units_of(past[0].prompt.blocks))}
    assert len(found) == 5
    case = read_alike(Characters(), past[0], asked)
    assert len(case.tokens) == len(case.scores[OWN]) == len(found["length"])


def read_alike(model: Any, past: agreement.PastPrompt, asked: agreement.Question) -> Case:
    """The scores of one reading, which are those of a reading for each."""
    responses = ["The tower.", "No, the park.", "Why not both?", "Who pays?"]
    case = agreement.from_attention(model, past, asked, responses)
    system, user = (str(message.text) for message in asked.messages)
    prompt, begins = model.prompt(system, user)
    units = agreement.units_of(past.prompt.blocks)
    places = agreement.spans(user, asked.values["blocks"], units)

    def alone(answer: str) -> np.ndarray:
        ids = [*prompt, *model.encode(answer).ids]
        row = model.llama.read(ids, model.llama.cache(len(ids)), last=max(1, len(ids) - len(prompt)))
        return np.array(agreement.per_piece("", row[: len(prompt)], begins, places, "sum_mean"))

    assert case.scores[END] == pytest.approx(alone(""), abs=1e-5)
    assert case.scores[ANOTHER] == pytest.approx(alone(responses[3]), abs=1e-5)
    assert case.scores["another model's words"] == pytest.approx(alone(past.text), abs=1e-5)
    assert case.scores[OWN] == pytest.approx(np.mean([alone(words) for words in responses[:3]], axis=0), abs=1e-5)
    assert sum(case.scores["the first half of the layers, one response"]) < sum(case.scores["one of these three"])
    return case
