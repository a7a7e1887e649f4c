"""How long the measures of diversity take, and how they compare with their definitions.

Run: `python benchmarks/diversity.py [--dialogues 10000] [--words 400] [--each 10]`. Dialogues have ten utterances of
random words (Zipf) and stand in cases of ten; vectors have 384 numbers. Seconds are CPU seconds of one process, MB the
peak of its memory so far. The definitions are sets of tuples, and the cosines of all pairs; both give the same values.

Results on two busy cores (Python 3.11, numpy 2.4, one BLAS thread); numbering the words is counted in the second row:

    10,000 dialogues of 400 words, cases of 10
                                                    CPU s   plain s    ratio       MB
    texts divided into words                         1.44                         437
    dist-1, -2, -3 of every case                     1.82      1.99      1.1      494
    dist-1, -2, -3 of all dialogues together         3.06      6.05      2.0      922
    exclusive n-grams of one half                    2.71                         922
    sim of all dialogues                             0.03      1.61     62.5      922
    max similarity of one half with the other        0.33                         922
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from persimchat.evaluation.diversity.texts import (
    ORDERS,
    Numbers,
    Vectors,
    Vocabulary,
    dist,
    exclusive,
    max_similarity,
    sim,
)
from persimchat.state.minds.speech import words

DIFFERENT = 20_000
UTTERANCES = 10
DIMENSIONS = 384
ROWS = 1000
"""Rows of the matrix of all pairs that are in memory at a time."""

Said = list[list[str]]
"""The words of a dialogue, by utterance."""


def made(dialogues: int, length: int, seed: int = 0) -> list[list[str]]:
    """Dialogues of random words, each as its utterances."""
    draw = np.random.default_rng(seed)
    each = length // UTTERANCES
    ids = np.minimum(draw.zipf(1.3, size=(dialogues, UTTERANCES, each)), DIFFERENT)
    return [[" ".join(f"w{word}" for word in utterance) for utterance in dialogue] for dialogue in ids]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a piece of work gives, and its CPU seconds."""
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def in_cases(of: Sequence[Any], each: int) -> list[Sequence[Any]]:
    """Neighbours together."""
    return [of[start : start + each] for start in range(0, len(of), each)]


def by_definition(case: Sequence[Said], n: int) -> float:
    """dist-N as three lines have it."""
    grams = [tuple(one[i : i + n]) for dialogue in case for one in dialogue for i in range(len(one) - n + 1)]
    return len(set(grams)) / len(grams)


def all_pairs(vectors: Vectors) -> float:
    """The mean cosine of all pairs."""
    total = sum(float((vectors[start : start + ROWS] @ vectors.T).sum()) for start in range(0, len(vectors), ROWS))
    return (total - len(vectors)) / (len(vectors) * (len(vectors) - 1))


def line(what: str, ours: float, plain: float | None = None) -> None:
    """Print one row."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = f"{plain:10.2f}{plain / ours:9.1f}" if plain is not None else f"{'':19}"
    print(f"{what:44s}{ours:9.2f}{ratio}{peak:9.0f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=400, help="of a dialogue")
    parser.add_argument("--each", type=int, default=10, help="dialogues of a case")
    given = parser.parse_args()
    texts = made(given.dialogues, given.words)
    print(f"{given.dialogues:,} dialogues of {given.words} words, cases of {given.each}")
    print(f"{'':44s}{'CPU s':>9s}{'plain s':>10s}{'ratio':>9s}{'MB':>9s}")
    said, taken = timed(lambda: [[words(text) for text in dialogue] for dialogue in texts])
    line("texts divided into words", taken)
    known = Vocabulary()
    numbers: list[list[Numbers]]
    numbers, numbering = timed(lambda: [[known.numbers(one) for one in dialogue] for dialogue in said])
    ours, taken = timed(lambda: [dist(case, n) for case in in_cases(numbers, given.each) for n in ORDERS])
    plain, longer = timed(lambda: [by_definition(case, n) for case in in_cases(said, given.each) for n in ORDERS])
    assert ours == plain
    line("dist-1, -2, -3 of every case", numbering + taken, longer)
    ours, taken = timed(lambda: [dist(numbers, n) for n in ORDERS])
    plain, longer = timed(lambda: [by_definition(said, n) for n in ORDERS])
    assert ours == plain
    line("dist-1, -2, -3 of all dialogues together", taken, longer)
    half = len(numbers) // 2
    line(
        "exclusive n-grams of one half",
        timed(lambda: [exclusive(numbers[:half], numbers[half:], n) for n in ORDERS])[1],
    )
    vectors = np.random.default_rng(0).normal(0.1, 1, size=(given.dialogues, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    one, taken = timed(lambda: sim(vectors))
    other, longer = timed(lambda: all_pairs(vectors))
    assert abs(one - other) < 1e-10
    line("sim of all dialogues", taken, longer)
    line("max similarity of one half with the other", timed(lambda: max_similarity(vectors[:half], vectors[half:]))[1])


if __name__ == "__main__":
    main()
