"""`persimchat regenerate`: a new run in which one utterance is made again."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from persimchat.app.going_on import go_on
from persimchat.app.wanted import Shown, WantedAgain

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat regenerate latest --turn 5
  persimchat regenerate latest --turn 5 --model openai:gpt-4o-mini

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: persimchat resume goes on
"""


def regenerate(
    wanted: WantedAgain,
    turn: Annotated[
        int,
        typer.Option("--turn", metavar="T", help="The utterance that is made again.", show_default=False, min=1),
    ],
    shown: Shown,
) -> None:
    """Let the same participant say something else at one turn, in a new run that goes on from there."""
    from persimchat.runs.run.branch import regenerate_run

    out = shown.out
    go_on(
        wanted,
        shown,
        lambda folder, changes, control: regenerate_run(folder, turn, changes=changes, out=out, control=control),
        at=turn - 1,
        again=True,
    )
