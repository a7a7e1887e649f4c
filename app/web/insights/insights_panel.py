"""The insights beside a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.chart_cards import Emotions, Openness, ResponseTimes, Scores
from persimchat.app.web.insights.figures import numbers_of
from persimchat.app.web.insights.people import Needs, People
from persimchat.app.web.insights.tiles import Budgets, Tiles
from persimchat.app.web.shared.budgets import budgets, limits_of
from persimchat.app.web.widgets import chip, notify_error, title
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError

_EVERY = 0.5
"""Seconds between looks at what has changed."""


def insights_panel(viewing: Viewing) -> None:
    """Draw the insights, and keep them up to date."""
    panel = _Panel(viewing)
    panel.draw()
    ui.timer(_EVERY, panel.draw)
    ui.timer(0, panel.know_limits, once=True)


def drawn_from(viewing: Viewing) -> Hashable:
    """What the insights are drawn from, in short: words that come in one by one change nothing of it."""
    board, turn = viewing.board, viewing.turn
    now = [len(levels.get(turn, ())) for levels in (board.needs, board.emotions, board.openness)]
    counts = (len(board.scores), len(board.verdicts), board.totals_at(turn).calls, len(board.participants))
    hands = tuple(sorted(board.hands)) if viewing.newest else ()
    return (turn, viewing.newest, *now, *counts, hands, board.status == "ended")


class _Panel:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._revision: Hashable = None
        self._drawn: Hashable = None
        self._limits: dict[str, float] = {}
        with ui.column().classes("scroll w-full grow p-4 gap-3 no-wrap").props("tabindex=0") as box:
            box.props["aria-label"] = t("insights.title")
            box.props["role"] = "region"
            with ui.row().classes("w-full items-center justify-between"):
                title(t("insights.title"))
                self._as_of = chip("")
            self._tiles = Tiles()
            self._budgets = Budgets()
            self._people = People(viewing)
            parts = (Needs(viewing), Emotions(viewing), Openness(viewing), Scores(viewing), ResponseTimes(viewing))
            self._parts = parts

    async def know_limits(self) -> None:
        """Find out which budgets the run has."""
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            self._limits = await asyncio.to_thread(limits_of, folder)
        except PerSimChatError as error:
            notify_error(error)
            return
        self._draw_budgets()

    def draw(self) -> None:
        """Draw, if anything shown has changed."""
        if self._revision == self._viewing.revision:
            return
        self._revision = self._viewing.revision
        now = drawn_from(self._viewing)
        if now == self._drawn:
            return
        self._drawn = now
        viewing, board = self._viewing, self._viewing.board
        self._as_of.set_text(t("insights.as_of", turn=viewing.turn))
        self._as_of.set_visibility(not viewing.newest)
        figures = numbers_of(board).at(board, viewing.turn)
        limit = board.started.max_messages if board.started is not None else None
        self._tiles.draw(figures, board.totals_at(viewing.turn), limit)
        self._tiles.draw_weak(board, viewing.turn)
        self._draw_budgets()
        self._people.draw(figures.agents)
        for part in self._parts:
            part.draw()

    def _draw_budgets(self) -> None:
        self._budgets.draw(budgets(self._limits, self._viewing.board.totals_at(self._viewing.turn)))
