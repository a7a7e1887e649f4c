"""`persimchat show`: a run in numbers, or as a report to open in a browser."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

from ...state.errors import InputError
from ..output import say
from .options import OUT, JsonObject, ReportLanguage, RunsOut, option

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat show latest
  persimchat show 20261121-0304 --out ./runs
  persimchat show conversations/20261121-030426-tea-6573 --json
  persimchat show latest --html
  persimchat show latest --html report.html --force
  persimchat show latest --html --language de

\b
[bold]Exit codes[/bold]
  0 done   2 there is no such run, its folder is damaged, or the report cannot be written
"""


def show(
    run: Annotated[str, option("show", "run")],
    file: Annotated[Path | None, option("show", "file")] = None,
    html: Annotated[bool, option("show", "html")] = False,
    force: Annotated[bool, option("show", "force")] = False,
    language: ReportLanguage = None,
    as_json: JsonObject = False,
    out: RunsOut = OUT,
) -> None:
    """Show a run: who spoke, how fast, how they felt, why it ended, what it cost, who moved, how it was judged.

    The run may be interrupted, or still running.
    """
    if html and as_json:
        raise InputError("--html and --json contradict each other", remedy="Leave one of them out.")
    if not html and (file is not None or force or language is not None):
        raise InputError(
            f"{'a file' if file is not None else '--force' if force else '--language'} needs --html",
            where="persimchat show",
            remedy="Add --html, or leave it out.",
        )

    from ...runs.folder.reading import read_run
    from .finding import find_run, judgements_on

    record = read_run(find_run(run, out))
    if html:
        from ...reports.report import NAME, write_report

        path = file if file is not None else record.path / NAME
        write_report(record, path, force=force, tag=language)
        say(str(path))
        return

    from ...reports.stances import ledger, stances_of
    from ...reports.summary import summarise

    summary = summarise(record)
    judged, held = judgements_on(record), stances_of(ledger(record), record.polls)
    from ..views.show_view import shown
    from ..views.tables import finish

    def data() -> dict[str, Any]:
        more = {
            "judgements": [row.model_dump(mode="json") for row in judged],
            "stances": [asdict(one) for one in held],
            "interviews": [row.model_dump(mode="json", exclude={"measure"}) for row in record.interviews],
        }
        return {**summary.model_dump(mode="json"), **{name: rows for name, rows in more.items() if rows}}

    finish(as_json, data, lambda look: shown(summary, look, judged, held, record.interviews))
