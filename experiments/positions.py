"""Positions as measures of an experiment: the ledger of each complete conversation in numbers, source by source.

Pure arithmetic on what is recorded (`runs/reports/stances.py`): verdicts of debates, answers in debates in rounds, whom
a story's characters support, and the experiment's polls that are put at several points. Sources are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from persimchat.experiments.file import Experiment, PollOf
from persimchat.experiments.measuring import DOES_NOT_APPLY, Named, Value
from persimchat.experiments.place import Standing
from persimchat.experiments.plan import Cell, defaults
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.stance_summary import VALUES, stances_of
from persimchat.runs.reports.stances import Position, ledger
from persimchat.state.errors import InputError

VERDICTS, ANSWERS, POLLS, SUPPORTS = "verdicts", "answers", "polls", "supports"
NO_POSITIONS: Final = "no positions"
"""The reason of a value that is missing because nobody's position is recorded, or none is clear."""
_IN_ROUNDS: Final = ("mad", "mad_judge", "reconcile")


@dataclass(frozen=True)
class StanceNumbers:
    """The numbers of one source: `verdicts_moves`, `answers_kept`, `cars_moves` for the poll cars.

    Attributes:
        source: of the positions.
        asked: the poll, for polls.
    """

    source: str
    asked: PollOf | None = None

    @property
    def _of(self) -> str:
        return self.asked.id if self.asked is not None else self.source

    @property
    def named(self) -> list[Named]:
        """One measure a number."""
        by = f"the poll “{self.asked.poll.ask}”" if self.asked is not None else self.source
        return [Named(f"{self._of}_{name}", f"By {by}: {about}") for name, about in VALUES.items()]

    def positions(self, record: Record) -> list[Position]:
        """The source's part of the ledger of a run."""
        if self.asked is None:
            return ledger(record, [self.source])
        asked = self.asked
        if not any(row.question == asked.poll for row in record.polls):
            return []
        return [row for row in ledger(record, [POLLS]) if row.poll == asked.id]

    def values(self, record: Record) -> list[Value]:
        """One value a number; without positions it is missing."""
        found = next(iter(stances_of(self.positions(record))), None)
        if found is None:
            why = NO_POSITIONS if self.asked is not None or self._applies(record) else DOES_NOT_APPLY
            return [Value(one.name, None, why) for one in self.named]
        return [
            Value(f"{self._of}_{name}", number, DOES_NOT_APPLY if number is None else "")
            for name, number in found.values().items()
        ]

    def _applies(self, record: Record) -> bool:
        return self.source in _sources(record.manifest.settings.model_dump())


def stance_numbers(
    experiment: Experiment, cells: Iterable[Cell] = (), standings: Mapping[str, Standing] | None = None
) -> list[StanceNumbers]:
    """The measures of positions that an experiment wants, for every source that its conversations may have.

    Args:
        experiment: its file.
        cells: its cells.
        standings: how far each cell is, by its id.

    Raises:
        InputError: polls are to say who moved, and none is put at several points.
    """
    wanted = experiment.measures.stances
    polls = [StanceNumbers(POLLS, one) for one in experiment.measures.polls if len(one.at) > 1]
    if isinstance(wanted, list):
        if POLLS in wanted and not polls:
            raise InputError(
                "polls are to say who moved, and none is put at several points",
                where=experiment.where("measures", "stances"),
                remedy="Add a poll, or leave polls out.",
            )
        found = dict.fromkeys(wanted)
        return [one for name in found for one in (polls if name == POLLS else [StanceNumbers(name)])]
    if not wanted:
        return []
    there = {source for cell in cells for source in _sources(_settings_of(cell, standings or {}))}
    listed = [one for one in (VERDICTS, ANSWERS, SUPPORTS) if one in there] or ([] if polls else [VERDICTS])
    return [*map(StanceNumbers, listed), *polls]


def _settings_of(cell: Cell, standings: Mapping[str, Standing]) -> Mapping[str, Any]:
    manifest = standings[cell.id].manifest if cell.id in standings else None
    if manifest is not None:
        return manifest.settings.model_dump()
    return {**defaults(cell.settings.get("mode", "discussion")), **cell.settings}


def _sources(settings: Mapping[str, Any]) -> Iterator[str]:
    """The sources of positions that a conversation with these settings has."""
    if settings.get("mode") == "story":
        yield SUPPORTS
    if settings.get("mode") == "debate":
        if settings.get("baseline") in _IN_ROUNDS:
            yield ANSWERS
        elif settings.get("answer_format", "free") != "free":
            yield VERDICTS
