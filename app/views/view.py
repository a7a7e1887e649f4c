"""Chooses one of four views on the event stream."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, Protocol

from persimchat.app.output import on_terminal
from persimchat.app.views.past_banner import Lead
from persimchat.runs.events import Event

if TYPE_CHECKING:
    from persimchat.app.console.taking_part import TakingPart
    from persimchat.app.views.playing import NotingView

Form = Literal["text", "json", "quiet"]


class View(Protocol):
    """Shows the events of one run; the caller calls `close` at the end, also after an error."""

    def show(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputClosed: the reader has closed standard output.
        """

    def close(self) -> None:
        """Restore the terminal."""


def view_for(
    form: Form, *, people: bool = False, moderate: bool = False, lead: Lead | None = None
) -> tuple[View, TakingPart | None]:
    """The view for the user's options and the kind of standard output, and the source of people's lines, if any.

    Args:
        form: the form of output that the user asked for.
        people: whether any participant is a person.
        moderate: whether the user is the moderator.
        lead: the text around the past of a resumed run or a branch.
    """
    if not people and not moderate:
        return _watching(form, lead), None
    from persimchat.runs.control import Control

    control = Control()
    if form == "text" and on_terminal() and sys.stdin is not None and sys.stdin.isatty():
        from persimchat.app.console.console import Console

        console = Console(control, moderating=moderate, lead=lead)
        return (_for_players(console) if people else console), console
    from persimchat.app.console.piped_lines import PipedLines, standard_input

    lines = PipedLines(control, standard_input(), moderating=moderate)
    if form == "text" and people:
        return _for_players(_reading(lead)), lines
    return _watching(form, lead), lines


def _for_players(view: NotingView) -> View:
    from persimchat.app.views.playing import PlayersView

    return PlayersView(view)


def _watching(form: Form, lead: Lead | None) -> View:
    if form == "json":
        from persimchat.app.views.plain_view import JsonView

        return JsonView()
    if form == "quiet":
        from persimchat.app.views.plain_view import QuietView

        return QuietView()
    return _reading(lead)


def _reading(lead: Lead | None) -> NotingView:
    if on_terminal():
        from persimchat.app.views.live_view import LiveView

        return LiveView(lead=lead)
    from persimchat.app.views.plain_view import PlainView

    return PlainView(lead)
