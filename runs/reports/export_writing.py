"""Writes the files of an export: one writer per format, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import BaseModel

from persimchat.runs.reports.cells import as_json, cell, guarded, markdown, tidy
from persimchat.runs.reports.codebook import columns, json_type
from persimchat.state.errors import MissingExtraError

"""The beginning of a text that a spreadsheet would run as a formula, or that looks like one already guarded."""


_PAGE: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<title>{title}</title><style>body{{font:14px/1.4 sans-serif;margin:1rem}}table{{border-collapse:collapse}}"
    "th,td{{border:1px solid #bbb;padding:.2rem .4rem;text-align:left;vertical-align:top;white-space:pre-wrap}}"
    "th{{position:sticky;top:0;background:#eee}}</style></head><body><h1>{title}</h1>\n<table><thead>"
)


class Writer(Protocol):
    """Writes one table."""

    def write(self, row: BaseModel) -> None:
        """Write one row."""

    def close(self) -> None:
        """Complete the file."""


def values(row: BaseModel) -> list[Any]:
    """A row's values in the order of its columns."""
    return [tidy(value) for value in row.model_dump(mode="json").values()]


class _Text:
    """A table in a text file."""

    def __init__(self, path: Path, table: type[BaseModel], encoding: str = "utf-8") -> None:
        self.file = path.open("w", encoding=encoding, newline="")
        self.names = [column.name for column in columns(table)]

    def close(self) -> None:
        self.file.close()


class CsvWriter(_Text):
    """Comma-separated values; `encoding` may be utf-8-sig, which begins with a byte order mark."""

    def __init__(self, path: Path, table: type[BaseModel], encoding: str = "utf-8") -> None:
        super().__init__(path, table, encoding)
        self._rows = csv.writer(self.file, lineterminator="\n")
        self._rows.writerow(self.names)

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        self._rows.writerow([guarded(value) for value in values(row)])


class JsonLinesWriter(_Text):
    """One JSON object a line."""

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        self.file.write(as_json(dict(zip(self.names, values(row), strict=True))) + "\n")


class MarkdownWriter(_Text):
    """A Markdown table."""

    def __init__(self, path: Path, table: type[BaseModel]) -> None:
        super().__init__(path, table)
        self._line(self.names)
        self._line(["---"] * len(self.names))

    def _line(self, cells: Sequence[str]) -> None:
        self.file.write(f"| {' | '.join(cells)} |\n")

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        self._line([markdown(cell(value)) for value in values(row)])


class HtmlWriter(_Text):
    """A page with one table, without scripts."""

    def __init__(self, path: Path, table: type[BaseModel]) -> None:
        super().__init__(path, table)
        self.file.write(_PAGE.format(title=escape(path.stem)))
        self._line("th", self.names)
        self.file.write("</thead><tbody>\n")

    def _line(self, tag: str, cells: Sequence[str]) -> None:
        self.file.write(f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in cells)}</tr>\n")

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        self._line("td", [cell(value) for value in values(row)])

    def close(self) -> None:
        """Complete the page."""
        self.file.write("</tbody></table></body></html>\n")
        super().close()


class ParquetWriter:
    """A Parquet file; needs pyarrow."""

    _BATCH: Final = 10_000

    def __init__(self, path: Path, table: type[BaseModel]) -> None:
        self._arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        fields = table.model_json_schema()["properties"]
        types = {"integer": self._arrow.int64(), "number": self._arrow.float64(), "boolean": self._arrow.bool_()}
        self._schema = self._arrow.schema(
            [(name, types.get(json_type(field), self._arrow.string())) for name, field in fields.items()]
        )
        self._file = parquet.ParquetWriter(str(path), self._schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: BaseModel) -> None:
        """Write one row."""
        cells = [as_json(value) if isinstance(value, list | dict) else value for value in values(row)]
        self._rows.append(dict(zip(self._schema.names, cells, strict=True)))
        if len(self._rows) >= self._BATCH:
            self._flush()

    def _flush(self) -> None:
        self._file.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        """Complete the file."""
        if self._rows:
            self._flush()
        self._file.close()


FORMATS: Final[dict[str, type[CsvWriter | JsonLinesWriter | MarkdownWriter | HtmlWriter | ParquetWriter]]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "md": MarkdownWriter,
    "html": HtmlWriter,
    "parquet": ParquetWriter,
}
"""Writers by format, which is also the ending of the file's name."""


def need(form: str) -> None:
    """Refuse a format whose library is missing.

    Raises:
        MissingExtraError: it needs a library that is not installed.
    """
    if form == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("the format parquet", "parquet")


def writer(form: str, path: Path, table: type[BaseModel], *, bom: bool = False) -> Writer:
    """A writer of one table's file.

    Args:
        form: one of `FORMATS`.
        path: the file.
        table: the model of a row.
        bom: csv: whether the file begins with a byte order mark, by which Excel recognises UTF-8.
    """
    return CsvWriter(path, table, "utf-8-sig") if form == "csv" and bom else FORMATS[form](path, table)


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
