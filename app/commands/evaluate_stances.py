"""`persimchat evaluate stances`: who held what in recorded conversations, who moved, and after whom."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.options import OUT, JsonObject, Runs, RunsIn
from persimchat.app.output import is_unicode, on_terminal, say

if TYPE_CHECKING:
    from persimchat.runs.reports.stance_summary import Stances
    from persimchat.runs.reports.stances import Position

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate stances latest
  persimchat evaluate stances conversations/2026* --source verdicts --out results/moves
  persimchat evaluate stances latest --source polls --json

\b
[bold]Sources[/bold]
  verdicts  a judge's, in debates with --answer-format
  answers   participants' own, in debates in rounds
  polls     what they answered to persimchat poll
  supports  whom the characters of a story stand for

\b
[bold]Exit codes[/bold]
  0 done   2 there is no such run, or its folder is damaged
"""


def stances(
    wanted: Runs,
    source: Annotated[
        str | None,
        typer.Option(
            "--source", metavar="SOURCE", help="Only verdicts, answers, polls or supports; may be several, with commas."
        ),
    ] = None,
    runs: RunsIn = OUT,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Also write the ledger there, as stances.csv.", show_default=False),
    ] = None,
    as_json: JsonObject = False,
) -> None:
    """Show who held what, who moved, when, and after whom.

    No model is asked. Credit for a move is shared among the others who held the new position and were heard since; it
    says after whom somebody moved, not because of whom.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.runs.folder.reading import read_run
    from persimchat.runs.reports.stance_summary import stances_of
    from persimchat.runs.reports.stances import AFTER_WHOM, SOURCES, ledger
    from persimchat.state.errors import InputError, suggestion

    chosen = [name.strip() for name in source.split(",")] if source is not None else list(SOURCES)
    for name in chosen:
        if name not in SOURCES:
            raise InputError(f"there is no source {name!r}", where="--source", remedy=suggestion(name, list(SOURCES)))
    rows: dict[str, list[Position]] = {}
    found: dict[str, list[Stances]] = {}
    for folder in [find_run(name, runs) for name in wanted]:
        record = read_run(folder, whole=True)
        if record.manifest.run in rows:
            raise InputError(f"the run {record.manifest.run} is given twice", remedy="Leave one of them out.")
        rows[record.manifest.run] = ledger(record, chosen)
        found[record.manifest.run] = stances_of(rows[record.manifest.run], record.polls)
    written = None
    if out is not None:
        from persimchat.evaluation.tables import write_stances

        written = write_stances(out, rows)
    if as_json:
        data: dict[str, Any] = {
            "runs": {run: [{**asdict(one), "values": one.values()} for one in own] for run, own in found.items()},
            "ledger": [{"run": run, **asdict(row)} for run, own in rows.items() for row in own],
            "notes": [AFTER_WHOM],
        }
        say(json.dumps(data, ensure_ascii=False, indent=2))
        return
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look
    from persimchat.app.views.stances_view import shown

    print_all(shown(found, Look(terminal=on_terminal(), unicode=is_unicode())))
    if written is not None:
        say(str(written))
