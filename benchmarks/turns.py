"""What one utterance costs in time, calls, tokens, CPU and checkpoint bytes, against a server with a known latency.

Run: `python benchmarks/turns.py [--latency 0.2] [--utterances 20] [--agents 3 10]`. It starts the loopback server of
`tests/loopback`, with scripted answers, in a process of its own, so that the CPU measured is the client's alone. Wall
time is given as a multiple of the critical path, three calls deep. The growth of prompts and the size of checkpoints
are measured with the offline model, whose answers differ from turn to turn.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import persimchat
from persimchat.graph import build_conversation
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import TurnEnded
from persimchat.state.settings import Settings

SERVER = Path(__file__).resolve().parents[1] / "tests" / "loopback" / "server.py"
TOPIC = "What should our town do with the old railway station?"
EARLY = 5
"""The utterance whose prompt tokens the last one's are compared with."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _run(agents: int, settings: Settings) -> dict[str, float]:
    """One conversation: seconds and calls per utterance, token growth, CPU per call."""
    scenario = make_scenario(TOPIC, default_participants(agents))
    ends: list[tuple[float, TurnEnded]] = []
    started, cpu = time.perf_counter(), _cpu()
    async for event in persimchat.astream_events(scenario, settings=settings):
        if isinstance(event, TurnEnded):
            ends.append((time.perf_counter(), event))
    cpu = _cpu() - cpu
    calls = [end.totals.calls for _, end in ends]
    tokens = [end.totals.input_tokens for _, end in ends]
    turns = len(ends) - 1
    return {
        "awakening_and_first_s": ends[0][0] - started,
        "seconds": (ends[-1][0] - ends[0][0]) / turns,
        "calls": (calls[-1] - calls[0]) / turns,
        "growth": (tokens[-1] - tokens[-2]) / (tokens[EARLY - 1] - tokens[EARLY - 2]),
        "prompt_tokens": (tokens[-1] - tokens[-2]) / (calls[-1] - calls[-2]),
        "cpu_ms": 1000 * cpu / calls[-1],
    }


async def _checkpoint_bytes(agents: int, settings: Settings, folder: Path) -> float:
    """Bytes of an SQLite checkpoint file per utterance."""
    path = folder / f"{agents}.sqlite"
    scenario = make_scenario(TOPIC, default_participants(agents))
    given: dict[str, Any] = scenario.model_dump(by_alias=True, exclude={"settings"})
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        conversation = build_conversation(saver)
        await conversation.ainvoke(given, {"configurable": {"thread_id": "benchmark"}}, context=settings)
    return sum(file.stat().st_size for file in folder.glob(f"{path.name}*")) / settings.max_messages


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds that the server takes for every answer")
    parser.add_argument("--utterances", type=int, default=20)
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 10])
    given = parser.parse_args()
    port = _free_port()
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--port", str(port), "--delay", str(given.latency), "--scripted"],
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        settings = Settings(model=f"benchmark@http://127.0.0.1:{port}/v1", max_messages=given.utterances)
        path = 3 * given.latency
        print(f"latency {given.latency} s, {given.utterances} utterances, critical path {path:.2f} s")
        print("agents  s/utterance  x critical path  calls/utt  tokens/call  last:5th prompt  CPU ms/call  kB/turn")
        with tempfile.TemporaryDirectory() as folder:
            for agents in given.agents:
                row = asyncio.run(_run(agents, settings))
                offline = settings.model_copy(update={"model": "offline"})
                size = asyncio.run(_checkpoint_bytes(agents, offline, Path(folder)))
                growing = asyncio.run(_run(agents, offline))
                print(
                    f"{agents:6d}  {row['seconds']:11.3f}  {row['seconds'] / path:15.2f}  {row['calls']:9.1f}  "
                    f"{growing['prompt_tokens']:11.0f}  {growing['growth']:15.2f}  {row['cpu_ms']:11.2f}  "
                    f"{size / 1000:7.1f}"
                )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
