"""Emotions, now as a figure each and over time as a line each."""

from __future__ import annotations

from collections.abc import Mapping

from nicegui import ui

from persimchat.app.web.insights.charts import ChartBox, line, over_turns, radar, radar_series
from persimchat.app.web.insights.series import emotions_now, emotions_over_time, longest
from persimchat.app.web.insights.switched import now_or_over_time
from persimchat.app.web.insights.wording import course
from persimchat.app.web.looks import EMOTION_COLOURS, colour
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import FIELD, card, named
from persimchat.app.web.words import t
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line

_EVERYBODY = -1


class Emotions:
    """The card of emotions."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._words = {name: t(f"common.emotion_{name}") for name in EMOTIONS}
        self._names: list[str] = []
        with card():
            self._when = now_or_over_time(t("insights.emotions"), self.draw)
            everybody = {_EVERYBODY: t("insights.everybody")}
            self._whose = ui.select(everybody, value=_EVERYBODY, on_change=self.draw).props(FIELD).classes("w-full")
            named(self._whose, t("insights.whose"))
            self._now = ChartBox(radar(self._words), t("insights.emotions_none"), "h-60")
            self._time = ChartBox(over_turns(most=None), t("insights.emotions_none"))
        self._time.hide()

    def draw(self) -> None:
        """Show the emotions at the turn that is looked at."""
        board = self._viewing.board
        if not self._names and board.participants:  # the run has begun
            self._names = [name for name in board.participants if name not in board.people]
            who = {_EVERYBODY: t("insights.everybody"), **dict(enumerate(map(one_line, self._names)))}
            self._whose.set_options(who, value=_EVERYBODY)
        now = self._when.value == "now"
        self._whose.set_visibility(not now)
        (self._time if now else self._now).hide()
        (self._draw_now if now else self._draw_time)()

    def _draw_now(self) -> None:
        board = self._viewing.board
        levels = emotions_now(board.emotions, board.participants, self._viewing.turn)
        colours = {name: colour(name, board.participants) for name in levels}
        summary = "; ".join(self._strongest(name, felt) for name, felt in levels.items())
        self._now.draw(radar_series(levels, colours), t("insights.emotions_now_chart", course=f"{summary}."))

    def _draw_time(self) -> None:
        board, turn, whose = self._viewing.board, self._viewing.turn, self._whose.value
        chosen = self._names if whose == _EVERYBODY else [self._names[whose]]
        lines = emotions_over_time(board.emotions, chosen, turn)
        known: Mapping[str, list[tuple[float, float]]] = {name: points for name, points in lines.items() if points}
        who = t("insights.everybody") if whose == _EVERYBODY else one_line(chosen[0])
        self._time.draw(
            [line(self._words[name], EMOTION_COLOURS[name], points) for name, points in known.items()],
            t(
                "insights.emotions_time_chart",
                who=who,
                course=" ".join(course(self._words[name], points) for name, points in known.items()),
            ),
            turn=turn,
            longest=longest(known),
        )

    def _strongest(self, name: str, felt: list[int]) -> str:
        most = max(felt)
        if not most:
            return t("insights.calm", name=one_line(name))
        emotion = self._words[EMOTIONS[felt.index(most)]]
        return t("insights.feels", name=one_line(name), emotion=emotion, value=most)
