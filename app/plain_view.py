"""A run as plain text, for files and pipes: one `Name: text` line an utterance, everything else after a `#`."""

from __future__ import annotations

from persimchat.app.output import say
from persimchat.app.past_banner import Lead
from persimchat.app.telling import Past, addressed, going_on, models, participants, status_line
from persimchat.app.text import concluded, ending, models_in_words, unscored, used
from persimchat.runs.events import Analysed, Event, Started, Stopped, Uttered
from persimchat.runs.folder.lines import DISCLAIMER, edited
from persimchat.state.plain_text import one_line


class PlainView:
    """Prints header, utterances and footer, each as soon as it is known, without escape codes.

    Args:
        lead: what stands around the past of a run that goes on.
    """

    def __init__(self, lead: Lead | None = None) -> None:
        self._unscored = 0
        self._past = Past(lead)

    def show(self, event: Event) -> None:
        """Print what an event adds to the text."""
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
                if earlier := self._past.begin(event):
                    say(f"# {earlier}")
            case Uttered():
                marks = [addressed(event) if event.heard_by is not None else "", one_line(edited(event.edited_by))]
                shown = "".join(f" ({mark})" for mark in marks if mark)
                say(f"{one_line(event.speaker)}{shown}: {one_line(event.text)}")
            case Analysed():
                self._unscored += bool(event.failed)
            case Stopped():
                self._footer(event)
            case _:
                if line := status_line(event):
                    say(f"# {line}")

    def close(self) -> None:
        """Nothing is left to do."""

    def _footer(self, event: Stopped) -> None:
        say("")
        if event.conclusion:
            heading, answer, held = concluded(event.conclusion)
            say(f"# {heading}: {answer}" + (f" ({held})" if held else ""))
        lines = [f"Ended: {ending(event)}.", unscored(self._unscored), f"Used: {used(event.totals)}."]
        lines += [f"Run: {event.folder}" if event.folder else "", going_on(event)]
        for line in filter(None, lines):
            say(f"# {line}")
