"""Prompts of a companion for tests of the offline model: blocks with items, without the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from persimchat.models.offline import OfflineChatModel
from persimchat.prompts.blocks import Block, Item
from persimchat.prompts.rendering import RenderedMessage, Source

ODA = "Oda Brandvik"
FACTS: dict[str, tuple[str, str]] = {
    "sister": ("Petr's sister is called Mira.", "My sister is called Mira."),
    "home": ("Petr lives in Brno.", "I live in Brno."),
    "sister's dog": ("Petr's sister's dog is called Rex.", "Her dog is called Rex."),
    "garden": ("Petr grows roses behind the house.", "I grow roses behind the house."),
}


def about_oda(**characteristics: str) -> Block:
    """Who she is."""
    told = {"age": "58", "occupation": "ticket seller", "residence": "the boat house"} | characteristics
    return Block(
        "basic_information",
        (
            Item("name", {"name": ODA}),
            Item("description", {"text": "Sells tickets and keeps the boats' log."}),
            *(Item("characteristic", {"name": key, "value": value}) for key, value in told.items()),
            *(Item("trait", {"text": trait}) for trait in ("dry", "loyal", "curious about names")),
        ),
    )


def fact(number: int, subject: str, statement: str, quote: str, when: str = "3 days ago") -> Item:
    """A known fact."""
    values = {"number": number, "about": "person", "subject": subject, "statement": statement, "quote": quote}
    return Item("fact", {**values, "when": when, "source": "Petr"})


def line(speaker: str, text: str) -> Item:
    """A line of the talk."""
    return Item("utterance", {"speaker": speaker, "text": text, "whispered": ()})


def heard(text: str, person: str = "Petr") -> Block:
    """Words to answer."""
    values = {"speaker": person, "addressees": [ODA], "emotion": {}, "text": text}
    return Block("heard", (Item("heard", {**values, "own": False, "addressed": True, "whispered": (),
                                          "moderator": False}),))  # fmt: skip


def blocks(
    text: str = "",
    facts: Sequence[str] = (),
    before: Sequence[tuple[str, str]] = (),
    *,
    person: str = "Petr",
    introduced: bool = True,
    trust: int = 5,
    manner: str = "polite",
    talks: int = 0,
    last_met: str = "",
    confided: Sequence[str] = (),
    events: Sequence[str] = (),
    emotion: str = "neutral",
) -> list[Block]:
    """The blocks of a companion's prompt for words."""
    bond = {"name": person, "introduced": introduced, "type": "acquaintance", "side": "from", "note": "",
            "talks": talks, "last_met": last_met, "summary": ""}  # fmt: skip
    now = {"day": "Monday, 3 March 2025", "time": "11:40", "activity": "sells tickets", "emotion": emotion,
           "name": person, "trust": trust, "manner": manner}  # fmt: skip
    around = ("stove: lit", "window: shut", "Also here: the captain, reading the log")
    known = [fact(n, subject, *FACTS[subject]) for n, subject in enumerate(facts, start=1)]
    return [
        about_oda(),
        Block(
            "place",
            (
                Item("place_where", {"address": "Lake, Ferry stage, ticket hut", "occasion": "waiting for the boat"}),
                *(Item("place_thing", {"text": text}) for text in around),
            ),
        ),
        Block("relationships", (Item("bond", bond), *(Item("confided", {"text": one}) for one in confided))),
        Block("facts", tuple(known)),
        Block("last_utterances", tuple(line(*one) for one in [*before, *([(person, text)] if text else [])])),
        Block("now", (Item("now", now),)),
        Block("events", tuple(Item("event", {"number": n, "text": one}) for n, one in enumerate(events, start=1))),
        *([heard(text, person)] if text else []),
    ]


def asked(task: str, given: Sequence[Block], seed: int = 0, **values: Any) -> str:
    """The offline model's answer."""
    message = RenderedMessage.of(Source(str(values.get("module_name", task)), tuple(given), values), "")
    return OfflineChatModel(seed=seed).answer([message])


def judged(task: str, given: Sequence[Block], seed: int = 0, **values: Any) -> Any:
    """The offline model's answer to a judging task."""
    return json.loads(asked(task, given, seed, **values))


def words(text: str, facts: Sequence[str] = (), before: Sequence[tuple[str, str]] = (), **given: Any) -> str:
    """The agent's words to words."""
    values = {key: given.pop(key) for key in ("closing", "hostile_end", "unasked", "candour", "words") if key in given}
    return asked("companion", blocks(text, facts, before, **given), **{"candour": True, "words": 25} | values)
