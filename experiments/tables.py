"""The tables of an experiment: what its folder says of cells, measures, groups, comparisons and pairs.

Their columns are data (`tables.yaml`); each has one more for every axis.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ..evaluation import tables as measured
from ..evaluation.diversity.cases import SEED
from ..evaluation.diversity.measuring import MEASURES, claims_of, with_claims
from ..evaluation.statistics.claims import family
from ..evaluation.tables import Table, read_tables, reasons, remarks
from ..evaluation.transcripts import NothingSaid, of_run
from ..reports.export_rows import polled
from ..reports.summary import count_words, mean
from ..reports.tables import FORMATS, READING, explained, markdown, writers
from ..runs.events import Totals
from ..runs.folder.lines import DISCLAIMER
from ..runs.folder.manifest import Manifest
from ..runs.folder.reading import read_run
from .asking import asked_of, spent_on_judging
from .axes import Label
from .comparing import OF_THE_TASK, Comparison, Group, compare, groups
from .contests import NOT_COMPLETE, Contest, JudgedPair, PairVerdicts, contests, verdicts_of
from .diversity import CellDiversity, Told, diversity_of
from .file import Experiment
from .measuring import (
    DOES_NOT_APPLY,
    AskedMeasure,
    Held,
    Measure,
    Named,
    Value,
    at_every_level,
    evaluators_of,
    stance_numbers,
)
from .place import ITEMS, LockFile, Place, Standing, stale
from .place import TABLES as FOLDER
from .plan import Cell
from .polling import PollShares, given_in
from .published import Beside
from .robustness import Robustness, answers_of, poll_answers_of, robustness
from .stories import Key, Part, StoryNumbers, ends_compared, parts_of, story_numbers

CODEBOOK: Final = "codebook.md"
CSV: Final = "csv"
Axes = Mapping[str, Sequence[Label]]

TABLES: Final = read_tables(__file__)
_CELL: Final = {name: TABLES["measures"].columns[name] for name in ("cell", "task", "round")}
_AT: Final = {"at": ["text", None, "the points of the poll at which it was put: start, end, or a number"]}
TABLES["polls"] = Table.as_exported("polls", {**_CELL, **_AT})
TABLES["stances"] = Table.as_exported("stances", _CELL)
TABLES["diversity_settings"] = measured.TABLES["diversity_settings"]
"""All tables, without the columns of axes."""
_WITHOUT_AXES: Final = ("comparisons", "contests", "diversity_settings", "flips", "contrasts", ITEMS)
"""Tables whose rows have no level on each axis."""
_ALWAYS: Final = ("cells", "measures", "groups", "comparisons")


@dataclass(frozen=True)
class Tables:
    """What an experiment has found.

    Attributes:
        experiment: whose measures and comparisons count.
        locked: its lock file.
        taken: of single conversations.
        asked: measures for which judges are asked.
        standings: how far each cell is, by its id.
        held: the conversations that are complete, where judges are asked.
        rows: of each table, by its name.
        made: the tables, with the columns of axes.
        values: of single conversations, by the cell's id and the measure: the mean of a judge's repeats.
        groups: of conversations, with their intervals, as computed.
        stories: the measures of stories.
        parts: of stories, with their shares and means, as computed.
        comparisons: with their intervals, as computed.
        at_end: what differs at the end of stories, for each comparison asked for.
        tested: all that is tested: one family, for which every p is adjusted.
        pairs: that judges compare.
        contests: what the pairs come to.
        robustness: what holds over axes that should not matter.
        beside: published values.
        diversity: of cases under each setting; None if it is not measured.
        judging: what judges have used.
    """

    experiment: Experiment
    locked: LockFile
    taken: Sequence[Measure]
    asked: Sequence[AskedMeasure]
    standings: Mapping[str, Standing]
    held: Sequence[Held]
    rows: Mapping[str, Sequence[Any]]
    made: Mapping[str, Table]
    values: Mapping[tuple[str, str], float | None]
    groups: Sequence[Group]
    stories: Sequence[StoryNumbers]
    parts: Sequence[Part]
    comparisons: Sequence[Comparison]
    at_end: Sequence[Sequence[Comparison]]
    tested: Sequence[Any]
    pairs: Sequence[JudgedPair]
    contests: Sequence[Contest]
    robustness: Robustness
    beside: Beside
    diversity: CellDiversity | None
    judging: Totals

    @property
    def measures(self) -> list[Named]:
        """The measures that were taken of single conversations; what they say is in the current language."""
        return [one for measure in self.taken for one in measure.named]


def tables(experiment: Experiment, place: Place) -> Tables:
    """Read the folder of an experiment, measure what is complete, and compare. No model is asked.

    Args:
        experiment: whose `measures` and `compare` count.
        place: its folder.

    Raises:
        InputError: the folder is damaged, or a measure or comparison is not known.
        MissingExtraError: comparisons need the extra `evaluation`, which is not installed.
    """
    locked, tries = place.locked(), place.tries()
    axes, wanted = locked.axes, experiment.measures
    standings = {cell.id: place.standing(cell.id, whole=True) for cell in locked.cells}
    asked, stances = asked_of(experiment, axes), stance_numbers(experiment, locked.cells, standings)
    polls = [PollShares(one, at_every_level(one, locked.cells, standings)) for one in wanted.polls]
    stories = story_numbers(experiment, standings)
    every: list[Measure] = [*evaluators_of(experiment), *asked, *polls, *stances, *stories]
    named = [one for measure in every for one in measure.named]
    of_parts = list(dict.fromkeys(one for measure in every for one in measure.parts))
    paired = next((measure for measure in asked if isinstance(measure, PairVerdicts)), None)
    named_tables = [*_ALWAYS, *["pairs", "contests"] * bool(paired), *["polls"] * bool(polls)]
    named_tables += ["stances"] * bool(stances) + ["parts"] * bool(stories)
    named_tables += ["diversity", "diversity_settings"] * (wanted.diversity is not None)
    made = {name: _with_axes(name, axes, paired) for name in named_tables}
    rows: dict[str, list[Any]] = {name: [] for name in made}
    found: dict[tuple[str, str], list[Value]] = {}
    apart_of: dict[Key, dict[str, float]] = {}
    held: list[Held] = []
    told: dict[str, Told] = {}

    def add(name: str, cell: Cell, one: Any, **more: Any) -> None:
        labels = _labels(axes, cell.axes, cell.not_varied)
        rows[name].append(made[name].row(one, cell=cell, task=cell.task, round=cell.round, **labels, **more))

    for cell in locked.cells:
        standing, words, values = standings[cell.id], None, list[Value]()
        if standing.status == "done" and standing.folder is not None:
            record = read_run(standing.folder, whole=bool(stances))
            words = mean([count_words(said.text) for said in record.utterances])
            conversation = None
            with contextlib.suppress(NothingSaid):
                conversation = of_run(record) if asked else None
            held.append(Held(cell, conversation, standing.folder))
            values += [value for measure in every for value in measure.values(held[-1], record)]
            if wanted.diversity is not None:
                told[cell.id] = Told.of(record, cell)
            for poll in polls:
                for at, answer in given_in(poll.asked, record):
                    add("polls", cell, polled(answer), at=at)
            for source in stances:
                for position in source.positions(record):
                    add("stances", cell, position)
        missing = "nothing was said that all heard"
        if standing.status != "done":
            missing = f"the conversation is not complete: {standing.status}"
        add("cells", cell, {**_about(cell, standing), "tries": tries.get(cell.id, 0), "words": words})
        there = {value.measure for value in values}
        values += [Value(one.name, None, missing) for one in [*named, *of_parts] if one.name not in there]
        for value in values:
            add("measures", cell, value)
            if value.unit == "run":
                found.setdefault((cell.id, value.measure), []).append(value)
            elif value.value is not None:
                apart_of.setdefault((value.measure, value.unit, value.who), {})[cell.id] = value.value
    means = {key: _mean(values) for key, values in found.items()}
    apart = {key for key, values in found.items() if all(value.missing == DOES_NOT_APPLY for value in values)}
    kinds, beside = {one.name: one.kind for one in named}, Beside(experiment, locked.cells, asked)
    # Without a comparison or a judge, an experiment needs no statistics library.
    statistics = bool(experiment.compare or asked or stories)
    grouped = groups(axes, locked.cells, kinds, means, apart, intervals=statistics)
    for group in grouped:
        labels = _labels(axes, group.levels)
        rows["groups"].append(made["groups"].row(group, published=beside.of_group(group), **labels))
    part_kinds = {one.name: one.kind for one in of_parts}
    parts = parts_of(axes, locked.cells, apart_of, part_kinds)
    if stories:
        rows["parts"] = [made["parts"].row(one, **_labels(axes, one.levels)) for one in parts]
    compared = {one.name: one.kind for one in named if not one.complements}
    comparisons = [one for each in experiment.compare for one in compare(each, axes, locked.cells, compared, means)]
    at_end = [ends_compared(each, axes, locked.cells, apart_of, part_kinds) for each in experiment.compare]
    pairs = verdicts_of(paired, locked.cells, held, place.path) if paired is not None else []
    counted = contests(paired, pairs) if paired is not None else []
    diversity = diversity_of(wanted.diversity, axes, locked.cells, told) if wanted.diversity is not None else None
    answers = {**answers_of(standings), **poll_answers_of(rows.get("polls", ()))}
    robust = robustness(axes, locked.cells, answers, comparisons, means, kinds)
    of_cases = diversity.found.means if diversity is not None else ()
    tested = family(comparisons, counted, robust.answers, robust.levels, claims_of(of_cases), *at_end)
    comparisons, counted, flips, levels, claims, *at_end = tested
    robust = robust.adjusted(comparisons, flips, levels)
    for one in comparisons:
        a, b = beside.of_comparison(one) or (None, None)
        note = remarks(one.difference, one.test)
        row = made["comparisons"].row(one, published_a=a, published_b=b, note=note, within=_within(one))
        rows["comparisons"].append(row)
    if paired is not None:
        rows["pairs"] = [_pair_row(made["pairs"], axes, one, paired) for one in pairs]
        for contest in counted:
            about = {"by": paired.axis, "published": beside.of_contest(contest, paired)}
            why = reasons(contest.missing)
            rows["contests"].append(made["contests"].row(contest, **about, p=contest.test.p, missing=why))
    if diversity is not None:
        diversity = replace(diversity, found=replace(diversity.found, means=with_claims(of_cases, claims)))
        options = {"embedding": diversity.found.options.embedding, "tokens": diversity.found.options.tokens}
        for of_case in diversity.found.values:
            task, number = diversity.tasks[of_case.case]
            labels = _labels(axes, diversity.levels[of_case.case, of_case.setting])
            rows["diversity"].append(made["diversity"].row(of_case, task=task, round=number, **labels, **options))
        rows["diversity_settings"] = [made["diversity_settings"].row(one, **options) for one in diversity.found.means]
    if robust.answers:
        made["flips"], rows["flips"] = TABLES["flips"], [TABLES["flips"].row(one) for one in robust.answers]
    if robust.contrasts:
        made["contrasts"] = table = TABLES["contrasts"]
        rows["contrasts"] = [
            table.row(at, whole=one.whole, axis=one.axis, level=label, ruling=one.ruling, within=_within(one.whole))
            for one in robust.contrasts
            for label, at in one.at.items()
        ]
    return Tables(
        experiment=experiment,
        locked=locked,
        taken=every,
        asked=asked,
        standings=standings,
        held=[one for one in held if one.conversation is not None],
        rows=rows,
        made=made,
        values=means,
        groups=grouped,
        stories=stories,
        parts=parts,
        comparisons=comparisons,
        at_end=at_end,
        tested=[one for group in tested for one in group],
        pairs=pairs,
        contests=counted,
        robustness=robust,
        beside=beside,
        diversity=diversity,
        judging=spent_on_judging(place.path),
    )


def _with_axes(name: str, axes: Axes, paired: PairVerdicts | None) -> Table:
    """A table with one column for each axis on which its rows have a level."""
    table, after = TABLES[name], "cell"
    without: Collection[str] = ()
    if name in _WITHOUT_AXES:
        return table
    match name:
        case "groups" | "parts":
            after, without = "measure", OF_THE_TASK
        case "diversity":
            after, without = "setting", (SEED,)
        case "pairs":
            after, without = "round", (paired.axis if paired is not None else "",)
    more = {
        _heading(axis): [f"{_kind_of(labels)}?", None, f"axis: the level of {axis}"]
        for axis, labels in axes.items()
        if axis not in without
    }
    return table.widened(more, after)


def _heading(axis: str) -> str:
    """An axis's column, of one name in all tables: its own, if no table has another column of that name."""
    taken = any(axis in table.model.model_fields for name, table in TABLES.items() if name not in _WITHOUT_AXES)
    return f"axis_{axis}" if taken else axis


