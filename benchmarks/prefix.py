"""How much of a conversation's prompts a server can take from its cache, because an earlier prompt begins the same.

Run: `python benchmarks/prefix.py [--utterances 10] [--agents 4] [--debate] [--cognition full]`. It holds a conversation
with the offline model and compares every prompt with all earlier prompts of the run: the share of characters
that form a prefix of an earlier prompt, over all requests and for each module. A server's own share is lower: requests
that are under way at the same time cannot use each other's, and caches are kept in whole blocks of tokens.
"""

from __future__ import annotations

import argparse
import asyncio
from bisect import bisect_left, insort
from collections import defaultdict
from contextvars import ContextVar
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.tracers.context import register_configure_hook

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

TOPIC = "What should our town do with the old railway station?"


class Prompts(BaseCallbackHandler):
    """Keeps every prompt with the module that sent it, in the order in which they were sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **options: Any
    ) -> None:
        """Take a prompt."""
        module = (options.get("metadata") or {}).get("module", "")
        self.sent.append((module, "\n".join(str(message.text) for message in messages[0])))


_handler: ContextVar[Prompts | None] = ContextVar("prompts", default=None)
register_configure_hook(_handler, inheritable=True)


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
        characters: of a prompt, on average.
        shared: share of the characters that an earlier request of the run began with, 0 to 1.
    """

    module: str
    requests: int
    characters: float
    shared: float


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
        found[module] = Share(module, len(pairs), length / len(pairs), shared / length)
    return found


async def prompts_of(agents: int, settings: Settings) -> list[tuple[str, str]]:
    """Every prompt of one conversation, with the module that sent it."""
    handler = Prompts()
    token = _handler.set(handler)
    try:
        scenario = make_scenario(TOPIC, default_participants(agents))
        await persimchat.asimulate(scenario, settings=settings)
    finally:
        _handler.reset(token)
    return handler.sent


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=10)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--debate", action="store_true")
    parser.add_argument("--cognition", choices=("full", "compact", "lean"), default="full")
    given = parser.parse_args()
    mode = "debate" if given.debate else "discussion"
    settings = Settings(model="offline", max_messages=given.utterances, mode=mode, cognition=given.cognition)
    sent = asyncio.run(prompts_of(given.agents, settings))
    print(f"{mode}, {given.cognition}, {given.agents} agents, {given.utterances} utterances, offline model")
    print("module            requests  characters  shared")
    for share in shares_of(sent).values():
        print(f"{share.module:16s}  {share.requests:8d}  {share.characters:10.0f}  {share.shared:6.1%}")


if __name__ == "__main__":
    main()
