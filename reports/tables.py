"""Tables as users take them away: columns with units, harmless cells, the codebook, a writer for each format."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

from ..state.errors import MissingExtraError
from ..state.plain_text import clean

UNIT: Final = "unit"
"""The key of a column's unit in its schema."""

_FORMULA: Final = re.compile(r"'*\s*[=+\-@＝＋－＠]")
"""The beginning of a text that a spreadsheet would run as a formula, or that looks like one already guarded."""
_PLAIN: Final = re.compile(r"-[0-9]+(\.[0-9]+)?")
"""A text that is a plain negative number, which no spreadsheet runs."""

READING: Final = (
    "**Reading.** Only an empty cell is missing: `NA`, `None` or `null` in a cell is text. pandas: "
    '`pandas.read_csv(FILE, keep_default_na=False, na_values=[""])`; R: `read.csv(FILE, na.strings = "", '
    "check.names = FALSE)`. A column of labels that look like numbers (1.10 and 1.1) is read as text with "
    '`dtype={"COLUMN": str}`, in R with `colClasses = c(COLUMN = "character")`.'
)
"""How the codebook of CSV files says to read them."""

_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~])")


def tidy(value: Any) -> Any:
    """A value with all texts in it cleaned of control characters."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): tidy(item) for key, item in value.items()}
    return [tidy(item) for item in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def cell(value: Any) -> str:
    """A tidy value as the text of a cell: empty for None, JSON for what is neither text nor None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


def guarded(value: Any) -> str:
    """A tidy value as a cell of a CSV file: a text that a spreadsheet would run has an apostrophe in front of it."""
    text = cell(value)
    runs = isinstance(value, str) and _FORMULA.match(text) and not _PLAIN.fullmatch(text)
    return f"'{text}" if runs else text


def markdown(text: str) -> str:
    """Text on one line of a Markdown table, where nothing in it is markup."""
    return _MARKS.sub(r"\\\1", text.replace("&", "&amp;")).strip().replace("\n", "<br>")


# Columns, from the models of rows


def column(meaning: str, unit: str = "", *, alias: str | None = None) -> Any:
    """A column of a table: what it means, its unit, and its heading if that is another word."""
    return Field(default=None, description=meaning, json_schema_extra={UNIT: unit}, alias=alias)


_TYPES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
}


@dataclass(frozen=True)
class Column:
    """A column as the codebook explains it.

    Attributes:
        name: its heading.
        kind: type in words.
        unit: what is counted or measured; empty if it has none.
        range: the values it can have, in words; empty if there are none.
        meaning: what it says.
    """

    name: str
    kind: str
    unit: str
    range: str
    meaning: str


def columns(table: type[BaseModel]) -> list[Column]:
    """A table's columns in order."""
    fields = table.model_json_schema()["properties"]
    return [
        Column(
            name, _TYPES[_values_of(field)["type"]], field.get(UNIT, ""), _range(field), field.get("description", "")
        )
        for name, field in fields.items()
    ]


def _values_of(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a column's values, null apart."""
    forms: Sequence[Mapping[str, Any]] = field.get("anyOf", [field])
    return next(form for form in forms if form["type"] != "null")


def _kind(field: Mapping[str, Any]) -> str:
    return _TYPES[_values_of(field)["type"]]


def _range(field: Mapping[str, Any]) -> str:
    value = _values_of(field)
    value = value.get("additionalProperties", value) if value["type"] == "object" else value
    if not isinstance(value, Mapping) or value.get("minimum") is None:
        return ""
    least, most = value["minimum"], value.get("maximum")
    # A very large maximum only serves to detect damaged files; the measure has no such bound.
    return f"{least:g}–{most:g}" if most is not None and most <= 1000 else f"{least:g} or more"


def explained(name: str, file: str, table: type[BaseModel], rows: int, without: Sequence[Column] = ()) -> list[str]:
    """The codebook's paragraphs on one table.

    Args:
        name: of the table.
        file: its name.
        table: the model of its rows.
        rows: how many there are.
        without: columns that are explained elsewhere.
    """
    own = [column for column in columns(table) if column not in without]
    about = markdown(" ".join((table.__doc__ or "").split()))
    return [f"## {name}", f"`{file}`, {rows:,} {'row' if rows == 1 else 'rows'}. {about}", listed(own)]


def listed(given: Sequence[Column]) -> str:
    """Columns as a Markdown table."""
    head = "| column | type | unit | range | meaning |\n| --- | --- | --- | --- | --- |"
    rows = (
        f"| `{column.name}` | {column.kind} | {column.unit} | {column.range} | {markdown(column.meaning)} |"
        for column in given
    )
    return "\n".join([head, *rows])


# Files, written row by row

_PAGE: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<title>{title}</title><style>body{{font:14px/1.4 sans-serif;margin:1rem}}table{{border-collapse:collapse}}"
    "th,td{{border:1px solid #bbb;padding:.2rem .4rem;text-align:left;vertical-align:top;white-space:pre-wrap}}"
    "th{{position:sticky;top:0;background:#eee}}</style></head><body><h1>{title}</h1>\n<table><thead>"
)


