"""Resident memory of a process that holds many conversations: one after another, kept or not, or as a server.

Run: `python benchmarks/memory.py [--conversations 200] [--served 100] [--agents 2] [--utterances 2]`. Every way runs in
its own process. Linux only: it reads /proc. Memory that the C library keeps for later counts as resident; "given back"
is the rest after the library was asked to return it.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

TOPIC = "What should our town do with the old railway station?"
WAYS = ("none", "folder", "served")
SHOWN = 4
"""How often memory is measured."""


def _resident_mb() -> float:
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _hold(conversations: int, agents: int, utterances: int, out: str | None) -> list[str]:
    shown = []
    for number in range(1, conversations + 1):
        persimchat.simulate(TOPIC, agents, model="offline", max_messages=utterances, seed=number, out=out)
        if number % max(1, conversations // SHOWN) == 0:
            shown.append(f"{number}: {_resident_mb():.0f} MB")
    return shown


async def _serve(runs: int, agents: int, utterances: int, out: str) -> list[str]:
    """Runs of a server, each of them watched."""
    from persimchat.app.web.live_runs import LiveRuns

    shown, live = [], LiveRuns(Path(out))
    scenario = make_scenario(TOPIC, default_participants(agents))
    for number in range(1, runs + 1):
        run = await live.start(scenario, Settings(model="offline", max_messages=utterances, seed=number))
        await run.ended()
        await live.board(run.run)
        if number % max(1, runs // SHOWN) == 0:
            shown.append(f"{number}: {_resident_mb():.0f} MB")
    return shown


def _given_back() -> float:
    """MB left after the C library (glibc) has returned the memory that it keeps for later."""
    ctypes.CDLL(None).malloc_trim(0)
    return _resident_mb()


def main() -> None:
    """Measure all ways, each in its own process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--served", type=int, default=100, help="runs of a server")
    parser.add_argument("--agents", type=int, default=2)
    parser.add_argument("--utterances", type=int, default=2)
    parser.add_argument("--way", choices=WAYS, help="one way only, in this process")
    given = parser.parse_args()
    if given.way is None:
        for way in WAYS:
            subprocess.run([sys.executable, __file__, *sys.argv[1:], "--way", way], check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.way == "served":
            shown = asyncio.run(_serve(given.served, given.agents, given.utterances, folder))
        else:
            out = folder if given.way == "folder" else None
            shown = _hold(given.conversations, given.agents, given.utterances, out)
    names = {"none": "without a folder", "folder": "with a folder", "served": "served"}
    sys.stdout.write(f"{names[given.way]}: {', '.join(shown)}; given back: {_given_back():.0f} MB\n")


if __name__ == "__main__":
    main()
