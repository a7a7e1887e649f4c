"""What a conversation's prompts cost where a server caches what an earlier prompt began with.

Run: `python benchmarks/prefix.py [--utterances 10] [--agents 10] [--debate] [--cognition full compact lean]`. It holds
a conversation with the loopback server of `tests/loopback` and compares every request with all earlier ones. A request
is its schema and its messages, in this order, as hosted providers read them. Tokens are characters / 4; cached ones are
those of the longest beginning that an earlier request had, in steps of 128, from 1,024 on; priced ones are those that
are not cached, and a tenth of those that are (OpenAI's rule). A server's own share is lower: requests that are under
way at the same time cannot use each other's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports.estimate_sizes import whole_steps
from persimchat.state.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from loopback.scripted import task_of
from loopback.server import LoopbackServer

TOPIC = "What should our town do with the old railway station?"
CACHED = 0.1
"""The price of a cached token."""


def shared_characters(prompts: list[str]) -> list[int]:
    """For each prompt, the length of the longest beginning that it shares with an earlier prompt."""
    seen: list[str] = []
    shared = []
    for prompt in prompts:
        place = bisect_left(seen, prompt)
        near = seen[max(0, place - 1) : place + 1]
        shared.append(max((len(commonprefix([prompt, other])) for other in near), default=0))
        insort(seen, prompt)
    return shared


@dataclass(frozen=True)
class Share:
    """The share of one module's prompts that earlier prompts begin with.

    Attributes:
        module: its name; "all" for all modules.
        requests: how many.
        tokens: of a prompt, on average.
        shared: share of the characters that an earlier request of the run began with, 0 to 1.
        cached: tokens that a server takes from its cache, on average.
    """

    module: str
    requests: int
    tokens: float
    shared: float
    cached: float

    @property
    def priced(self) -> float:
        """Tokens of all its prompts, those from the cache at their price."""
        return self.requests * (self.tokens - (1 - CACHED) * self.cached)


def shares_of(sent: list[tuple[str, str]]) -> dict[str, Share]:
    """The shares by module, in the order of their names, and for all at the end.

    Args:
        sent: prompts with their modules, in the order in which they were sent.
    """
    rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for (module, prompt), shared in zip(sent, shared_characters([prompt for _, prompt in sent]), strict=True):
        rows[module].append((shared, len(prompt)))
    every = [row for module in rows.values() for row in module]
    found = {}
    for module, pairs in [*sorted(rows.items()), ("all", every)]:
        shared, length = (sum(column) for column in zip(*pairs, strict=True))
        cached = sum(whole_steps(one // 4) for one, _ in pairs)
        number = len(pairs)
        found[module] = Share(module, number, length / 4 / number, shared / length, cached / number)
    return found


async def prompts_of(agents: int, settings: Settings, *, schema: bool = False) -> list[tuple[str, str]]:
    """Every prompt of one conversation with its task; if asked, with the schema of its answer in front."""
    with LoopbackServer() as server:
        scenario = make_scenario(TOPIC, default_participants(agents))
        await persimchat.asimulate(scenario, settings=settings.model_copy(update={"model": server.model()}))
        bodies = [one.body for one in server.requests]
    sent = []
    for body in bodies:
        said = "\n".join(str(message["content"]) for message in body["messages"])
        form = json.dumps(body.get("response_format") or body.get("tools")) if schema else ""
        sent.append((task_of(body), form + said))
    return sent


def main() -> None:
    """Measure and print a table for each way to think."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=10)
    parser.add_argument("--agents", type=int, default=10)
    parser.add_argument("--debate", action="store_true")
    parser.add_argument("--cognition", nargs="+", choices=(ways := ("full", "compact", "lean")), default=ways)
    given = parser.parse_args()
    mode = "debate" if given.debate else "discussion"
    for cognition in given.cognition:
        settings = Settings(max_messages=given.utterances, mode=mode, cognition=cognition)
        shares = shares_of(asyncio.run(prompts_of(given.agents, settings, schema=True)))
        print(f"{mode}, {cognition}, {given.agents} agents, {given.utterances} utterances; each utterance:")
        print("task              calls  tokens  shared  cached  priced")
        for share in shares.values():
            each = share.requests / given.utterances
            of = (each * share.tokens, share.shared, each * share.cached, share.priced / given.utterances)
            print(f"{share.module:16s}  {each:5.1f}  {of[0]:6,.0f}  {of[1]:6.1%}  {of[2]:6,.0f}  {of[3]:6,.0f}")


if __name__ == "__main__":
    main()
