"""What utterances were worded without, in the report: words by turn and by block, and every piece with its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.reports.charts.bars import bars as chart_bars
from persimchat.runs.reports.charts.model import Chart
from persimchat.runs.reports.pruning_figures import (
    BlockFigures,
    Wording,
    bars,
    by_block,
    check_mean,
    dominance,
    lacking,
    left_out,
    percent,
    piece,
    sentence,
    warnings,
    without,
    wordings,
)
from persimchat.runs.reports.report_people import Person
from persimchat.runs.reports.words import decimal
from persimchat.state.pruning import Check

_MOST: Final = 24
"""Utterances of an agent whose pieces are listed, the last ones: each takes some 10 kB of the report."""


@dataclass(frozen=True)
class PieceBar:
    """A piece of information that could have been left out.

    Attributes:
        text: the piece.
        removed: whether it was left out.
        length: of its bar, 0 to 1.
        score: in words; empty if it was not scored.
    """

    text: str
    removed: bool
    length: float
    score: str


@dataclass(frozen=True)
class LeftOut:
    """What one utterance was worded without.

    Attributes:
        turn: its number.
        sentence: what happened, in one sentence.
        how: λ, the method, and how much went.
        warning: of a piece that holds nearly all of the scores; empty if none does.
        blocks: the blocks' names and pieces, in the order of the prompt.
        checks: of revision, a line for each wording.
    """

    turn: int
    sentence: str
    how: str
    warning: str
    blocks: Sequence[tuple[str, Sequence[PieceBar]]]
    checks: Sequence[str]


@dataclass(frozen=True)
class PruningReport:
    """What the insights and the transcript show.

    Attributes:
        means: over all utterances, in a line.
        by_turn: words left out of each utterance's prompt.
        by_block: what was left out of each block.
        warnings: of pieces that hold nearly all of the scores.
        said: by turn, in short what was left out.
        shown: the turns whose pieces are listed among the minds.
    """

    means: str
    by_turn: Chart
    by_block: Sequence[BlockFigures]
    warnings: Sequence[str]
    said: Mapping[int, str]
    shown: frozenset[int]


def pruning_report(minds: Mapping[str, Sequence[MindRecord]], people: Mapping[str, Person]) -> PruningReport | None:
    """What the report shows of pruning; None if no prompt was pruned.

    Args:
        minds: of each agent.
        people: all participants.
    """
    spoken = wordings(mind for name, own in minds.items() if name in people for mind in own)
    means = lacking(spoken)
    if means is None:
        return None
    return PruningReport(
        means=left_out(means),
        by_turn=chart_bars(
            "Words left out",
            sorted(
                ((one.pruned.turn, one.pruned.words_removed, people[one.agent]) for one in spoken),
                key=lambda bar: bar[0],
            ),
            lambda value: f"{decimal(value).removesuffix('.0')} words",
        ),
        by_block=by_block(one.pruned for one in spoken),
        warnings=warnings(spoken),
        said={one.pruned.turn: without(one.pruned.removed, one.pruned.units) for one in spoken},
        shown=frozenset(one.turn for own in minds.values() for one in left_out_of(own)),
    )


def left_out_of(minds: Sequence[MindRecord]) -> list[LeftOut]:
    """What the last utterances of one agent were worded without."""
    return [_left_out(one) for one in wordings(minds)[-_MOST:]]


def _left_out(one: Wording) -> LeftOut:
    pruned = one.pruned
    by = f"{pruned.method} of {pruned.scorer}" if pruned.scorer else pruned.method
    share = "" if pruned.share is None else f", {percent(pruned.share)} of the scores"
    words = f"{pruned.words_removed:,} of {pruned.words:,} words"
    return LeftOut(
        turn=pruned.turn,
        sentence=sentence(one, these=True),
        how=f"λ {pruned.strength:g}, {by if pruned.strength > 0 else 'whole blocks only'}: {words}{share}",
        warning=dominance(pruned),
        blocks=[
            (
                block,
                [
                    PieceBar(piece(item.text), item.removed, length, "" if item.score is None else f"{item.score:.3g}")
                    for item, length in found
                ],
            )
            for block, found in groupby(bars(pruned), key=lambda row: row[0].block)
        ],
        checks=[_check(number, check) for number, check in enumerate(pruned.checks, start=1)],
    )


def _check(number: int, check: Check) -> str:
    """The checks of one wording: "wording 1: 7, 8, 6 (7.0 on average), not said: …"."""
    scores = (
        f"{', '.join(map(str, check.scores))} ({decimal(check_mean(check))} on average)"
        if check.scores
        else "no usable answer"
    )
    comment = f": {check.comment}" if check.comment else ""
    return f"wording {number}: {scores}, {'said' if check.taken else 'not said'}{comment}"
