"""Reads tables that people give as CSV files, with the line of every row, for errors."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..state.document import read_text
from ..state.errors import InputError, suggestion
from ..state.plain_text import quoted
from ..state.wording import listed

Row = dict[str, str]
_SEPARATORS: Final = ",;\t"
"""What spreadsheets put between cells, the usual one first."""
_SHOWN: Final = 60
_MOST_BYTES: Final = 100_000_000


def read_rows(
    path: Path, needed: Sequence[str], *, what: str, remedy: str, optional: Sequence[str] | None = None
) -> list[tuple[str, Row]]:
    """The rows of a table with the places where they begin ("file, line 7").

    Cells lose the spaces around them; absent ones are empty. They are separated by commas, semicolons or tabs.

    Args:
        path: the file.
        needed: columns that must be there.
        what: is read, in the plural, for errors.
        remedy: what to do if a column is missing.
        optional: columns that may be there; None if any may.

    Raises:
        InputError: the file cannot be read, a column is missing or not allowed, or a row has too many cells.
    """
    number = 1
    try:
        with io.StringIO(read_text(path, _MOST_BYTES), newline="") as file:
            head = file.readline()
            file.seek(0)
            separator = max(_SEPARATORS, key=lambda sign: (head.count(sign), sign == _SEPARATORS[0]))
            reader = csv.reader(file, delimiter=separator, strict=True)
            columns = [name.strip().lower() for name in next(reader, [])]
            _check_columns(columns, needed, optional, f"{path}, line 1", remedy)
            found = []
            number = reader.line_num
            for cells in reader:
                begins, number = number + 1, reader.line_num
                if any(cell.strip() for cell in cells):
                    found.append(_row(columns, cells, f"{path}, line {begins}"))
            return found
    except csv.Error as error:
        where = f"{path}, after line {number}"
        raise InputError(f"the {what} cannot be read: {error}", where=where, remedy="Give a CSV file.") from error


def _check_columns(
    columns: Sequence[str], needed: Sequence[str], optional: Sequence[str] | None, where: str, remedy: str
) -> None:
    if not set(needed) <= set(columns):
        raise InputError(f"the columns {listed(list(needed))} are needed", where=where, remedy=remedy)
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the column {quoted(twice, _SHOWN)} is there twice", where=where, remedy="Keep one of them.")
    if optional is None:
        return
    known = (*needed, *optional)
    for name in columns:
        if name not in known:
            raise InputError(
                f"the column {quoted(name, _SHOWN)} is none of these",
                where=where,
                remedy=suggestion(name, known, otherwise=f"Keep only {listed(list(known))}."),
            )


def _row(columns: Sequence[str], cells: Sequence[str], where: str) -> tuple[str, Row]:
    if len(cells) > len(columns):
        raise InputError(
            f"there are {len(cells)} cells, but {len(columns)} columns",
            where=where,
            remedy="Put texts that hold the separator into quotes.",
        )
    padded = [*cells, *[""] * (len(columns) - len(cells))]
    return where, {name: cell.strip() for name, cell in zip(columns, padded, strict=True)}
