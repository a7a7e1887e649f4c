"""The size of a kept run: kB per utterance, of the folder and by file, and CPU per utterance.

Run: `python benchmarks/folder.py [--utterances 80 300] [--agents 4]`. The conversations are held with the offline
model; each runs in its own process. kB are thousands of bytes of the files' contents.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import tempfile
from collections import Counter
from pathlib import Path

from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

TOPIC = "What should our town do with the old railway station?"
SMALL = 0.5
"""kB per utterance below which a file is not shown separately."""


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _run(agents: int, utterances: int, out: Path) -> float:
    """Hold a conversation and keep it; return seconds of CPU."""
    scenario = make_scenario(TOPIC, default_participants(agents))
    settings = Settings(model="offline", max_messages=utterances, closing="off", seed=5)
    before = _cpu()
    async for _ in run_simulation(scenario, settings, out=out, run="run"):
        pass
    return _cpu() - before


def _measured(agents: int, utterances: int) -> tuple[float, dict[str, int]]:
    """Seconds of CPU, and bytes by file; of the memories, those of all of Chroma's index files together."""
    with tempfile.TemporaryDirectory() as place:
        cpu = asyncio.run(_run(agents, utterances, Path(place)))
        folder, sizes = Path(place) / "run", Counter[str]()
        for path in folder.rglob("*"):
            if path.is_file():
                inside = path.relative_to(folder)
                name = str(inside) if len(inside.parts) < 3 else f"{inside.parts[0]}/…/{path.name}"
                sizes[name] += path.stat().st_size
    return cpu, dict(sizes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, nargs="+", default=[80, 300])
    parser.add_argument("--agents", type=int, default=4)
    given = parser.parse_args()
    for utterances in given.utterances:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            cpu, sizes = process.apply(_measured, (given.agents, utterances))
        print(f"{given.agents} participants, {utterances} utterances: {cpu / utterances:.3f} s of CPU an utterance")
        print(f"{sum(sizes.values()) / utterances / 1000:9.1f} kB an utterance: the folder")
        for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
            if size / utterances / 1000 >= SMALL:
                print(f"{size / utterances / 1000:9.1f} kB an utterance: {name}")


if __name__ == "__main__":
    main()
