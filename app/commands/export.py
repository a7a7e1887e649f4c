"""`persimchat export`: runs as tables for analysis, with a codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from ...state.errors import InputError
from ...state.plain_text import one_line
from ..output import say, warn
from .options import OUT, Runs, RunsIn, option

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
    form: Annotated[Literal["csv", "xlsx", "jsonl", "parquet", "md", "html"], option("export", "form")] = "csv",
    out: Annotated[Path, option("export", "out")] = TABLES_OUT,
    runs: RunsIn = OUT,
    eyes: Annotated[str | None, option("export", "eyes")] = None,
    tables: Annotated[str | None, option("export", "tables")] = None,
    bom: Annotated[bool, option("export", "bom")] = False,
    force: Annotated[bool, option("export", "force")] = False,
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

    from ...reports.export import export_runs
    from ...reports.words import count
    from .finding import find_run, judgements_on

    folders = [find_run(name, runs) for name in wanted]
    chosen = [name.strip() for name in tables.split(",")] if tables is not None else None
    done = export_runs(folders, out, form, bom=bom, force=force, eyes=eyes, tables=chosen, judged=judgements_on)
    for note in done.notes:
        warn(f"persimchat: note: {one_line(note)}")
    for table, path in done.files.items():
        say(f"{path if path.stem == table else f'{path} ({table})'}  {count(done.counts[table], 'row')}")
    say(str(done.codebook))
