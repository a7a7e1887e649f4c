"""The transcript of a conversation: its lines in order, and what a focus group's guide adds to them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from nicegui import ui

from ....runs.events import GuideTold, Uttered
from ....state.plain_text import one_line
from ..board import Board
from ..widgets import named
from ..words import t
from .ending import draw_afterwards, draw_end
from .lines import Said, draw_line
from .transcript import RunTranscript, doing


class Conversation(RunTranscript):
    """The transcript of every run but a story's."""

    def revision(self) -> Hashable:
        """A value that changes when there is something new to draw."""
        return (self.viewing.revision, self.viewing.live is None)

    def draw(self) -> bool:
        """Draw the lines; returns whether the end of the run is among them."""
        viewing, board = self.viewing, self.viewing.board
        lines = board.lines if viewing.newest else board.lines[: board.lines_upto(viewing.turn)]
        made = [(index, partial(draw_line, line, board, self.actions)) for index, line in enumerate(lines)]
        _, high = self.show(made)
        for row in self.items.drawn.values():
            if isinstance(row, Said):
                row.score(board.scores.get(row.said.turn))
        self._draw_head(board)
        return high == len(lines)

    def heard(self) -> list[Uttered]:
        """The utterances up to the shown turn."""
        return self.viewing.board.utterances[: self.viewing.turn]

    def doing(self) -> str:
        """A line about the present state of the run."""
        found = doing(self.viewing.board)
        return between(self.viewing.board) if found is None else found

    def draw_end(self) -> None:
        """Draw what stands after the last line."""
        draw_end(self.viewing.board)
        draw_afterwards(self.viewing)

    def unfold(self, turn: int) -> None:
        """Make sure that an utterance is among the lines."""
        lines = self.viewing.board.lines
        index = next(i for i, line in enumerate(lines) if isinstance(line, Uttered) and line.turn == turn)
        if index not in self.items.drawn:
            self.first = max(0, index - 40)
            self.sync()

    def above(self, said: Uttered) -> None:
        """Draw what stands over an utterance: the line where a branch begins, and the question that it puts."""
        super().above(said)
        if (started := self.viewing.board.started) is not None:
            draw_question(said, started.guide)

    def _draw_head(self, board: Board) -> None:
        """Draw, once, the run's notice and what a focus group sees from the beginning."""
        if self.head.default_slot.children or board.started is None:
            return
        guide, notice = board.started.guide, one_line(board.started.notice)
        with self.head:
            label = ui.label(notice).classes("text-sm text-center muted break-words w-full").mark("notice")
            label.set_visibility(bool(notice))
            if guide is not None and not guide.shown_with:
                draw_shown(guide, t("chat.shown_first"))


def between(board: Board) -> str:
    """What goes on where nobody is asked or speaks."""
    if board.started is not None and board.started.baseline is not None:
        return t("chat.choosing" if board.started.baseline == "group_chat" else "chat.baseline_working")
    if not board.totals:
        return t("chat.waking")
    return t("chat.hearing") if board.heard < board.turn else t("chat.choosing")


def draw_question(said: Uttered, guide: GuideTold | None) -> None:
    """Draw the question that an utterance puts, and what everybody is shown with it; nothing over all others."""
    if guide is None or not said.question or said.question > len(guide.questions):
        return
    with ui.column().classes("w-full gap-0 asked-of-all").props("role=heading aria-level=3"):
        ui.label(t("chat.question", n=said.question, of=len(guide.questions))).classes("text-xs muted font-semibold")
        ui.label(guide.questions[said.question - 1]).classes("text-base font-semibold break-words")
    if said.question in guide.shown_with:
        draw_shown(guide, t("chat.shown_now"))


def draw_shown(guide: GuideTold, when: str) -> None:
    """Draw what everybody is shown, and since when; nothing if the guide shows nothing."""
    if not guide.shown:
        return
    with ui.column().classes("w-full gap-1 shown-to-all").props("role=region tabindex=0").mark("shown") as box:
        named(box, when)
        ui.label(when).classes("text-xs muted font-semibold")
        ui.label(guide.shown).classes("text-sm break-words whitespace-pre-wrap")
