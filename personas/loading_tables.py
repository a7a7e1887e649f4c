"""Descriptions from tables: the rows of a CSV file, with the line that each begins in."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, Final

from persimchat.personas.loading_record import Form, Record, contents
from persimchat.state.errors import InputError

_DELIMITERS: Final = (",", ";", "\t", "|")


def load_table(path: Path) -> list[Form]:
    """The rows of a CSV file as records; the first row names the columns.

    The delimiter is the one of comma, semicolon, tab and bar that makes the most columns.

    Raises:
        InputError: it cannot be read, has no rows, two columns of one name, or a row longer than the first.
    """
    # It imports much that is not needed elsewhere.
    from langchain_community.document_loaders import CSVLoader

    text = contents(path)
    delimiter = _delimiter(text, path)
    header, lines = _survey(text, delimiter, path)
    columns = [name.strip() or f"column {n}" for n, name in enumerate(header, start=1)]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", where=f"{path}:1", remedy="Give each a name of its own.")
    if not lines:
        raise InputError(
            "there is no row below the columns' names", where=str(path), remedy="Write one row for each person."
        )
    # All columns as metadata keep their values apart; what is left for the content is what the header does not name.
    loader = CSVLoader(
        path,
        metadata_columns=columns,
        csv_args={"fieldnames": columns, "delimiter": delimiter},
        encoding="utf-8-sig",
    )
    rows = loader.load()[1:]
    records = []
    for line, row in zip(lines, rows, strict=True):
        if row.page_content:
            remedy = "Put a value that holds the delimiter in quotes."
            raise InputError(f"the row has more than {len(columns)} fields", where=f"{path}:{line}", remedy=remedy)
        data: dict[str, Any] = {name: row.metadata[name] or "" for name in columns}
        records.append(Record(path, line=line, data=data))
    return [Form(tuple(records))]


def _delimiter(text: str, path: Path) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    first = text.lstrip("\r\n").split("\n", 1)[0]
    return max(_DELIMITERS, key=lambda d: len(next(csv.reader([first], delimiter=d), [])))


def _survey(text: str, delimiter: str, path: Path) -> tuple[list[str], list[int]]:
    """The first row, and the lines in which the others begin; empty lines are none, as for the loader.

    It is strict where the loader is not: a quote that is never closed would swallow all rows below it.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    lines: list[int] = []
    begins = 1
    try:
        for row in reader:
            if row and not header:
                header = row
            elif row:
                lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        where = f"{path}:{begins}"
        raise InputError(
            f"this is not CSV: {error}", where=where, remedy="Check quotes there or just before."
        ) from None
    return header, lines
