"""The names of the graphs' nodes, and what a node's name says about how far a turn is.

Checkpoints, streams and traces carry these names, so a node that is renamed is another one to every run that is kept.
Whoever follows a run asks here and compares no names.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

ASSEMBLE: Final = "assemble"
AWAKEN: Final = "awaken"
SELECT: Final = "select"
INTERVENE: Final = "intervene"
SPEAK: Final = "speak"
PERSON_SPEAKS: Final = "person_speaks"
SAY: Final = "say"
THINK: Final = "think"
PUBLISH: Final = "publish"
HEAR: Final = "hear"
OVERHEAR: Final = "overhear"
PERSON_APPRAISES: Final = "person_appraises"
ANALYSE: Final = "analyse"
REGROUP: Final = "regroup"
JUDGE: Final = "judge"
END_CHECK: Final = "end_check"
CONCLUDE: Final = "conclude"

ANSWER: Final = "answer"
COUNT_VOTES: Final = "count_votes"
AFFIRM: Final = "affirm"
CHANGE_SIDES: Final = "change_sides"
OPPOSE: Final = "oppose"
WRITE: Final = "write"
"""Nodes of baselines, which have `ASSEMBLE`, `JUDGE`, `ANALYSE` and `END_CHECK` as well."""

ALL: Final = (
    *(ASSEMBLE, AWAKEN, SELECT, INTERVENE, SPEAK, PERSON_SPEAKS, SAY, THINK, PUBLISH, HEAR, OVERHEAR),
    *(PERSON_APPRAISES, ANALYSE, REGROUP, JUDGE, END_CHECK, CONCLUDE),
    *(ANSWER, COUNT_VOTES, AFFIRM, CHANGE_SIDES, OPPOSE, WRITE),
)
"""Nodes of all graphs."""

OUTSIDE: Final = INTERVENE
"""Whoever changes a conversation's state from outside does so as this node, after which the end is looked for."""
TURN_END: Final = END_CHECK
"""The last node of a turn: everybody has heard the utterance, and it is said whether another follows."""
AT_END: Final = CONCLUDE
"""As this node, a state is written after which nothing follows."""

_AWAKENING: Final = frozenset({"__start__", ASSEMBLE, AWAKEN})
_HEARING: Final = frozenset({HEAR, OVERHEAR, PERSON_APPRAISES, REGROUP, JUDGE, END_CHECK})
_UNDER_WAY: Final = _AWAKENING | _HEARING | {PUBLISH, COUNT_VOTES, CHANGE_SIDES}
"""Nodes of all graphs that come between two utterances, before it is chosen what happens next."""
_MAY_SILENCE: Final = frozenset({AWAKEN, HEAR, THINK, SPEAK, PERSON_SPEAKS})


def awakening(nodes: Collection[str]) -> bool:
    """Whether some of the nodes come before the first utterance is chosen."""
    return not _AWAKENING.isdisjoint(nodes)


def hearing(nodes: Collection[str]) -> bool:
    """Whether the nodes are those of an utterance that not everybody has heard yet."""
    return not _HEARING.isdisjoint(nodes) or scoring_alone(nodes)


def between_utterances(nodes: Collection[str]) -> bool:
    """Whether the last utterance was heard by everybody, and the nodes make another one, or are none at the end.

    Scoring goes on beside hearing in the conversation, and beside the next answers in baselines.
    """
    return _UNDER_WAY.isdisjoint(nodes) and not scoring_alone(nodes)


def scoring_alone(nodes: Collection[str]) -> bool:
    """Whether nothing is done but scoring an utterance."""
    return set(nodes) == {ANALYSE}


def ending_turn(nodes: Collection[str]) -> bool:
    """Whether nothing is left to do in a turn but to look for the end."""
    return set(nodes) == {TURN_END}


def may_silence(nodes: Collection[str]) -> bool:
    """Whether somebody may be silent after the nodes."""
    return not _MAY_SILENCE.isdisjoint(nodes)


def may_meet_again(nodes: Collection[str]) -> bool:
    """Whether all may try once more where the nodes failed for everybody."""
    return AWAKEN in nodes or HEAR in nodes
