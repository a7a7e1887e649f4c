"""How long a recall takes: `python benchmarks/retrieval.py`.

Medians in milliseconds. One retrieval has three focal points, five components and returns the best 30 for each.
Embedding the focal points is timed separately, because it depends on the embedding and not on the number of memories.
Retrieval works on the mirror; rebuilding it from Chroma happens once per agent after a resume.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from persimchat.memory.embedding_texts import embed
from persimchat.memory.recollection import Mirror, discard, memories_of, recall, remember, save
from persimchat.memory.retrieval import Cue, retrieve
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.minds.memory import Memory, new_memory
from persimchat.state.settings import Settings

WORDS = ["river", "budget", "winter", "friend", "school", "garden", "letter", "music", "bridge", "market", "summer"]
QUESTIONS = [
    "What does the market need before winter comes?",
    "Who made a promise about the garden and the school?",
    "Why does the doctor care about the bridge?",
]
FEELING = dict.fromkeys(EMOTIONS, 3)


def memories(n: int, seed: int = 0) -> list[Memory]:
    """Make n different memories of one agent."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        words = rng.choice(WORDS, size=8)
        emotion = [int(x) for x in rng.integers(0, 11, size=6)]
        made.append(
            new_memory("Eva", i, "perception", f"{' '.join(words)} {i}", list(words[:3]), i % 11, emotion, index=i)
        )
    return made


def median_ms(work: Callable[[], Any], times: int) -> float:
    """Median milliseconds of a piece of work, after one round to warm up."""
    work()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1000


async def measure(n: int, times: int, folder: str) -> dict[str, float]:
    """All figures for n memories alive."""
    known = memories(n)
    alive = {m.id: m.turn for m in known}
    ephemeral = Settings(ltm_capacity=100_000)
    simulation = f"benchmark-{n}"
    figures: dict[str, float] = {}

    started = time.perf_counter()
    await remember(ephemeral, simulation, "Eva", known)
    figures["embed one memory"] = (time.perf_counter() - started) * 1000 / n

    vectors = await embed(ephemeral, [m.text for m in known])
    questions = await embed(ephemeral, QUESTIONS)
    mirror = Mirror()
    mirror.add(known, vectors)
    cue = Cue(questions, vectors[0], list(FEELING.values()), n)
    figures["score and choose"] = median_ms(lambda: retrieve(mirror.candidates(alive), cue, ephemeral.weights), times)
    figures["embed 3 questions"] = await _questions_ms(ephemeral, times)

    async def whole() -> None:
        await recall(
            ephemeral,
            simulation,
            "Eva",
            alive=alive,
            unsaved=[],
            stm=known[0].model_dump(),
            focal_points=QUESTIONS,
            emotion=FEELING,
            turn=n,
        )

    figures["recall, all of it"] = await _median_of(whole, times)
    whole_memories = [m.model_dump() for m in known]
    for name, settings in (("ephemeral", ephemeral), ("folder", Settings(ltm_capacity=100_000, store=folder))):
        started = time.perf_counter()
        await save(settings, simulation, "Eva", whole_memories)
        figures[f"save all, {name}"] = (time.perf_counter() - started) * 1000

        async def rebuild(settings: Settings = settings) -> None:
            discard(simulation)
            await memories_of(settings, simulation, "Eva", list(alive), [])

        figures[f"rebuild mirror, {name}"] = await _median_of(rebuild, 3)
    discard(simulation)
    return figures


async def _questions_ms(settings: Settings, times: int) -> float:
    async def questions() -> None:
        await embed(settings, QUESTIONS)

    return await _median_of(questions, times)


async def _median_of(work: Callable[[], Any], times: int) -> float:
    await work()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1000


async def main() -> None:
    """Measure every size in one run and print the figures side by side, with ratios to the smallest."""
    parser = argparse.ArgumentParser(description="Milliseconds per retrieval.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000], help="memories alive")
    parser.add_argument("--times", type=int, default=30, help="repetitions per figure")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        columns = [await measure(n, given.times, folder) for n in given.sizes]
    print(f"{'milliseconds (median)':28}" + "".join(f"{n:>12,}" for n in given.sizes) + "   memories alive")
    for name in columns[0]:
        row = "".join(f"{figures[name]:12.3f}" for figures in columns)
        ratios = " : ".join(f"{figures[name] / columns[0][name]:.1f}" for figures in columns)
        print(f"{name:28}{row}   {ratios}")


if __name__ == "__main__":
    asyncio.run(main())
