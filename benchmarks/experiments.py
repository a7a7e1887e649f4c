"""How busy experiments keep a model, how Ray scales, whether shared rates hold, and whether memory stays flat.

Run: `python benchmarks/experiments.py [--only slots quick scaling rate memory] [--seconds 60]`. A loopback server of
known latency stands for the model, in a process of its own. Time counts from the first conversation's start to the last
one's end, so it holds the beginning and the thinning out at the end; Ray's start does not count.

- slots: one process, 500 ms a call, 16 slots: the share of the slots' time in which a request is under way.
- quick: the same with 20 ms a call and 100 conversations, where the CPU of the client is the limit.
- scaling: Ray with 1 and with 4 workers, 1 s a call, 4 slots a worker: calls a second, by worker.
- rate: Ray with 4 workers that share 10 requests a second: the most that the server counts in any 5 seconds.
- memory: 100 conversations in one process with the offline model, four at a time: resident memory (Linux only).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persimchat.experiments import Experiment, arun_experiment
from persimchat.experiments.driver import Progress

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))
PARTS = ("slots", "quick", "scaling", "rate", "memory")
CALLS_A_CELL = 27
"""Of two agents and two utterances."""
WORKERS = 4


@contextmanager
def serving(delay_s: float) -> Iterator[str]:
    """A server in a process of its own, by the name of its model."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, str(TESTS / "loopback" / "server.py"), "--port", str(port), "--delay", str(delay_s)]
    process = subprocess.Popen([*command, "--scripted"], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield f"benchmark@http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


@dataclass
class Clock:
    """Times an experiment from its first conversation's start to the last one's end."""

    times: list[float] = field(default_factory=list)
    each: Callable[[int], None] = lambda _: None

    def tell(self, progress: Progress) -> None:
        """Take note of the progress."""
        self.times.append(time.monotonic())
        self.each(progress.done)

    @property
    def seconds(self) -> float:
        """The time between the first and the last note."""
        return self.times[-1] - self.times[0]


async def held(cells: int, at_once: int, clock: Clock, settings: dict[str, Any], **engine: Any) -> int:
    """Hold an experiment of short conversations; the calls that it made."""
    experiment = Experiment.model_validate(
        {
            "name": "benchmark",
            "base": {
                "topic": "What should our town do with the old railway station?",
                "participants": ["Jarmila", "Zeynep"],
                "settings": {"max_messages": 2, **settings},
            },
            "grid": {"seed": {"from": 0, "count": cells}},
            "limits": {"cells": at_once},
        }
    )
    with tempfile.TemporaryDirectory() as out:
        results = await arun_experiment(experiment, out, tell=clock.tell, **engine)
    outcome = results.outcome
    assert outcome is not None and len(outcome.done) == cells, outcome
    return outcome.made


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def slots(delay_s: float, cells: int, size: int = 16) -> None:
    """One process: how busy its slots are."""
    with serving(delay_s) as model:
        settings = {"model": model, "max_concurrency": size}
        await held(2, 2, Clock(), settings)  # loads what is loaded only once
        clock, cpu = Clock(), _cpu()
        made = await held(cells, size, clock, settings)
        busy, used = made * delay_s / (size * clock.seconds), _cpu() - cpu
    print(
        f"{delay_s * 1000:.0f} ms a call, {size} slots, {cells} conversations, {made} calls in {clock.seconds:.1f} s: "
        f"slots {busy:.1%} busy, {made / clock.seconds:.1f} calls/s, CPU {used / made * 1000:.1f} ms/call, "
        f"{used / clock.seconds:.0%} of one core",
        flush=True,
    )


async def scaling(seconds: float, delay_s: float = 1.0, size: int = 4) -> None:
    """Ray: calls a second with one worker and with four."""
    rates: dict[int, float] = {}
    cells = max(2 * size, round(seconds * size / delay_s / CALLS_A_CELL))
    with serving(delay_s) as model:
        for workers in (1, WORKERS):
            clock, settings = Clock(), {"model": model, "max_concurrency": size}
            made = await held(cells * workers, 2 * size, clock, settings, engine="ray", workers=workers)
            rates[workers] = made / clock.seconds
            busy = made * delay_s / (size * workers * clock.seconds)
            print(
                f"Ray, {workers} workers, {size} slots each, {delay_s:.0f} s a call: {made} calls in "
                f"{clock.seconds:.1f} s, {rates[workers]:.2f} calls/s, slots {busy:.1%} busy",
                flush=True,
            )
    print(f"efficiency from 1 to {WORKERS} workers: {rates[WORKERS] / (WORKERS * rates[1]):.3f}", flush=True)


async def rate(seconds: float, per_second: float = 10.0, window_s: float = 5.0) -> None:
    """Ray: whether four workers together keep to one rate, as the server counts."""
    from loopback.scripted import Scripted
    from loopback.server import LoopbackServer

    scripted, came = Scripted(), []

    def answer(body: dict[str, Any]) -> Any:
        came.append(time.monotonic())
        return scripted(body)

    with LoopbackServer(answer=answer, delay_s=0.05) as server:
        settings = {"model": server.model(), "requests_per_second": per_second}
        cells = max(WORKERS, round(seconds * per_second / CALLS_A_CELL))
        clock = Clock()
        made = await held(cells, 4, clock, settings, engine="ray", workers=WORKERS)
    came.sort()
    most = max(sum(start <= each < start + window_s for each in came) for start in came)
    print(
        f"Ray, {WORKERS} workers, {per_second:g} requests/s together: {made} calls in {clock.seconds:.1f} s "
        f"({made / clock.seconds:.2f}/s), at most {most} in any {window_s:g} s",
        flush=True,
    )


def _resident_mb() -> float:
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def memory(cells: int = 100) -> None:
    """One process: resident memory after every tenth conversation, from the twentieth on."""
    shown: dict[int, float] = {}

    def look(done: int) -> None:
        if done >= 20 and done % 10 == 0:
            shown.setdefault(done, _resident_mb())

    await held(cells, 4, Clock(each=look), {"model": "offline"})
    least, most = min(shown.values()), max(shown.values())
    middle = (least + most) / 2
    print(
        f"{cells} conversations in one process: {', '.join(f'{done}: {mb:.0f} MB' for done, mb in shown.items())} "
        f"(±{(most - middle) / middle:.1%})",
        flush=True,
    )


def main() -> None:
    """Measure; every part in its own process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seconds", type=float, default=60.0, help="about as long each part lasts")
    given = parser.parse_args()
    if len(given.only) > 1:
        for part in given.only:
            command = [sys.executable, __file__, "--only", part, "--seconds", str(given.seconds)]
            subprocess.run(command, check=True)
        return
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    parts = {
        "slots": lambda: slots(0.5, round(given.seconds * 16 / 0.5 / CALLS_A_CELL)),
        "quick": lambda: slots(0.02, 100),
        "scaling": lambda: scaling(given.seconds),
        "rate": lambda: rate(given.seconds),
        "memory": memory,
    }
    asyncio.run(parts[given.only[0]]())


if __name__ == "__main__":
    main()
