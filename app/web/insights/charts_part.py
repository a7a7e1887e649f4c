"""The part of the panel with the charts."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.chart_cards import Emotions, Openness, ResponseTimes, Scores
from persimchat.app.web.insights.charts import ChartBox, line, now_or_over_time, over_turns
from persimchat.app.web.insights.figures import drawn_from, latest, levels_of, longest
from persimchat.app.web.insights.left_out import LeftOut
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.formats import course, names
from persimchat.app.web.widgets import avatar, bar, card, chip, fill
from persimchat.app.web.words import t
from persimchat.state.plain_text import one_line


def charts_part(viewing: Viewing) -> Callable[[], None]:
    """Make the part; returns what draws it."""
    return _ChartsPart(viewing).draw


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


class _ChartsPart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._drawn: Hashable = None
        self._as_of = chip("")
        self._parts = (
            *(Needs(viewing), Emotions(viewing), Openness(viewing), Scores(viewing)),
            *(LeftOut(viewing), ResponseTimes(viewing)),
        )

    def draw(self) -> None:
        """Draw, if anything shown has changed."""
        now = drawn_from(self._viewing)
        if now == self._drawn:
            return
        self._drawn = now
        self._as_of.set_text(t("insights.as_of", turn=self._viewing.turn))
        self._as_of.set_visibility(not self._viewing.newest)
        for part in self._parts:
            part.draw()
