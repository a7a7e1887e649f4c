"""The lines below what is typed: what is going on just now, and whose turn it is."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size

from persimchat.app.text import cost, tokens
from persimchat.runs.events import (
    Continued,
    Event,
    Judged,
    MindChanged,
    Paused,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    Totals,
    TurnEnded,
    Uttered,
)
from persimchat.state.plain_text import one_line

TURN: Final = "turn"
PLAIN: Final = ""

Line = tuple[str, str]
"""A style (`TURN` or `PLAIN`), and text of one line."""


class Area:
    """Keeps the picture of a run for the toolbar."""

    def __init__(self) -> None:
        self._needs: dict[str, int] = {}
        self._speaker, self._words = "", ""
        self._paused = False
        self._turn, self._limit = 0, 0
        self._totals = Totals()
        self._agree = ""

    def show(self, event: Event) -> None:
        """Take one event into the picture."""
        match event:
            case Started():
                self._limit = event.max_messages
            case Speaking():
                self._speaker, self._words, self._needs = event.speaker, "", dict(event.need_to_talk)
            case Token():
                self._words += event.text
            case Uttered():
                self._speaker, self._words, self._turn = "", "", event.turn
                self._needs = dict(event.need_to_talk) or self._needs
            case Silenced() if event.step == "speak":
                self._speaker, self._words = "", ""
            case MindChanged() if event.record.need_to_talk is not None:
                self._needs = {**self._needs, event.record.agent: event.record.need_to_talk}
            case Paused() | Continued():
                self._paused = isinstance(event, Paused)
            case Judged():
                agree = sum(position.agrees for position in event.positions)
                self._agree = f"{agree} of {len(event.positions)} agree"
            case TurnEnded():
                self._turn, self._totals = event.turn, event.totals
            case Stopped():
                self._speaker, self._words = "", ""
            case _:
                pass

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
        needs = ", ".join(f"{one_line(name)} {need}" for name, need in sorted(self._needs.items(), key=_by_need))
        parts = [
            f"turn {self._turn}/{self._limit}",
            f"need to talk: {needs}" if needs else "",
            self._agree,
            f"{tokens(self._totals)}, {cost(self._totals)}" if self._totals.calls else "",
        ]
        return [(style, _cut(text, width)) for style, text in (first, (PLAIN, " | ".join(filter(None, parts))))]

    def _doing(self, width: int) -> str:
        if self._words:
            name, words = one_line(self._speaker), one_line(self._words)
            room = width - cell_len(name) - 2
            return f"{name}: {_end(words, room)}"
        if self._speaker:
            return f"{one_line(self._speaker)} looks for words"
        if self._paused:
            return "paused; /go goes on"
        return "everybody listens and thinks" if self._needs else "everybody wakes up"


def _by_need(item: tuple[str, int]) -> int:
    return -item[1]


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _end(text: str, width: int) -> str:
    """The last words of a text that fit."""
    while text and cell_len(text) > max(1, width):
        text = text[1 + (len(text) > 2 * width) * (len(text) - 2 * width) :]
    return text
