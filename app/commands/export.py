"""`persimchat export`: runs as tables for analysis, with a codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from persimchat.app.commands.options import OUT, Runs, RunsIn
from persimchat.app.output import say, warn
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat export latest --format csv
  persimchat export conversations/2026* --format jsonl --out tables
  persimchat export 20261121-0304 20261121-0419 --format csv --bom --force
  persimchat export latest --for "Eva" --format html --out for-eva
  persimchat export latest --tables rooms,standings,ballots,beliefs --out story

\b
[bold]Exit codes[/bold]
  0 done   2 there is no such run, its folder is damaged, or the tables cannot be written
"""

TABLES_OUT: Final = Path("export")
"""The default folder for tables."""


def export(
    wanted: Runs,
    form: Annotated[
        Literal["csv", "jsonl", "md", "html", "parquet"],
        typer.Option("--format", metavar="FORMAT", help="csv, jsonl, md, html or parquet, which needs pyarrow."),
    ] = "csv",
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="The folder for the tables. [dim]default: ./export[/dim]", show_default=False
        ),
    ] = TABLES_OUT,
    runs: RunsIn = OUT,
    eyes: Annotated[
        str | None,
        typer.Option("--for", metavar="NAME", help="Only what this participant, an agent or a person, may have seen."),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables", metavar="NAMES", help="Only these tables, with commas between them.", show_default=False
        ),
    ] = None,
    bom: Annotated[
        bool,
        typer.Option("--bom", metavar="", help="csv: begin with a byte order mark, which Excel needs to read UTF-8."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace existing tables.")] = False,
) -> None:
    """Write runs as tables for analysis: many runs into one set of tables, with a codebook of all columns.

    The tables are runs, utterances, minds, memories (recalled), verdicts, positions, scores and calls, and, if there
    were any, silences, interventions, judgements of evaluators, stances (who moved after whom) and polls; of a story
    also happenings, rooms, standings, closeness, beliefs and ballots.
    """
    if bom and form != "csv":
        raise InputError(
            f"--bom needs --format csv, not {form}", where="persimchat export", remedy="Leave one of them out."
        )

    from persimchat.app.commands.finding import find_run, judgements_on
    from persimchat.runs.reports.export import export_runs
    from persimchat.runs.reports.words import count

    folders = [find_run(name, runs) for name in wanted]
    chosen = [name.strip() for name in tables.split(",")] if tables is not None else None
    done = export_runs(folders, out, form, bom=bom, force=force, eyes=eyes, tables=chosen, judged=judgements_on)
    for note in done.notes:
        warn(f"persimchat: note: {one_line(note)}")
    for table, path in done.files.items():
        say(f"{path}  {count(done.counts[table], 'row')}")
    say(str(done.codebook))
