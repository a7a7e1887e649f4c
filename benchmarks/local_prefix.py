"""What llama.cpp keeps of lean minds' prompts in its cache, in three forms of the same conversation.

Run: `python benchmarks/local_prefix.py [--agents 4] [--utterances 8] [--slots 4]`. It needs `persimchat models get
smollm2` and `pip install "persimchat[local]"`. It holds a lean conversation with the loopback server of
`tests/loopback`, and sends each mind's requests for its reaction to SmolLM2 under llama.cpp as this package starts it:
as they are; with the person in front of what is asked; and as a dialogue that only grows, in which a mind's message
holds only what it heard last, behind all its earlier messages and answers. Answers are one token long, so that the
seconds are those of reading. Each form has a server of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import persimchat
from persimchat.models.local.files import model_file
from persimchat.models.local.server import LocalServer
from persimchat.models.naming import parse_model_name
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from loopback.answering import Reply, natural_answer
from loopback.scripted import task_of
from loopback.server import LoopbackServer

TOPIC = "What should our town do with the old railway station?"
NAME = re.compile(r"^- Name: (.+)$", re.MULTILINE)
PERSON = re.compile(r"<basic_information>.*?</scene>\n", re.DOTALL)
FILLER = re.compile(r"w\d+x\d+")
"""The words of the loopback server, which no two utterances have in common, and of which a model makes many tokens."""
NEW = re.compile(r"<(heard|progress)>.*?</\1>\n|<task .*", re.DOTALL)
Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Asked:
    """A request for a reaction: whose, its system message, its prompt, and the answer."""

    agent: str
    system: str
    prompt: str
    answer: str


async def reactions(agents: int, settings: Settings) -> list[Asked]:
    """All requests for reactions of one lean conversation, in their order."""
    found: list[Asked] = []

    def answer(body: dict[str, Any]) -> Any:
        made = Reply.of(natural_answer(body), body)
        if task_of(body) == "reaction":
            system, prompt = (str(message["content"]) for message in body["messages"])
            prompt = FILLER.sub("water", prompt)
            found.append(Asked(NAME.findall(prompt)[0], system, prompt, str(made.content)))
        return made

    with LoopbackServer(answer=answer) as server:
        scenario = make_scenario(TOPIC, default_participants(agents))
        await persimchat.asimulate(scenario, settings=settings.model_copy(update={"model": server.model()}))
    return found


def as_it_is(asked: list[Asked]) -> list[Messages]:
    """What is asked, the person, what changes."""
    return [_messages(one.system, one.prompt) for one in asked]


def person_first(asked: list[Asked]) -> list[Messages]:
    """The person, what is asked, what changes."""
    found = []
    for one in asked:
        before, person, later = _parted(one.prompt)
        found.append(_messages(one.system, person + before + later))
    return found


def growing(asked: list[Asked]) -> list[Messages]:
    """What never changes, then by turns what a mind heard and what it answered; nothing is recalled besides."""
    talks: dict[str, Messages] = {}
    found = []
    for one in asked:
        tasks, person, later = _parted(one.prompt)
        constant = tasks + person if one.agent not in talks else ""
        new = "".join(piece[0] for piece in NEW.finditer(later))
        before = talks.setdefault(one.agent, [{"role": "system", "content": one.system}])
        talks[one.agent] = [*before, {"role": "user", "content": constant + new}]
        found.append(talks[one.agent])
        talks[one.agent] = [*talks[one.agent], {"role": "assistant", "content": one.answer}]
    return found


def _parted(prompt: str) -> tuple[str, str, str]:
    """What is asked, the person, and what changes."""
    person = PERSON.search(prompt)
    assert person is not None
    return prompt[: person.start()], person[0], prompt[person.end() :]


def _messages(system: str, user: str) -> Messages:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


FORMS = {"as it is": as_it_is, "person first": person_first, "growing dialogue": growing}


def measured(file: Path, requests: list[Messages], settings: Settings) -> tuple[int, int, float]:
    """Tokens, tokens from the cache, and seconds of these requests, one after another, with a new server."""
    server = LocalServer(file, settings.local_context)
    server.start(settings)
    try:
        key = {"Authorization": f"Bearer {server.key.get_secret_value()}"}
        tokens = cached = 0
        with httpx.Client(base_url=server.address, headers=key, timeout=300) as client:
            begun = time.perf_counter()
            for messages in requests:
                answer = client.post("/chat/completions", json={"messages": messages, "max_tokens": 1})
                answer.raise_for_status()
                used = answer.json()["usage"]
                tokens += used["prompt_tokens"]
                cached += used["prompt_tokens_details"]["cached_tokens"]
            return tokens, cached, time.perf_counter() - begun
    finally:
        server.stop()


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--utterances", type=int, default=8)
    parser.add_argument("--slots", type=int, default=4)
    given = parser.parse_args()
    settings = Settings(max_messages=given.utterances, cognition="lean", local_slots=given.slots, local_context=32768)
    file = model_file(parse_model_name("smollm2"))
    asked = asyncio.run(reactions(given.agents, settings))
    print(f"lean, {given.agents} agents, {given.utterances} utterances, {given.slots} slots, {len(asked)} reactions")
    print("form              tokens a call  cached  read a call  seconds a call")
    for name, form in FORMS.items():
        tokens, cached, seconds = measured(file, form(asked), settings)
        number = len(asked)
        row = (tokens / number, cached / tokens, (tokens - cached) / number, seconds / number)
        print(f"{name:16s}  {row[0]:13,.0f}  {row[1]:6.1%}  {row[2]:11,.0f}  {row[3]:14.2f}")


if __name__ == "__main__":
    main()
