"""Adaptive prompt pruning: the time that scores take, whose scores agree, and both on a GPU (docs/pruning.md).

Run one of:

    python benchmarks/pruning.py speed [--scorer smollm2] [--tokens 500 1000 2000] [--times 3]
    python benchmarks/pruning.py agree [RUN …] [--prompts 36] [--out FILE]
    python benchmarks/pruning.py gpu [--tokens 500 1000 2000 8000]

`speed` reads random tokens plainly and with scores, in turns, each length in a process of its own, with one thread: CPU
seconds and memory. `agree` takes the prompts of recorded runs, or of conversations of the example scenarios that it
holds with the offline model (`pruning_agreement.py`). `gpu` compares a randomly initialised model of Llama 3 8B's shape
with its full attention matrices. It needs a GPU and the extra `pruning-torch`; `agree` and `speed` need `pruning`, and
`agree` also `local` and `evaluation`, and SmolLM2: persimchat models get smollm2.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pruning_agreement

from persimchat.evaluation.statistics.effects import spearman
from persimchat.evaluation.statistics.intervals import quartiles
from persimchat.models.attention import torch_rows
from persimchat.models.attention.scoring import GgufScorer, scorer_of
from persimchat.state.errors import PerSimChatError

QUERIES, UNITS = 40, 60
"""Looking tokens, and pieces of information, of a prompt of random tokens."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LLAMA_3_8B = {
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
}
MOST_MATRICES = 2000
"""Tokens up to which the full matrices are asked for."""


@dataclass(frozen=True)
class Timed:
    """Readings of one length: plain ones and ones with scores, in turns."""

    tokens: int
    plain_s: float
    scores_s: float
    ratio: float
    resident_mb: float
    more_mb: float


def timed(tokens: int, reading: Callable[[int], object], times: int) -> Timed:
    """Read in turns and measure CPU seconds.

    Args:
        tokens: of the text.
        reading: reads it; its argument is how many of the last tokens look.
        times: pairs of readings.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    peaks = []
    for turn in range(2 * times):
        begun = time.process_time()
        reading(QUERIES * (turn % 2))
        spent[turn % 2].append(time.process_time() - begun)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    ratio = statistics.median(scores / plain for plain, scores in zip(*spent, strict=True))
    return Timed(tokens, min(spent[0]), min(spent[1]), ratio, peaks[0], peaks[-1] - peaks[0])


def measured(scorer: str, tokens: int, times: int) -> Timed:
    """Read random tokens with a scorer."""
    loaded: Any = scorer_of(scorer)
    ids = np.random.default_rng(0).integers(300, 10_000, tokens).tolist()
    if isinstance(loaded, GgufScorer):
        llama = loaded.model.llama

        def reading(last: int) -> object:
            return llama.read(ids, llama.cache(tokens), last=last)
    else:

        def reading(last: int) -> object:
            return torch_rows.read(loaded._model, ids, torch_rows.new_cache(), last=last)

    reading(0)
    return timed(tokens, reading, times)


def speed(given: argparse.Namespace) -> None:
    """Print a table: each length in a process of its own, so that the peaks of memory are its own."""
    print("tokens   plain, CPU s   with scores   ratio   resident MB   more for scores MB")
    for tokens in given.tokens:
        command = [sys.executable, __file__, "one", "--scorer", given.scorer, "--times", str(given.times)]
        done = subprocess.run(
            [*command, "--tokens", str(tokens)], capture_output=True, text=True, env={**os.environ, **ONE_THREAD}
        )
        if done.returncode:
            sys.exit(done.stderr.strip().rpartition("\n")[2])
        row = Timed(**json.loads(done.stdout))
        print(
            f"{row.tokens:6,}   {row.plain_s:12.2f}   {row.scores_s:11.2f}   {row.ratio:5.2f}"
            f"   {row.resident_mb:11,.0f}   {row.more_mb:18,.0f}",
            flush=True,
        )


def one(given: argparse.Namespace) -> None:
    """One length, as JSON, for `speed`."""
    print(json.dumps(vars(measured(given.scorer, given.tokens[0], given.times))))


def agree(given: argparse.Namespace) -> None:
    """Print the table, and write each prompt's figures."""
    cases = asyncio.run(
        pruning_agreement.cases_of(given.runs, given.prompts, lambda line: print(line, file=sys.stderr, flush=True))
    )
    pieces = quartiles([len(case.tokens) for case in cases])
    print(f"{len(cases)} prompts, {pieces.low:.0f} to {pieces.high:.0f} pieces of information (middle half)")
    keys = list(pruning_agreement.compared(cases[0], pruning_agreement.END))
    print("| scores by | " + " | ".join(keys) + " |")
    print("| --- " * (len(keys) + 1) + "|")
    for row in pruning_agreement.summed(cases):
        print("| " + " | ".join(row) + " |")
    print(f"{pruning_agreement.END} less {pruning_agreement.ANOTHER}:")
    for key in keys:
        print(" ", pruning_agreement.difference(cases, pruning_agreement.END, pruning_agreement.ANOTHER, key))
    if given.out:
        with given.out.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["prompt", "scores by", *keys])
            table.writerows(
                [case.name, origin, *pruning_agreement.compared(case, origin).values()]
                for case in cases
                for origin in case.scores
            )


