"""What shows a run: one of four views on the event stream."""

from __future__ import annotations

from typing import Literal, Protocol

from persimchat.app.output import on_terminal
from persimchat.runs.events import Event

Form = Literal["text", "json", "quiet"]


class View(Protocol):
    """Shows the events of one run as they happen; `close` is called at the end, however the run ends."""

    def show(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputClosed: nobody reads the output any more.
        """

    def close(self) -> None:
        """Leave the terminal as it was found."""


def view_for(form: Form) -> View:
    """The view for what the user asked for and what standard output is."""
    if form == "json":
        from persimchat.app.json_view import JsonView

        return JsonView()
    if form == "quiet":
        from persimchat.app.quiet_view import QuietView

        return QuietView()
    if on_terminal():
        from persimchat.app.live_view import LiveView

        return LiveView()
    from persimchat.app.plain_view import PlainView

    return PlainView()
