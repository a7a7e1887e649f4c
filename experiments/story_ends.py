"""Where a story leaves its characters, as measures: beliefs, closeness and ballots at the end, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from persimchat.evaluation.stories.course import stands
from persimchat.experiments.measuring import Named, Value
from persimchat.experiments.plan import Cell
from persimchat.runs.folder.reading import Record
from persimchat.state.story import Story

BELIEF: Final = "belief"
CLOSENESS: Final = "closeness"
BALLOTS: Final = "open_ballots"
CLOSED: Final = "closed_ballots"
ENDS: Final = (
    Named(BELIEF, "By character and belief, how strong it is after the last update, 0 to 100."),
    Named(CLOSENESS, "By pair, how close the first is to the second after the last update, 0 to 100."),
    Named(BALLOTS, "By candidate, open ballots for it."),
    Named(CLOSED, "By candidate, closed ballots for it, on which nobody names itself."),
)
"""The measures, in their order."""


def ends(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    """The values of one story; those of a vote only if there was one."""
    last = record.last_standings
    for name, one in last.items():
        for belief, score in zip(story.characters[name].beliefs, one.beliefs, strict=False):
            yield Value(BELIEF, float(score), unit="belief", who=f"{name}: {belief.text}")
    for name, near in (stands(record)[-1].closeness if last else {}).items():
        for other, score in near.items():
            yield Value(CLOSENESS, float(score), unit="pair", who=f"{name} → {other}")
    if record.manifest.outcome is not None:
        for name in story.candidates:
            yield Value(BALLOTS, float(record.manifest.outcome.open.get(name, 0)), unit="candidate", who=name)
        for name in story.candidates:
            yield Value(CLOSED, float(record.manifest.outcome.closed.get(name, 0)), unit="candidate", who=name)
