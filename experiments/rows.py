"""Fills the rows of an experiment's tables (`table_models.py`) from what was found."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from typing import Any, cast

from pydantic import create_model

from persimchat.evaluation.diversity.measuring import Mean
from persimchat.evaluation.diversity.measuring import Value as Diverse
from persimchat.evaluation.tables import reasons, remarks
from persimchat.experiments.axes import Label
from persimchat.experiments.beside import Beside
from persimchat.experiments.comparing import Comparison, Group
from persimchat.experiments.diversity import CellDiversity
from persimchat.experiments.measuring import Value
from persimchat.experiments.pairing import NOT_COMPLETE, Contest, JudgedPair, PairVerdicts
from persimchat.experiments.place import Standing, stale
from persimchat.experiments.plan import Cell
from persimchat.experiments.robustness import AnswerFinding, ContrastFinding
from persimchat.experiments.stories import Part
from persimchat.experiments.table_models import (
    ComparisonRow,
    ContestRow,
    ContrastRow,
    DiversityMeanRow,
    FlipRow,
    Row,
)
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.reports.export_columns import column
from persimchat.runs.reports.export_rows import polled
from persimchat.runs.reports.stances import Position

Axes = Mapping[str, Sequence[Label]]


def with_axes(model: type[Row], axes: Axes, after: str = "cell") -> Any:
    """A table's model with one column for each axis, after one of its own columns."""
    fields: dict[str, Any] = {}
    for own, field in model.model_fields.items():
        fields[own] = (field.annotation, field)
        if own == after:
            fields |= {
                name if name not in model.model_fields else f"axis_{name}": (
                    _type_of(labels) | None,
                    column(f"axis: the level of {name}"),
                )
                for name, labels in axes.items()
            }
    made: Any = create_model(model.__name__, __base__=Row, __doc__=model.__doc__ or "", **cast(Any, fields))
    return made


def _type_of(labels: Sequence[Label]) -> Any:
    kinds = {type(label) for label in labels}
    if kinds <= {int}:
        return int
    if kinds <= {int, float}:
        return float
    return bool if kinds <= {bool} else str


def _labels(
    model: type[Row], axes: Axes, given: Mapping[str, Label], not_varied: Collection[str] = ()
) -> dict[str, Any]:
    """Levels of axes as columns; those of axes that make no difference are empty."""
    found: dict[str, Any] = {}
    for name, label in given.items():
        text = _type_of(axes[name]) is str and label is not None and not isinstance(label, str)
        own = f"axis_{name}" if f"axis_{name}" in model.model_fields else name
        found[own] = None if name in not_varied else json.dumps(label) if text else label
    return found


def cell_row(
    model: type[Row], axes: Axes, cell: Cell, standing: Standing, *, tries: int, prompts: str, words: float | None
) -> Row:
    """A cell's row of the table cells."""
    known: dict[str, Any] = {"cell": cell.id, **_labels(model, axes, cell.axes, cell.not_varied)}
    known |= {"task": cell.task or None, "category": cell.category or None, "round": cell.round, "topic": cell.topic}
    known |= {"status": standing.status, "tries": tries, "words": words}
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


def measure_row(model: type[Row], axes: Axes, cell: Cell, value: Value) -> Row:
    """A value's row of the table measures."""
    return model.model_validate(
        {
            **_of_conversation(model, axes, cell),
            "measure": value.measure,
            "unit": value.unit,
            "who": value.who or None,
            "value": value.value,
            "missing": value.missing or None,
            "judge": value.judge or None,
            "repeat": value.repeat,
        }
    )


def answer_row(model: type[Row], axes: Axes, cell: Cell, at: str, answer: PollAnswer) -> Row:
    """The row of an answer to a poll in the table polls."""
    about = {**_of_conversation(model, axes, cell), "at": at}
    return model.model_validate({name: None if v == "" else v for name, v in {**about, **polled(answer)}.items()})


def stance_row(model: type[Row], axes: Axes, cell: Cell, position: Position) -> Row:
    """An observation's row of the table stances."""
    values = {**asdict(position), "poll": position.poll or None}
    return model.model_validate({**_of_conversation(model, axes, cell), **values})


def _of_conversation(model: type[Row], axes: Axes, cell: Cell) -> dict[str, Any]:
    own = _labels(model, axes, cell.axes, cell.not_varied)
    return {"cell": cell.id, **own, "task": cell.task or None, "round": cell.round}


def group_row(model: type[Row], axes: Axes, one: Group, beside: Beside) -> Row:
    """A group's row of the table groups."""
    published = beside.of_group(one)
    return model.model_validate(
        {
            "measure": one.measure,
            **_labels(model, axes, one.levels),
            "n": one.n,
            "missing": one.missing,
            "not_applicable": one.not_applicable,
            "tasks": one.interval.n,
            "mean": one.mean,
            "sd": one.sd,
            "low": one.interval.low,
            "high": one.interval.high,
            "published": published.value if published else None,
            "published_sd": published.sd if published else None,
            "published_table": published.table if published else None,
        }
    )


def part_row(model: type[Row], axes: Axes, one: Part) -> Row:
    """A part's row of the table parts."""
    return model.model_validate(
        {
            "measure": one.measure,
            **_labels(model, axes, one.levels),
            "unit": one.unit,
            "who": one.who,
            "n": one.n,
            "total": one.total,
            "mean": one.estimate.value,
            "low": one.estimate.low,
            "high": one.estimate.high,
            "method": one.estimate.method,
        }
    )


