"""The insights panel, with the participants: how much each has said, and who wants to talk."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.chart_cards import Emotions, Openness, ResponseTimes, Scores
from persimchat.app.web.insights.charts import ChartBox, line, now_or_over_time, over_turns
from persimchat.app.web.insights.figures import latest, levels_of, longest, numbers_of
from persimchat.app.web.insights.left_out import LeftOut
from persimchat.app.web.insights.tiles import Budgets, Tiles
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.budgets import budgets, limits_of
from persimchat.app.web.shared.formats import course, joined, names, number, seconds, trended
from persimchat.app.web.widgets import avatar, bar, card, chip, fill, notify_error, title
from persimchat.app.web.words import t
from persimchat.runs.reports.summary import SCORES, AgentSummary
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line


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


class Needs:
    """Who wants to talk, now and over time."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._shown: dict[str, tuple[ui.row, ui.element, ui.label]] = {}
        with card():
            self._when = now_or_over_time(t("insights.need"), self.draw)
            with ui.column().classes("w-full gap-2") as self._now:
                self._rows = ui.element("ul").classes("plain w-full flex flex-col gap-2")
                self._most = ui.label().classes("text-xs muted")
            self._chart = ChartBox(over_turns(), t("insights.need_none"))
        self._chart.hide()

    def draw(self) -> None:
        """Show the needs at the shown turn."""
        board, turn = self._viewing.board, self._viewing.turn
        now = self._when.value == "now"
        self._now.set_visibility(now)
        self._chart.hide()
        if now:
            self._bars(latest(board.needs, board.participants, turn))
            return
        lines = {name: levels_of(board.needs, name, turn) for name in board.participants}
        known = {name: points for name, points in lines.items() if points}
        self._chart.draw(
            [line(name, colour(name, board.participants), points) for name, points in known.items()],
            t("insights.need_chart", course=" ".join(course(name, points) for name, points in known.items())),
            turn=turn,
            longest=longest(known),
        )

    def _bars(self, needs: dict[str, int]) -> None:
        board = self._viewing.board
        hands = board.hands if self._viewing.newest else set()
        for name in board.participants:
            if name not in self._shown:
                with self._rows, ui.element("li"):
                    self._shown[name] = self._row(name)
            row, inner, label = self._shown[name]
            level = needs.get(name)
            row.set_visibility(level is not None or name in board.people)
            fill(inner, (level or 0) / 10)
            of_people = t("insights.hand") if name in hands else t("insights.person")
            label.set_text(of_people if level is None else str(level))
        most = max(needs.values(), default=0)
        wanting = [name for name, level in needs.items() if level == most > 0]
        if not needs:
            self._most.set_text(t("insights.need_none"))
        elif wanting:
            self._most.set_text(t("insights.need_most", names=names(wanting), value=most))
        else:
            self._most.set_text(t("insights.need_nobody"))

    def _row(self, name: str) -> tuple[ui.row, ui.element, ui.label]:
        board = self._viewing.board
        with ui.row().classes("w-full items-center gap-2 no-wrap") as row:
            avatar(name, colour(name, board.participants), "22px", human=name in board.people)
            ui.label(one_line(name)).classes("text-xs truncate w-24 shrink-0")
            inner = bar(0, colour(name, board.participants))
            label = ui.label().classes("text-xs tabular-nums text-right whitespace-nowrap min-w-[1.25rem]")
        return row, inner, label


_EVERY = 0.5
"""Seconds between looks at what has changed."""


def insights_panel(viewing: Viewing) -> None:
    """Draw the insights, and keep them up to date."""
    panel = _Panel(viewing)
    panel.draw()
    ui.timer(_EVERY, panel.draw)
    ui.timer(0, panel.know_limits, once=True)


def drawn_from(viewing: Viewing) -> Hashable:
    """A value that changes when the insights' data do; single words of an utterance in progress do not change it."""
    board, turn = viewing.board, viewing.turn
    now = [len(levels.get(turn, ())) for levels in (board.needs, board.emotions, board.openness)]
    counts = (
        len(board.scores),
        len(board.left_out),
        len(board.verdicts),
        board.totals_at(turn).calls,
        len(board.participants),
    )
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
            self._parts = (
                *(Needs(viewing), Emotions(viewing), Openness(viewing), Scores(viewing)),
                *(LeftOut(viewing), ResponseTimes(viewing)),
            )

    async def know_limits(self) -> None:
        """Read which budgets the run has."""
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
