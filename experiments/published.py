"""Published results beside an experiment's: which belong to its groups, comparisons and pairs, and what differed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..evaluation.published.paper import Own, P, Published, PublishedPair, Which, nearest, published, what_differed
from .axes import Label
from .comparing import Comparison, Group, spread, task_of
from .contests import Contest, PairVerdicts
from .file import Experiment
from .measuring import AskedMeasure
from .plan import Cell, defaults

PAPER: Final = "thesis"
_BASE: Final = "Base"
"""What a paper calls conversations that have its settings and nothing else."""


class Beside:
    """Looks up what a paper published on the methods and variants of an experiment.

    A group is looked up by its level of the axes `method` and `variant`. Without such an axis, its settings say the
    method, and with the paper's settings as the preset it is the variant Base.

    Args:
        experiment: its file.
        cells: of the experiment.
        asked: measures for which judges are asked.
    """

    def __init__(self, experiment: Experiment, cells: Sequence[Cell], asked: Sequence[AskedMeasure]) -> None:
        self._experiment, self._cells = experiment, list(spread(cells))
        self._judges = list(dict.fromkeys(measure.judge for measure in asked))
        self._paper = experiment.paper or published(PAPER)
        self._shown: dict[Published | PublishedPair, None] = {}

    def of_group(self, group: Group) -> Published | None:
        """The published value of a group's measure."""
        return self._told(nearest(self._of(group.measure, group.cells), self._messages(group.cells)))

    def of_comparison(self, one: Comparison) -> tuple[Published, Published] | None:
        """The published values of two levels; None unless one table has both."""
        sides = [self._among(one.by, level, one.within) for level in (one.a, one.b)]
        first, second = ({row.table: row for row in self._of(one.measure, cells)} for cells in sides)
        both = [first[table] for table in first if table in second]
        chosen = nearest(both, self._messages([*sides[0], *sides[1]]))
        if chosen is None:
            return None
        self._told(chosen)
        self._told(second[chosen.table])
        return chosen, second[chosen.table]

    def of_contest(self, one: Contest, measure: PairVerdicts) -> PublishedPair | None:
        """The published verdicts on two levels."""
        sides = [self._among(measure.axis, level, measure.within) for level in (one.a, one.b)]
        a, b = (self._which(cells) for cells in sides)
        rows = self._paper.find_pair(a, b) if a is not None and b is not None else []
        return self._told(nearest(rows, self._messages([*sides[0], *sides[1]])))

    def what_differed(self) -> str:
        """One sentence on all that was looked up and found; empty if nothing was."""
        rows = list(self._shown)
        base, preset = self._experiment.base.settings, self._paper.preset.settings
        own = Own(
            models=list(dict.fromkeys(str(cell.settings.get("model")) for cell in self._cells)),
            judges=self._judges,
            tasks=len({task_of(cell) for cell in self._cells}),
            messages=self._messages(self._cells),
            preset=self._experiment.preset is not None,
            changed=[f"{name} {value}" for name, value in base.items() if name in preset and preset[name] != value],
        )
        return what_differed(self._paper, rows, own)

    def _told(self, row: P | None) -> P | None:
        if row is not None:
            self._shown[row] = None
        return row

    def _of(self, measure: str, cells: Sequence[Cell]) -> list[Published]:
        which = self._which(cells)
        return self._paper.find(measure, *which) if which is not None else []

    def _among(self, by: str, level: Label, within: Mapping[str, Label]) -> list[Cell]:
        wanted = {**within, by: level}
        return [cell for cell in self._cells if all(cell.axes[name] == label for name, label in wanted.items())]

    def _which(self, cells: Sequence[Cell]) -> Which | None:
        """Method and variant of cells; None unless all have the same."""
        found = {self._which_of(cell) for cell in cells}
        return found.pop() if len(found) == 1 else None

    def _which_of(self, cell: Cell) -> Which:
        settings = {**defaults(cell.settings.get("mode", "discussion")), **cell.settings}
        method = cell.axes.get("method") or settings["baseline"] or settings["pattern"]
        variant = cell.axes.get("variant", _BASE if self._experiment.preset is not None else None)
        return str(method), None if variant is None else str(variant)

    def _messages(self, cells: Sequence[Cell]) -> list[int]:
        modes = ({**defaults(cell.settings.get("mode", "discussion")), **cell.settings} for cell in cells)
        return list(dict.fromkeys(settings["max_messages"] for settings in modes))
