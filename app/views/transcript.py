"""Prints the part of a run that stays in the terminal's scrollback: header, utterances and ending."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from ...runs.events import Analysed, Event, Started, Stopped, Uttered
from ...runs.folder.lines import DISCLAIMER, edited
from ...state.plain_text import clean, one_line
from .lead import Lead
from .plain_view import Guided, Past, addressed, going_on, models, status_line
from .text import concluded, ending, models_in_words, mood, unscored, used

COLOURS: Final = (
    "cyan",
    "magenta",
    "green",
    "yellow",
    "blue",
    "red",
    "bright_cyan",
    "bright_magenta",
    "bright_green",
    "bright_yellow",
    "bright_blue",
    "bright_red",
)
"""Colours of participants, in order of listing; the moderator has none."""


class Transcript:
    """Prints a run's events. Text of users and models is cleaned, and never read as markup.

    Args:
        out: prints a line.
        unicode: whether the terminal takes all of Unicode.
        lead: the text around the past of a resumed run or a branch.
    """

    def __init__(self, out: Callable[[RenderableType], None], *, unicode: bool, lead: Lead | None = None) -> None:
        self._out, self._unicode = out, unicode
        self.colours: dict[str, str] = {}
        self._past = Past(lead)
        self._guided = Guided()
        self._unscored = 0
        self.since = time.monotonic()

    def show(self, event: Event) -> None:
        """Print the lines of an event."""
        if self._past.hides(event):
            return
        if mark := self._past.over(event):
            self._rule(mark)
        match event:
            case Started():
                self.colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(event.participants)}
                self._header(event)
                if shown := self._guided.begin(event):
                    self.note(shown)
                if earlier := self._past.begin(event):
                    self._out(Text(earlier + "\n", style="dim"))
            case Uttered():
                self._utterance(event)
            case Analysed():
                self._unscored += bool(event.failed)
            case Stopped():
                self._footer(event)
            case _:
                if line := status_line(event):
                    self.note(line)

    def note(self, line: str) -> None:
        """Print a line that is not an utterance."""
        self._out(Text(line + "\n", style="dim italic"))

    def name(self, name: str) -> Text:
        """A name in the participant's colour."""
        return Text(one_line(name), style=f"bold {self.colours.get(name, '')}".strip())

    def _header(self, event: Started) -> None:
        self._out(Text(one_line(event.topic), style="bold"))
        names = [
            Text.assemble(self.name(name), (" (a person)" if name in event.people else "", "dim"))
            for name in event.participants
        ]
        self._out(Text.assemble(("with ", "dim"), Text(", ").join(names)))
        self._out(Text(f"model: {models_in_words(models(event))}", style="dim"))
        if self._past.heading:
            self._out(Text(self._past.heading, style="dim"))
        if event.notice:
            self._out(Text(one_line(event.notice), style="yellow"))
        self._out(Text(DISCLAIMER, style="italic dim"))
        self._rule()

    def _rule(self, words: str = "") -> None:
        """Print a line across the terminal, with words in it."""
        title = Text(words, style="dim italic") if words else ""
        self._out(Rule(title, style="dim", characters="─" if self._unicode else "-"))
        if words:
            self._out(Text())

    def _utterance(self, event: Uttered) -> None:
        feels = f"  {mood(event.emotion)}" if event.emotion else ""  # people and baselines have no emotions
        to = f"  {addressed(event)}".rstrip()
        if shown := self._guided.shown(event):
            self.note(shown)
        put_in = f"  [{one_line(edited(event.edited_by))}]" if event.edited_by else ""
        put_in += f"  [{question}]" if (question := self._guided.question(event)) else ""
        head = Text.assemble(self.name(event.speaker), (f"{feels}{to}{put_in}", "dim"))
        self._out(Group(head, Padding(Text(clean(event.text).strip()), (0, 0, 1, 2), expand=False)))

    def _footer(self, event: Stopped) -> None:
        if event.conclusion:
            heading, answer, held = concluded(event.conclusion)
            self._out(Text.assemble((f"{heading}: ", "bold"), answer, (f"  {held}", "dim")))
        seconds = time.monotonic() - self.since
        lines = [f"Ended: {ending(event)}.", f"Used: {used(event.totals)}, {clock(seconds)}."]
        lines += [unscored(self._unscored), f"Run: {event.folder}" if event.folder else "", going_on(event)]
        for line in filter(None, lines):
            self._out(Text(line, no_wrap=True, overflow="ignore"))


def clock(seconds: float) -> str:
    """A time as "3:07"."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"
