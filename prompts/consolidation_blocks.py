"""The blocks of the prompt in which a companion looks back on a talk: what it knew, and what was said."""

from __future__ import annotations

from collections.abc import Sequence

from ..state.companion import Fact, Tie
from ..state.companion.clock import ago
from ..state.companion.facts import Line
from ..state.plain_text import shortened
from .blocks import LONGEST_UTTERANCE, Block, Item


def known(facts: Sequence[Fact], person: str, at: str) -> Block:
    """What the agent knows of the person before the talk: one item per fact, numbered from 1.

    Args:
        facts: in force, in order of arrival.
        person: the person, as the agent knows them.
        at: now, ISO time.
    """
    return Block(
        "known",
        tuple(
            Item(
                "fact",
                {key: getattr(fact, key) for key in ("about", "subject", "statement", "quote")}
                | {"number": number, "when": ago(fact.at, at), "source": person},
                prunable=False,
            )
            for number, fact in enumerate(facts, start=1)
        ),
    )


def transcript(lines: Sequence[Line], agent: str, person: str) -> Block:
    """A talk word by word, oldest line first.

    Args:
        lines: of the talk.
        agent: the agent's name.
        person: the person, as the agent knows them.
    """
    return Block(
        "transcript",
        tuple(
            Item(
                "utterance",
                {
                    "speaker": agent if line.own else person,
                    "text": shortened(line.text, LONGEST_UTTERANCE),
                    "whispered": (),
                },
                prunable=False,
            )
            for line in lines
        ),
    )


def tie(known_of: Tie, person: str) -> Block:
    """How the agent stands to the person, before the talk; what is known of a stranger may name them."""
    note = known_of.note if known_of.introduced else ""
    values = {"to": person, "type": known_of.type, "side": known_of.side, "note": note}
    return Block("relationships", (Item("relationship", values, prunable=False),))
