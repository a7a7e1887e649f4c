"""The codebook of an export: what each column of each table means, from the models of `export_tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel

from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.reports.cells import markdown
from persimchat.runs.reports.export_columns import UNIT, Row
from persimchat.runs.reports.export_tables import TABLES
from persimchat.state.plain_text import one_line

NAME: Final = "codebook.md"
"""The codebook's file."""

_TYPES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
}
_EMPTY: Final = {
    "csv": "An empty cell",
    "jsonl": "`null`",
    "parquet": "A null",
    "md": "An empty cell",
    "html": "An empty cell",
}
_FORMS: Final = {
    "csv": "Comma-separated values, UTF-8, one heading line; texts may hold line ends, in quotes. Lists and objects "
    "are JSON in one cell. **Formulas:** a spreadsheet must not run an utterance as a formula, so a text that begins "
    "with `=`, `+`, `-` or `@` (also full-width, also after spaces) has an apostrophe in front of it; so has one that "
    "begins with apostrophes before such a sign. To undo it, remove one apostrophe from the front of every text "
    "that matches `^'('*\\s*[=+\\-@＝＋－＠])`. Numbers are never changed.",
    "jsonl": "JSON Lines, UTF-8: one object a line, every column in every line.",
    "parquet": "Parquet. Lists and objects are JSON in a text column.",
    "md": "Markdown tables. Lists and objects are JSON in one cell; signs of Markdown are escaped.",
    "html": "HTML tables, without scripts. Lists and objects are JSON in one cell.",
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
        Column(name, _TYPES[json_type(field)], field.get(UNIT, ""), _range(field), field.get("description", ""))
        for name, field in fields.items()
    ]


def json_type(field: Mapping[str, Any]) -> str:
    """The JSON type of a column, null apart, from its part of the schema."""
    return str(_value(field)["type"])


def _value(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the column's values, null apart."""
    forms: Sequence[Mapping[str, Any]] = field.get("anyOf", [field])
    return next(form for form in forms if form["type"] != "null")


def _range(field: Mapping[str, Any]) -> str:
    value = _value(field)
    value = value.get("additionalProperties", value) if value["type"] == "object" else value
    if not isinstance(value, Mapping):
        return ""
    least, most = value.get("minimum"), value.get("maximum")
    if least is None:
        return ""
    # A very large maximum only serves to detect damaged files; the measure has no such bound.
    return f"{least:g}–{most:g}" if most is not None and most <= _TELLING else f"{least:g} or more"


_TELLING: Final = 1000


def codebook(
    form: str,
    files: Mapping[str, str],
    counts: Mapping[str, int],
    notes: Sequence[str],
    *,
    runs: int,
    eyes: str | None = None,
) -> str:
    """The codebook as Markdown; the same for the same export.

    Args:
        form: the format of the tables (`export_writing.FORMATS`).
        files: table: name of its file; a table that is not written is not explained.
        counts: table: rows in it.
        notes: what is missing in the runs, a sentence each.
        runs: of how many runs the tables are.
        eyes: the participant to whose knowledge the export is limited.
    """
    parts = [
        "# Codebook",
        f"Tables of {runs:,} {'run' if runs == 1 else 'runs'}, made with PerSimChat "
        f"{version('persimchat')}. Each table has one row a case and the same first columns: the run's id and its "
        "main settings, explained once."
        + (" All settings are in the table `runs`." if eyes is None and "runs" in files else ""),
        f"> {DISCLAIMER}",
        f"**Format.** {_FORMS[form]}",
        f"**Missing values.** {_EMPTY[form]} means: not known, or does not apply. It is never 0.",
        "**Texts** are as they were written, without control characters and escape sequences. Every line end is one "
        "newline character, every tab a space.",
        "**Joining.** `run` and `turn`, and `agent` (or `speaker`), tell rows of the tables apart and belong together.",
    ]
    if eyes is not None:
        parts += [
            f"**For one participant's eyes.** The tables have only what {markdown(one_line(eyes))} may have seen: what "
            "they heard, their own mind and memories, and what all participants know. Others' needs, emotions and "
            "thoughts, whispers to others, verdicts, scores, requests and most settings are left out, so their columns "
            "are empty, and numbers of utterances may have gaps."
        ]
    if notes:
        parts += ["## What is missing", "\n".join(f"- {markdown(note)}" for note in notes)]
    shared = columns(Row)
    parts += ["## Columns of every table", listed(shared)]
    for name, file in files.items():
        parts += explained(name, file, TABLES[name], counts[name], without=shared)
    return "\n\n".join(parts) + "\n"


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
