"""Tempers: what somebody feels where nothing happens, and what contradiction does to them.

One is hurt by it, another angry, afraid or curious. A temper follows from the traits, the way of speaking and the
description; where they say little, one is drawn from them. The coefficients are this model's own and were set by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.state.emotion import EMOTIONS

_REST: Final = {
    # Trait group: how it shifts the state to which somebody returns.
    "cheerful": {"happiness": 1.8, "sadness": -0.5},
    "warm": {"happiness": 0.6, "sadness": 0.3},
    "funny": {"happiness": 0.4},
    "gloomy": {"happiness": -1.0, "sadness": 1.6, "disgust": 0.7},
    "irritable": {"happiness": -0.4, "anger": 1.7, "disgust": 0.4},
    "anxious": {"happiness": -0.4, "fear": 1.8},
    "curious": {"happiness": 0.2, "surprise": 1.0},
    "calm": {"happiness": 0.2, "anger": -0.4, "fear": -0.5},
    "stubborn": {"anger": 0.9},
    "blunt": {"anger": 0.4, "disgust": 0.4},
    "cautious": {"fear": 0.7},
    "reserved": {"happiness": -0.4, "sadness": 0.4, "fear": 0.3},
    "open_minded": {"surprise": 0.3},
    "learned": {"surprise": 0.2},
}
_TAKES: Final = {
    # Trait group: what contradiction makes of somebody.
    "irritable": {"anger": 1.2, "disgust": 0.3},
    "stubborn": {"anger": 0.8},
    "blunt": {"anger": 0.3, "disgust": 0.6},
    "anxious": {"fear": 1.3, "sadness": 0.3},
    "cautious": {"fear": 0.4},
    "gloomy": {"sadness": 0.8, "disgust": 0.4},
    "warm": {"sadness": 0.7},
    "reserved": {"sadness": 0.5, "fear": 0.3},
    "curious": {"surprise": 0.9},
    "open_minded": {"surprise": 0.7},
    "learned": {"disgust": 0.3, "surprise": 0.3},
    "talkative": {"anger": 0.3},
}
_SOFTENS: Final = {"calm": 0.6, "cheerful": 0.8, "funny": 0.85}
"""Trait group: how much of a blow is left."""
_TOLD: Final = ("cheerful", "gloomy", "irritable", "anxious")
"""Groups that a description is believed to tell; words for the others stand in it for other things."""
_CONTENT: Final = 1.3
"""Happiness of those of whom nothing is known, where nothing happens."""
_LEANING: Final = {"happiness": 0.25, "surprise": 0.15, "sadness": 0.2, "anger": 0.17, "fear": 0.14, "disgust": 0.09}
"""How often people lean to an emotion for no reason that their profile tells."""
_LEANS: Final = 1.2


@dataclass(frozen=True)
class Disposition:
    """A temper.

    Attributes:
        rest: the emotional state where nothing happens, by emotion.
        takes: what a full contradiction adds, by emotion.
        spirits: what a full support adds to happiness.
    """

    rest: Mapping[str, float]
    takes: Mapping[str, float]
    spirits: float


def disposition_of(prompt: Prompt) -> Disposition:
    """The temper of the person of a prompt, without the topic."""
    facts = facts_of(prompt)
    told = {group for group in _TOLD if word_pattern(group).search(prompt.description)}
    return _disposition(prompt.name, prompt.description, frozenset(facts.groups | told), facts.child, facts.onlooker)


@lru_cache(maxsize=256)
def _disposition(name: str, description: str, groups: frozenset[str], child: bool, onlooker: bool) -> Disposition:
    draw = generator("temper", name, description)
    leaning = draw.choices(list(_LEANING), list(_LEANING.values()))[0]
    rest = {e: 0.5 * draw.random() + (_CONTENT if e == "happiness" else 0.0) for e in EMOTIONS}
    takes = dict.fromkeys(EMOTIONS, 0.0) | {"anger": 0.6, "sadness": 0.3}
    # The less a profile tells, the more is left to the person.
    known = sum(group in _REST for group in groups) if not onlooker else 9
    rest[leaning] += _LEANS / (1 + 0.4 * known)
    takes["anger" if leaning == "happiness" else leaning] += 0.6 / (1 + 0.4 * known)
    for table, values in ((_REST, rest), (_TAKES, takes)):
        for group in sorted(groups & table.keys()):
            for emotion, shift in table[group].items():
                values[emotion] += shift
    if child:
        rest["happiness"] += 0.6
        rest["surprise"] += 0.6
    left = 1.0
    for group, part in _SOFTENS.items():
        left *= part if group in groups else 1.0
    spirits = 1.1 + 0.4 * ("cheerful" in groups) + 0.2 * ("warm" in groups) - 0.5 * ("gloomy" in groups)
    return Disposition(
        {e: max(0.0, v) for e, v in rest.items()},
        {e: left * v for e, v in takes.items()},
        spirits - 0.3 * ("irritable" in groups) - 0.2 * ("reserved" in groups),
    )
