"""`persimchat show`: a run in numbers, or as a report to open in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from persimchat.app.commands.options import OUT, JsonObject, RunsOut
from persimchat.app.output import is_unicode, on_terminal, say
from persimchat.state.errors import InputError

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat show latest
  persimchat show 20261121-0304 --out ./runs
  persimchat show conversations/20261121-030426-tea-6573 --json
  persimchat show latest --html
  persimchat show latest --html report.html --force

\b
[bold]Exit codes[/bold]
  0 done   2 there is no such run, its folder is damaged, or the report cannot be written
"""


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its folder, its id, the beginning of its id, or latest.", show_default=False
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="With --html: the report's file. [dim]default: report.html in the run's folder[/dim]",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", metavar="", help="Write a report: one HTML file that needs no network.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an existing report.")] = False,
    as_json: JsonObject = False,
    out: RunsOut = OUT,
) -> None:
    """Show a run: who spoke, how fast, how they felt, why it ended, what it cost, who moved, how it was judged.

    The run may be interrupted, or still running.
    """
    if html and as_json:
        raise InputError("--html and --json contradict each other", remedy="Leave one of them out.")
    if not html and (file is not None or force):
        raise InputError(
            f"{'a file' if file is not None else '--force'} needs --html",
            where="persimchat show",
            remedy="Add --html, or leave it out.",
        )

    from persimchat.app.commands.finding import find_run, judgements_on
    from persimchat.runs.folder.reading import read_run

    record = read_run(find_run(run, out))
    if html:
        from persimchat.runs.reports.report import NAME, write_report

        path = file if file is not None else record.path / NAME
        write_report(record, path, force=force)
        say(str(path))
        return

    from persimchat.runs.reports.stance_summary import stances_of
    from persimchat.runs.reports.stances import ledger
    from persimchat.runs.reports.summary import summarise

    summary = summarise(record)
    judged, held = judgements_on(record), stances_of(ledger(record), record.polls)
    if as_json:
        import json
        from dataclasses import asdict

        data = summary.model_dump(mode="json")
        if judged:
            data["judgements"] = [row.model_dump(mode="json") for row in judged]
        if held:
            data["stances"] = [asdict(one) for one in held]
        if record.interviews:
            data["interviews"] = [row.model_dump(mode="json", exclude={"measure"}) for row in record.interviews]
        say(json.dumps(data, ensure_ascii=False, indent=2))
        return

    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look
    from persimchat.app.views.show_view import shown

    look = Look(terminal=on_terminal(), unicode=is_unicode())
    print_all(shown(summary, look, judged, held, record.interviews))
