"""What utterances were worded without, in figures and words: by agent, by turn, by block, and as the report shows it.

Pure functions of minds, whose records come from `state/minds/pruning.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from statistics import fmean
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ..runs.folder.parts import MindRecord, is_empty, is_none
from ..state.minds.pruning import TEXT, Check, Pruned, PrunedItem
from ..state.plain_text import one_line, shortened
from ..state.wording import localised, t
from .charts.bars import bars as chart_bars
from .charts.model import Chart
from .palette import Person
from .words import decimal, number_of_words

MOST_OFTEN: Final = 3
"""How many pieces of information are named as those that were left out most often."""

DOMINANT: Final = 0.75
"""The share of the scores from which one piece is said to hold (nearly) all of them."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Often(_Part):
    """A piece of information that was left out, and how often."""

    agent: str = Field(description="whose prompts")
    block: str = Field(description="the tag of its block in the prompt")
    kind: str = Field(description="what it is: memory, trait, relationship, …")
    text: str = Field(description="the first 80 characters, as it stood when it was left out last")
    removed: int = Field(description="in how many prompts it was left out")
    prompts: int = Field(description="in how many prompts it could have been")


class Lacking(_Part):
    """What the prompts of one agent's utterances lacked, or of all agents'."""

    agent: str = Field(description="empty for all")
    utterances: int = Field(description="worded from a prompt that was pruned")
    lambdas: list[float] = Field(description="the values of λ that were in force, in order; 0 to 1")
    methods: list[str] = Field(description="what scored, in order; empty if only whole blocks went")
    mean_share: float | None = Field(description="mean share of the scores that went, 0 to 1; null if nothing has any")
    mean_units: float = Field(description="mean removable pieces of information in a prompt")
    mean_removed: float = Field(description="mean pieces of information left out")
    mean_words: float = Field(description="mean words of all removable pieces")
    mean_words_removed: float = Field(description="mean words left out")
    mean_contradiction: float | None = Field(
        default=None,
        exclude_if=is_none,
        description="with revision: mean score of the checks of what was said, 1 to 10; left out without any",
    )
    most_often: list[Often] = Field(description="what was left out most often; the first of equals stood first")
    warnings: list[str] = Field(
        default=[], exclude_if=is_empty, description="of pieces that hold nearly all of the scores; left out if none"
    )


@dataclass(frozen=True)
class Wording:
    """One utterance and what its prompt lacked."""

    agent: str
    pruned: Pruned


@dataclass(frozen=True)
class BlockFigures:
    """What was left out of one block of the prompts.

    Attributes:
        block: its tag.
        units: removable pieces of information, over all prompts.
        removed: of these, how many were left out.
        words: of the removable pieces.
        words_removed: of those left out.
    """

    block: str
    units: int
    removed: int
    words: int
    words_removed: int


def wordings(minds: Iterable[MindRecord]) -> list[Wording]:
    """The utterances whose prompts were pruned, in order of turns."""
    found = {(mind.pruned.turn, mind.agent): mind.pruned for mind in minds if mind.pruned is not None}
    return [Wording(agent, pruned) for (_, agent), pruned in sorted(found.items(), key=lambda pair: pair[0][0])]


def lacking(spoken: Sequence[Wording], agent: str = "") -> Lacking | None:
    """The means over utterances, and what was left out most often; None if no prompt was pruned.

    Args:
        spoken: of all agents.
        agent: only this one's; all if empty.
    """
    spoken = [one for one in spoken if agent in ("", one.agent)]
    if not spoken:
        return None
    own = [one.pruned for one in spoken]
    shares = [one.share for one in own if one.share is not None]
    checked = [score for one in own if (score := contradiction(one)) is not None]
    return Lacking(
        agent=agent,
        utterances=len(own),
        lambdas=list(dict.fromkeys(one.strength for one in own)),
        methods=list(dict.fromkeys(one.method for one in own if one.strength > 0)),
        mean_share=fmean(shares) if shares else None,
        mean_units=fmean(one.units for one in own),
        mean_removed=fmean(one.removed for one in own),
        mean_words=fmean(one.words for one in own),
        mean_words_removed=fmean(one.words_removed for one in own),
        mean_contradiction=fmean(checked) if checked else None,
        most_often=most_often(spoken),
        warnings=warnings(spoken),
    )


def by_agent(spoken: Sequence[Wording], names: Iterable[str]) -> list[Lacking]:
    """The figures of each agent whose prompts were pruned, in this order of names."""
    return [found for name in names if (found := lacking(spoken, name)) is not None]


def most_often(spoken: Sequence[Wording], most: int = MOST_OFTEN) -> list[Often]:
    """The pieces of information that were left out in the most prompts, the most frequent first.

    An agent's piece is the same one wherever its id is: a memory keeps it, and so does the plan, whose words change.
    """
    gone: Counter[tuple[str, str]] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], PrunedItem] = {}
    for one in spoken:
        for item in one.pruned.items:
            key = one.agent, item.id
            there[key] += 1
            if item.removed:
                gone[key] += 1
                last[key] = item
    return [
        Often(
            agent=key[0],
            block=last[key].block,
            kind=last[key].kind,
            text=last[key].text,
            removed=removed,
            prompts=there[key],
        )
        for key, removed in gone.most_common(most)
    ]


def by_block(prompts: Iterable[Pruned]) -> list[BlockFigures]:
    """What was left out of each block, over all prompts, in the order of the prompt with the most blocks."""
    found: dict[str, list[PrunedItem]] = {}
    for prompt in sorted(prompts, key=lambda prompt: -len({item.block for item in prompt.items})):
        for item in prompt.items:
            found.setdefault(item.block, []).append(item)
    return [
        BlockFigures(
            block=block,
            units=len(items),
            removed=sum(item.removed for item in items),
            words=sum(item.words for item in items),
            words_removed=sum(item.words for item in items if item.removed),
        )
        for block, items in found.items()
    ]


