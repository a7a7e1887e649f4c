"""Tables of measures: their columns are data, and rows are made from what was found, by the paths of the columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import BaseModel, ConfigDict, create_model

from ..reports.export_rows import polled
from ..reports.export_tables import SHARED
from ..reports.export_tables import TABLES as EXPORTED
from ..reports.stances import Position
from ..reports.tables import column, write_table
from ..runs.folder.answers import PollAnswer
from ..state.document import table
from ..state.errors import InputError
from .dimensions import Value
from .diversity.measuring import Diversity
from .pairs import PairsResult


class Row(BaseModel):
    """A row of a table."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


_KINDS: Final[dict[str, Any]] = {"text": str, "whole": int, "number": float, "rounded": float, "flag": bool}
Columns = Mapping[str, Sequence[str | None]]
"""By name: the kind of its values ("?" means that it may be empty; "rounded": to four digits), the unit, what it says,
and where the value comes from, if that is not called as the column is."""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        model: of its rows.
        columns: those that are data.
    """

    model: type[BaseModel]
    columns: Columns

    @classmethod
    def of(cls, name: str, about: str, columns: Columns, fields: Mapping[str, Any] | None = None) -> Table:
        """A table of columns, and behind them of a model's fields that are ready."""
        made: dict[str, Any] = {}
        for own, (kind, unit, meaning, *_) in columns.items():
            values = _KINDS[str(kind).removesuffix("?")]
            made[own] = (values | None if str(kind).endswith("?") else values, column(str(meaning), unit or ""))
        model: Any = create_model(name, __base__=Row, __doc__=about, **{**made, **(fields or {})})
        return cls(model, columns)

    @classmethod
    def as_exported(cls, name: str, columns: Columns) -> Table:
        """A table of a run's export, with other columns in place of those about the run."""
        model = EXPORTED[name]
        own = {key: (one.annotation, one) for key, one in model.model_fields.items() if key not in SHARED.model_fields}
        return cls.of(name, model.__doc__ or "", columns, own)

    def widened(self, more: Columns, after: str) -> Table:
        """The table with further columns after one of its own."""
        columns: dict[str, Sequence[str | None]] = {}
        for name, about in self.columns.items():
            columns |= {name: about, **(more if name == after else {})}
        rest = {key: (one.annotation, one) for key, one in self.model.model_fields.items() if key not in self.columns}
        return Table.of(self.model.__name__, self.model.__doc__ or "", columns, rest)

    def row(self, one: Any, **more: Any) -> Any:
        """A row.

        Args:
            one: an object or a mapping that the paths begin at.
            **more: what they may begin at, too, by name; it counts more.
        """
        found: dict[str, Any] = {}
        for name in self.model.model_fields:
            kind, _, _, *path = self.columns.get(name, ("text?", None, None))
            value = _at(one, more, str(path[0] if path else name))
            if isinstance(value, Fraction) or (kind == "rounded?" and value is not None):
                value = round(float(value), 4)
            if str(kind).startswith("text"):
                value = None if value == "" and str(kind).endswith("?") else value
                value = str(value) if isinstance(value, int | float) and name in self.columns else value
            found[name] = value
        return self.model.model_validate(found)


def _at(one: Any, more: Mapping[str, Any], path: str) -> Any:
    """The value at a path; None as soon as a part of it is None. An axis, `pruning.lambda`, has a dot in its name."""
    if path in more:
        return more[path]
    first, *rest = path.split(".")
    value = more[first] if first in more else _part(one, first)
    for part in rest:
        value = None if value is None else _part(value, part)
    return value


def _part(one: Any, name: str) -> Any:
    return one.get(name) if isinstance(one, Mapping) else getattr(one, name)


def read_tables(module: str) -> dict[str, Table]:
    """The tables of the file tables.yaml beside a module, by their names.

    Args:
        module: its `__file__`.
    """
    given: dict[str, dict[str, Any]] = table(module, "tables.yaml")["tables"]
    return {name: Table.of(name, one["about"], one["columns"]) for name, one in given.items()}


TABLES: Final = read_tables(__file__)
_RUN: Final[Columns] = {"run": ["text", None, "the run's id"]}
TABLES["stances"] = Table.as_exported("stances", _RUN)
TABLES["polls"] = Table.as_exported("polls", _RUN)
"""The tables that commands write."""


def write_measures(folder: Path, values: Iterable[Value], judge: str) -> Path:
    """Write one row a conversation and dimension."""
    rows = [{"missing": reasons(one.missing, applies=one.applies), "scores": len(one.scores)} for one in values]
    made = [TABLES["measures"].row(one, **row, judge=judge, unit="run") for one, row in zip(values, rows, strict=True)]
    return write(folder, "measures", made)


def write_pairs(folder: Path, result: PairsResult, judge: str) -> Path:
    """Write one row a pair; `pair` is the run of side A, by which labels of people name it."""
    pairs = ((one, {"a_first": one.verdict.alone[0], "b_first": one.verdict.alone[1]}) for one in result.pairs)
    made = (TABLES["pairs"].row(one, **row, why=reasons(one.missing), judge=judge) for one, row in pairs)
    return write(folder, "pairs", made)


def write_stances(folder: Path, rows: Mapping[str, Iterable[Position]]) -> Path:
    """Write the ledger of positions by run: one row an observation."""
    return write(folder, "stances", (TABLES["stances"].row(one, run=run) for run, own in rows.items() for one in own))


def write_polls(folder: Path, rows: Mapping[str, Iterable[PollAnswer]]) -> Path:
    """Write the answers by run: one row an answer."""
    return write(
        folder, "polls", (TABLES["polls"].row(polled(one), run=run) for run, own in rows.items() for one in own)
    )


def write_diversity(folder: Path, found: Diversity) -> list[Path]:
    """Write one row a case, setting and measure, and another table with one row a setting and measure over cases."""
    values, means = TABLES["diversity"], TABLES["diversity_settings"]
    about = {"embedding": found.options.embedding, "tokens": found.options.tokens}
    runs = {
        (case, setting): json.dumps([one.run for one in each])
        for case, by_setting in found.cases.sets.items()
        for setting, each in by_setting.items()
    }
    rows = (values.row(one, **about, runs=runs[one.case, one.setting]) for one in found.values)
    over_cases = (means.row(one, **about) for one in found.means)
    return [write(folder, "diversity", rows), write(folder, "diversity_settings", over_cases)]


def reasons(missing: Mapping[str, int], *, applies: bool = True) -> str:
    """Why scores are missing: "unparseable 2, refused 1"; empty if none are."""
    return ", ".join(f"{why} {n}" for why, n in sorted(missing.items())) if applies else "does not apply"


class _Noted(Protocol):
    @property
    def note(self) -> str: ...


def remarks(*found: _Noted) -> str | None:
    """What a reader must know of intervals and tests, each once; None where there is nothing."""
    return "; ".join(dict.fromkeys(one.note for one in found if one.note)) or None


def write(folder: Path, name: str, rows: Iterable[BaseModel], tables: Mapping[str, Table] = TABLES) -> Path:
    """Write a table as CSV, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    path = folder / f"{name}.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(path, tables[name].model, rows)
    except OSError as error:
        raise InputError(
            f"the table cannot be written: {error.strerror}", where=str(path), remedy="Choose another with --out."
        ) from error
    return path
