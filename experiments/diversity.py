"""Diversity in experiments: cells that differ in the seed alone are one case's dialogues, under one setting.

An axis whose level differs between cells of one scenario is a setting; settings stand side by side. Every other axis,
the task and its round make the case. No model is asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..evaluation.diversity.cases import (
    ALIKE,
    SEED,
    Cases,
    Dialogue,
    Note,
    Setting,
    apart_in_words,
    dialogue_of,
    differing,
    flat_settings,
    scenario_key,
    setting_of,
    why_left_out,
)
from ..evaluation.diversity.measuring import CASE, Diversity, Options, measure
from ..evaluation.diversity.texts import best_embedding
from ..graph.node import wait_for
from ..runs.folder.manifest import Manifest
from ..runs.folder.reading import Record
from ..state.settings import Settings
from ..state.wording import t
from .axes import Label
from .comparing import OF_THE_TASK, spread
from .file import DiversityOf
from .plan import Cell

Levels = tuple[str, ...]
"""The levels of all axes but those of the task, in order of the file."""


@dataclass(frozen=True)
class Told:
    """What a complete cell adds to the diversity of its case.

    Attributes:
        dialogue: what was said in it.
        manifest: of its run.
        why: it does not count; empty if it does.
    """

    dialogue: Dialogue
    manifest: Manifest
    why: str

    @classmethod
    def of(cls, record: Record, cell: Cell) -> Told:
        """A cell's part."""
        return cls(dialogue_of(record, cell.id), record.manifest, why_left_out(record))


@dataclass(frozen=True)
class CellDiversity:
    """The diversity of an experiment.

    Attributes:
        found: by case and setting.
        levels: of the axes but the seed, by case and setting.
        tasks: task and round of each case.
    """

    found: Diversity
    levels: Mapping[tuple[str, str], Mapping[str, Label]]
    tasks: Mapping[str, tuple[str, int]]

    def values_by_levels(self) -> dict[tuple[Levels, str], dict[str, float | None]]:
        """The values by case, for each measure and combination of levels of all axes but those of the task."""
        by: dict[tuple[Levels, str], dict[str, float | None]] = {}
        for one in self.found.values:
            if one.unit == CASE:
                own = self.levels[one.case, one.setting]
                levels = tuple(str(label) for name, label in own.items() if name not in OF_THE_TASK)
                by.setdefault((levels, one.measure), {})[one.case] = one.value
        return by


def diversity_of(
    wanted: DiversityOf, axes: Mapping[str, Sequence[Label]], cells: Sequence[Cell], told: Mapping[str, Told]
) -> CellDiversity:
    """Measure the diversity of complete cells.

    Args:
        wanted: how.
        axes: the levels of every axis.
        cells: of the experiment.
        told: the complete ones, by their ids.

    Raises:
        MissingExtraError: intervals need the extra `evaluation`, or the embedding its own.
    """
    complete = [cell for cell in spread(cells) if cell.id in told]
    counting = [cell for cell in complete if not told[cell.id].why]
    scenarios = [json.dumps([cell.task, cell.round, scenario_key(told[cell.id].manifest)]) for cell in counting]
    levels = [{name: label for name, label in cell.axes.items() if name != SEED} for cell in counting]
    compared = differing(zip(scenarios, levels, strict=True))
    flat = [flat_settings(told[cell.id].manifest) for cell in counting]
    names = differing(zip(scenarios, flat, strict=True))
    settings: dict[str, Setting] = {}
    sets: dict[str, dict[str, list[Dialogue]]] = {}
    by_place: dict[tuple[str, str], Mapping[str, Label]] = {}
    tasks: dict[str, tuple[str, int]] = {}
    rounds = len({cell.round for cell in cells}) > 1
    for cell, own in sorted(zip(counting, levels, strict=True), key=lambda one: _place(axes, compared, one[1])):
        one = told[cell.id]
        setting = ", ".join(_label(name, own[name]) for name in compared) or ALIKE
        parts = [cell.task, f"round {cell.round}" if rounds else ""]
        parts += [_label(name, label) for name, label in own.items() if name not in compared]
        case = ", ".join(filter(None, parts)) or cell.topic
        settings.setdefault(setting, setting_of(setting, one.manifest, names))
        sets.setdefault(case, {}).setdefault(setting, []).append(one.dialogue)
        by_place[case, setting], tasks[case] = own, (cell.task, cell.round)
    options = Options(wanted.embedding or best_embedding(), wanted.tokens, wanted.positions, wanted.group)
    notes = _notes(cells, complete, [told[id_] for id_ in dict.fromkeys(cell.id for cell in counting)])
    cases = Cases(list(settings.values()), sets, notes)
    return CellDiversity(wait_for(measure(cases, options, Settings())), by_place, tasks)


def _place(axes: Mapping[str, Sequence[Label]], names: Sequence[str], levels: Mapping[str, Label]) -> list[int]:
    return [axes[name].index(levels[name]) for name in names]


def _label(axis: str, label: Label) -> str:
    """A level in words; those of variants and methods have names of their own."""
    return str(label) if axis in ("variant", "method") else f"{axis}={label}"


def _notes(cells: Sequence[Cell], complete: Sequence[Cell], counting: Sequence[Told]) -> tuple[Note, ...]:
    held = {cell.id for cell in complete}
    open_, silent = len({cell.id for cell in cells} - held), len(held) - len(counting)
    found: list[Note] = [partial(t, "findings.not_complete", n=open_)] if open_ else []
    found += [partial(t, "findings.silent", n=silent)] if silent else []
    apart = sum((Counter(one.dialogue.apart) for one in counting), Counter[str]())
    return (*found, *([lambda: apart_in_words(apart)[0]] if apart else []))
