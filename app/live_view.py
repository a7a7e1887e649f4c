"""A run in a terminal: finished utterances scroll by; below them, what is going on just now."""

from __future__ import annotations

import time
from typing import Final

from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.text import Text

from persimchat.app.needs import bar, needs_lines
from persimchat.app.output import is_unicode
from persimchat.app.past_banner import Lead
from persimchat.app.picture import Picture
from persimchat.app.telling import asking
from persimchat.app.text import cost, tokens
from persimchat.app.transcript import Transcript, clock
from persimchat.runs.events import Asked, Event, MindChanged, Silenced, Speaking, Started, Stopped, Uttered
from persimchat.state.plain_text import clean, one_line

_WAITING: Final = {
    "": "everybody wakes up",
    "single_agent": "one model writes the whole conversation",
    "mad": "everybody answers",
    "mad_judge": "the sides and the judge answer",
    "reconcile": "everybody answers",
}
"""What goes on before anybody has a need to talk; baselines have none."""

_REFRESHES: Final = 10
_PROGRESS: Final = 20


class LiveView:
    """Prints the transcript above a small live area, which is gone at the end.

    Everything that users and models wrote is shown as text: it is cleaned, and never read as markup.

    Args:
        console: where to; standard output where it is not given.
        lead: what stands around the past of a run that goes on.
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
        """Take one event into the picture."""
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

    def close(self) -> None:
        """Take the live area away and give the cursor back."""
        self._live.stop()

    def _print(self, shown: RenderableType) -> None:
        self._console.print(shown, soft_wrap=isinstance(shown, Text) and bool(shown.no_wrap))

    def area(self) -> RenderableType:
        """What is going on just now; called ten times a second from a thread of its own, so it only reads."""
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
            return Text.assemble(self._transcript.name(speaker), (" looks for words", "dim"))
        return Text("everybody listens and thinks" if self._now.needs else self._waiting, style="dim")

    def _judge(self) -> list[Text]:
        """The judge's last verdict in one line; nothing before the first, and in discussions."""
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
        """A figure that is cut shows that it is."""
        return "ellipsis" if self._unicode else "crop"

    def _progress(self) -> Text:
        line = Text(f"turn {self._now.turn}/{self._now.limit} ", no_wrap=True, overflow=self._overflow())
        line.append(bar(self._now.turn, self._now.limit, _PROGRESS, unicode=self._unicode))
        seconds = time.monotonic() - self._transcript.since
        spent = f"{tokens(self._now.totals)}, {cost(self._now.totals)}, " if self._now.totals.calls else ""
        line.append(f" {spent}{clock(seconds)}", style="dim")
        return line
