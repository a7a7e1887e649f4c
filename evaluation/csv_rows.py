"""Reads the CSV files that people fill in: every row with its place, so that an error can name the line."""

from __future__ import annotations

import csv
from collections.abc import Collection
from pathlib import Path

from persimchat.state.errors import InputError


def csv_rows(path: Path, needed: Collection[str], *, what: str, remedy: str) -> list[tuple[str, dict[str, str]]]:
    """The rows of a file, each with its place: file and line. Cells are stripped; a cell that lacks is empty.

    Args:
        path: a CSV file in UTF-8, with a heading line.
        needed: columns that it must have.
        what: what the file holds, for errors: "the labels".
        remedy: what the columns mean, for the error about a missing one.

    Raises:
        InputError: the file cannot be read, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if not set(needed) <= set(reader.fieldnames or ()):
                named = " and ".join(needed)
                columns = f"the columns {named} are" if len(needed) > 1 else f"the column {named} is"
                raise InputError(f"{columns} needed", where=f"{path}, line 1", remedy=remedy)
            return [
                (
                    f"{path}, line {reader.line_num}",
                    {name: (row[name] or "").strip() for name in reader.fieldnames or ()},
                )
                for row in reader
            ]
    except (OSError, UnicodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{what} cannot be read: {why}", where=str(path), remedy="Give a CSV file.") from error
