"""`persimchat branch`: a new run that shares another one's past."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from persimchat.app.going_on import go_on, said_by
from persimchat.app.wanted import Shown, WantedAgain

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat branch latest --at 4
  persimchat branch latest --at 4 --model openai:gpt-4o-mini
  persimchat branch latest --at 4 --selection softmax --messages 20
  persimchat branch latest --at 4 --say "Jarmila: I have changed my mind."
  persimchat branch latest --at 4 --say "Moderator: What would a child say?"

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: persimchat resume goes on
"""


def branch(
    wanted: WantedAgain,
    at: Annotated[
        int,
        typer.Option(
            "--at", metavar="TURN", help="So many utterances are shared; 0 shares none.", show_default=False, min=0
        ),
    ],
    shown: Shown,
    say: Annotated[
        str | None,
        typer.Option(
            "--say",
            metavar="'NAME: TEXT'",
            help="The next utterance: a participant's, or Moderator's.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Begin a new run with the past of another, and go on in another way.

    Everybody remembers what they did then. The new run's folder stands beside the old one's.
    """
    spoken, out = said_by(say) if say is not None else None, shown.out

    from persimchat.runs.run.branch import branch_run

    go_on(
        wanted,
        shown,
        lambda folder, changes, control: branch_run(folder, at, changes=changes, say=spoken, out=out, control=control),
        at=at,
    )
