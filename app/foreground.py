"""What the commands that hold a conversation have in common: from options to a run in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persimchat.app.wanted import Wanted
from persimchat.state.errors import InputError

if TYPE_CHECKING:
    from persimchat.app.view import Form


def form_of(*, as_json: bool, quiet: bool) -> Form:
    """The form of the output.

    Raises:
        InputError: both were asked for.
    """
    if as_json and quiet:
        raise InputError("--json and --quiet contradict each other", remedy="Leave one of them out.")
    return "json" if as_json else "quiet" if quiet else "text"


def hold(wanted: Wanted, out: Path, *, form: Form) -> None:
    """Hold the conversation that was asked for, to its end."""
    # The rooms that a run needs take a second to load; --help and a wrong option should not wait for them.
    import asyncio

    from persimchat.app.following import follow
    from persimchat.app.request import understood
    from persimchat.app.view import view_for

    scenario, settings = understood(wanted)
    asyncio.run(follow(scenario, settings, out, view_for(form)))
