"""Counting: the result of a round's answers in the baselines mad and reconcile.

No model is asked, with one exception: answers in free text that all differ in their words cannot be counted, so the
judge reads them and words the position of the majority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from persimchat.nodes.judge import word_majority
from persimchat.state.condition import joined, positions_of
from persimchat.state.mind import Situation, Utterance
from persimchat.state.settings import Settings
from persimchat.state.verdict import Conclusion, with_conditions
from persimchat.state.voting import Tally, Vote, calibrated, in_words, tallied


def counted(answers: Sequence[Utterance], settings: Settings, *, weighted: bool) -> list[Tally]:
    """The answers and who holds them, the winner first; a tie goes to the earliest listed.

    Args:
        answers: one per participant, in order of listing.
        settings: the form of the answers.
        weighted: whether answers are weighted by confidence (Chen et al. 2023); otherwise all count the same.
    """
    votes = [Vote(u["speaker"], u["answer"], calibrated(u["confidence"]) if weighted else 1.0) for u in answers]
    return tallied(votes, settings.answer_format)


async def conclude(
    situation: Situation,
    minds: Mapping[str, Mapping[str, Any]],
    answers: Sequence[Utterance],
    settings: Settings,
    *,
    by: str,
    weighted: bool,
) -> Conclusion:
    """The conclusion of a debate, from the last round's answers.

    Args:
        situation: the debate as an onlooker sees it.
        minds: the participants', by name, in order of listing.
        answers: of the last round, one per participant, in order of listing.
        settings: of the simulation.
        by: the baseline's name.
        weighted: as for `counted`.

    Returns:
        The conclusion.
    """
    tallies = counted(answers, settings, weighted=weighted)
    if settings.answer_format == "free" and len(tallies) == len(answers):
        shown: Situation = {**situation, "recent": list(answers)}
        read = await word_majority(shown, minds, None, settings, verdict=None, said=answers)
        return {**read, "by": by, "consensus": len(read["supporters"]) == len(answers)}
    winner = tallies[0]
    conclusion: Conclusion = {
        "answer": winner.answer,
        "consensus": len(tallies) == 1,
        "reasoning": in_words(tallies, weights=weighted),
        "supporters": winner.supporters,
        "by": by,
    }
    conditions, names = joined(winner.supporters, answers), [u["speaker"] for u in answers]
    return with_conditions(conclusion, conditions, names, positions_of(answers), answers)
