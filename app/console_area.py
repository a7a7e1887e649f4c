"""The lines below what is typed: what is going on just now, and whose turn it is."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size

from persimchat.app.picture import Picture
from persimchat.app.text import cost, tokens
from persimchat.runs.events import Event
from persimchat.state.plain_text import one_line

TURN: Final = "turn"
PLAIN: Final = ""

Line = tuple[str, str]
"""A style (`TURN` or `PLAIN`), and text of one line."""


class Area:
    """Keeps the picture of a run for the toolbar."""

    def __init__(self) -> None:
        self._now = Picture()

    def show(self, event: Event) -> None:
        """Take one event into the picture."""
        self._now.take(event)

    def lines(self, asked: tuple[str, str] | None, width: int) -> list[Line]:
        """Two lines: whose turn it is or who speaks, and how far it is.

        Args:
            asked: who is asked for what.
            width: cells of a line.
        """
        first = (PLAIN, self._doing(width))
        if asked is not None:
            name, what = one_line(asked[0]), asked[1]
            words = f" Your turn, {name} " if what == "utterance" else f" {name}: need to talk, 0 to 10? "
            first = (TURN, words)
        needs = ", ".join(f"{one_line(name)} {need}" for name, need in sorted(self._now.needs.items(), key=_by_need))
        parts = [
            f"turn {self._now.said}/{self._now.limit}",
            f"need to talk: {needs}" if needs else "",
            self._now.agreement,
            f"{tokens(self._now.totals)}, {cost(self._now.totals)}" if self._now.totals.calls else "",
        ]
        return [(style, _cut(text, width)) for style, text in (first, (PLAIN, " | ".join(filter(None, parts))))]

    def _doing(self, width: int) -> str:
        if self._now.words:
            name, words = one_line(self._now.speaker), one_line(self._now.words)
            room = width - cell_len(name) - 2
            return f"{name}: {_end(words, room)}"
        if self._now.speaker:
            return f"{one_line(self._now.speaker)} looks for words"
        if self._now.paused:
            return "paused; /go goes on"
        return "everybody listens and thinks" if self._now.needs else "everybody wakes up"


def _by_need(item: tuple[str, int]) -> int:
    return -item[1]


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _end(text: str, width: int) -> str:
    """The last words of a text that fit."""
    while text and cell_len(text) > max(1, width):
        text = text[1 + (len(text) > 2 * width) * (len(text) - 2 * width) :]
    return text
