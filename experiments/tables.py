"""The tables of an experiment: cells, measures and comparisons, one model a table, and their codebook."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from persimchat.experiments.axes import Label
from persimchat.experiments.comparing import Comparison, compare
from persimchat.experiments.file import Experiment
from persimchat.experiments.measuring import Measure, measures_of
from persimchat.experiments.place import TABLES, LockFile, Place, Standing, stale
from persimchat.experiments.plan import Cell
from persimchat.prompts import prompt_hash
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.cells import markdown
from persimchat.runs.reports.codebook import Column, columns, listed
from persimchat.runs.reports.export_tables import UNIT
from persimchat.runs.reports.export_writing import CsvWriter

CODEBOOK: Final = "codebook.md"


def _column(meaning: str, unit: str = "") -> Any:
    return Field(default=None, description=meaning, json_schema_extra={UNIT: unit})


class Row(BaseModel):
    """A row of a table; the axes of the experiment come after the cell."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class CellRow(Row):
    """One row per cell: how its conversation went and what it used."""

    cell: str = _column("the cell's id, which is its run folder's name")
    task: str | None = _column("the id of its task; empty if the base's topic is the only one")
    category: str | None = _column("the category of its task")
    round: int = _column("the draw of tasks to which it belongs", "round")
    topic: str = _column("what was talked about")
    not_varied: str | None = _column(
        "axes whose levels make no difference here, with these levels: the conversation was held once for all of them, "
        "and its columns of these axes are empty"
    )
    status: str = _column("planned, begun, done, budget (stopped by its budget), failed, or held by another process")
    stale: str | None = _column("why the run is not what it would be if it were held now; empty if it is")
    why: str | None = _column("why it failed")
    tries: int = _column("how often it was begun or resumed", "times")
    stop_reason: str | None = _column("why the conversation ended")
    utterances: int | None = _column("utterances made", "utterances")
    judgements: int | None = _column("judgements of minds that models were asked for", "judgements")
    corrected: int | None = _column("of these, judgements that were corrected", "judgements")
    failed: int | None = _column("of these, judgements that were unusable twice", "judgements")
    calls: int | None = _column("requests to models", "requests")
    input_tokens: int | None = _column("tokens read by models", "tokens")
    output_tokens: int | None = _column("tokens written by models", "tokens")
    cost_usd: float | None = _column("what the requests cost; empty if a price is not known", "USD")
    seconds: float | None = _column("from its beginning to its end, interruptions included", "seconds")


class MeasureRow(Row):
    """One row per value of a measure; a missing value is empty and says why."""

    cell: str = _column("the cell's id")
    task: str | None = _column("the id of its task")
    round: int = _column("the draw of tasks", "round")
    measure: str = _column("the measure's name")
    unit: str = _column("what it is a value of: run, agent or utterance")
    who: str | None = _column("which agent or utterance; empty for the run")
    value: float | None = _column("the value; empty if it is missing, never 0")
    missing: str | None = _column("why it is missing")


class ComparisonRow(Row):
    """One row per measure and pair of levels: the mean difference over tasks, a minus b."""

    measure: str = _column("the measure's name")
    by: str = _column("the axis that is compared")
    a: str = _column("the first level")
    b: str = _column("the second level")
    within: str | None = _column("the levels of other axes to which it is limited, as JSON")
    tasks: int = _column("tasks with values on both sides: the unit of analysis", "tasks")
    left_out: int = _column("tasks that lack a value on one side", "tasks")
    mean_a: float | None = _column("mean of the first level over tasks")
    sd_a: float | None = _column("its standard deviation over tasks (n − 1)")
    mean_b: float | None = _column("mean of the second level over tasks")
    sd_b: float | None = _column("its standard deviation over tasks (n − 1)")
    difference: float | None = _column("mean of a minus b over tasks")
    low: float | None = _column("lower bound of its 95 % interval (t); empty if there is none")
    high: float | None = _column("upper bound of its 95 % interval (t); empty if there is none")
    effect: float | None = _column("rank-biserial correlation, −1 to 1; empty if there is no difference at all")
    test: str = _column("the test")
    method: str = _column("how p is computed")
    p: float | None = _column("two-sided p")
    p_holm: float | None = _column("p adjusted by Holm for all pairs compared in this measure")
    note: str | None = _column("what a reader must know of interval and test")


