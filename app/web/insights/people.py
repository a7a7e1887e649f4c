"""The participants: how much each has said and how, and who wants to talk."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.charts import ChartBox, line, now_or_over_time, over_turns
from persimchat.app.web.insights.figures import latest, levels_of, longest
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.formats import course, joined, names, number, seconds, trended
from persimchat.app.web.widgets import avatar, bar, card, fill
from persimchat.app.web.words import t
from persimchat.runs.reports.summary import SCORES, AgentSummary
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
        """Show the needs at the turn that is looked at."""
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