def _kind_of(labels: Sequence[Label]) -> str:
    kinds = {type(label) for label in labels}
    if kinds <= {int, float}:
        return "whole" if kinds <= {int} else "number"
    return "flag" if kinds <= {bool} else "text"


def _labels(axes: Axes, given: Mapping[str, Label], not_varied: Collection[str] = ()) -> dict[str, Label]:
    """Levels of axes as columns; those of axes that make no difference are empty."""
    found: dict[str, Label] = {}
    for name, label in given.items():
        text = _kind_of(axes[name]) == "text" and label is not None and not isinstance(label, str)
        found[_heading(name)] = None if name in not_varied else json.dumps(label) if text else label
    return found


def _about(cell: Cell, standing: Standing) -> dict[str, Any]:
    """What the table cells says of a cell beside its levels."""
    varied = "; ".join(f"{name}: {', '.join(map(str, of))}" for name, of in cell.not_varied.items())
    known: dict[str, Any] = {"standing": standing, "not_varied": varied, "why": standing.why}
    if (manifest := standing.manifest) is not None:
        counts = manifest.judgements.values()
        known |= {
            "manifest": manifest,
            "total": manifest.usage.total,
            "stale": stale(cell, manifest),
            "why": manifest.detail if standing.status == "failed" else None,
            "judgements": sum(one.asked for one in counts),
            "corrected": sum(one.corrected for one in counts),
            "failed": sum(one.failed for one in counts),
            "seconds": _seconds(manifest),
        }
    return known


