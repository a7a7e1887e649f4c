"""The views that need no terminal: plain text (one `Name: text` line an utterance), JSON (one event a line), quiet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from persimchat.app.output import is_unicode, say, warn
from persimchat.app.views.past_banner import Lead
from persimchat.app.views.telling import Guided, Past, addressed, asking, going_on, models, participants, status_line
from persimchat.app.views.text import concluded, ending, models_in_words, unscored, used
from persimchat.runs.events import Analysed, Asked, Event, Started, Stopped, Uttered
from persimchat.runs.folder.lines import DISCLAIMER, edited
from persimchat.state.plain_text import one_line

# Characters that JSON allows in strings but some programs take for the end of a line, or a terminal for an order.
_AWKWARD: Final = re.compile(r"[\x7f-\x9f\u2028\u2029]")


def say_json(value: Mapping[str, Any]) -> None:
    """Print an object on one line.

    Raises:
        OutputClosed: the reader has closed it.
    """
    text = json.dumps(value, ensure_ascii=not is_unicode())
    say(_AWKWARD.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


class JsonView:
    """Prints events (`persimchat.runs.events`) as they happen."""

    def show(self, event: Event) -> None:
        """Print one event."""
        say_json(event.model_dump(mode="json"))

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class PlainView:
    """Prints header, utterances and footer, each as soon as it is known, without escape codes.

    Args:
        lead: the text around the past of a resumed run or a branch.
    """

    def __init__(self, lead: Lead | None = None) -> None:
        self._unscored = 0
        self._past = Past(lead)
        self._guided = Guided()

    def show(self, event: Event) -> None:
        """Print the lines of an event."""
        if self._past.hides(event):
            return
        if mark := self._past.over(event):
            say(f"# {mark}")
        match event:
            case Started():
                say(f"# Topic: {one_line(event.topic)}")
                say(f"# Participants: {', '.join(participants(event))}")
                say(f"# Model: {models_in_words(models(event))}")
                if self._past.heading:
                    say(f"# {self._past.heading}")
                if event.notice:
                    say(f"# {one_line(event.notice)}")
                say(f"# {DISCLAIMER}\n")
                if shown := self._guided.begin(event):
                    self.note(shown)
                if earlier := self._past.begin(event):
                    say(f"# {earlier}")
            case Uttered():
                if shown := self._guided.shown(event):
                    self.note(shown)
                marks = [addressed(event) if event.heard_by is not None else "", one_line(edited(event.edited_by))]
                marks.append(self._guided.question(event))
                shown = "".join(f" ({mark})" for mark in marks if mark)
                say(f"{one_line(event.speaker)}{shown}: {one_line(event.text)}")
            case Analysed():
                self._unscored += bool(event.failed)
            case Stopped():
                self._footer(event)
            case _:
                if line := status_line(event):
                    self.note(line)

    def note(self, line: str) -> None:
        """Print a line that is not an utterance."""
        say(f"# {line}")

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _footer(self, event: Stopped) -> None:
        say("")
        if event.conclusion:
            heading, answer, held = concluded(event.conclusion)
            say(f"# {heading}: {answer}" + (f" ({held})" if held else ""))
        lines = [f"Ended: {ending(event)}.", unscored(self._unscored), f"Used: {used(event.totals)}."]
        lines += [f"Run: {event.folder}" if event.folder else "", going_on(event)]
        for line in filter(None, lines):
            say(f"# {line}")


class QuietView:
    """Prints the run's folder on standard output; a notice, and who is asked, go to standard error."""

    def show(self, event: Event) -> None:
        """Print the run's folder, a notice, or who is asked."""
        if isinstance(event, Started) and event.notice:
            warn(one_line(event.notice))
        if isinstance(event, Asked):
            warn(asking(event))
        if isinstance(event, Stopped) and event.folder:
            say(event.folder)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
