"""Which point of a topic somebody makes."""

from __future__ import annotations

from typing import Final

from persimchat.models.offline.lexicon import Point
from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.scene import Scene

_CHOICE: Final = 2
"""Points among which a speaker chooses: enough to find one to their mind, few enough to last a conversation."""
_AHEAD: Final = 19


def points_in_order(scene: Scene) -> list[Point]:
    """The points of the conversation's topic in its own order: those on the subject before the general ones.

    The first few are kept for whoever opens the talk, because later speakers cannot know which of them was taken.
    """
    ordered: list[Point] = []
    begin = 0
    for tier, size in enumerate(scene.topic.tiers):
        order = permutation(size, "points", tier, scene.decks.seed, scene.topic.text)
        ordered += [scene.topic.points[begin + i] for i in order]
        begin += size
    kept = min(3, max(1, scene.topic.tiers[0] // 3))
    return ordered[:kept] if scene.opening else ordered[kept:]


def point_for(scene: Scene, variant: int) -> Point:
    """The point whose turn it is: of the next two in the deck, the one that is more to the speaker's mind."""
    ordered = points_in_order(scene)
    # The later variants look far ahead, so as not to take what the next speakers are going to say.
    start = _CHOICE * scene.point_step + (0 if variant < 3 else _AHEAD + 3 * variant)
    turned = (ordered[(start + i) % len(ordered)] for i in range(len(ordered)))
    fresh = [p for p in turned if scene.usable(p) and scene.decks.fresh(p.text)] or ordered
    fresh = [p for p in fresh if scene.untold(p.gist)] or fresh
    # Who opens the talk says what they think; later speakers take what comes.
    some = fresh if scene.opening else fresh[:_CHOICE]
    liked = sorted(some, key=lambda p: foreignness(scene, p))
    return liked[1 if variant == 1 and len(liked) > 1 else 0]


def foreignness(scene: Scene, point: Point) -> int:
    """0 for a point for the speaker's own position, 1 for one that is for none, 2 for another's."""
    return 1 if point.tag == "-" else 0 if int(point.tag) == scene.stance.mine else 2
