"""The status of a run, in the page's header."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.ending import failed
from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.budgets import budgets, limits_of
from persimchat.app.web.shared.formats import dollars, short, tokens
from persimchat.app.web.widgets import named
from persimchat.app.web.words import number, t
from persimchat.runs.events import TopicChanged, Totals
from persimchat.runs.folder.labels import read_labels
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

_POLL_S = 0.15
_COLOURS: Final = {
    "running": "positive",
    "paused": "warning",
    "asked": "accent",
    "ended": "grey-8",
    "unfinished": "warning",
}


def run_status(viewing: Viewing, *, secret: bool = False) -> None:
    """Draw the status, and keep it up to date.

    Args:
        viewing: the run.
        secret: whether not to tell how much was said, and who is asked: of a story, while people play.
    """
    status = _Status(viewing, secret=secret)
    status.sync()
    ui.timer(_POLL_S, status.sync)
    ui.timer(0, status.read_folder, once=True)


class _Status:
    def __init__(self, viewing: Viewing, *, secret: bool) -> None:
        self._viewing = viewing
        self._secret = secret
        self._drawn: object = None
        self._limits: dict[str, float] = {}
        self._name = ""
        self._topics: list[TopicChanged] = []
        self._read = 0  # number of lines that were searched for topics
        self._badge = ui.badge().props("rounded role=status").classes("px-2 py-1 shrink-0")
        with ui.column().classes("run-title gap-0 min-w-0"):
            self._name_label = ui.label().classes("run-name text-base font-semibold truncate max-w-full")
            self._topic_label = ui.label().classes("run-topic text-sm muted truncate max-w-full")
        self._name_label.set_visibility(False)
        with ui.row().classes("items-center gap-2 no-wrap shrink-0 gt-md") as self._numbers:
            self._bar = ui.linear_progress(0, size="6px", show_value=False).props("rounded").classes("w-16")
            self._progress = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")
            self._left = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")

    async def read_folder(self) -> None:
        """Read the budgets and the run's name from its folder."""
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            self._limits = await asyncio.to_thread(limits_of, folder)
            self._name = (await asyncio.to_thread(read_labels, folder)).name
        except PerSimChatError:
            return  # the folder is gone or damaged; other parts of the page report it
        self._drawn = None
        self.sync()

    def sync(self) -> None:
        """Draw what has changed."""
        board, turn, live = self._viewing.board, self._viewing.turn, self._viewing.live
        topic = self._topic_at(turn)
        ending = live is not None and live.control.stopped
        seen = (board.status, board.asked, turn, board.heard, board.stopped is None, topic, ending)
        if seen == self._drawn or board.started is None:
            return
        self._drawn = seen
        self._badge.set_text(t("chat.status_ending") if ending else _stands(board, secret=self._secret))
        self._badge.props(f"color={'negative' if failed(board) else _COLOURS['ended' if ending else board.status]}")
        for label, text in ((self._name_label, self._name), (self._topic_label, topic)):
            label.set_text(text)
            label.props["title"] = text
        self._name_label.set_visibility(bool(self._name))
        if self._secret:
            self._numbers.set_visibility(False)
            return
        limit = max(board.started.max_messages, board.turn, 1)
        self._progress.set_text(t("chat.progress", n=number(turn), max=number(limit)))
        named(self._bar, t("chat.progress_name", n=turn, max=limit))
        self._bar.set_value(turn / limit)
        totals = board.totals_at(turn)
        left = _left(self._limits, totals) if totals.calls else []  # none are known of the past of a resumed run
        self._left.set_text(t("chat.left", what=", ".join(left)) if left else "")
        self._left.set_visibility(bool(left))

    def _topic_at(self, turn: int) -> str:
        """The topic at a turn; each line is read once."""
        board = self._viewing.board
        fresh = board.lines[self._read :]
        self._read += len(fresh)
        self._topics += [line for line in fresh if isinstance(line, TopicChanged)]
        topic = board.started.topic if board.started is not None else ""
        for change in self._topics:
            if change.turn <= turn:
                topic = change.topic
        return one_line(topic)


def _stands(board: Board, *, secret: bool) -> str:
    if board.elsewhere:
        return t("chat.status_elsewhere")
    if board.status == "asked" and board.asked is not None:
        if secret:
            return t("chat.status_person")
        return t("chat.status_asked", who=one_line(board.asked.agent))
    if failed(board):
        return t("chat.status_error")
    return t(f"chat.status_{board.status}")


def _left(limits: dict[str, float], totals: Totals) -> list[str]:
    """What is left of each budget, if it is known."""
    found = []
    for budget in budgets(limits, totals):
        if budget.left is None:
            continue
        if budget.name == "budget_usd":
            found.append(dollars(budget.left, 2))
        elif budget.name == "budget_tokens":
            found.append(tokens(budget.left))
        else:
            found.append(t("chat.left_calls", n=budget.left, shown=short(budget.left)))
    return found