def _html_line(tag: str, cells: Iterable[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell(value))}</{tag}>' for value in cells)}</tr>\n"


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


@dataclass(frozen=True)
class _Form:
    """How a table is written as text: what comes before its rows, a row of tidy values, and what comes after."""

    head: Callable[[str, list[str]], str]
    line: Callable[[list[str], list[Any]], str]
    foot: str = ""


_TEXTS: Final = {
    "jsonl": _Form(lambda _, names: "", lambda names, row: as_json(dict(zip(names, row, strict=True))) + "\n"),
    "md": _Form(
        lambda _, names: (
            _markdown_line(n if n.isidentifier() else markdown(n) for n in names) + _markdown_line(["---"] * len(names))
        ),
        lambda _, row: _markdown_line(markdown(cell(value)) for value in row),
    ),
    "html": _Form(
        lambda title, names: _PAGE.format(title=escape(title)) + _html_line("th", names) + "</thead><tbody>\n",
        lambda _, row: _html_line("td", row),
        "</tbody></table></body></html>\n",
    ),
}
FORMATS: Final = ("csv", *_TEXTS, "parquet")
"""The formats; each is also the ending of the file's name."""


class Writer:
    """Writes one table.

    Args:
        form: one of `FORMATS`.
        path: the file.
        table: the model of a row.
        bom: csv: whether the file begins with a byte order mark, by which Excel recognises UTF-8.
    """

    def __init__(self, form: str, path: Path, table: type[BaseModel], *, bom: bool = False) -> None:
        self._file = path.open("w", encoding="utf-8-sig" if form == "csv" and bom else "utf-8", newline="")
        self._names = [column.name for column in columns(table)]
        self._csv = csv.writer(self._file, lineterminator="\n") if form == "csv" else None
        self._form = _TEXTS.get(form, _TEXTS["jsonl"])
        if self._csv is not None:
            self._csv.writerow(map(guarded, self._names))
        else:
            self._file.write(self._form.head(path.stem, self._names))

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        if self._csv is not None:
            self._csv.writerow([guarded(value) for value in _values(row)])
        else:
            self._file.write(self._form.line(self._names, _values(row)))

    def close(self) -> None:
        """Complete the file."""
        self._file.write("" if self._csv is not None else self._form.foot)
        self._file.close()


class _ParquetWriter(Writer):
    """A Parquet file; needs pyarrow."""

    _BATCH: Final = 10_000

    def __init__(self, path: Path, table: type[BaseModel]) -> None:
        self._arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        types = {"integer": self._arrow.int64(), "number": self._arrow.float64(), "boolean": self._arrow.bool_()}
        fields = table.model_json_schema()["properties"].items()
        kinds = [(name, types.get(_values_of(field)["type"], self._arrow.string())) for name, field in fields]
        self._schema = self._arrow.schema(kinds)
        self._parquet = parquet.ParquetWriter(str(path), self._schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: BaseModel) -> None:
        cells = [as_json(value) if isinstance(value, list | dict) else value for value in _values(row)]
        self._rows.append(dict(zip(self._schema.names, cells, strict=True)))
        if len(self._rows) >= self._BATCH:
            self._flush()

    def _flush(self) -> None:
        self._parquet.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._parquet.close()


def _values(row: BaseModel) -> list[Any]:
    """A row's values in the order of its columns."""
    return [tidy(value) for value in row.model_dump(mode="json").values()]


def need(form: str) -> None:
    """Refuse a format whose library is missing.

    Raises:
        MissingExtraError: it needs a library that is not installed.
    """
    if form == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("the format parquet", "parquet")


def writer(form: str, path: Path, table: type[BaseModel], *, bom: bool = False) -> Writer:
    """A writer of one table's file; the arguments are those of `Writer`."""
    return _ParquetWriter(path, table) if form == "parquet" else Writer(form, path, table, bom=bom)


def write_table(path: Path, table: type[BaseModel], rows: Iterable[BaseModel], form: str = "csv") -> None:
    """Write one table, whole or not at all.

    Raises:
        MissingExtraError: the format needs a library that is not installed.
    """
    partial = path.with_name(f"{path.name}.partial")
    file = writer(form, partial, table)
    for row in rows:
        file.write(row)
    file.close()
    partial.replace(path)