def contradiction(pruned: Pruned) -> float | None:
    """The mean score of the checks of the wording that was said, 1 to 10; None if it was not checked."""
    scores = [mean for check in pruned.checks if check.taken and (mean := check_mean(check)) is not None]
    return scores[-1] if scores else None


def check_mean(check: Check) -> float | None:
    """The mean score of one wording's checks; None if no answer was usable."""
    return fmean(check.scores) if check.scores else None


def sentence(wording: Wording, *, these: bool = False) -> str:
    """What an utterance was worded without: "Inés spoke without 9 of 52 pieces of information".

    Args:
        wording: the utterance.
        these: whether the pieces stand below: "without these 9 of 52".
    """
    said = without(wording.pruned.removed, wording.pruned.units, these=these)
    return t("report.spoke_lacking", who=one_line(wording.agent), what=said)


def without(removed: int, units: int, *, these: bool = False) -> str:
    """How many pieces were left out: "without 9 of 52 pieces of information"; of `these`, "without these 9 of 52"."""
    if not units:
        return t("report.with_nothing")
    if not removed:
        return t("report.with_all", n=units)
    lacking = "report.without_these" if these else "report.without"
    return t(lacking, removed=removed, pieces=t("report.pieces", n=units))


def left_out(means: Lacking) -> str:
    """The means in a line: "λ 0.6, embedding; 25.0 of 30.0 pieces, 210.0 of 341.0 words an utterance, 59 % of …"."""
    knob = ", ".join(f"{strength:g}" for strength in means.lambdas)
    by = ", ".join(means.methods) or t("report.whole_blocks")
    pieces = t("report.pieces_of", removed=decimal(means.mean_removed), of=decimal(means.mean_units))
    words = t("report.words_each", removed=decimal(means.mean_words_removed), of=decimal(means.mean_words))
    share = [] if means.mean_share is None else [t("report.share", percent=percent(means.mean_share))]
    return f"λ {localised(knob)}, {by}: {', '.join([pieces, words, *share])}"


def dominant(pruned: Pruned) -> tuple[PrunedItem, float] | None:
    """The piece that holds (nearly) all of the scores, and its share; None if no piece does.

    With `fill=skip`, a piece whose share is greater than λ goes only at λ = 1, so λ has little to choose from.
    """
    scored = [(item, item.score) for item in pruned.items if item.score is not None]
    total = fsum(score for _, score in scored)
    if not total > 0:
        return None
    item, score = max(scored, key=lambda pair: pair[1])
    share = score / total
    return (item, share) if share >= DOMINANT else None


def dominance(pruned: Pruned) -> str:
    """The warning of such a piece, with its remedy; empty if no piece holds nearly all."""
    found = dominant(pruned)
    if found is None:
        return ""
    item, share = found
    remedy = t("report.split_description" if item.kind == "description" else "report.split_item")
    return f"{t('report.dominant', kind=item.kind.replace('_', ' '), percent=percent(share))}; {remedy}"


def warnings(spoken: Iterable[Wording]) -> list[str]:
    """The warnings of all utterances, each agent's piece once, where its share was greatest."""
    worst: dict[tuple[str, str], tuple[float, str]] = {}
    for one in spoken:
        if found := dominant(one.pruned):
            key, share = (one.agent, found[0].id), found[1]
            if share > worst.get(key, (0.0, ""))[0]:
                worst[key] = share, f"{one_line(one.agent)}: {dominance(one.pruned)}"
    return [words for _, words in worst.values()]


def piece(text: str, most: int = TEXT + 1) -> str:
    """A recorded piece of information on one line: without its dash, and with the ellipsis where it was cut.

    Args:
        text: as it was recorded.
        most: characters.
    """
    return shortened(one_line(text).removeprefix("- ") + ("…" if len(text) >= TEXT else ""), most)


def percent(share: float | None) -> str:
    """A share as people write it: "58 %"; a dash if it is not known."""
    return "–" if share is None else f"{share * 100:.0f} %"


def bars(pruned: Pruned) -> list[tuple[PrunedItem, float]]:
    """The pieces in the order of the prompt, each with the length of its bar: its score over the greatest, 0 to 1."""
    most = max((item.score or 0.0 for item in pruned.items), default=0.0)
    return [(item, (item.score or 0.0) / most if most > 0 else 0.0) for item in pruned.items]


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
            t("charts.left_out"),
            sorted(
                ((one.pruned.turn, one.pruned.words_removed, people[one.agent]) for one in spoken),
                key=lambda bar: bar[0],
            ),
            number_of_words,
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
    by = t("report.scored_by", method=pruned.method, scorer=pruned.scorer) if pruned.scorer else pruned.method
    share = [] if pruned.share is None else [t("report.share", percent=percent(pruned.share))]
    words = t("report.words_of", removed=pruned.words_removed, of=pruned.words)
    return LeftOut(
        turn=pruned.turn,
        sentence=sentence(one, these=True),
        how=f"λ {localised(f'{pruned.strength:g}')}, {by if pruned.strength > 0 else t('report.whole_blocks')}: "
        f"{', '.join([words, *share])}",
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
    scores = t("report.check_mean", scores=", ".join(map(str, check.scores)), mean=decimal(check_mean(check)))
    taken = t("report.check_said" if check.taken else "report.check_dropped")
    comment = f": {check.comment}" if check.comment else ""
    told = f"{scores if check.scores else t('report.check_none')}, {taken}{comment}"
    return t("report.check", n=number, what=told)
