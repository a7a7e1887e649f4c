"""What the commands that go on with a run have in common: which run, what changes, and following it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persimchat.app.foreground import form_of, hold_run
from persimchat.app.past_banner import branched, resumed
from persimchat.app.wanted import Shown, WantedAgain
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

    from persimchat.app.request import assigned
    from persimchat.app.show_finding import find_run
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
        lead=resumed(manifest["branch"]) if at is None else branched(manifest["run"], at, again=again),
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