def diversity_row(model: type[Row], axes: Axes, one: Diverse, found: CellDiversity) -> Row:
    """A value's row of the table diversity."""
    task, number = found.tasks[one.case]
    return model.model_validate(
        {
            "case": one.case,
            "setting": one.setting,
            **_labels(model, axes, found.levels[one.case, one.setting]),
            "task": task or None,
            "round": number,
            "measure": one.measure,
            "unit": one.unit,
            "who": one.who or None,
            "dialogues": one.dialogues,
            "value": one.value,
            "missing": one.missing or None,
            "embedding": found.found.options.embedding,
        }
    )


def diversity_mean_row(one: Mean) -> DiversityMeanRow:
    """The row of a measure and setting in the table diversity_settings."""
    away = one.difference
    return DiversityMeanRow(
        setting=one.setting,
        measure=one.measure,
        unit=one.unit,
        who=one.who or None,
        cases=one.estimate.n,
        missing=one.estimate.dropped,
        mean=one.estimate.value,
        low=one.estimate.low,
        high=one.estimate.high,
        reference=one.against,
        both=away.n if away else None,
        difference=away.value if away else None,
        difference_low=away.low if away else None,
        difference_high=away.high if away else None,
        method=one.estimate.method,
    )


def comparison_row(one: Comparison, beside: Beside) -> ComparisonRow:
    """A comparison's row of the table comparisons."""
    a, b = beside.of_comparison(one) or (None, None)
    return ComparisonRow(
        measure=one.measure,
        by=one.by,
        a=str(one.a),
        b=str(one.b),
        within=_within(one),
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
        published_a=a.value if a else None,
        published_b=b.value if b else None,
        published_table=a.table if a else None,
        note=remarks(one.difference, one.test),
    )


def pair_row(model: type[Row], axes: Axes, one: JudgedPair, measure: PairVerdicts) -> Row:
    """A pair's row of the table pairs."""
    cells, result = one.cells, one.result
    rest = {name: label for name, label in cells.first.axes.items() if name != measure.axis}
    known: dict[str, Any] = {
        "task": cells.first.task or None,
        "round": cells.first.round,
        **_labels(model, axes, rest),
        "a": str(cells.a),
        "b": str(cells.b),
        "cell_a": cells.first.id,
        "cell_b": cells.second.id,
        "missing": NOT_COMPLETE,
        "answers": 0,
        "judge": measure.judge,
    }
    if result is not None:
        v = result.verdict
        known |= {
            "verdict": v.outcome,
            "missing": v.missing or None,
            "score_a": _rounded(v.score_a),
            "score_b": _rounded(v.score_b),
            "a_first": v.alone[0],
            "b_first": v.alone[1],
            "position": _rounded(v.position),
            "conflict": v.conflict,
            "bpde": _rounded(v.bpde),
            "answers": v.n,
            "answers_missing": reasons(result.missing) or None,
        }
    return model.model_validate(known)


def _rounded(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), 4)


def contest_row(one: Contest, measure: PairVerdicts, beside: Beside) -> ContestRow:
    """The row of two levels in the table contests."""
    published = beside.of_contest(one, measure)
    return ContestRow(
        by=measure.axis,
        a=str(one.a),
        b=str(one.b),
        pairs=one.pairs,
        wins=one.counts.win,
        ties=one.counts.tie,
        losses=one.counts.loss,
        missing=reasons(one.missing) or None,
        tasks=one.tasks,
        win_rate=one.rate.value,
        low=one.rate.low,
        high=one.rate.high,
        p=one.test.p if one.tasks else None,
        p_holm=one.p_holm,
        position=one.position.value,
        position_low=one.position.low,
        position_high=one.position.high,
        position_p=one.position_test.p,
        conflicts=one.conflicts.value,
        length=one.length.value,
        published_win=published.win if published else None,
        published_tie=published.tie if published else None,
        published_loss=published.loss if published else None,
        published_table=published.table if published else None,
    )


def flip_row(one: AnswerFinding) -> FlipRow:
    """The row of a finding in the table flips."""
    rate, excess = one.flips.rate, one.flips.excess
    return FlipRow(
        question=one.question,
        axis=one.axis,
        pairs=rate.pairs,
        flipped=rate.flipped,
        rate=rate.value,
        floor=one.flips.floor.value,
        excess=excess.value,
        low=excess.low,
        high=excess.high,
        units=excess.n,
        levels=one.levels,
        alike=one.alike,
    )


def contrast_rows(one: ContrastFinding) -> list[ContrastRow]:
    """The rows of a finding in the table contrasts, one a level."""
    whole = one.whole
    return [
        ContrastRow(
            measure=whole.measure,
            by=whole.by,
            a=str(whole.a),
            b=str(whole.b),
            within=_within(whole),
            axis=one.axis,
            level=str(label),
            tasks=at.difference.n,
            difference=at.difference.value,
            low=at.difference.low,
            high=at.difference.high,
            ruling=one.ruling,
        )
        for label, at in one.at.items()
    ]


def _within(one: Comparison) -> str | None:
    return json.dumps(dict(one.within), ensure_ascii=False) if one.within else None
