"""The utterance that is being made, word by word, at the end of a transcript."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.lines import draw_face, draw_speaker
from persimchat.app.web.looks import colour
from persimchat.runs.events import Speaking


class BeingSaid:
    """The place of the utterance; empty while nobody is speaking."""

    def __init__(self) -> None:
        self._box = ui.column().classes("w-full gap-4")
        self._of: Speaking | None = None
        self._words: ui.label

    def show(self, board: Board | None) -> None:
        """Show what is being said in a run; None shows nothing."""
        speaking = board.speaking if board is not None and board.words else None
        if board is None or speaking is None or board.started is None:
            if self._of is not None:
                self._box.clear()
                self._of = None
            return
        if self._of != speaking:
            self._of = speaking
            self._box.clear()
            with self._box, ui.row().classes("w-full gap-3 no-wrap items-start said live") as row:
                row.style(f"--c:{colour(speaking.speaker, board.started.participants)}")
                draw_face(speaking.speaker, board.started)
                with ui.column().classes("gap-1 min-w-0"):
                    draw_speaker(speaking.speaker, board.started, None)
                    self._words = ui.label().classes("bubble text-sm max-w-full")
        self._words.set_text(board.words)
