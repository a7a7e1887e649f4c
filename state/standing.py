"""The arithmetic of a story: bounded change, support, influence, order, camps. Pure functions.

Source: Gu et al. 2024, AgentGroupChat; where the paper leaves something open, docs/stories.md says what is done here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from persimchat.state.story import Resource, Story

LOWEST: Final = 0
HIGHEST: Final = 100
"""The range of closeness and of the strength of beliefs."""


def moved(value: int, change: int) -> int:
    """A closeness or a belief's strength after a change, within 0 to 100."""
    return min(HIGHEST, max(LOWEST, value + change))


def strongest(beliefs: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of the strongest beliefs: several if they are equally strong, none without beliefs."""
    best = max((belief["score"] for belief in beliefs), default=None)
    return [place for place, belief in enumerate(beliefs) if belief["score"] == best]


def supported(
    story: Story, name: str, beliefs: Sequence[Mapping[str, Any]], closeness: Mapping[str, int], before: str
) -> str:
    """The main character whom a character supports now; empty for nobody.

    A main character supports nobody, unless its strictly strongest belief is for another main character. Another
    character supports the main character to whom it is closest, from `limits.support` on.

    Args:
        story: characters and limits.
        name: whose support.
        beliefs: its beliefs now, each with `score` and `for`.
        closeness: its closeness to each of the others.
        before: whom it supported until now, who keeps its support among equals.
    """
    character, mains = story.characters[name], story.mains
    if character.main:
        first = strongest(beliefs)
        favoured = str(beliefs[first[0]]["for"]) if len(first) == 1 else ""
        return favoured if favoured in mains and favoured != name else ""
    near = {main: closeness[main] for main in mains if main in closeness}
    best = max(near.values(), default=-1)
    if character.neutral or best < story.limits.support:
        return ""
    closest = [main for main in mains if near.get(main) == best]
    return before if before in closest else closest[0]


def influence(resources: Sequence[Resource], owners: Mapping[str, str], supports: Mapping[str, str]) -> dict[str, int]:
    """Everybody's influence: that of their own resources and, for a main character, of all others that support it.

    Args:
        resources: with their influence.
        owners: each resource's owner now, by its name.
        supports: by character, the main character whom it supports; empty for nobody. Its keys are all characters.
    """
    own = dict.fromkeys(supports, 0)
    for resource in resources:
        if owners.get(resource.name):
            own[owners[resource.name]] += resource.influence
    return {name: own[name] + sum(own[other] for other, main in supports.items() if main == name) for name in supports}


def in_order(mains: Sequence[str], weights: Mapping[str, int], lots: random.Random) -> list[str]:
    """The order in which main characters act: the greatest influence first, equals by lot.

    Args:
        mains: the main characters, in order of listing.
        weights: everybody's influence.
        lots: draws the lots.
    """
    drawn = list(mains)
    lots.shuffle(drawn)
    return sorted(drawn, key=lambda name: -weights[name])


def camps(story: Story, supports: Mapping[str, str]) -> dict[str, str]:
    """Everybody's camp: the declared one; else of a main character its own, of others that of whom they support.

    Args:
        story: its characters may have declared camps.
        supports: by character, the main character whom it supports; empty for nobody.
    """
    if any(one.camp for one in story.characters.values()):
        return {name: one.camp for name, one in story.characters.items()}
    return {name: supports[name] or (name if one.main else "") for name, one in story.characters.items()}
