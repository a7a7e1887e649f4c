"""What happens in a conversation beside utterances, in a line each: who is asked, silent, paused, a new topic."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from persimchat.app.lead import Lead
from persimchat.app.options import OUT
from persimchat.runs.events import (
    Asked,
    Continued,
    Event,
    HandRaised,
    Paused,
    Silenced,
    Speaking,
    Started,
    Stopped,
    TopicChanged,
    Uttered,
)
from persimchat.runs.report_words import count
from persimchat.state.plain_text import one_line

RECENT: Final = 4
"""So many utterances of a resumed run's past are shown."""

_ONLY_NEW: Final = (Asked, Continued, HandRaised, Paused, Speaking)
"""Events that no past has."""

_MISSED: Final = {"hear": "did not hear this", "think": "did not think this turn", "speak": "found no words this turn"}


def told(event: Event) -> str:
    """What people should know of an event, in one line; empty where there is nothing to tell, or another way to."""
    match event:
        case Asked():
            return asking(event)
        case Silenced():
            who = one_line(event.agent)
            if event.why == "passed":
                return f"{who} passes."
            return f"{who} {_MISSED[event.step]}: {one_line(event.why)}"
        case HandRaised():
            return f"{one_line(event.agent)} {'raises' if event.raised else 'lowers'} a hand."
        case TopicChanged():
            return f"The topic is now: {one_line(event.topic)}"
        case Paused():
            return "Paused."
        case Continued():
            return "It goes on."
        case _:
            return ""


def asking(event: Asked) -> str:
    """That a person is asked, for what, and what was wrong before."""
    problem = f" ({one_line(event.problem)})" if event.problem else ""
    if event.what == "need_to_talk":
        return f"{one_line(event.agent)}, how much do you need to talk, 0 to 10?{problem}"
    return f"Your turn, {one_line(event.agent)}.{problem}"


def addressed(event: Uttered) -> str:
    """To whom an utterance is: for a whisper, who alone hears it; empty where it is to nobody in particular."""
    if event.heard_by is not None:
        return f"to {', '.join(map(one_line, event.heard_by))} only"
    return f"to {', '.join(map(one_line, event.addressees))}" if event.addressees else ""


def participants(event: Started) -> list[str]:
    """Everybody's name, people marked as such."""
    return [f"{one_line(name)}{' (a person)' if name in event.people else ''}" for name in event.participants]


def models(event: Started) -> dict[str, str]:
    """The models of those who are no people."""
    return {name: model for name, model in event.models.items() if name not in event.people}


def going_on(event: Stopped) -> str:
    """How a run that did not come to its end goes on; empty for one that did, or that is not kept."""
    if event.folder is None or event.reason not in ("stopped", "error", "budget"):
        return ""
    folder = Path(event.folder)
    return f"Go on with: persimchat resume {folder.name if folder.parent == OUT else shlex.quote(str(folder))}"


class Past:
    """The past of a run that goes on: a reader is spared all but its last few utterances, and told where it ends.

    Args:
        lead: what stands around it; nothing where it is None.
    """

    def __init__(self, lead: Lead | None = None) -> None:
        self._hidden = self._last = 0
        self.heading = lead.heading if lead is not None else ""
        """Whose branch the run is, in a line; empty where it is none."""
        self._mark = lead.mark if lead is not None else ""

    def begin(self, event: Started) -> str:
        """Take a run's beginning; returns a line for what is not shown, empty where everything is."""
        self._hidden, self._last = max(0, event.turn - RECENT), event.turn
        return f"… {count(self._hidden, 'earlier utterance')}" if self._hidden else ""

    def hides(self, event: Event) -> bool:
        """Whether this is too far back to be shown."""
        turn = getattr(event, "turn", None)
        if not self._hidden or turn is None or isinstance(event, Started | Stopped):
            return False
        return bool(turn <= self._hidden)

    def over(self, event: Event) -> str:
        """The line that stands before the first new event; empty before any other, and where no past was shown."""
        if not self._mark or not self._last:
            return ""
        if not isinstance(event, _ONLY_NEW) and not (isinstance(event, Uttered) and event.turn > self._last):
            return ""
        mark, self._mark = self._mark, ""
        return mark
