"""What the utterances of two runs were worded without, side by side, where it differs."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.diff_parting import Part
from persimchat.runs.reports.pruning_figures import Wording, wordings


class WordedWithout(Part):
    """What one utterance was worded without."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)

    agent: str
    strength: float = Field(alias="lambda")
    units: int = Field(description="removable pieces of information")
    removed: int = Field(description="how many of them went")
    words: int = Field(description="words of all removable pieces")
    words_removed: int
    share: float | None = Field(description="the share of the scores that went; null if nothing was scored")


class PrunedDifference(Part):
    """An utterance at which the runs differ in what was left out; null where a run left nothing out, or is over."""

    turn: int
    a: WordedWithout | None
    b: WordedWithout | None


def pruned_differences(a: Record, b: Record) -> list[PrunedDifference]:
    """The utterances at which two runs differ in what was left out, in order; none if neither was pruned."""
    then, now = _by_turn(a), _by_turn(b)
    return [
        PrunedDifference(turn=turn, a=_figures(then.get(turn)), b=_figures(now.get(turn)))
        for turn in sorted({*then, *now})
        if then.get(turn) != now.get(turn)
    ]


def _by_turn(record: Record) -> dict[int, Wording]:
    return {one.pruned.turn: one for one in wordings(record.minds)}


def _figures(one: Wording | None) -> WordedWithout | None:
    if one is None:
        return None
    figures = one.pruned.model_dump(include=WordedWithout.model_fields.keys() - {"agent"})
    return WordedWithout(agent=one.agent, **figures)
