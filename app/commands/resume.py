"""`persimchat resume`, `branch` and `regenerate`: a run goes on, or a new one shares its past."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.foreground import form_of, hold_run
from persimchat.app.commands.wanted import Shown, WantedAgain
from persimchat.app.views.past_banner import branched, resumed
from persimchat.state.errors import InputError

if TYPE_CHECKING:
    from persimchat.runs.control import Control
    from persimchat.runs.events import Event


Begun = Callable[[Path, dict[str, Any], "Control | None"], "AsyncGenerator[Event, None]"]
"""From a run's folder, the settings that change and a control to the events of the run that goes on."""


def go_on(wanted: WantedAgain, shown: Shown, begun: Begun, *, at: int | None = None, again: bool = False) -> None:
    """Go on with a run, to its end.

    Args:
        wanted: which run, and what is to be otherwise.
        shown: how; its folder is also where another run's folder is made.
        begun: makes its events.
        at: how many utterances a new run shares with it; None where it goes on itself, in its own folder.
        again: whether the first utterance after them is made again.

    Raises:
        InputError: there is no such run, or something that was asked for is wrong.
        typer.Exit: it ended with an error.
    """
    form = form_of(as_json=shown.as_json, quiet=shown.quiet)

    from persimchat.app.commands.finding import find_run
    from persimchat.app.commands.request import assigned
    from persimchat.runs.run.going_on import manifest_of, scenario_of

    changed = assigned(wanted.assignments or (), wanted.arguments)
    folder = find_run(wanted.run, shown.out)
    manifest = manifest_of(folder)
    scenario = scenario_of(manifest, folder)
    hold_run(
        lambda control: begun(folder, changed, control),
        kept=lambda begun_run: folder if at is None else shown.out / begun_run,
        form=form,
        people=any(persona.human for persona in scenario.participants),
        moderate=shown.moderate,
        lead=resumed(manifest.branch) if at is None else branched(manifest.run, at, again=again),
    )


def said_by(text: str) -> tuple[str, str]:
    """Who says what, from "NAME: text".

    Raises:
        InputError: the name or the words are missing.
    """
    name, colon, words = text.partition(":")
    if name.strip() and colon and not words.strip():
        raise InputError(
            "there are no words after the colon", where="--say", remedy='Write what is said: --say "Jan: No."'
        )
    if not name.strip() or not words.strip():
        raise InputError(
            "it is not clear who says what", where="--say", remedy='Write a name, a colon, the words: --say "Jan: No."'
        )
    return name.strip(), words.strip()


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


BRANCH_EXAMPLES: Final = """\b
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


REGENERATE_EXAMPLES: Final = """\b
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
