"""How long many runs take: listing a thousand of them, and exporting a hundred: `python benchmarks/many_runs.py`.

The runs are held with the offline model (two personas, four utterances, one call an utterance) and kept. Each figure is
the median of three commands in processes of their own, beside the start of a bare command.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import persimchat


def held(folder: Path, runs: int) -> float:
    """Hold the runs; return CPU seconds a run."""
    start = time.process_time()
    for seed in range(runs):
        persimchat.simulate(
            "Tea or coffee?", participants=2, max_messages=4, seed=seed, cognition="fixed", out=folder, model="offline"
        )
    return (time.process_time() - start) / runs


def seconds(*command: str, times: int = 3) -> float:
    """The median wall time of a command."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "persimchat", *command], capture_output=True)
        if done.returncode:
            raise SystemExit(done.stderr.decode())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--listed", type=int, default=1000)
    parser.add_argument("--exported", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "conversations"
        cpu = held(folder, asked.listed)
        runs = sorted(str(path) for path in folder.iterdir() if path.is_dir())[: asked.exported]
        kb = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / asked.listed / 1000
        bare = seconds("--version")
        listed = seconds("runs", "--out", str(folder))
        exported = seconds("export", *runs, "--out", str(Path(name) / "tables"), "--force")
    print(f"hold a run of four utterances: {cpu:.3f} CPU s, {kb:.0f} kB kept")
    print(f"bare command: {bare:.2f} s")
    print(f"list {asked.listed} runs: {listed:.2f} s")
    print(f"export {asked.exported} runs: {exported:.2f} s")


if __name__ == "__main__":
    main()
