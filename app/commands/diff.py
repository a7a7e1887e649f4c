"""`persimchat diff`: where and how two runs differ."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from persimchat.app.commands.options import OUT, JsonObject, RunsOut
from persimchat.app.output import is_unicode, on_terminal, say

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat diff 20261121-0304 latest
  persimchat diff 20261121-0304 20261121-0419 --out ./runs
  persimchat diff 20261121-0304 latest --json

\b
[bold]Exit codes[/bold]
  0 done, whether or not they differ   2 there is no such run, or its folder is damaged
"""


def diff(
    run_a: Annotated[
        str,
        typer.Argument(
            metavar="RUN_A", help="A run: its folder, its id, the beginning of its id, or latest.", show_default=False
        ),
    ],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The run to compare it with.", show_default=False)],
    as_json: JsonObject = False,
    out: RunsOut = OUT,
) -> None:
    """Compare two runs: their set-ups, where and why they first differ, and their results.

    It also compares interrupted runs, a branch with its origin, debates, and folders of older versions.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.runs.folder.reading import read_run
    from persimchat.runs.reports.diff import compare

    comparison = compare(*(read_run(find_run(wanted, out), whole=True) for wanted in (run_a, run_b)))
    if as_json:
        import json

        say(json.dumps(comparison.model_dump(mode="json"), ensure_ascii=False, indent=2))
        return

    from persimchat.app.views.diff_view import compared
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(compared(comparison, Look(terminal=on_terminal(), unicode=is_unicode())))