@dataclass(frozen=True)
class Tables:
    """What an experiment has found.

    Attributes:
        locked: its lock file.
        measures: that were taken.
        standings: how far each cell is, by its id.
        rows: of each table, by its name.
        models: the model of each table's rows.
        comparisons: with their intervals, as computed.
    """

    locked: LockFile
    measures: Sequence[Measure]
    standings: Mapping[str, Standing]
    rows: Mapping[str, Sequence[Row]]
    models: Mapping[str, type[Row]]
    comparisons: Sequence[Comparison]


def tables(experiment: Experiment, place: Place) -> Tables:
    """Read the folder of an experiment, measure what is complete, and compare. No model is asked.

    Args:
        experiment: whose `measures` and `compare` count.
        place: its folder.

    Raises:
        InputError: the folder is damaged, or a measure or comparison is not known.
        MissingExtraError: comparisons need the extra `evaluation`, which is not installed.
    """
    locked, measures = place.locked(), measures_of(experiment)
    axes, tries, prompts = locked.axes, place.tries(), prompt_hash()
    models = {
        "cells": with_axes(CellRow, axes),
        "measures": with_axes(MeasureRow, axes),
        "comparisons": ComparisonRow,
    }
    standings: dict[str, Standing] = {}
    rows: dict[str, list[Row]] = {"cells": [], "measures": [], "comparisons": []}
    values: dict[tuple[str, str], float | None] = {}
    for cell in locked.cells:
        standing = standings[cell.id] = place.standing(cell.id)
        rows["cells"].append(_cell_row(models["cells"], axes, cell, standing, tries.get(cell.id, 0), prompts))
        for row in _measured(models["measures"], axes, cell, standing, measures):
            rows["measures"].append(row)
            if row.unit == "run":
                values[cell.id, row.measure] = row.value
    names = [measure.name for measure in measures]
    comparisons = [one for wanted in experiment.compare for one in compare(wanted, axes, locked.cells, names, values)]
    rows["comparisons"] += [_comparison_row(one) for one in comparisons]
    return Tables(locked, measures, standings, rows, models, comparisons)


def with_axes(model: type[Row], axes: Mapping[str, Sequence[Label]]) -> Any:
    """A table's model with one column for each axis, after the cell's id."""
    fields: dict[str, Any] = {"cell": (str, model.model_fields["cell"])}
    for name, labels in axes.items():
        fields[name if name not in model.model_fields else f"axis_{name}"] = (
            _type_of(labels) | None,
            _column(f"axis: the level of {name}"),
        )
    own = {name: (field.annotation, field) for name, field in model.model_fields.items() if name != "cell"}
    made: Any = create_model(model.__name__, __base__=Row, __doc__=model.__doc__ or "", **fields, **cast(Any, own))
    return made


def _type_of(labels: Sequence[Label]) -> Any:
    kinds = {type(label) for label in labels}
    if kinds <= {int}:
        return int
    if kinds <= {int, float}:
        return float
    return bool if kinds <= {bool} else str


def _labels(model: type[Row], axes: Mapping[str, Sequence[Label]], cell: Cell) -> dict[str, Any]:
    """The cell's levels as columns."""
    found: dict[str, Any] = {}
    for name, label in cell.axes.items():
        text = _type_of(axes[name]) is str and label is not None and not isinstance(label, str)
        column = f"axis_{name}" if f"axis_{name}" in model.model_fields else name
        found[column] = json.dumps(label) if text else label
        if name in cell.not_varied:
            found[column] = None
    return found


def _cell_row(
    model: type[Row], axes: Mapping[str, Sequence[Label]], cell: Cell, standing: Standing, tries: int, prompts: str
) -> Row:
    known: dict[str, Any] = {"cell": cell.id, **_labels(model, axes, cell)}
    known |= {"task": cell.task or None, "category": cell.category or None, "round": cell.round, "topic": cell.topic}
    known |= {"status": standing.status, "tries": tries}
    known["not_varied"] = (
        "; ".join(f"{name}: {', '.join(map(str, of))}" for name, of in cell.not_varied.items()) or None
    )
    manifest = standing.manifest
    if manifest is not None:
        known |= {
            "stale": stale(cell, manifest, prompts) or None,
            "why": manifest.detail if standing.status == "failed" else None,
            "stop_reason": manifest.stop_reason,
            "utterances": manifest.turn,
            "judgements": sum(counts.asked for counts in manifest.judgements.values()),
            "corrected": sum(counts.corrected for counts in manifest.judgements.values()),
            "failed": sum(counts.failed for counts in manifest.judgements.values()),
            "seconds": _seconds(manifest),
        }
        if (total := manifest.usage.total) is not None:
            known |= total.model_dump(include={"calls", "input_tokens", "output_tokens", "cost_usd"})
    return model.model_validate(known)


