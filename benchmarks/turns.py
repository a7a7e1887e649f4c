"""The cost of one utterance in time, calls, tokens, CPU and checkpoint bytes, with a server of known latency.

Run: `python benchmarks/turns.py [--latency 0.2] [--utterances 20] [--agents 3 10] [--cognition full compact lean]`. It
starts the loopback server of `tests/loopback`, with scripted answers, in its own process, so that the measured CPU is
the client's alone. Wall time is given as a multiple of the critical path: three calls deep, with lean cognition two.
Beside a call's CPU is the CPU of the same requests, as many at a time as there are agents, with the bare `openai`
client and with langchain-openai, measured in the same run. The growth of prompts and the size of checkpoints are
measured with the offline model, whose answers differ from turn to turn. The last table is the command `persimchat run`,
offline and kept: user and system CPU per utterance, without loading, which a run of fewer utterances measures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import persimchat
from persimchat.graph import build_conversation
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import TurnEnded
from persimchat.runs.folder.checkpoints import opened
from persimchat.state.settings import Settings

TESTS = Path(__file__).resolve().parents[1] / "tests"
SERVER = TESTS / "loopback" / "server.py"
TOPIC = "What should our town do with the old railway station?"
EARLY = 5
"""The utterance whose prompt tokens the last one's are compared with."""
DEPTH = {"full": 3, "compact": 3, "lean": 2}
"""Calls of an utterance that are made one after another."""


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
    place = folder / str(agents)
    place.mkdir(parents=True)
    scenario = make_scenario(TOPIC, default_participants(agents))
    given: dict[str, Any] = scenario.model_dump(by_alias=True, exclude={"settings"})
    async with opened("run", place) as saver:
        conversation = build_conversation(saver)
        await conversation.ainvoke(given, {"configurable": {"thread_id": "benchmark"}}, context=settings)
    return sum(file.stat().st_size for file in place.iterdir()) / settings.max_messages


def _requests(agents: int, settings: Settings) -> list[dict[str, Any]]:
    """The requests of a short conversation, as they came in at a server; those that are not streamed."""
    sys.path.insert(0, str(TESTS))
    from loopback.scripted import Scripted
    from loopback.server import LoopbackServer

    with LoopbackServer(answer=Scripted()) as server:
        asyncio.run(_run(agents, settings.model_copy(update={"model": server.model(), "max_messages": EARLY})))
        return [body for body in server.bodies() if not body.get("stream")]


async def _clients(bodies: list[dict[str, Any]], port: int, at_once: int) -> tuple[float, float]:
    """CPU milliseconds per call of the bare `openai` client and of langchain-openai, for the same requests."""
    import openai
    from langchain_openai import ChatOpenAI

    url, key = f"http://127.0.0.1:{port}/v1", "no-key"
    client = openai.AsyncOpenAI(base_url=url, api_key=key)
    http = openai.DefaultAsyncHttpxClient()
    chat = ChatOpenAI(base_url=url, api_key=key, model="benchmark", temperature=None, http_async_client=http)

    async def bare(body: dict[str, Any]) -> Any:
        return await client.chat.completions.create(**body)

    async def chained(body: dict[str, Any]) -> Any:
        fields = {key: value for key, value in body.items() if key not in ("messages", "model", "stream")}
        return await chat.ainvoke([(m["role"], m["content"]) for m in body["messages"]], **fields)

    found = []
    for ask in (bare, chained):
        await asyncio.gather(*map(ask, bodies[:at_once]))  # makes connections and all that is made only once
        cpu = _cpu()
        for start in range(0, len(bodies), at_once):
            await asyncio.gather(*map(ask, bodies[start : start + at_once]))
        found.append(1000 * (_cpu() - cpu) / len(bodies))
    await client.close()
    await http.aclose()
    return found[0], found[1]


def _command_cpu(agents: int, utterances: int, folder: Path) -> float:
    """Seconds of user and system CPU of `persimchat run`."""
    personas = default_participants(min(agents, 10))
    people = [
        {**personas[i % len(personas)].model_dump(), "name": personas[i].name if i < len(personas) else f"Guest {i}"}
        for i in range(agents)
    ]
    scenario = folder / f"{agents}.yaml"
    scenario.write_text(json.dumps({"topic": TOPIC, "participants": people}), encoding="utf-8")
    command = [sys.executable, "-m", "persimchat", "run", "--scenario", str(scenario), "--model", "offline", "--quiet"]
    command += ["--messages", str(utterances), "--set", "closing=off", "--out", str(folder / "runs")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _print_commands(sizes: Sequence[int], utterances: int) -> None:
    print("agents  CPU s/utterance of the command, offline  CPU s in all")
    with tempfile.TemporaryDirectory() as folder:
        for agents in sizes:
            first = _command_cpu(agents, 1, Path(folder))
            whole = _command_cpu(agents, utterances, Path(folder))
            print(f"{agents:6d}  {(whole - first) / (utterances - 1):40.3f}  {whole:12.2f}", flush=True)


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds that the server takes for every answer")
    parser.add_argument("--utterances", type=int, default=20)
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--cognition", nargs="+", choices=list(DEPTH), default=list(DEPTH))
    parser.add_argument("--offline", type=int, nargs="+", default=[3, 10, 40], help="participants of the last table")
    parser.add_argument("--offline-utterances", type=int, default=8)
    parser.add_argument("--only-offline", action="store_true", help="the last table only")
    given = parser.parse_args()
    if given.only_offline:
        _print_commands(given.offline, given.offline_utterances)
        return
    port = _free_port()
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--port", str(port), "--delay", str(given.latency), "--scripted"],
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        print(f"latency {given.latency} s, {given.utterances} utterances; CPU in ms a call of the client")
        print(
            "agents  cognition  s/utt  x critical path  calls/utt  tokens/call  last:5th prompt   CPU  "
            "openai  langchain  kB/turn"
        )
        with tempfile.TemporaryDirectory() as folder:
            for agents in given.agents:
                for cognition in given.cognition:
                    _row(agents, cognition, given.utterances, given.latency, port, Path(folder))
    finally:
        server.terminate()
        server.wait()
    _print_commands(given.offline, given.offline_utterances)


def _row(agents: int, cognition: str, utterances: int, latency: float, port: int, folder: Path) -> None:
    settings = Settings(model=f"benchmark@http://127.0.0.1:{port}/v1", max_messages=utterances, cognition=cognition)
    offline = settings.model_copy(update={"model": "offline"})
    asyncio.run(_run(agents, settings.model_copy(update={"max_messages": EARLY})))  # loads all that is loaded only once
    row = asyncio.run(_run(agents, settings))
    bare, chained = asyncio.run(_clients(_requests(agents, settings), port, agents))
    size = asyncio.run(_checkpoint_bytes(agents, offline, folder / cognition))
    growing = asyncio.run(_run(agents, offline))
    print(
        f"{agents:6d}  {cognition:9s}  {row['seconds']:5.3f}  {row['seconds'] / latency / DEPTH[cognition]:15.2f}  "
        f"{row['calls']:9.1f}  {growing['prompt_tokens']:11.0f}  {growing['growth']:15.2f}  {row['cpu_ms']:4.1f}  "
        f"{bare:6.1f}  {chained:9.1f}  {size / 1000:7.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
