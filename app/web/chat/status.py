"""The status of a run, in the page's header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import ui

from ....runs.events import TopicChanged, Totals
from ....state.plain_text import one_line
from ..board import Board
from ..context import Viewing
from ..shared.formats import dollars, short, tokens
from ..shared.runs import budgets, limits_of
from ..widgets import follow, named, say_in
from ..words import number, t
from .ending import failed

_COLOURS: Final = {
    "running": "positive",
    "paused": "warning",
    "asked": "accent",
    "ended": "grey-8",
    "unfinished": "warning",
}


class RunStatus:
    """The status, kept up to date.

    Args:
        viewing: the run.
        secret: whether not to tell how much was said, and who is asked: of a story, while people play.
    """

    def __init__(self, viewing: Viewing, *, secret: bool) -> None:
        self._viewing, self._secret = viewing, secret
        self._drawn: object = None
        self._limits = limits_of(viewing.manifest)
        self._topics: list[TopicChanged] = []
        self._read = 0  # number of lines that were searched for topics
        self._badge = ui.badge().props("rounded role=status").classes("px-2 py-1 shrink-0")
        with ui.column().classes("run-title gap-0 min-w-0"):
            name = viewing.labels.name
            label = ui.label(name).classes("run-name text-base font-semibold truncate max-w-full")
            label.set_visibility(bool(name))
            label.props["title"] = name
            self._topic = ui.label().classes("run-topic text-sm muted truncate max-w-full")
        with ui.row().classes("items-center gap-2 no-wrap shrink-0 gt-md") as numbers:
            self._bar = ui.linear_progress(0, size="6px", show_value=False).props("rounded").classes("w-16")
            self._progress = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")
            self._left = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")
        numbers.set_visibility(not secret)
        follow(self.sync)

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
        self._topic.set_text(topic)
        self._topic.props["title"] = topic
        if self._secret:
            return
        limit = max(board.started.max_messages, board.turn, 1)
        self._progress.set_text(t("chat.progress", n=number(turn), max=number(limit)))
        named(self._bar, t("chat.progress_name", n=turn, max=limit))
        self._bar.set_value(turn / limit)
        totals = board.totals_at(turn)
        left = _left(self._limits, totals) if totals.calls else []  # none are known of the past of a resumed run
        say_in(self._left, t("chat.left", what=", ".join(left)) if left else "")

    def _topic_at(self, turn: int) -> str:
        """The topic at a turn; each line is read once."""
        board = self._viewing.board
        fresh = board.lines[self._read :]
        self._read += len(fresh)
        self._topics += [line for line in fresh if isinstance(line, TopicChanged)]
        first = [board.started.topic] if board.started is not None else [""]
        return one_line([*first, *(line.topic for line in self._topics if line.turn <= turn)][-1])


def _stands(board: Board, *, secret: bool) -> str:
    if board.elsewhere:
        return t("chat.status_elsewhere")
    if board.status == "asked" and board.asked is not None:
        return t("chat.status_person") if secret else t("chat.status_asked", who=one_line(board.asked.agent))
    return t("chat.status_error") if failed(board) else t(f"chat.status_{board.status}")


def _left(limits: dict[str, float], totals: Totals) -> list[str]:
    """What is left of each budget, if it is known."""
    worded: dict[str, Callable[[float], str]] = {
        "budget_usd": lambda left: dollars(left, 2),
        "budget_tokens": tokens,
        "budget_calls": lambda left: t("chat.left_calls", n=left, shown=short(left)),
    }
    return [worded[one.name](one.left) for one in budgets(limits, totals) if one.left is not None]
