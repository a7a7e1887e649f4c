"""A run without a word: only where it is kept, at its end."""

from __future__ import annotations

from persimchat.app.output import say, warn
from persimchat.app.telling import asking
from persimchat.runs.events import Asked, Event, Started, Stopped
from persimchat.state.plain_text import one_line


class QuietView:
    """Prints the run's folder on standard output; a notice, and who is asked, go to standard error."""

    def show(self, event: Event) -> None:
        """Print what little there is."""
        if isinstance(event, Started) and event.notice:
            warn(one_line(event.notice))
        if isinstance(event, Asked):
            warn(asking(event))
        if isinstance(event, Stopped) and event.folder:
            say(event.folder)

    def close(self) -> None:
        """Nothing is left to do."""
