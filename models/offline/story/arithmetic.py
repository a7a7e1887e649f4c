"""The arithmetic behind the offline model's answers in stories. Pure functions; randomness comes in as generators.

It is made up: plausible figures for demonstrations and tests, not a theory of people. Its coefficients are chosen so
that stories take different courses: somebody is persuaded now and then, and few values end at 0 or 100.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Final

from persimchat.models.offline.randomness import generator

TONES: Final = 2
"""A talk is felt from -2, very cold, to 2, very warm."""
MOST: Final = 10
"""The greatest change of an update."""

_USUAL, _STUBBORN, _OPEN = 3.0, 1.5, 4.5
"""How much of what was heard moves a belief."""
_KEPT = 0.35
"""The share of the others who must speak for one's own strongest belief, so that it stays as it is."""


def clipped(value: float, most: float) -> float:
    """A value within -most to most."""
    return max(-most, min(most, value))


def affinity(seed: int, name: str, other: str, valence: int = 0) -> float:
    """How much somebody likes another by nature, -1 to 1.

    Args:
        seed: the model's.
        name: who likes.
        other: who is liked.
        valence: of their relationship, -1 to 1.
    """
    return clipped(0.6 * (2 * generator(seed, "affinity", name, other).random() - 1) + 0.25 * valence, 1)


def gumbel(draw: random.Random) -> float:
    """A draw from the standard Gumbel distribution: the greatest of many small chances."""
    return -math.log(-math.log(max(draw.random(), 1e-12)))


def appeal(weight: float, closeness: int, decides: bool, met: bool, draw: random.Random) -> float:
    """How much a host wants to talk to a candidate.

    Args:
        weight: the candidate's influence, as a share of the greatest.
        closeness: of the host to the candidate, 0 to 100.
        decides: whether the candidate decides in the end.
        met: whether the two have met lately.
        draw: the chance in it.
    """
    return 1.0 * weight + 0.8 * closeness / 100 + 0.6 * decides - 0.9 * met + 0.5 * gumbel(draw)


def warmth(liking: float, differs: bool, draw: random.Random) -> int:
    """How somebody answers in a room: -1 to refuse, 0 to leave it open, 1 to agree.

    Args:
        liking: the affinity to the other.
        differs: whether one wants something else than the other has spoken for; then one never agrees.
        draw: the chance in it.
    """
    leaning = liking + draw.gauss(0, 0.3)
    return -1 if leaning < -0.2 else 1 if leaning > 0.1 and not differs else 0


def tone(liking: float, met_with: int, draw: random.Random) -> int:
    """How a talk is felt, -2 to 2.

    Args:
        liking: the affinity.
        met_with: how warm the other's words were, -1 to 1.
        draw: the chance in it.
    """
    return round(clipped(round(1.6 * liking + 0.9 * met_with + draw.gauss(0, 1.1)), TONES))


def nearer(liking: float, felt: int | None, backs: int, draw: random.Random) -> int:
    """The change of closeness to somebody in an update.

    Args:
        liking: the affinity.
        felt: the tone of the talk that the two had; None if they have only heard each other in the group.
        backs: 1 if the other spoke for what one wants, -1 if for something else, 0 if for nothing.
        draw: the chance in it.
    """
    if felt is None:
        return round(clipped(round(2 * liking + backs + draw.gauss(0, 1.5)), MOST))
    return round(clipped(round(2 * liking + 2.5 * felt + 2 * backs + draw.gauss(0, 3)), MOST))


def first_impression(liking: float, draw: random.Random) -> int:
    """The change of closeness before the first round."""
    return round(clipped(round(7 * liking + draw.gauss(0, 2)), MOST))


def sway(stubborn: bool, open_minded: bool) -> float:
    """How much of what was heard moves somebody's beliefs."""
    return _STUBBORN if stubborn else _OPEN if open_minded else _USUAL


def belief_changes(weights: Sequence[float], own: Sequence[bool], swayed: float, draw: random.Random) -> list[int]:
    """The changes of beliefs in an update.

    Args:
        weights: for each belief, the closeness to those who spoke for it, summed.
        own: for each belief, whether it is the holder's own strongest.
        swayed: how much of what was heard moves them.
        draw: the chance in it.
    """
    total = sum(weights)
    changes = []
    for weight, strongest in zip(weights, own, strict=True):
        noise = draw.gauss(0, 3)
        expected = _KEPT if strongest else 1 / len(weights)
        pull = 10 * swayed * (weight / total - expected) if total else 0.0
        changes.append(round(clipped(round(pull + noise), MOST)))
    return changes


def ballot(scores: Mapping[str, float], draw: random.Random, noise: float) -> str:
    """The candidate with the greatest score.

    Args:
        scores: by candidate.
        draw: the chance in it.
        noise: how much of it there is.
    """
    drawn = {name: score + noise * gumbel(draw) if noise else score for name, score in scores.items()}
    return max(drawn, key=lambda name: drawn[name])


def open_choice(
    name: str, candidates: Sequence[str], aims: Sequence[str], scores: Mapping[str, float], *, decides: bool
) -> str | None:
    """Whom a main character names openly: itself, unless its one strongest belief is for another.

    Args:
        name: who votes.
        candidates: whom it may name.
        aims: for each strongest belief, whom it favours; empty for nobody.
        scores: by candidate, for voters who are no candidates.
        decides: whether the voter decides in the end, and so keeps things while it is after nobody.

    Returns:
        The choice; None if the voter is no candidate.
    """
    if name not in candidates:
        return None
    if len(aims) == 1 and aims[0] in candidates:
        return aims[0]
    if decides and "" in aims:
        return name
    favoured = [aim for aim in aims if aim in candidates]
    return name if not favoured or name in favoured else max(favoured, key=lambda one: scores.get(one, 0.0))
