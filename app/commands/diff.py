"""`persimchat diff`: where and how two runs differ."""

from __future__ import annotations

from typing import Annotated, Final

from .options import OUT, JsonObject, RunsOut, option

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
    run_a: Annotated[str, option("diff", "run_a")],
    run_b: Annotated[str, option("diff", "run_b")],
    as_json: JsonObject = False,
    out: RunsOut = OUT,
) -> None:
    """Compare two runs: their set-ups, where and why they first differ, and their results.

    It also compares interrupted runs, a branch with its origin, debates, and folders of older versions.
    """
    from ...reports.diff import compare
    from ...runs.folder.reading import read_run
    from .finding import find_run

    comparison = compare(*(read_run(find_run(wanted, out), whole=True) for wanted in (run_a, run_b)))
    from ..views.diff_view import compared
    from ..views.tables import finish

    finish(as_json, lambda: comparison.model_dump(mode="json"), lambda look: compared(comparison, look))
