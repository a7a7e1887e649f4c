"""What an experiment is expected to need besides calls: room on the disk, and tasks enough to find a difference."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.evaluation.statistics.power import decided_pairs_needed, share_found
from persimchat.experiments.comparing import OF_THE_TASK
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Plan, Planned
from persimchat.graph.calls import utterances_at_most

_RUN, _AGENT, _HEARD = 230_000, 240_000, 15_000
_BASELINE, _SAID = 300_000, 5_000
"""Bytes of a run's folder, fitted to those of 16 runs of 2 to 5 agents and 2 to 40 utterances: in a conversation of
minds, of the run, of each agent, and of each utterance that an agent hears; in a baseline, of the run and of each
utterance. Most of it is the memories' database. The fit is within 10 %; long answers of a real model take more."""

TRUE_SHARE: Final = 0.6
"""The share of tasks in which one level is better, for which the number of tasks is said."""


def disk_bytes(cells: Iterable[Planned]) -> int:
    """The room that the folders of cells are expected to take."""
    return sum(map(_bytes_of, cells))


def _bytes_of(planned: Planned) -> int:
    agents, story = len(planned.scenario.participants), planned.scenario.story
    if story is not None:
        utterances = story.most_said(planned.settings.rounds)
    else:
        utterances = utterances_at_most(agents, planned.settings)
    if planned.settings.baseline is not None:
        return _BASELINE + _SAID * utterances
    return _RUN + _AGENT * agents + _HEARD * agents * utterances


def disk_free(folder: Path) -> int:
    """The free bytes where a folder is or will be."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


@dataclass(frozen=True)
class Foreseen:
    """How much one comparison of the file can find.

    Attributes:
        wanted: the comparison.
        tasks: its units of analysis.
        needed: how many tasks would find a level that is better in `TRUE_SHARE` of them.
        share: the share of tasks, 0.5–1, in which a level must be better to be found with the tasks there are; None if
            no share suffices.
    """

    wanted: Compare
    tasks: int
    needed: int | None
    share: float | None


def foreseen(plan: Plan) -> list[Foreseen]:
    """What the comparisons of a file and its pairs can find, at a power of 0.8, by the exact sign test at 0.05.

    The report's test is Wilcoxon's, which weighs differences by their size and finds as much or somewhat more.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    compared, pairs = [*plan.experiment.compare], plan.experiment.measures.pairs
    if pairs is not None and all((one.by, one.within) != (pairs.axis, pairs.within) for one in compared):
        compared.append(Compare(by=pairs.axis, within=pairs.within))
    numbers = [(wanted, _tasks(plan, wanted)) for wanted in compared]
    needed = decided_pairs_needed(TRUE_SHARE) if numbers else None
    return [Foreseen(wanted, tasks, needed, share_found(tasks)) for wanted, tasks in numbers]


def _tasks(plan: Plan, wanted: Compare) -> int:
    """The tasks over which levels are compared, as `experiments.comparing` pairs them."""
    units: set[tuple[str, ...]] = set()
    for cell in (planned.cell for planned in plan.cells):
        for axes in (cell.axes, *cell.also):
            if all(axes[name] == label for name, label in wanted.within.items()):
                own = [json.dumps(axes[name]) for name in OF_THE_TASK if name in axes and name != wanted.by]
                units.add((cell.task, str(cell.round), *own))
    return len(units)
