"""How long a companion lets somebody wait before the model is asked: `python benchmarks/companion.py`.

The mind holds 2,000 memories, in Chroma; the server is that of `tests/loopback`, in a process of its own, with scripted
answers after a fixed delay. The own time is from the message to the request's leaving. The time to the first token is
measured twice, through the companion and with the same request sent bare by an HTTP client, one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from persimchat.evaluation.companion.latency import Watched, watch
from persimchat.memory.recollection import save
from persimchat.models.registry import close_models
from persimchat.runs.companion.events import Token
from persimchat.runs.companion.folder import companion_settings
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import World, opened_world
from persimchat.state.companion.place import Place
from persimchat.state.minds.memory import new_memory

SERVER = Path(__file__).resolve().parents[1] / "tests" / "loopback" / "server.py"
PLACE = Place.model_validate(
    {
        "world": "Lake",
        "occasion": "waiting for the boat",
        "places": {"Stage": {"hut": {"stove": "lit"}}},
        "agents": [{"persona": {"name": "Oda Brandvik", "description": "Sells tickets."}, "at": "Stage/hut"}],
    }
)
WORDS = ("boat", "river", "bread", "letter", "winter", "sister", "harbour", "kettle", "window", "ticket", "gull", "log")


def message(n: int) -> str:
    """The words of the nth exchange; each other than the ones before."""
    first, second = WORDS[n % len(WORDS)], WORDS[(n * 5 + 3) % len(WORDS)]
    return f"Number {n}: I have seen a {first} beside the {second} this morning, do you remember it?"


async def filled(world: World, agent: str, memories: int) -> None:
    """Give the mind so many memories, kept in Chroma as memories are."""
    mind = await world.mind(agent)
    assert mind is not None
    calm = [0, 0, 0, 0, 0, 0]
    made = [
        new_memory(agent, n + 1, "perception", message(n), list(WORDS[n % 9 : n % 9 + 3]), 1 + n % 9, calm)
        for n in range(memories - len(mind["alive"]))
    ]
    await save(world.settings, world.name, agent, [*mind["unsaved"], *(memory.model_dump() for memory in made)])
    alive = {**mind["alive"], **{memory.id: memory.turn for memory in made}}
    await world.records.keep(agent, mind={**mind, "alive": alive, "unsaved": []})


async def measured(person: Companion, watched: Watched, exchanges: int) -> tuple[list[float], ...]:
    """Milliseconds of own time and CPU, and to the first token, through the companion and bare."""
    own, cpu, through, bare = [], [], [], []
    for n in range(exchanges):
        watched.clear()
        began, busy, first = time.perf_counter(), time.process_time(), 0.0
        async for event in person.say(message(n)):
            if isinstance(event, Token) and not first:
                first = time.perf_counter()
        await person.settled()
        own.append(1000 * (watched.sent[0].at - began))
        cpu.append(1000 * (watched.sent[0].cpu - busy))
        through.append(1000 * (first - began))
        bare.append(1000 * (await watched.bare(watched.sent[0])))
    return own, cpu, through, bare


def told(name: str, values: list[float]) -> str:
    """A line of the table."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return f"{name:32s} {statistics.median(values):8.1f} {p95:8.1f}"


async def run(url: str, memories: int, exchanges: int, *, profiled: bool) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        settings = companion_settings(PLACE, environment={}, model=f"benchmark@{url}", seed=1)
        async with opened_world(Path(folder) / "world", PLACE, settings) as world:
            person = await world.companion("Oda", "Petr", introduced=True)
            async for _ in person.say("Good morning."):
                pass
            await person.settled()
            await filled(world, person.agent, memories)
            async with watch(settings) as watched:
                await measured(person, watched, 5)  # makes connections and all that is made only once
                profile = cProfile.Profile()
                if profiled:
                    profile.enable()
                own, cpu, through, bare = await measured(person, watched, exchanges)
                profile.disable()
        await close_models()
    print(f"{memories} memories, {exchanges} exchanges; milliseconds      median      p95")
    print(told("own time before the request", own))
    print(told("CPU of it", cpu))
    print(told("first token through the companion", through))
    print(told("first token of the bare request", bare))
    print(f"ratio of medians {statistics.median(through) / statistics.median(bare):.2f}")
    if profiled:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(90)


def main() -> None:
    """Start the server and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--exchanges", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds before the server's first token")
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    given = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--port", str(port), "--delay", str(given.delay), "--scripted"],
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        url = f"http://127.0.0.1:{port}/v1"
        asyncio.run(run(url, given.memories, given.exchanges, profiled=given.profile))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
