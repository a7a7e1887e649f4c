"""The part of the panel on the people: how much each has said, and, at its end, what the run has used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.figures import drawn_from, numbers_of
from persimchat.app.web.insights.tiles import Budgets, Tiles
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.budgets import budgets, limits_of
from persimchat.app.web.shared.formats import joined, number, seconds, trended
from persimchat.app.web.widgets import avatar, card, chip, notify_error
from persimchat.app.web.words import t
from persimchat.runs.reports.summary import SCORES, AgentSummary
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line


def people_part(viewing: Viewing) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it."""
    return _PeoplePart(viewing).draw


class People:
    """Each participant's messages, last response and last scores."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._shown: dict[str, tuple[ui.label, ui.label, ui.label]] = {}
        with card(t("insights.participants")):
            self._rows = ui.element("ul").classes("plain w-full flex flex-col gap-2")

    def draw(self, agents: Sequence[AgentSummary]) -> None:
        """Show the participants' figures."""
        board = self._viewing.board
        for agent in agents:
            if agent.name not in self._shown:
                with self._rows, ui.element("li"):
                    self._shown[agent.name] = self._row(agent.name)
            count, response, scores = self._shown[agent.name]
            said = agent.speech
            count.set_text(t("insights.messages_of", n=said.utterances))
            last = said.response_time_s.last
            words = t("insights.no_response") if last is None else t("insights.last_response", value=seconds(last))
            if agent.name in board.people:
                words = t("insights.person")
            response.set_text(joined([words, trended(said.response_time_s.trend, "s")]))
            values = [(name, getattr(said, name).last) for name in SCORES]
            scores.set_text(
                joined(f"{t(f'insights.{name}')} {number(value)}" for name, value in values if value is not None)
            )
            scores.set_visibility(said.scored > 0)

    def _row(self, name: str) -> tuple[ui.label, ui.label, ui.label]:
        board = self._viewing.board
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            avatar(name, colour(name, board.participants), "26px", human=name in board.people)
            with ui.column().classes("gap-0 grow min-w-0"):
                with ui.row().classes("w-full items-baseline gap-2 no-wrap justify-between"):
                    ui.label(one_line(name)).classes("text-sm truncate min-w-0")
                    count = ui.label().classes("text-xs tabular-nums whitespace-nowrap")
                response = ui.label().classes("text-xs muted tabular-nums")
                scores = ui.label().classes("text-xs muted tabular-nums")
        return count, response, scores


class _PeoplePart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._drawn: Hashable = None
        self._limits: dict[str, float] | None = None
        self._as_of = chip("")
        self._people = People(viewing)
        self._tiles = Tiles()
        self._budgets = Budgets()

    async def draw(self) -> None:
        """Draw, if anything shown has changed."""
        viewing, board = self._viewing, self._viewing.board
        if self._limits is None:
            self._limits = await self._read_limits()
        now = drawn_from(viewing)
        if now == self._drawn:
            return
        self._drawn = now
        self._as_of.set_text(t("insights.as_of", turn=viewing.turn))
        self._as_of.set_visibility(not viewing.newest)
        figures = numbers_of(board).at(board, viewing.turn)
        limit = board.started.max_messages if board.started is not None else None
        self._people.draw(figures.agents)
        self._tiles.draw(figures, board.totals_at(viewing.turn), limit)
        self._tiles.draw_weak(board, viewing.turn)
        self._budgets.draw(budgets(self._limits, board.totals_at(viewing.turn)))

    async def _read_limits(self) -> dict[str, float]:
        """Which budgets the run has; an error is shown."""
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            return await asyncio.to_thread(limits_of, folder)
        except PerSimChatError as error:
            notify_error(error)
            return {}
