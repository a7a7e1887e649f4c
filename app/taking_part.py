"""People at the command line who take part in a run: what their lines are understood by, and where they come from."""

from __future__ import annotations

from typing import Protocol

from persimchat.app.console_lines import Talk
from persimchat.runs.control import Control
from persimchat.runs.events import Event, HandRaised, Started


class Listening:
    """Keeps up with a run, to understand what people type by it.

    Args:
        control: the run's.
        moderating: whether whoever types is the moderator.
    """

    def __init__(self, control: Control, *, moderating: bool) -> None:
        self.control, self._moderating = control, moderating
        self._started: Started | None = None
        self._raised: frozenset[str] = frozenset()

    def take(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, HandRaised):
            self._raised = self._raised | {event.agent} if event.raised else self._raised - {event.agent}

    @property
    def talk(self) -> Talk:
        """What a line is understood by just now."""
        present, people = (self._started.participants, self._started.people) if self._started else ([], [])
        return Talk(present, people, self._moderating, self.control.asked, self._raised)


class TakingPart(Protocol):
    """Where people's lines come from."""

    @property
    def control(self) -> Control:
        """The run's."""

    def take(self, event: Event) -> None:
        """Take an event into account; called with every event before it is shown."""

    async def read(self) -> None:
        """Carry out what people type, from the beginning of the run until nobody types any more.

        Raises:
            Interrupted: they end the run as a signal does.
        """
