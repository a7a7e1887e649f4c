"""The tables of an experiment: what its folder says of cells, measures, groups, comparisons and pairs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Final

from persimchat.evaluation.diversity.cases import SEED
from persimchat.evaluation.diversity.measuring import MEASURES
from persimchat.evaluation.transcripts import NothingSaid, of_run
from persimchat.experiments.beside import Beside
from persimchat.experiments.comparing import OF_THE_TASK, Comparison, Group, compare, groups
from persimchat.experiments.diversity import CellDiversity, Told, diversity_of
from persimchat.experiments.file import Experiment
from persimchat.experiments.judging import asked_of, spent_on_judging
from persimchat.experiments.measuring import (
    DOES_NOT_APPLY,
    AskedMeasure,
    Held,
    Named,
    RecordedMeasure,
    Value,
    measures_of,
)
from persimchat.experiments.pairing import Contest, JudgedPair, PairVerdicts, contests, verdicts_of
from persimchat.experiments.place import TABLES, LockFile, Place, Standing
from persimchat.experiments.polling import given_in, poll_shares
from persimchat.experiments.positions import stance_numbers
from persimchat.experiments.robustness import Robustness, answers_of, poll_answers_of, robustness
from persimchat.experiments.rows import (
    Axes,
    answer_row,
    cell_row,
    comparison_row,
    contest_row,
    contrast_rows,
    diversity_mean_row,
    diversity_row,
    flip_row,
    group_row,
    measure_row,
    pair_row,
    part_row,
    stance_row,
    with_axes,
)
from persimchat.experiments.stories import Key, Part, StoryNumbers, parts_of, story_numbers
from persimchat.experiments.table_models import (
    CellRow,
    ComparisonRow,
    ContestRow,
    ContrastRow,
    DiversityMeanRow,
    DiversityRow,
    FlipRow,
    GroupRow,
    MeasureRow,
    PairRow,
    PartRow,
    PollRow,
    Row,
    StanceRow,
)
from persimchat.prompts import prompt_hash
from persimchat.runs.events import Totals
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.cells import markdown
from persimchat.runs.reports.codebook import explained
from persimchat.runs.reports.export_writing import FORMATS, write_table
from persimchat.runs.reports.summary import count_words, mean

CODEBOOK: Final = "codebook.md"
CSV: Final = "csv"

_SOMETIMES: Final = (
    "pairs", "contests", "polls", "stances", "parts", "flips", "contrasts", "diversity", "diversity_settings"
)  # fmt: skip
"""Tables that an experiment has only if it judges pairs, has polls, positions, measures of stories or of diversity, or
varies what should not matter."""


@dataclass(frozen=True)
class Tables:
    """What an experiment has found.

    Attributes:
        experiment: whose measures and comparisons count.
        locked: its lock file.
        measures: that were taken of single conversations.
        asked: measures for which judges are asked.
        standings: how far each cell is, by its id.
        held: the conversations that are complete, where judges are asked.
        rows: of each table, by its name.
        models: the model of each table's rows.
        values: of single conversations, by the cell's id and the measure: the mean of a judge's repeats.
        groups: of conversations, with their intervals, as computed.
        stories: the measures of stories.
        parts: of stories, with their shares and means, as computed.
        comparisons: with their intervals, as computed.
        pairs: that judges compare.
        contests: what the pairs come to.
        robustness: what holds over axes that should not matter.
        beside: published values.
        diversity: of cases under each setting; None if it is not measured.
        judging: what judges have used.
    """

    experiment: Experiment
    locked: LockFile
    measures: Sequence[Named]
    asked: Sequence[AskedMeasure]
    standings: Mapping[str, Standing]
    held: Sequence[Held]
    rows: Mapping[str, Sequence[Row]]
    models: Mapping[str, type[Row]]
    values: Mapping[tuple[str, str], float | None]
    groups: Sequence[Group]
    stories: Sequence[StoryNumbers]
    parts: Sequence[Part]
    comparisons: Sequence[Comparison]
    pairs: Sequence[JudgedPair]
    contests: Sequence[Contest]
    robustness: Robustness
    beside: Beside
    diversity: CellDiversity | None
    judging: Totals


def tables(experiment: Experiment, place: Place) -> Tables:
    """Read the folder of an experiment, measure what is complete, and compare. No model is asked.

    Args:
        experiment: whose `measures` and `compare` count.
        place: its folder.

    Raises:
        InputError: the folder is damaged, or a measure or comparison is not known.
        MissingExtraError: comparisons need the extra `evaluation`, which is not installed.
    """
    locked, arithmetic = place.locked(), measures_of(experiment)
    axes, tries, prompts = locked.axes, place.tries(), prompt_hash()
    standings = {cell.id: place.standing(cell.id) for cell in locked.cells}
    asked, stances = asked_of(experiment, axes), stance_numbers(experiment, locked.cells, standings)
    polls, stories = poll_shares(experiment), story_numbers(experiment, standings)
    recorded: list[RecordedMeasure] = [*polls, *stances]
    named: list[Named] = [*arithmetic, *(one for measure in asked for one in measure.named)]
    named += [one for measure in recorded for one in measure.named]
    named += [one for measure in stories for one in measure.named]
    of_parts = list(dict.fromkeys(one for measure in stories for one in measure.parts))
    paired = next((measure for measure in asked if isinstance(measure, PairVerdicts)), None)
    models = _models(axes, paired, polls=bool(polls), stances=bool(stances), stories=bool(stories))
    if experiment.measures.diversity is not None:
        models["diversity"] = with_axes(DiversityRow, _unseeded(axes), after="setting")
        models["diversity_settings"] = DiversityMeanRow
    rows: dict[str, list[Row]] = {name: [] for name in models}
    found: dict[tuple[str, str], list[Value]] = {}
    apart_of: dict[Key, dict[str, float]] = {}
    held: list[Held] = []
    told: dict[str, Told] = {}
    for cell in locked.cells:
        standing = standings[cell.id]
        words: float | None = None
        values: list[Value] = []
        if standing.status == "done" and standing.folder is not None:
            record = read_run(standing.folder, whole=bool(stances))
            words = mean([count_words(said.text) for said in record.utterances])
            values += [value for measure in arithmetic for value in measure.of(record, cell)]
            values += [value for measure in recorded for value in measure.values(record)]
            values += [value for measure in stories for value in measure.values(record, cell)]
            if experiment.measures.diversity is not None:
                told[cell.id] = Told.of(record, cell)
            for poll in polls:
                given = given_in(poll.asked, record)
                rows["polls"] += [answer_row(models["polls"], axes, cell, at, answer) for at, answer in given]
            for source in stances:
                held_then = source.positions(record)
                rows["stances"] += [stance_row(models["stances"], axes, cell, one) for one in held_then]
            with contextlib.suppress(NothingSaid):
                if asked:
                    held.append(Held(cell, of_run(record), standing.folder))
                    values += [value for measure in asked for value in measure.values(held[-1])]
        missing = "nothing was said that all heard"
        if standing.status != "done":
            missing = f"the conversation is not complete: {standing.status}"
        tried = tries.get(cell.id, 0)
        row = cell_row(models["cells"], axes, cell, standing, tries=tried, prompts=prompts, words=words)
        rows["cells"].append(row)
        measured = {value.measure for value in values}
        values += [Value(one.name, None, missing) for one in [*named, *of_parts] if one.name not in measured]
        for value in values:
            rows["measures"].append(measure_row(models["measures"], axes, cell, value))
            if value.unit == "run":
                found.setdefault((cell.id, value.measure), []).append(value)
            elif value.value is not None:
                apart_of.setdefault((value.measure, value.unit, value.who), {})[cell.id] = value.value
    means = {key: _mean(values) for key, values in found.items()}
    apart = {key for key, values in found.items() if all(value.missing == DOES_NOT_APPLY for value in values)}
    names = [one.name for one in named]
    beside = Beside(experiment, locked.cells, asked)
    # Without a comparison or a judge, an experiment needs no statistics library.
    statistics = bool(experiment.compare or asked or stories)
    grouped = groups(axes, locked.cells, names, means, apart, intervals=statistics)
    rows["groups"] += [group_row(models["groups"], axes, one, beside) for one in grouped]
    parts = parts_of(axes, locked.cells, apart_of)
    if stories:
        rows["parts"] = [part_row(models["parts"], axes, one) for one in parts]
    comparisons = [one for wanted in experiment.compare for one in compare(wanted, axes, locked.cells, names, means)]
    rows["comparisons"] += [comparison_row(one, beside) for one in comparisons]
    pairs = verdicts_of(paired, locked.cells, held, place.path) if paired is not None else []
    counted = contests(paired, pairs) if paired is not None else []
    if paired is not None:
        rows["pairs"] += [pair_row(models["pairs"], axes, one, paired) for one in pairs]
        rows["contests"] += [contest_row(one, paired, beside) for one in counted]
    diversity = None
    if (wanted_diversity := experiment.measures.diversity) is not None:
        diversity = diversity_of(wanted_diversity, axes, locked.cells, told)
        model = models["diversity"]
        rows["diversity"] += [diversity_row(model, _unseeded(axes), one, diversity) for one in diversity.found.values]
        rows["diversity_settings"] += [diversity_mean_row(one) for one in diversity.found.means]
    answers = {**answers_of(standings), **poll_answers_of(rows.get("polls", ()))}
    robust = robustness(axes, locked.cells, answers, comparisons, means)
    if robust.answers:
        models["flips"], rows["flips"] = FlipRow, [flip_row(one) for one in robust.answers]
    if robust.contrasts:
        models["contrasts"] = ContrastRow
        rows["contrasts"] = [row for one in robust.contrasts for row in contrast_rows(one)]
    return Tables(
        experiment=experiment,
        locked=locked,
        measures=named,
        asked=asked,
        standings=standings,
        held=held,
        rows=rows,
        models=models,
        values=means,
        groups=grouped,
        stories=stories,
        parts=parts,
        comparisons=comparisons,
        pairs=pairs,
        contests=counted,
        robustness=robust,
        beside=beside,
        diversity=diversity,
        judging=spent_on_judging(place.path),
    )


def _models(
    axes: Axes, paired: PairVerdicts | None, *, polls: bool, stances: bool, stories: bool
) -> dict[str, type[Row]]:
    """The model of each table's rows, with columns for the axes."""
    found: dict[str, type[Row]] = {
        "cells": with_axes(CellRow, axes),
        "measures": with_axes(MeasureRow, axes),
        "groups": with_axes(GroupRow, _apart_from_tasks(axes), after="measure"),
        "comparisons": ComparisonRow,
    }
    if paired is not None:
        found["pairs"] = with_axes(PairRow, {name: axes[name] for name in axes if name != paired.axis}, after="round")
        found["contests"] = ContestRow
    if polls:
        found["polls"] = with_axes(PollRow, axes)
    if stances:
        found["stances"] = with_axes(StanceRow, axes)
    if stories:
        found["parts"] = with_axes(PartRow, _apart_from_tasks(axes), after="measure")
    return found


