"""Ablation: what a mind does without modules that are left out (the setting `ablation`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from ..settings import Settings

Ablated = Literal[
    "perception",
    "focal_points",
    "recall",
    "emotion",
    "need_to_talk",
    "openness",
    "action",
    "reflection",
    "planning",
]
"""A module that a conversation's minds can go without.

- perception: an utterance is kept as its first sentence, its longest words and a neutral importance.
- focal_points: memories are recalled by the words heard.
- recall: no memory is recalled; there are no focal points either. What is in short-term memory is still shown.
- emotion: nothing is felt; memories are stored calmly.
- need_to_talk: everybody needs to talk alike, so that who has spoken least is next, or one drawn with even odds.
- openness: nobody judges how ready they are for a common answer.
- action: a mind plans, and reflects once what it has perceived weighs enough; with lean cognition it is so anyway.
- reflection, planning: a mind that chooses it does nothing in that time.
"""
ABLATED: Final[tuple[Ablated, ...]] = get_args(Ablated)
"""All of them, in the order in which a mind comes to them."""


def left_out(settings: Settings) -> frozenset[str]:
    """The modules that minds go without, with those that have no use then."""
    gone = set(settings.ablation)
    if "recall" in gone:
        gone.add("focal_points")
    if gone >= {"reflection", "planning"}:
        gone.add("action")
    return frozenset(gone)


def thinks(settings: Settings) -> bool:
    """Whether minds reflect or plan at all while others speak."""
    return settings.planning_and_reflection and not {"reflection", "planning"} <= set(settings.ablation)


def unfit(settings: Settings) -> Iterator[str]:
    """Why modules cannot be left out of these minds, because they have none, a sentence each."""
    lacking = {
        "focal_points": settings.cognition == "lean" and "cognition=lean recalls by the words heard",
        "action": settings.cognition == "lean" and "cognition=lean chooses no action",
        "openness": settings.mode != "debate" and "only debates judge it",
    }
    for module in settings.ablation:
        if why := lacking.get(module):
            yield f"ablation leaves out {module}, but {why}; take {module} out of ablation"
