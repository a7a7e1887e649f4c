"""The conversation, utterance by utterance; the view stays at the end unless the reader scrolls up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.afterwards import draw_afterwards
from persimchat.app.web.chat.being_said import BeingSaid
from persimchat.app.web.chat.branch_dialog import branch_from
from persimchat.app.web.chat.calls_dialog import show_calls
from persimchat.app.web.chat.ending import draw_end
from persimchat.app.web.chat.guide_parts import draw_question, draw_shown
from persimchat.app.web.chat.lines import LineActions, Said, draw_line, put_in
from persimchat.app.web.chat.origin import Origin, OriginBar
from persimchat.app.web.chat.tools import mark_found, transcript_tools
from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.widgets import named, notify_error
from persimchat.app.web.words import t
from persimchat.runs.events import GuideTold, Uttered, Waiting
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

STEP: Final = 80
"""Lines shown at the end of the conversation, and lines added by each step back."""

LARGEST: Final = 3 * STEP
"""The most lines on the page."""


_POLL_S = 0.15


def window(count: int, first: int | None) -> tuple[int, int]:
    """The lines on the page, as a half-open range of indices.

    Args:
        count: lines there are.
        first: the first line to show; None to follow the end.
    """
    if first is None:
        return max(0, count - STEP), count
    low = max(0, min(first, count - STEP))
    return low, min(count, low + LARGEST)


def earlier(count: int, first: int | None) -> int:
    """The first line after a step back."""
    return max(0, window(count, first)[0] - STEP)


def later(count: int, first: int | None) -> int | None:
    """The first line after a step forward; None where the end is reached."""
    following = window(count, first)[0] + STEP
    return None if following + LARGEST >= count else following


def fill_menu(viewing: Viewing, said: Uttered, outside: ui.element) -> None:
    """Fill the menu of an utterance.

    Args:
        viewing: the run.
        said: the utterance.
        outside: an element that outlives the line; it owns the dialogs.
    """

    async def branch() -> None:
        with outside:
            await branch_from(viewing, said.turn)

    async def change() -> None:
        with outside:
            await branch_from(viewing, said.turn - 1, instead=True)

    async def again() -> None:
        with outside:
            try:
                made = await viewing.web.runs.regenerate(viewing.run, said.turn)
            except PerSimChatError as error:
                notify_error(error)
                return
            ui.navigate.to(page_of(made.run))

    async def calls() -> None:
        with outside:
            await show_calls(viewing, said)

    board = viewing.board
    idle = viewing.live is None  # only a run that is not running can be branched
    story = board.started is not None and board.started.mode == "story"
    baseline = board.started is not None and board.started.baseline is not None
    agent = said.speaker in board.participants and said.speaker not in board.people
    ui.menu_item(t("chat.copy"), lambda: copy_line(said)).mark("copy-line")
    if agent and not story and not baseline:  # a story's page shows where characters stand
        ui.menu_item(t("chat.mind"), lambda: viewing.look_at(said.speaker, said.turn)).mark("mind")
    ui.menu_item(t("chat.calls"), calls).mark("calls-of")
    if viewing.experiment or baseline:
        return
    ui.separator()
    ui.menu_item(t("chat.branch_here"), branch).mark("branch-here").set_enabled(idle)
    ui.menu_item(t("chat.branch_line"), change).mark("branch-line").set_enabled(idle)
    if agent and (said.heard_by is None or story):  # a room's words are a model's own
        ui.menu_item(t("chat.regenerate"), again).mark("regenerate").set_enabled(idle)
    if not idle:
        ui.label(t("chat.not_while_live")).classes("text-xs muted px-4 py-2 max-w-60")


def copy_line(said: Uttered) -> None:
    """Put an utterance on the clipboard, with its speaker."""
    ui.clipboard.write(told(said))
    ui.notify(t("chat.copied"), type="positive")


def chat_panel(viewing: Viewing, tools: ui.element, *, below: Callable[[Uttered], None] | None = None) -> None:
    """Draw the conversation, and keep it up to date.

    Args:
        viewing: the run.
        tools: takes the buttons for searching and for the keys; outside the conversation, whose words they would cover.
        below: draws what belongs under an utterance's words; None for nothing.
    """
    panel = _Panel(viewing, tools, below)
    panel.sync()
    ui.timer(_POLL_S, panel.sync)
    ui.timer(0, panel.read_origin, once=True)


class _Panel:
    """The lines on the page."""

    def __init__(self, viewing: Viewing, tools: ui.element, below: Callable[[Uttered], None] | None) -> None:
        self._viewing = viewing
        self._first: int | None = None  # the first line shown; None follows the end
        self._rows: dict[int, ui.element] = {}
        self._drawn: object = None
        self._spoken = viewing.board.turn  # number of announced utterances
        self._ended = False
        self._reloading = False
        self._origin = Origin()
        self._origin_bar = OriginBar(viewing)
        self._found: int | None = None
        with ui.element("div").classes("chat-box w-full"):
            transcript_tools(viewing, tools, lambda: viewing.board.utterances[: viewing.turn], self._reveal)
            with ui.element("div").classes("scroll w-full grow flex flex-col-reverse chat") as self._root:
                self._root.props("tabindex=0 role=log aria-live=off")
                named(self._root, t("chat.log"))
                with ui.column().classes("w-full max-w-3xl mx-auto gap-4 px-4 py-5 mb-auto"):
                    self._notice = ui.label().classes("text-sm text-center muted break-words w-full").mark("notice")
                    self._shown = ui.column().classes("w-full")
                    self._earlier = _step("expand_less", t("chat.earlier"))
                    self._box = ui.column().classes("w-full gap-4")
                    self._said = BeingSaid()
                    self._later = _step("expand_more", t("chat.later"))
                    with ui.row().classes("items-center gap-2 min-h-6 no-wrap") as self._doing:
                        self._dots = ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                        self._does = ui.label().classes("text-xs muted")
                    self._end = ui.column().classes("w-full")
        self._announce = ui.label().classes("sr-only").props("aria-live=polite").mark("announced")
        self._earlier.on_click(self._back)
        self._later.on_click(self._forward)
        self._actions = LineActions(
            viewing.look_at,
            lambda said: fill_menu(viewing, said, self._root),
            below,
            above=self._above,
        )

    async def read_origin(self) -> None:
        """Show of which run this is a branch."""
        self._origin = await Origin.of(self._viewing)
        self._origin_bar.show(self._origin)
        for index, row in list(self._rows.items()):
            if isinstance(row, Said) and row.said.turn in self._origin.begins:
                self._rows.pop(index).delete()
        self._drawn = None
        self.sync()

    def _above(self, said: Uttered) -> None:
        self._origin.over(said)
        if (started := self._viewing.board.started) is not None:
            draw_question(said, started.guide)

    def sync(self) -> None:
        """Draw what has changed."""
        viewing, board = self._viewing, self._viewing.board
        live = viewing.live
        if live is not None and live.board is not board:
            if not self._reloading:  # once: a second call would restart the load
                self._reloading = True
                ui.navigate.reload()  # the run was resumed, in another tab
            return
        seen = (viewing.revision, self._first, live is None)
        if seen == self._drawn or board.started is None:
            return
        self._drawn = seen
        count = len(board.lines) if viewing.newest else board.lines_upto(viewing.turn)
        low, high = window(count, self._first)
        self._lines(low, high)
        self._notice.set_text(one_line(board.started.notice))
        self._notice.set_visibility(bool(board.started.notice) and low == 0)
        self._show_stimulus(board.started.guide)
        self._shown.set_visibility(low == 0)
        self._earlier.set_visibility(low > 0)
        self._later.set_visibility(high < count)
        at_end = high == count and viewing.turn == board.turn
        self._said.show(board if viewing.newest and at_end else None)
        self._doing_now(doing(board) if viewing.newest and at_end and live else "" if count else t("chat.empty"))
        self._the_end(board, shown=at_end and board.status == "ended")
        self._tell(board)

    def _lines(self, low: int, high: int) -> None:
        for index in [index for index in self._rows if not low <= index < high]:
            self._rows.pop(index).delete()
        board = self._viewing.board
        for index in range(low, high):
            if index not in self._rows:
                with self._box:
                    row = draw_line(board.lines[index], board, self._actions)
                if index - low < len(self._rows):
                    row.move(target_index=index - low)
                self._rows[index] = row
        for row in self._rows.values():
            if isinstance(row, Said):
                row.score(board.scores.get(row.said.turn))

    def _show_stimulus(self, guide: GuideTold | None) -> None:
        """Show at the beginning, once, what a focus group sees from the beginning."""
        if guide is not None and not guide.shown_with and not self._shown.default_slot.children:
            with self._shown:
                draw_shown(guide, t("chat.shown_first"))

    def _doing_now(self, what: str) -> None:
        self._doing.set_visibility(bool(what))
        self._dots.set_visibility(self._viewing.board.status == "running")
        self._does.set_text(what)

    def _the_end(self, board: Board, *, shown: bool) -> None:
        if shown == self._ended:
            return
        self._ended = shown
        self._end.clear()
        if shown:
            with self._end:
                draw_end(board)
                draw_afterwards(self._viewing)

    def _tell(self, board: Board) -> None:
        """Announce each finished utterance once to screen readers."""
        if board.turn > self._spoken:
            said = board.utterances[self._spoken :]
            self._spoken = board.turn
            self._announce.set_text("\n".join(told(utterance) for utterance in said))

    def _reveal(self, turn: int | None) -> None:
        """Bring an utterance into view and mark it, wherever in the conversation it is; None marks none."""
        self._mark(found=False)
        self._found = turn
        if turn is None:
            return
        board = self._viewing.board
        index = next(i for i, line in enumerate(board.lines) if isinstance(line, Uttered) and line.turn == turn)
        if index not in self._rows:
            self._first = max(0, index - STEP // 2)
            self.sync()
        self._mark(found=True)

    def _mark(self, *, found: bool) -> None:
        row = next((row for row in self._rows.values() if isinstance(row, Said) and row.said.turn == self._found), None)
        mark_found(row, found=found)

    def _count(self) -> int:
        board = self._viewing.board
        return len(board.lines) if self._viewing.newest else board.lines_upto(self._viewing.turn)

    def _back(self) -> None:
        self._first = earlier(self._count(), self._first)
        self.sync()

    def _forward(self) -> None:
        self._first = later(self._count(), self._first)
        self.sync()


def _step(icon: str, name: str) -> ui.button:
    return ui.button(name, icon=icon).props("flat dense no-caps").classes("mx-auto")


def told(said: Uttered) -> str:
    """A finished utterance as it is announced to screen readers."""
    marked = f" ({put_in(said.edited_by)})" if said.edited_by is not None else ""
    return f"{one_line(said.speaker)}{marked}: {said.text}"


def server_waits(waits: Waiting) -> str:
    """A line about a server that has asked for a pause."""
    return t("chat.server_waits", model=one_line(waits.model), n=math.ceil(waits.wait_s))


def doing(board: Board) -> str:
    """A line about the present state; empty if the page shows it anyway."""
    if board.status == "paused":
        return t("chat.paused")
    if board.asked is not None:
        return t("chat.waiting", who=one_line(board.asked.agent))
    if board.waits is not None:
        return server_waits(board.waits)
    if board.speaking is not None:
        return t("chat.thinking", who=one_line(board.speaking.speaker)) if not board.words else ""
    if board.started is not None and board.started.baseline is not None:
        return t("chat.choosing" if board.started.baseline == "group_chat" else "chat.baseline_working")
    if not board.totals:
        return t("chat.waking")
    return t("chat.hearing") if board.heard < board.turn else t("chat.choosing")