def _unseeded(axes: Axes) -> Axes:
    return {name: labels for name, labels in axes.items() if name != SEED}


def _apart_from_tasks(axes: Axes) -> Axes:
    return {name: labels for name, labels in axes.items() if name not in OF_THE_TASK}


def _mean(values: Sequence[Value]) -> float | None:
    there = [value.value for value in values if value.value is not None]
    return fmean(there) if there else None


def write_tables(found: Tables, place: Place, form: str = CSV) -> Path:
    """Write the tables and the codebook into the experiment's folder; the folder of tables.

    Args:
        found: the tables.
        place: the experiment's folder.
        form: a format in which the tables are written beside CSV, one of those of an export.

    Raises:
        MissingExtraError: the format needs a library that is not installed.
    """
    folder = place.path / TABLES
    folder.mkdir(exist_ok=True)
    for name in {*_SOMETIMES} - {*found.rows}:
        for ending in FORMATS:
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    for name, rows in found.rows.items():
        for ending in dict.fromkeys((CSV, form)):
            write_table(folder / f"{name}.{ending}", found.models[name], rows, ending)
    (folder / CODEBOOK).write_text(_codebook(found), encoding="utf-8", newline="\n")
    return folder


def _named(found: Tables) -> list[Named]:
    taken = found.diversity.found.measures if found.diversity is not None else []
    of_cases = [Named(name, f"Of a case: {MEASURES[name]}.") for name in taken]
    of_parts = (one for measure in found.stories for one in measure.parts)
    return list(dict.fromkeys([*found.measures, *of_parts, *of_cases]))


def _codebook(found: Tables) -> str:
    parts = [
        f"# Codebook of the experiment {markdown(found.locked.name)}",
        f"Made with PerSimChat {version('persimchat')}. Comma-separated values, UTF-8, one heading line. An empty cell "
        "means: not known, or does not apply. It is never 0. `cell` joins the tables.",
        f"> {DISCLAIMER}",
        "## Measures",
        "\n".join(f"- `{measure.name}`: {markdown(measure.about)}" for measure in _named(found)) or "None.",
    ]
    for name, model in found.models.items():
        parts += explained(name, f"{name}.csv", model, len(found.rows[name]))
    return "\n\n".join(parts) + "\n"
