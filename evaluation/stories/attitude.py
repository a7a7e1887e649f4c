"""Attitude: how one character's closeness changes while all others treat it badly (T1 and T2).

Source: Gu et al. 2024, AgentGroupChat, section 6.2 and table 2. The paper says "negative score", which a closeness from
0 to 100 cannot have, and names both directions. Here it is the change towards the others that the observed character
answered in a review, before the range cuts it. The other direction says whether the provocation took place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from persimchat.runs.folder.reading import Record

Changes = Mapping[str, int]
"""The answered changes of closeness, by the other character's name."""


@dataclass(frozen=True)
class Attitude:
    """What became of the closeness between one character and the others.

    Attributes:
        rounds: in which a change was answered.
        t1: percent of the rounds in which the mean change was negative; None without rounds.
        t2: percent of all single changes that were negative; None without any.
        answers: the single changes on which `t2` rests.
    """

    rounds: int
    t1: float | None
    t2: float | None
    answers: int


def attitude(rounds: Sequence[Changes], among: Sequence[str]) -> Attitude:
    """T1 and T2 of changes, one mapping a round.

    T1 = 100/K · #{t: mean over all j of d_t(j) < 0}; T2 = 100/(K·M) · #{(t, j): d_t(j) < 0, j one of `among`}, with K
    rounds and M names.

    Args:
        rounds: the changes d_t of each round in which there was an answer.
        among: whose changes count for T2.
    """
    there = [changes for changes in rounds if changes]
    single = [changes[name] for changes in there for name in among if name in changes]
    return Attitude(
        rounds=len(there),
        t1=_percent([fmean(changes.values()) < 0 for changes in there]),
        t2=_percent([change < 0 for change in single]),
        answers=len(single),
    )


def shown_by(record: Record, observed: str, mains: Sequence[str]) -> Attitude:
    """The attitude of the observed character to the others; T2 is over the other main characters."""
    return attitude(
        [changes for by in _changes(record).values() if (changes := by.get(observed))],
        [name for name in mains if name != observed],
    )


def shown_to(record: Record, observed: str, mains: Sequence[str]) -> Attitude:
    """The attitude of the others to the observed character, as `shown_by`: whether it was treated badly."""
    towards = [
        {name: changes[observed] for name, changes in by.items() if observed in changes}
        for by in _changes(record).values()
    ]
    return attitude(towards, [name for name in mains if name != observed])


def _changes(record: Record) -> dict[int, dict[str, Changes]]:
    """The changes by round and character, first impressions left out."""
    found: dict[int, dict[str, Changes]] = {}
    for one in record.happenings:
        if one.do == "review" and one.round:
            found.setdefault(one.round, {})[one.speaker] = one.closeness
    return found


def _percent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None
