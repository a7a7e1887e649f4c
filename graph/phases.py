"""The names of the graphs' nodes, and what they say about the progress of a turn.

Checkpoints, streams and traces contain these names, so existing runs would not recognise a renamed node. Code that
follows a run calls these functions and compares no names itself.
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
PERSON_TAKES_POSITION: Final = "person_takes_position"
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

AGENDA: Final = "agenda"
STOCKTAKE: Final = "stocktake"
CHOOSE: Final = "choose"
ADDRESS: Final = "address"
SUMMARISE: Final = "summarise"
REVIEW: Final = "review"
BALLOT: Final = "ballot"
PERSON_DECIDES: Final = "person_decides"
"""Nodes of a story, which has some of a conversation's as well, `PERSON_SPEAKS` among them."""

ALL: Final = (
    *(ASSEMBLE, AWAKEN, SELECT, INTERVENE, SPEAK, PERSON_SPEAKS, SAY, THINK, PUBLISH, HEAR, OVERHEAR),
    *(PERSON_APPRAISES, PERSON_TAKES_POSITION, ANALYSE, REGROUP, JUDGE, END_CHECK, CONCLUDE),
    *(ANSWER, COUNT_VOTES, AFFIRM, CHANGE_SIDES, OPPOSE, WRITE),
    *(AGENDA, STOCKTAKE, CHOOSE, ADDRESS, SUMMARISE, REVIEW, BALLOT, PERSON_DECIDES),
)
"""The nodes of all graphs."""

OUTSIDE: Final = INTERVENE
"""The node as which a program changes a conversation's state from outside; the end check follows."""
TURN_END: Final = END_CHECK
"""The last node of a turn: all have heard the utterance, and it decides whether another follows."""
TURN_ENDS: Final = frozenset({END_CHECK, AGENDA})
"""The last nodes of a turn in all graphs; after each, people may intervene. The agenda also stands between two acts."""
AT_END: Final = CONCLUDE
"""The node as which a program writes a final state; nothing follows."""

_AWAKENING: Final = frozenset({"__start__", ASSEMBLE, AWAKEN})
_HEARING: Final = frozenset({HEAR, OVERHEAR, PERSON_APPRAISES, REGROUP, JUDGE, *TURN_ENDS})
_UNDER_WAY: Final = _AWAKENING | _HEARING | {PUBLISH, COUNT_VOTES, CHANGE_SIDES}
"""Nodes of all graphs that run between two utterances, before the next step is chosen."""
_OF_STORIES: Final = frozenset({STOCKTAKE, CHOOSE, ADDRESS, SUMMARISE, REVIEW, BALLOT, PERSON_DECIDES})
_MAY_SILENCE: Final = frozenset({AWAKEN, HEAR, THINK, SPEAK, PERSON_SPEAKS}) | _OF_STORIES


def awakening(nodes: Collection[str]) -> bool:
    """Whether some of the nodes run before the first speaker is chosen."""
    return not _AWAKENING.isdisjoint(nodes)


def hearing(nodes: Collection[str]) -> bool:
    """Whether the nodes belong to an utterance that not all have heard yet."""
    return not _HEARING.isdisjoint(nodes) or scoring_alone(nodes)


def between_utterances(nodes: Collection[str]) -> bool:
    """Whether all have heard the last utterance, so that the nodes make another one, or there are none at the end.

    Scoring runs in parallel with hearing in the conversation, and with the next answers in baselines.
    """
    return _UNDER_WAY.isdisjoint(nodes) and not scoring_alone(nodes)


def scoring_alone(nodes: Collection[str]) -> bool:
    """Whether the nodes only score an utterance."""
    return set(nodes) == {ANALYSE}


def ending_turn(nodes: Collection[str]) -> bool:
    """Whether only the end check of a turn is left."""
    return len(set(nodes)) == 1 and ends_turn(nodes)


def ends_turn(nodes: Collection[str]) -> bool:
    """Whether a turn may be over after the nodes."""
    return not TURN_ENDS.isdisjoint(nodes)


def turn_end(settings_mode: str) -> str:
    """The last node of a turn in the graph of a kind of conversation.

    Args:
        settings_mode: the setting `mode`.
    """
    return AGENDA if settings_mode == "story" else TURN_END


def may_silence(nodes: Collection[str]) -> bool:
    """Whether a participant may be silent after the nodes."""
    return not _MAY_SILENCE.isdisjoint(nodes)


def may_meet_again(nodes: Collection[str]) -> bool:
    """Whether all agents may try once more if the nodes failed for all of them."""
    return AWAKEN in nodes or HEAR in nodes
