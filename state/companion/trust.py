"""Trust of one agent in one person, 0–10, and what it bounds. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from . import HOSTILE, Cause, Tie

START: Final = 5
LEAST, MOST = 0, 10
MOST_IN_A_TALK: Final = 3
"""The most that trust can rise in one talk."""
WALKS_OFF: Final = 1
"""At this trust or less, hostile words end the talk."""

STARTS: Final[dict[str, int]] = {
    **dict.fromkeys(("friend", "close_friend", "ally", "romantic", "siblings", "spouses", "cousins"), 7),
    **dict.fromkeys(("parent_child", "grandparent_grandchild", "aunt_uncle_niece_nephew"), 7),
    **dict.fromkeys(("stepparent_stepchild", "adoptive_parent_child"), 7),
    "rival": 3,
    "enemy": 1,
}
"""Trust at the beginning by type of relationship; 5 for all others."""


@dataclass(frozen=True)
class Bounds:
    """What trust bounds.

    Attributes:
        manner: its name in the prompts: "curt", "guarded", "polite", "warm", "open".
        share_of_words: of the usual length of an answer.
        begins: whether the agent begins talks: "never", "reason" (only for one in plan or event), "freely".
    """

    manner: str
    share_of_words: float
    begins: str


def start_of(relationship: str) -> int:
    """Trust at the beginning of an acquaintance, by its type."""
    return STARTS.get(relationship, START)


def bounds(trust: int) -> Bounds:
    """What an agent does at this trust."""
    if trust <= 1:
        return Bounds("curt", 0.4, "never")
    if trust <= 3:
        return Bounds("guarded", 0.5, "never")
    if trust <= 6:
        return Bounds("polite", 1.0, "reason")
    return Bounds("warm" if trust <= 8 else "open", 1.0, "freely")


def words_at(trust: int, words: int) -> int:
    """The length of an answer at this trust, in words.

    Args:
        trust: 0–10.
        words: the usual length.
    """
    own = max(1, round(words * bounds(trust).share_of_words))
    return min(own, 10) if trust <= WALKS_OFF else own


def appraised(tie: Tie, cause: Cause, change: int, wants_to_end: bool) -> Tie:
    """The tie after the agent has judged words of the person in the open talk.

    Trust moves by at most one step up and three down; in one talk it rises by at most `MOST_IN_A_TALK`. After an
    insult, a threat or contempt it stays at least 1 below its level before until the talk ends.

    Args:
        tie: with its open talk.
        cause: why trust changes.
        change: −3 to 1; other numbers count as the nearest of these.
        wants_to_end: whether the agent wants to end the talk.
    """
    talk = tie.talk
    if talk is None:
        return tie
    step = max(-3, min(1, change))
    hostile = cause in HOSTILE
    most = min(MOST, talk.trust + MOST_IN_A_TALK)
    if hostile:
        below = max(LEAST, tie.trust - 1)
        ceiling = below if talk.ceiling is None else min(talk.ceiling, below)
        step = min(step, -1)
    else:
        ceiling = MOST if talk.ceiling is None else talk.ceiling
    # A talk may have begun above what hostility now allows; the greatest rise never lowers trust by itself.
    trust = max(LEAST, min(tie.trust + step, max(most, tie.trust) if step > 0 else MOST, ceiling))
    told = {"ceiling": ceiling if hostile or talk.ceiling is not None else None, "hostile": hostile}
    closing = talk.closing or wants_to_end
    return tie.model_copy(update={"trust": trust, "talk": talk.model_copy(update={**told, "closing": closing})})


def walks_off(tie: Tie) -> bool:
    """Whether the agent ends the talk without taking leave: no trust is left, and the last words were hostile."""
    return tie.talk is not None and tie.talk.hostile and tie.trust <= WALKS_OFF
