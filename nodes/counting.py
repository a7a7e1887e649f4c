"""Counting: what the answers of a round come to in the baselines mad and reconcile.

No model is asked, but for one case: answers in free text of which no two are the same in words cannot be counted, so
the judge reads them and words the position of the majority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from persimchat.nodes.judge import word_majority
from persimchat.state.mind import Call, Situation, Utterance
from persimchat.state.settings import Settings
from persimchat.state.verdict import Conclusion
from persimchat.state.voting import Tally, Vote, calibrated, in_words, tallied


def counted(answers: Sequence[Utterance], settings: Settings, *, weighted: bool) -> list[Tally]:
    """The answers and who holds them, the winner first; a tie goes to the earliest listed.

    Args:
        answers: one a participant, in order of listing.
        settings: the form of the answers.
        weighted: whether an answer counts by its confidence (Chen et al. 2023), or each the same.
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
) -> tuple[Conclusion, list[Call]]:
    """What a debate came to, by the last round's answers.

    Args:
        situation: the debate as one finds it who takes no part.
        minds: the participants', by name, in order of listing.
        answers: of the last round, one a participant, in order of listing.
        settings: of the simulation.
        by: the baseline's name.
        weighted: as for `counted`.

    Returns:
        The conclusion, and the call to the judge where the answers could not be counted.
    """
    tallies = counted(answers, settings, weighted=weighted)
    if settings.answer_format == "free" and len(tallies) == len(answers):
        read, calls = await word_majority({**situation, "recent": list(answers)}, minds, None, settings)
        return {**read, "by": by, "consensus": len(read["supporters"]) == len(answers)}, calls
    winner = tallies[0]
    conclusion: Conclusion = {
        "answer": winner.answer,
        "consensus": len(tallies) == 1,
        "reasoning": in_words(tallies, weights=weighted),
        "supporters": winner.supporters,
        "by": by,
    }
    return conclusion, []
