"""`persimchat resume`, `branch` and `regenerate`: continue a run, or begin a new one that shares its past."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from ..views.lead import branched, resumed
from .foreground import form_of, hold_run
from .option_groups import Shown, WantedAgain
from .options import option

if TYPE_CHECKING:
    from ...runs.control import Control
    from ...runs.events import Event


Begun = Callable[[Path, dict[str, Any], "Control | None"], "AsyncGenerator[Event, None]"]
"""A function of a run's folder, the settings that change and a control; it gives the events of the continued run."""


def go_on(
    wanted: WantedAgain, shown: Shown, begun: Begun, *, at: Callable[[Path], int] | None = None, again: bool = False
) -> None:
    """Continue a run, to its end.

    Args:
        wanted: which run, and what changes.
        shown: how to show it; `out` is also the folder for a branch.
        begun: makes its events.
        at: tells of its folder how many utterances a new run shares with it; None to resume it in its own folder.
        again: whether the next utterance is worded again by the same speaker.

    Raises:
        InputError: there is no such run, or an option is wrong.
        typer.Exit: it ended with an error.
    """
    form = form_of(as_json=shown.as_json, quiet=shown.quiet)

    from ...runs.run.resume_input import manifest_of, scenario_of, settings_of
    from .finding import find_run
    from .request import assigned

    changed = assigned(wanted.assignments or (), wanted.arguments)
    folder = find_run(wanted.run, shown.out)
    shared = at(folder) if at is not None else None
    manifest = manifest_of(folder)
    scenario = scenario_of(manifest, folder)
    hold_run(
        lambda control: begun(folder, changed, control),
        kept=lambda begun_run: folder if shared is None else shown.out / begun_run,
        form=form,
        asks=settings_of(manifest, changed),
        people=any(persona.human for persona in scenario.participants),
        moderate=shown.moderate,
        lead=resumed(manifest.branch) if shared is None else branched(manifest.run, shared, again=again),
    )


EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat resume latest
  persimchat resume 20261121-0304 --budget-calls 2000
  persimchat resume latest --messages 40 --model ollama:llama3.2

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: resume it again
"""


def resume(wanted: WantedAgain, shown: Shown) -> None:
    """Continue a run that was interrupted, failed or killed, in its own folder.

    A run that reached its message limit or used up its budget continues with a higher one.
    """
    from ...runs.run.resume import resume_run

    go_on(wanted, shown, lambda folder, changes, control: resume_run(folder, changes=changes, control=control))


BRANCH_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat branch latest --at 4
  persimchat branch latest --at 4 --model openai:gpt-4o-mini
  persimchat branch latest --at 4 --selection softmax --messages 20
  persimchat branch latest --at 4 --say "Jarmila: I have changed my mind."
  persimchat branch latest --at 4 --say "Moderator: What would a child say?"
  persimchat branch latest --choose Tuuli=Olle
  persimchat branch latest --at 2 --choose Tuuli=nobody

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: continue with persimchat resume
"""


def branch(
    wanted: WantedAgain,
    shown: Shown,
    at: Annotated[int | None, option("resume branch", "at")] = None,
    say: Annotated[str | None, option("resume branch", "say")] = None,
    choose: Annotated[str | None, option("resume branch", "choose")] = None,
) -> None:
    """Begin a new run that shares the first utterances of another one and continues differently.

    All agents remember what they remembered at that turn. The new run gets a folder of its own.
    """
    from ...runs.run.branch import branch_run
    from ...runs.run.branch_start import wished
    from ...runs.run.resume_input import manifest_of
    from ...state.intervention import chosen_for, said_by

    begins: dict[str, Any] = {
        "turn": at,
        "say": said_by(say, where="--say", example='--say "Jan: No."') if say is not None else None,
        "choose": chosen_for(choose, where="--choose", example="--choose Tuuli=Olle") if choose is not None else None,
    }
    out = shown.out

    go_on(
        wanted,
        shown,
        lambda folder, changes, control: branch_run(folder, **begins, changes=changes, out=out, control=control),
        at=lambda folder: wished(manifest_of(folder), folder=folder, **begins).turn,
    )


REGENERATE_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat regenerate latest --turn 5
  persimchat regenerate latest --turn 5 --model openai:gpt-4o-mini

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: continue with persimchat resume
"""


def regenerate(
    wanted: WantedAgain,
    turn: Annotated[int, option("resume regenerate", "turn")],
    shown: Shown,
) -> None:
    """Have one utterance worded again by the same participant, in a new run that continues from there."""
    from ...runs.run.branch import regenerate_run

    out = shown.out
    go_on(
        wanted,
        shown,
        lambda folder, changes, control: regenerate_run(folder, turn, changes=changes, out=out, control=control),
        at=lambda _: turn - 1,
        again=True,
    )
