"""Tables of measures as CSV files, for analysis elsewhere."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Protocol

from persimchat.evaluation.diversity.measuring import Diversity
from persimchat.evaluation.pair_results import PairsResult
from persimchat.evaluation.scores import Value
from persimchat.evaluation.statistics.intervals import Estimate
from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.reports.cells import guarded
from persimchat.runs.reports.stances import Position
from persimchat.state.errors import InputError

MEASURES: Final = "measures.csv"
PAIRS: Final = "pairs.csv"
STANCES: Final = "stances.csv"
POLLS: Final = "polls.csv"
DIVERSITY, DIVERSITY_SETTINGS = "diversity.csv", "diversity_settings.csv"


def write_measures(folder: Path, values: Iterable[Value], judge: str) -> Path:
    """Write one row a conversation and dimension: run, unit, measure, value, missing, judge, scores."""
    rows = [
        [one.run, "run", one.dimension, one.value, reasons(one.missing, applies=one.applies), judge, len(one.scores)]
        for one in values
    ]
    return _write(folder / MEASURES, ["run", "unit", "measure", "value", "missing", "judge", "scores"], rows)


def write_pairs(folder: Path, result: PairsResult, judge: str) -> Path:
    """Write one row a pair; `pair` is the run of side A, by which labels of people name it."""
    columns = ["pair", "b", "verdict", "missing", "score_a", "score_b", "a_first", "b_first", "position", "conflict"]
    rows = []
    for one in result.pairs:
        v = one.verdict
        scores = [None if score is None else round(float(score), 4) for score in (v.score_a, v.score_b, v.position)]
        rows.append(
            [one.pair.a.run, one.pair.b.run, v.outcome, v.missing, *scores[:2], *v.alone, scores[2], v.conflict]
            + [None if v.bpde is None else round(v.bpde, 4), v.n, reasons(one.missing), judge]
        )
    return _write(folder / PAIRS, [*columns, "bpde", "answers", "answers_missing", "judge"], rows)


def write_stances(folder: Path, rows: Mapping[str, Iterable[Position]]) -> Path:
    """Write the ledger of positions: one row an observation.

    Args:
        folder: where to.
        rows: by run.
    """
    names = [column.name for column in fields(Position)]
    table = [[run, *(_cell(getattr(row, name)) for name in names)] for run, own in rows.items() for row in own]
    return _write(folder / STANCES, ["run", *names], table)


def write_polls(folder: Path, rows: Mapping[str, Iterable[PollAnswer]]) -> Path:
    """Write one row an answer.

    Args:
        folder: where to.
        rows: by run.
    """
    columns = ["run", "poll", "question", "form", "turn", "agent", "repeat", "answer", "missing", "reasoning", "model"]
    table = [
        [run, row.poll, row.question.ask, row.question.answer, row.turn, row.agent, row.repeat]
        + [row.answer, row.missing, row.reasoning, row.judge]
        for run, own in rows.items()
        for row in own
    ]
    return _write(folder / POLLS, columns, table)


def write_diversity(folder: Path, found: Diversity) -> list[Path]:
    """Write one row a case, setting and measure, and another table with one row a setting and measure over cases.

    `runs` are those on which a value rests, as a JSON list.
    """
    runs = {
        (case, setting): json.dumps([one.run for one in each])
        for case, by_setting in found.cases.sets.items()
        for setting, each in by_setting.items()
    }
    about = [found.options.embedding, found.options.tokens]
    rows = [
        [one.case, one.setting, one.unit, one.who, one.measure, one.value, one.missing, one.dialogues, *about]
        + [runs[one.case, one.setting]]
        for one in found.values
    ]
    columns = ["case", "setting", "unit", "who", "measure", "value", "missing", "dialogues", "embedding", "tokens"]
    over_cases = [
        [one.setting, one.unit, one.who, one.measure, *_mean_and_bounds(one.estimate), one.estimate.n]
        + [one.estimate.dropped, one.against, *_mean_and_bounds(one.difference), one.difference and one.difference.n]
        + [one.estimate.method, *about]
        for one in found.means
    ]
    head = ["setting", "unit", "who", "measure", "mean", "low", "high", "cases", "missing", "reference", "difference"]
    head += ["difference_low", "difference_high", "both", "method", "embedding", "tokens"]
    return [
        _write(folder / DIVERSITY, [*columns, "runs"], rows),
        _write(folder / DIVERSITY_SETTINGS, head, over_cases),
    ]


def _mean_and_bounds(one: Estimate | None) -> list[float | None]:
    return [None, None, None] if one is None else [one.value, one.low, one.high]


def _cell(value: Any) -> Any:
    """A value as one cell: lists and objects are JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | Mapping) else value


def reasons(missing: Mapping[str, int], *, applies: bool = True) -> str:
    """Why scores are missing: "unparseable 2, refused 1"; empty if none are."""
    return ", ".join(f"{why} {n}" for why, n in sorted(missing.items())) if applies else "does not apply"


class _Noted(Protocol):
    @property
    def note(self) -> str: ...


def remarks(*found: _Noted) -> str | None:
    """What a reader must know of intervals and tests, each once; None where there is nothing."""
    return "; ".join(dict.fromkeys(one.note for one in found if one.note)) or None


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(columns)
            table.writerows([guarded(value) for value in row] for row in rows)
        new.replace(path)
    except OSError as error:
        raise InputError(
            f"the table cannot be written: {error.strerror}", where=str(path), remedy="Choose another with --out."
        ) from error
    return path
