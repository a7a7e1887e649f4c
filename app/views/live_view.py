"""Shows a run in a terminal: finished utterances scroll by; a live area below them shows the present state."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.text import Text

from ...runs.events import Asked, Event, MindChanged, Silenced, Speaking, Started, Stopped, Uttered
from ...state.plain_text import clean, one_line
from ..output import is_unicode
from .lead import Lead
from .picture import Picture
from .plain_view import asking
from .text import cost, tokens
from .transcript import Transcript, clock

MOST: Final = 10
"""The greatest need to talk."""

_BAR: Final = 10
_NAME: Final = 20
_GAP: Final = 2


def bar(value: float, most: float, width: int, *, unicode: bool) -> str:
    """A bar of `width` characters, filled in proportion to `value` / `most`."""
    full, empty = ("━", "─") if unicode else ("#", ".")
    filled = round(width * min(max(value / most, 0.0), 1.0)) if most else 0
    return full * filled + empty * (width - filled)


def fitted(name: str, width: int, *, unicode: bool) -> str:
    """A name on exactly `width` cells, shortened with an ellipsis where it is too long."""
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    cut = set_cell_size(name, width - 1).rstrip() + ("…" if unicode else ".")
    return set_cell_size(cut, width)


def needs_lines(
    needs: Mapping[str, int],
    colours: Mapping[str, str],
    *,
    speaker: str = "",
    width: int = 80,
    height: int = 100,
    unicode: bool = True,
) -> list[Text]:
    """The bars, row by row, in order of listing.

    Args:
        needs: need to talk, 0–10, by agent.
        colours: colour of the name, by agent.
        speaker: who speaks now; marked.
        width: cells of a row.
        height: rows at most; if there are more agents, those with the greatest need are shown, and how many are not.
        unicode: whether the terminal can draw the bars' characters.
    """
    if not needs or height < 1:
        return []
    longest = max(cell_len(one_line(name)) for name in needs)
    name_width = max(4, min(_NAME, longest, width - _BAR - 6))
    cell = 2 + name_width + 1 + _BAR + 3
    columns = max(1, min(len(needs), (width + _GAP) // (cell + _GAP)))
    names, hidden = list(needs), 0
    if len(names) > columns * height:
        rows = max(1, height - 1)
        kept = set(sorted(names, key=lambda name: -needs[name])[: columns * rows])
        hidden = len(names) - len(kept)
        names = [name for name in names if name in kept]
    lines = []
    for start in range(0, len(names), columns):
        line = Text(no_wrap=True, overflow="crop")
        for name in names[start : start + columns]:
            line.append("> " if name == speaker else "  ", style="bold")
            line.append(fitted(one_line(name), name_width, unicode=unicode), style=colours.get(name, ""))
            line.append(" " + bar(needs[name], MOST, _BAR, unicode=unicode), style="dim" if not needs[name] else "")
            line.append(f" {needs[name]:>2}" + " " * _GAP)
        line.rstrip()
        lines.append(line)
    if hidden and len(lines) < height:
        lines.append(Text(f"  and {hidden} more with less need", style="dim"))
    return lines


_WAITING: Final = {
    "": "everybody wakes up",
    "single_agent": "one model writes the whole conversation",
    "group_chat": "the next speaker is chosen",
    "mad": "everybody answers",
    "mad_judge": "the sides and the judge answer",
    "reconcile": "everybody answers",
}
"""The line shown while no need to talk is known; baselines have none."""

_REFRESHES: Final = 10
_PROGRESS: Final = 20


class LiveView:
    """Prints the transcript above a small live area, which is removed at the end.

    Everything that users and models wrote is shown as text: it is cleaned, and never read as markup.

    Args:
        console: where to print; by default, standard output.
        lead: the text around the past of a resumed run or a branch.
    """

    def __init__(self, console: Console | None = None, lead: Lead | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._unicode = is_unicode() if console is None else True
        self._spinner = Spinner("dots" if self._unicode else "line")
        self._transcript = Transcript(self._print, unicode=self._unicode, lead=lead)
        self._now = Picture()
        self._waiting, self._asking = _WAITING[""], ""
        self._live = Live(
            console=self._console,
            get_renderable=self.area,
            refresh_per_second=_REFRESHES,
            transient=True,
            vertical_overflow="crop",
        )

    def show(self, event: Event) -> None:
        """Update the view with an event."""
        if isinstance(event, Stopped):
            self.close()
        if isinstance(event, Asked):
            self._asking = asking(event)
        else:
            self._transcript.show(event)
        self._now.take(event)
        match event:
            case Started():
                self._waiting = _WAITING.get(event.baseline or "", _WAITING[""])
                self._live.start(refresh=True)
            case Speaking() | Uttered() | Silenced() | MindChanged():
                self._asking = ""

    def note(self, line: str) -> None:
        """Print a line that is not an utterance."""
        self._transcript.note(line)

    def close(self) -> None:
        """Remove the live area and restore the cursor."""
        self._live.stop()

    def _print(self, shown: RenderableType) -> None:
        self._console.print(shown, soft_wrap=isinstance(shown, Text) and bool(shown.no_wrap))

    def area(self) -> RenderableType:
        """The live area; called ten times a second from another thread, so it only reads."""
        width, height = self._console.width, self._console.height - 1
        speaker, words = self._now.speaker, self._now.words
        bars = needs_lines(
            self._now.needs,
            self._transcript.colours,
            speaker=speaker,
            width=width - 1,
            height=min(height // 3, height - 6),
            unicode=self._unicode,
        )
        if bars:
            bars = [Text("need to talk", style="dim", no_wrap=True, overflow="crop"), *bars]
        parts: list[RenderableType] = []
        if words:
            name = self._transcript.name(speaker)
            name.truncate(width, overflow="ellipsis" if self._unicode else "crop")
            parts.append(name)
            lines = Text(clean(words).strip()).wrap(self._console, max(1, width - 2))
            room = max(1, height - len(bars) - len(self._judge()) - 3)
            parts.append(Padding(Group(*lines[-room:]), (0, 0, 1, 2), expand=False))
        else:
            doing = self._doing(speaker)
            doing.truncate(max(1, width - 2), overflow="crop")
            self._spinner.update(text=doing)
            parts.append(self._spinner)
        return Group(*parts, *bars, *self._judge(), self._progress())

    def _doing(self, speaker: str) -> Text:
        if self._asking:
            return Text(self._asking, style="bold")
        if self._now.paused:
            return Text("paused", style="dim")
        if speaker:
            return Text.assemble(self._transcript.name(speaker), (" is thinking", "dim"))
        return Text("the agents listen and think" if self._now.needs else self._waiting, style="dim")

    def _judge(self) -> list[Text]:
        """The judge's last verdict on one line; empty before the first one, and in discussions."""
        if self._now.verdict is None:
            return []
        verdict = self._now.verdict
        if verdict.consensus:
            words = "judge: consensus"
        elif verdict.overruled:
            words = f"judge: consensus is not accepted. {verdict.overruled}"
        else:
            words = f"judge: no consensus yet, {self._now.agreement}, {verdict.progress}"
        return [Text(one_line(words), style="dim", no_wrap=True, overflow=self._overflow())]

    def _overflow(self) -> OverflowMethod:
        """A column of figures; a figure that is cut ends in an ellipsis."""
        return "ellipsis" if self._unicode else "crop"

    def _progress(self) -> Text:
        line = Text(no_wrap=True, overflow=self._overflow())
        if self._now.limit:
            line.append(f"turn {self._now.turn}/{self._now.limit} ")
            line.append(bar(self._now.turn, self._now.limit, _PROGRESS, unicode=self._unicode))
        seconds = time.monotonic() - self._transcript.since
        spent = f"{tokens(self._now.totals)}, {cost(self._now.totals)}, " if self._now.totals.calls else ""
        line.append(f" {spent}{clock(seconds)}", style="dim")
        return line
