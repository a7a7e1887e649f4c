"""Arithmetic on the answers of a round: equal answers, majority, weighted vote, confidences as weights.

Sources: majority at the end, Du et al. 2023 (arXiv:2305.14325), section 2; weights of confidences and weighted vote,
Chen, Saha and Bansal 2023 (arXiv:2309.13007), section 3.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Final, NamedTuple

from persimchat.state.answer_format import AnswerFormat, same_answer
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

_SHOWN: Final = 80
"""The most characters of an answer in the line of `in_words`."""


class Vote(NamedTuple):
    """One agent's answer in a round.

    Attributes:
        agent: whose it is.
        answer: in the form that was asked for.
        weight: how much it counts; 1 if all answers count the same.
    """

    agent: str
    answer: str
    weight: float = 1.0


class Tally(NamedTuple):
    """An answer and those who hold it.

    Attributes:
        answer: as the first of its holders worded it.
        supporters: its holders, in order of listing.
        weight: the sum of their weights.
    """

    answer: str
    supporters: list[str]
    weight: float


def rounds_of(participants: int, settings: Settings) -> int:
    """How many rounds of answers a debate baseline has at most: `rounds`, or as many as `max_messages` allows.

    Raises:
        InputError: the message limit is smaller than one round, in which each participant answers once.
    """
    allowed = settings.max_messages // participants
    if not allowed:
        raise InputError(
            f"max_messages={settings.max_messages} leaves no room for one round of {participants} answers",
            where=f"baseline {settings.baseline}",
            remedy=f"Set max_messages to {participants} or more.",
        )
    return min(settings.rounds, allowed)


def tallied(votes: Sequence[Vote], form: AnswerFormat) -> list[Tally]:
    """The answers given and who holds them, the one with the greatest weight first.

    Answers of equal weight are in the order in which they were first given, so a tie goes to the earliest listed.

    Args:
        votes: one an agent, in order of listing.
        form: the form of the answers, which says when two are the same.
    """
    groups: list[list[Vote]] = []
    for vote in votes:
        group = next((group for group in groups if is_same(group[0].answer, vote.answer, form)), None)
        if group is None:
            groups.append([vote])
        else:
            group.append(vote)
    tallies = [Tally(group[0].answer, [vote.agent for vote in group], _sum(group)) for group in groups]
    return sorted(tallies, key=lambda tally: -tally.weight)


def is_same(one: str, other: str, form: AnswerFormat) -> bool:
    """Whether two parsed answers are the same; a parsed choice is one of the choices, character by character."""
    return one == other if form == "choice" else same_answer(one, other, form)


def _sum(votes: Sequence[Vote]) -> float:
    """Rounded, because 0.5 + 0.3 and 0.8 are the same weight and must tie."""
    return round(math.fsum(vote.weight for vote in votes), 9)


_WEIGHTS: Final = ((1.0, 1.0), (0.9, 0.8), (0.8, 0.5))


def calibrated(confidence: float) -> float:
    """The weight of an answer by the confidence that its agent states; models are more confident than they are right.

    1 stays 1; from 0.9 on it is 0.8; from 0.8 on 0.5; above 0.6 it is 0.3; else 0.1 (Chen et al. 2023, section 3).

    Args:
        confidence: 0 to 1.

    Raises:
        ValueError: it is outside these bounds.
    """
    if not 0 <= confidence <= 1:
        raise ValueError(f"a confidence is from 0 to 1, not {confidence}")
    at_least = next((weight for least, weight in _WEIGHTS if confidence >= least), None)
    if at_least is not None:
        return at_least
    return 0.3 if confidence > 0.6 else 0.1


def in_words(tallies: Sequence[Tally], *, weights: bool = False) -> str:
    """A count of votes in one line: "18: Ada Lind, Bo Říha; 20: 李雷", with the weights if asked for."""
    return "; ".join(
        f"{textwrap.shorten(tally.answer, _SHOWN, placeholder=' …')}: {', '.join(tally.supporters)}"
        + (f" (weight {tally.weight:g})" if weights else "")
        for tally in tallies
    )