def gpu(given: argparse.Namespace) -> None:
    """Print what a GPU does with a model of Llama 3 8B's shape."""
    if not (find_spec("torch") and find_spec("transformers")):
        sys.exit("PyTorch is not installed: pip install 'persimchat[pruning-torch]'")
    import torch

    if not torch.cuda.is_available():
        print("There is no GPU here; nothing was measured.")
        return
    print(torch.cuda.get_device_name())
    on_device("cuda", LLAMA_3_8B, given.tokens, given.times)


def on_device(device: str, shape: dict[str, Any], tokens: list[int], times: int) -> None:
    """Compare scores with the full matrices, and time and memory with a plain reading.

    Args:
        device: "cuda" or "cpu"; on the latter, memory is not measured.
        shape: of the model, which is initialised at random.
        tokens: lengths of the text.
        times: pairs of readings.
    """
    import torch
    import transformers

    torch_rows.register()
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**shape, max_position_embeddings=max(tokens) + 1)
    with torch.device(device):
        model = transformers.AutoModel.from_config(
            config, dtype=torch.float32, attn_implementation=torch_rows.ATTENTION
        ).eval()
    texts = {n: np.random.default_rng(n).integers(0, config.vocab_size, n).tolist() for n in tokens}

    def reading(ids: list[int], last: int) -> np.ndarray:
        seen = torch_rows.read(model, ids, torch_rows.new_cache(), last=last)
        if device == "cuda":
            torch.cuda.synchronize()
        return seen

    def peak(work: Callable[[], object]) -> float:
        if device != "cuda":
            return 0.0
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        work()
        return (torch.cuda.max_memory_allocated() - before) / 2**20

    def full(ids: list[int]) -> np.ndarray:
        """The same from every layer's matrix."""
        model.set_attn_implementation("eager")
        with torch.inference_mode():
            layers = model(torch.tensor([ids], device=device), output_attentions=True, use_cache=False).attentions
        model.set_attn_implementation(torch_rows.ATTENTION)
        rows = [layer[0, :, -QUERIES:].double().mean(0).mean(0) for layer in layers]
        return torch.stack(rows).sum(0).cpu().numpy()

    exact = {n: full(ids) for n, ids in texts.items() if n <= MOST_MATRICES}
    single = {n: reading(texts[n], QUERIES) for n in exact}
    model.to(torch.bfloat16)
    half = {n: (reading(texts[n], QUERIES), full(texts[n])) for n in exact}
    print("tokens   greatest difference to eager, float32   bfloat16   eager bfloat16   rho of bfloat16 to float32")
    for n, wanted in exact.items():
        units = units_of(n)
        found = [np.add.reduceat(row, units)[:-1] for row in (wanted, single[n], *half[n])]
        apart = [f"{np.abs(row - found[0]).max():.1e}" for row in found[1:]]
        rho = spearman(found[2].tolist(), found[0].tolist()).value
        print(f"{n:6,}   {apart[0]:>37}   {apart[1]:>8}   {apart[2]:>14}   {rho:.4f}")
    print("tokens   plain, s   with scores   ratio   peak MB plain   with scores   full matrices")
    for n, ids in texts.items():
        reading(ids, QUERIES)
        spent: tuple[list[float], list[float]] = ([], [])
        for turn in range(2 * times):
            begun = time.perf_counter()
            reading(ids, QUERIES * (turn % 2))
            spent[turn % 2].append(time.perf_counter() - begun)
        ratio = statistics.median(scores / plain for plain, scores in zip(*spent, strict=True))
        peaks = [peak(lambda last=last, ids=ids: reading(ids, last)) for last in (0, QUERIES)]
        matrices = f"{peak(lambda ids=ids: full(ids)):13,.0f}" if n <= MOST_MATRICES else f"{'–':>13}"
        print(
            f"{n:6,}   {min(spent[0]):8.4f}   {min(spent[1]):11.4f}   {ratio:5.2f}"
            f"   {peaks[0]:13,.0f}   {peaks[1]:11,.0f}   {matrices}"
        )


def units_of(tokens: int) -> np.ndarray:
    """Where pieces of equal length begin between the first tokens and the looking ones; the last one ends them."""
    return np.linspace(min(20, tokens // 4), tokens - QUERIES, UNITS + 1).astype(int)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("speed", "one", "agree", "gpu"), default="speed")
    parser.add_argument("runs", nargs="*", help="folders of recorded runs, for agree")
    parser.add_argument("--scorer", default="smollm2")
    parser.add_argument("--tokens", type=int, nargs="+")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=36)
    parser.add_argument("--out", type=Path, help="a CSV file of the figures of each prompt")
    given = parser.parse_args()
    given.tokens = given.tokens or [500, 1000, 2000, *([8000] if given.what == "gpu" else [])]
    try:
        {"speed": speed, "one": one, "agree": agree, "gpu": gpu}[given.what](given)
    except PerSimChatError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
