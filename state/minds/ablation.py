"""Ablation: what a mind does without modules that are left out (the setting `ablation`)."""

from __future__ import annotations

from typing import Final, Literal, get_args

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
