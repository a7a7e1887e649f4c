"""Blocks of a companion's prompts: the talk as the agent sees it. The words are in `templates/_companion_item.jinja`.

No block tells what another person has said in confidence, what the agent tells only at greater trust, or a fact that
was replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..state.companion import CompanionSituation, Label
from ..state.companion.clock import ago, in_words
from ..state.companion.trust import bounds
from ..state.minds.memory import Memory
from ..state.minds.mind import Situation
from .blocks import Block, Item, estimated_tokens

_FACT_COST = 12
"""Estimated tokens of the words around a fact."""


def place(situation: Situation, companion: CompanionSituation) -> Block:
    """Where the talk is and what is there; what a client says of the scene stands at its end."""
    items = [
        Item("place_where", {"address": companion["place"], "occasion": situation["topic"]}, prunable=False),
        *(Item("place_thing", {"text": line}) for line in companion["around"]),
        *(Item("rule", {"text": rule}, prunable=False) for rule in situation["rules"]),
    ]
    if companion["instructions"]:
        items.append(Item("instruction", {"text": companion["instructions"]}, prunable=False))
    return Block("place", tuple(items))


def bond(situation: Situation, companion: CompanionSituation) -> Block:
    """How the agent stands to the person, what it has promised, and what it tells at this trust.

    It stays the same in a talk, so that a server's cache keeps it: times are counted to the talk's beginning.
    """
    own = (
        situation["relationships"][0] if situation["relationships"] else {"type": "unknown", "side": "from", "note": ""}
    )
    values = {
        "name": companion["shown"],
        "introduced": companion["introduced"],
        "type": own["type"],
        "side": own["side"],
        "note": own["note"],
        "talks": companion["talks"],
        "last_met": ago(companion["last_met"], companion["begun"]) if companion["last_met"] else "",
        "summary": companion["summary"],
    }
    return Block(
        "relationships",
        (
            Item("bond", values, prunable=False),
            *(Item("promise", {"text": text}) for text in companion["promises"]),
            *(Item("confided", {"text": text}) for text in companion["confides"]),
        ),
    )


def facts(companion: CompanionSituation, tag: str = "facts") -> Block:
    """The known facts of the person, numbered from 1; never dropped to make a prompt fit."""
    return Block(
        tag,
        tuple(
            Item(
                "fact",
                {key: fact[key] for key in ("about", "subject", "statement", "quote")}
                | {"number": n, "when": ago(fact["at"], companion["begun"]), "source": companion["shown"]},
                prunable=False,
            )
            for n, fact in enumerate(companion["facts"], start=1)
        ),
    )


def facts_within(known: Sequence[Mapping[str, Any]], tokens: int) -> list[Mapping[str, Any]]:
    """The facts that a prompt shows: the pinned and important ones that fit a budget, in order of arrival.

    Args:
        known: facts in force, in order of arrival.
        tokens: the budget, estimated.
    """
    by_weight = sorted(
        range(len(known)), key=lambda place: (not known[place].get("pinned"), -known[place]["importance"], -place)
    )
    kept, spent = set[int](), 0
    for position in by_weight:
        spent += estimated_tokens(known[position]["statement"]) + _FACT_COST
        if spent > tokens:
            break
        kept.add(position)
    return [fact for position, fact in enumerate(known) if position in kept]


def memories(recalled: Iterable[Memory], companion: CompanionSituation) -> Block:
    """What was recalled, numbered from 1, best first, with the time since."""
    return Block(
        "memories",
        tuple(
            Item(
                "companion_memory",
                {
                    "number": n,
                    "kind": memory.kind,
                    "when": _when(memory, companion),
                    "importance": memory.importance,
                    "theme": memory.theme,
                    "keywords": memory.keywords,
                    "source": companion["shown"] if memory.kind == "fact" else "",
                },
            )
            for n, memory in enumerate(recalled, start=1)
        ),
    )


def short_term_memory(stm: Mapping[str, Any] | None, companion: CompanionSituation) -> Block:
    """The memory in short-term memory."""
    shown = memories([Memory.model_validate(stm)], companion).items if stm else ()
    return Block("short_term_memory", shown)


def _when(memory: Memory, companion: CompanionSituation) -> str:
    return ago(memory.circumstance.at, companion["at"]) if memory.circumstance else ""


def now(companion: CompanionSituation, emotion: Label | str) -> Block:
    """What changes with every exchange: time, activity, mood, and the manner that trust allows."""
    day, time = in_words(companion["at"])
    values = {
        "day": day,
        "time": time,
        "activity": companion["activity"],
        "emotion": emotion,
        "name": companion["shown"],
        "trust": companion["trust"],
        "manner": bounds(companion["trust"]).manner,
    }
    return Block("now", (Item("now", values, prunable=False),))


def events(companion: CompanionSituation) -> Block:
    """What was perceived since the last words, numbered from 1."""
    return Block(
        "events",
        tuple(
            Item("event", {"number": n, "text": text}, prunable=False)
            for n, text in enumerate(companion["happened"], start=1)
        ),
    )
