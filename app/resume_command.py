"""`persimchat resume`: a run that was interrupted, failed or killed goes on."""

from __future__ import annotations

from typing import Final

from persimchat.app.going_on import go_on
from persimchat.app.wanted import Shown, WantedAgain

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat resume latest
  persimchat resume 20261121-0304 --budget-calls 2000
  persimchat resume latest --messages 40 --model ollama:llama3.2

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: resume goes on again
"""


def resume(wanted: WantedAgain, shown: Shown) -> None:
    """Go on with a run that was interrupted, failed or killed, in its own folder.

    A run that came to its message limit or used up its budget goes on with a higher one.
    """
    from persimchat.runs.run.resume import resume_run

    go_on(wanted, shown, lambda folder, changes, control: resume_run(folder, changes=changes, control=control))