def _seconds(manifest: Manifest) -> float | None:
    try:
        ended = datetime.fromisoformat(manifest.ended or "")
        return (ended - datetime.fromisoformat(manifest.started)).total_seconds()
    except ValueError:
        return None


def _measured(
    model: Any, axes: Mapping[str, Sequence[Label]], cell: Cell, standing: Standing, measures: Sequence[Measure]
) -> list[Any]:
    """The rows of a cell's measures; of one that is not complete, each is missing."""
    fixed = {"cell": cell.id, **_labels(model, axes, cell), "task": cell.task or None, "round": cell.round}
    if standing.status != "done" or standing.folder is None:
        missing = f"the conversation is not complete: {standing.status}"
        return [
            model.model_validate({**fixed, "measure": measure.name, "unit": "run", "value": None, "missing": missing})
            for measure in measures
        ]
    record = read_run(standing.folder)
    return [
        model.model_validate(
            {
                **fixed,
                "measure": found.measure,
                "unit": found.unit,
                "who": found.who or None,
                "value": found.value,
                "missing": found.missing or None,
            }
        )
        for measure in measures
        for found in measure.of(record, cell)
    ]


def _comparison_row(one: Comparison) -> ComparisonRow:
    notes = dict.fromkeys(note for note in (one.difference.note, one.test.note) if note)
    return ComparisonRow(
        measure=one.measure,
        by=one.by,
        a=str(one.a),
        b=str(one.b),
        within=json.dumps(dict(one.within), ensure_ascii=False) if one.within else None,
        tasks=one.difference.n,
        left_out=one.left_out,
        mean_a=one.first.value,
        sd_a=one.first.sd,
        mean_b=one.second.value,
        sd_b=one.second.sd,
        difference=one.difference.value,
        low=one.difference.low,
        high=one.difference.high,
        effect=one.effect,
        test=one.test.test,
        method=one.test.method,
        p=one.test.p,
        p_holm=one.p_holm,
        note="; ".join(notes) or None,
    )


def write_tables(found: Tables, place: Place) -> Path:
    """Write the tables as CSV, and the codebook, into the experiment's folder; the folder of tables."""
    folder = place.path / TABLES
    folder.mkdir(exist_ok=True)
    for name, rows in found.rows.items():
        write_table(folder, name, found.models[name], rows)
    (folder / CODEBOOK).write_text(_codebook(found), encoding="utf-8", newline="\n")
    return folder


def write_table(folder: Path, name: str, model: type[Row], rows: Iterable[Row]) -> Path:
    """Write one table as CSV, whole or not at all."""
    path = folder / f"{name}.csv"
    partial = path.with_name(f"{path.name}.partial")
    writer = CsvWriter(partial, model)
    for row in rows:
        writer.write(row)
    writer.close()
    partial.replace(path)
    return path


def _codebook(found: Tables) -> str:
    parts = [
        f"# Codebook of the experiment {markdown(found.locked.name)}",
        f"Made with PerSimChat {version('persimchat')}. Comma-separated values, UTF-8, one heading line. An empty cell "
        "means: not known, or does not apply. It is never 0. `cell` joins the tables.",
        f"> {DISCLAIMER}",
        "## Measures",
        "\n".join(f"- `{measure.name}`: {markdown(measure.about)}" for measure in found.measures) or "None.",
    ]
    for name, model in found.models.items():
        explained: Sequence[Column] = columns(model)
        rows = f"{len(found.rows[name]):,} {'row' if len(found.rows[name]) == 1 else 'rows'}"
        parts += [f"## {name}", f"`{name}.csv`, {rows}. {' '.join((model.__doc__ or '').split())}", listed(explained)]
    return "\n\n".join(parts) + "\n"
