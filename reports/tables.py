"""Tables as users take them away: columns with units, harmless cells, the codebook, a writer for each format."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, Field

from ..state.errors import InputError, MissingExtraError
from ..state.plain_text import clean
from .words import is_number

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
Form = Literal["csv", "xlsx", "jsonl", "parquet", "md", "html"]
FORMATS: Final[tuple[Form, ...]] = get_args(Form)
"""The formats; each is also the ending of the file's name."""
WORKBOOK: Final = "tables.xlsx"
"""The file of all tables in Excel's format: a sheet a table."""


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
            self._file.write(self._form.head(path.name.partition(".")[0], self._names))

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


class _Sheet(Writer):
    """A sheet of a workbook, made with its first row."""

    _LONGEST: Final = 32_767
    """Characters of a cell."""
    _EXACT: Final = 10**15
    """From here on Excel rounds whole numbers, so they are text."""

    def __init__(self, book: Any, name: str, table: type[BaseModel]) -> None:
        self._book, self._name, self._rows = book, name, 0
        self._names = [column.name for column in columns(table)]

    def write(self, row: BaseModel) -> None:
        if not self._rows:
            self._sheet = self._book.add_worksheet(self._name[:31])
            self._sheet.freeze_panes(1, 0)
            self._line(self._names)
        self._line(_values(row))

    def _line(self, values: Sequence[Any]) -> None:
        for place, value in enumerate(values):
            number = is_number(value) and abs(value) < self._EXACT
            text = value if isinstance(value, bool) or number else cell(value)
            if self._rows >= 1_048_576 or (isinstance(text, str) and len(text) > self._LONGEST):
                raise InputError(
                    "Excel has 1,048,576 rows a sheet, and 32,767 characters a cell",
                    where=f"table {self._name}, row {self._rows}",
                    remedy="Choose another format with --format, or fewer tables or runs.",
                )
            if isinstance(text, bool):
                self._sheet.write_boolean(self._rows, place, text)
            elif isinstance(text, str):
                self._sheet.write_string(self._rows, place, text)
            else:
                self._sheet.write_number(self._rows, place, text)
        self._rows += 1

    def close(self) -> None:
        """The workbook is closed as a whole."""


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    """A workbook that is written row by row, the same for the same rows."""
    book = import_module("xlsxwriter").Workbook(path, {"constant_memory": True, "tmpdir": str(path.parent)})
    book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
    try:
        yield book
    finally:
        try:
            book.close()
        except import_module("xlsxwriter.exceptions").FileCreateError as error:
            raise error.args[0] from error


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


def file_of(table: str, form: str) -> str:
    """The name of a table's file."""
    return WORKBOOK if form == "xlsx" else f"{table}.{form}"


@contextmanager
def writers(
    form: str, folder: Path, tables: Mapping[str, type[BaseModel]], *, bom: bool = False
) -> Iterator[dict[str, Writer]]:
    """Writers of tables in a folder, by the tables' names; at the end the files are there, whole.

    Args:
        form: one of `FORMATS`.
        folder: of the files.
        tables: name → model of a row.
        bom: csv: whether files begin with a byte order mark, by which Excel recognises UTF-8.

    Raises:
        InputError: while writing: Excel cannot hold it.
    """
    partial = {name: folder / f"{file_of(name, form)}.partial" for name in tables}
    try:
        with ExitStack() as files:
            if form == "xlsx":
                book = files.enter_context(_workbook(folder / f"{WORKBOOK}.partial"))
                yield {name: _Sheet(book, name, table) for name, table in tables.items()}
            else:
                made = {name: _writer(form, partial[name], table, bom=bom) for name, table in tables.items()}
                for one in made.values():
                    files.callback(one.close)
                yield made
    except BaseException:
        for path in partial.values():
            path.unlink(missing_ok=True)
        raise
    for path in set(partial.values()):
        path.replace(path.with_suffix(""))


def _writer(form: str, path: Path, table: type[BaseModel], *, bom: bool) -> Writer:
    return _ParquetWriter(path, table) if form == "parquet" else Writer(form, path, table, bom=bom)


def write_table(path: Path, table: type[BaseModel], rows: Iterable[BaseModel]) -> None:
    """Write one table as CSV, whole or not at all."""
    with writers("csv", path.parent, {path.stem: table}) as made:
        for row in rows:
            made[path.stem].write(row)