def _seconds(manifest: Manifest) -> float | None:
    try:
        ended = datetime.fromisoformat(manifest.ended or "")
        return (ended - datetime.fromisoformat(manifest.started)).total_seconds()
    except ValueError:
        return None


def _pair_row(table: Table, axes: Axes, one: JudgedPair, measure: PairVerdicts) -> Any:
    """A pair's row of the table pairs."""
    rest = {name: label for name, label in one.cells.first.axes.items() if name != measure.axis}
    known: dict[str, Any] = {"missing": NOT_COMPLETE, "answers": 0, "answers_missing": None, "judge": measure.judge}
    known |= {"a_first": None, "b_first": None}
    if one.result is not None:
        verdict = one.result.verdict
        known |= {"missing": verdict.missing, "answers": verdict.n, "answers_missing": reasons(one.result.missing)}
        known |= {"a_first": verdict.alone[0], "b_first": verdict.alone[1]}
    return table.row(one, **_labels(axes, rest), **known)


def _within(one: Comparison) -> str | None:
    return json.dumps(dict(one.within), ensure_ascii=False) if one.within else None


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
    folder = place.path / FOLDER
    folder.mkdir(exist_ok=True)
    for name in {*TABLES} - {*found.rows, *_ALWAYS, ITEMS}:
        for ending in FORMATS:
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    for chosen in dict.fromkeys((CSV, form)):
        with writers(chosen, folder, {name: found.made[name].model for name in found.rows}) as made:
            for name, rows in found.rows.items():
                for row in rows:
                    made[name].write(row)
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
        READING,
        f"> {DISCLAIMER}",
        "## Measures",
        "\n".join(f"- `{measure.name}`: {markdown(measure.about)}" for measure in _named(found)) or "None.",
    ]
    for name, table in found.made.items():
        parts += explained(name, f"{name}.csv", table.model, len(found.rows[name]))
    return "\n\n".join(parts) + "\n"
