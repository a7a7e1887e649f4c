"""What happens in a conversation beside utterances, in a line each: who is asked, silent, paused, a new topic."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from persimchat.app.commands.options import OUT
from persimchat.app.views.past_banner import Lead
from persimchat.runs.events import (
    Asked,
    Continued,
    Event,
    HandRaised,
    Paused,
    Shortened,
    Silenced,
    Speaking,
    Started,
    Stopped,
    TopicChanged,
    Uttered,
    Waiting,
)
from persimchat.runs.reports.words import count
from persimchat.state.plain_text import one_line

RECENT: Final = 4
"""So many utterances of a resumed run's past are shown."""

_ONLY_NEW: Final = (Asked, Continued, HandRaised, Paused, Speaking, Waiting)
"""Events that no past has."""

_MISSED: Final = {
    "awaken": "begins without a first feeling",
    "hear": "did not hear this",
    "think": "did not think this turn",
    "speak": "found no words this turn",
}


def status_line(event: Event) -> str:
    """What people should know of an event, in one line; empty where there is nothing to tell, or another way to."""
    match event:
        case Asked():
            return asking(event)
        case Silenced():
            who = one_line(event.agent)
            if event.why == "passed":
                return f"{who} passes."
            return f"{who} {_MISSED[event.step]}: {one_line(event.why)}"
        case Shortened():
            return left_out(event)
        case HandRaised():
            return f"{one_line(event.agent)} {'raises' if event.raised else 'lowers'} a hand."
        case TopicChanged():
            return f"The topic is now: {one_line(event.topic)}"
        case Waiting():
            asked = f"{event.asked_s:,.0f} seconds"
            again = "" if event.wait_s == event.asked_s else f" It is asked again in {event.wait_s:,.0f}."
            return f"{one_line(event.model)} asks to be left alone for {asked}.{again}"
        case Paused():
            return "Paused."
        case Continued():
            return "It goes on."
        case _:
            return ""


def left_out(event: Shortened) -> str:
    """That prompts do not fit a model's context, and what to do about it."""
    lost = {"memories": event.memories, "utterances": event.utterances}
    what = " and ".join(f"{number:,} {things}" for things, number in lost.items() if number)
    return (
        f"The context of {one_line(event.model)} ({event.context_tokens:,} tokens) is too small for all that prompts "
        f"have: {what} left out of one for {one_line(event.agent)} ({event.module}), and so on where needed. Start its "
        "server with a larger context, raise context_tokens, or lower memory_tokens or recent_utterances."
    )


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
    return f"Go on with: persimchat resume {shlex.quote(folder.name if folder.parent == OUT else str(folder))}"


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
