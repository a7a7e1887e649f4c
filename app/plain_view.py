"""A run as plain text, for files and pipes: one `Name: text` line an utterance, everything else after a `#`."""

from __future__ import annotations

from persimchat.app.output import say
from persimchat.app.text import concluded, ending, models_in_words, unscored, used
from persimchat.runs.events import Analysed, Event, Started, Stopped, Uttered
from persimchat.runs.folder import DISCLAIMER
from persimchat.state.plain_text import one_line


class PlainView:
    """Prints header, utterances and footer, each as soon as it is known, without escape codes."""

    def __init__(self) -> None:
        self._unscored = 0

    def show(self, event: Event) -> None:
        """Print what an event adds to the text."""
        match event:
            case Started():
                say(f"# Topic: {one_line(event.topic)}")
                say(f"# Participants: {', '.join(one_line(name) for name in event.participants)}")
                say(f"# Model: {models_in_words(event.models)}")
                if event.notice:
                    say(f"# {one_line(event.notice)}")
                say(f"# {DISCLAIMER}\n")
            case Uttered():
                say(f"{one_line(event.speaker)}: {one_line(event.text)}")
            case Analysed():
                self._unscored += bool(event.failed)
            case Stopped():
                say("")
                if event.conclusion:
                    heading, answer, held = concluded(event.conclusion)
                    say(f"# {heading}: {answer}" + (f" ({held})" if held else ""))
                say(f"# Ended: {ending(event)}.")
                if not_scored := unscored(self._unscored):
                    say(f"# {not_scored}")
                say(f"# Used: {used(event.totals)}.")
                if event.folder:
                    say(f"# Run: {event.folder}")
            case _:
                pass

    def close(self) -> None:
        """Nothing is left to do."""
