"""Cards with charts: emotions, openness with the verdicts, scores of the analysis, response times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.charts import (
    ChartBox,
    cloud,
    line,
    mean_line,
    now_or_over_time,
    over_turns,
    radar,
    radar_series,
    verdict_series,
)
from persimchat.app.web.insights.figures import (
    emotions_now,
    emotions_over_time,
    levels_of,
    longest,
    numbers_of,
    response_times,
    verdict_marks,
)
from persimchat.app.web.looks import EMOTION_COLOURS, VERDICT_COLOURS, colour
from persimchat.app.web.shared.formats import course
from persimchat.app.web.widgets import FIELD, card, named
from persimchat.app.web.words import t
from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.summary import SCORES, mean
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line

_EVERYBODY = -1


_SCORE_COLOURS: Final = dict(zip(SCORES, ("#0284c7", "#d97706", "#059669"), strict=True))


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
        """Show the emotions at the shown turn."""
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


class Openness:
    """Openness to consensus with the judge's verdicts; only debates have it."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.openness")) as self._box:
            self._chart = ChartBox(over_turns(marked=True), t("insights.openness_none"), "h-60")
        self._words = {kind: t(f"insights.verdict_{kind}") for kind in VERDICT_COLOURS}

    def draw(self) -> None:
        """Show openness up to the shown turn."""
        board, turn = self._viewing.board, self._viewing.turn
        started = board.started
        debate = started is not None and started.mode == "debate" and started.baseline is None
        self._box.set_visibility(debate)
        if not debate:
            return
        lines = {name: levels_of(board.openness, name, turn) for name in board.participants}
        known = {name: points for name, points in lines.items() if points}
        marks = verdict_marks(board.verdicts, turn)
        series = [line(name, colour(name, board.participants), points) for name, points in known.items()]
        count = sum(verdict.turn <= turn for verdict in board.verdicts)
        self._chart.draw(
            [*series, *verdict_series(marks, self._words)],
            t(
                "insights.openness_chart",
                course=" ".join(course(name, points) for name, points in known.items()),
                verdicts=t("insights.verdicts", n=count),
            ),
            turn=turn,
            longest=longest(known),
        )


class Scores:
    """Coherence, sentiment and engagement; hidden if nothing was analysed."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.scores")) as self._box:
            self._chart = ChartBox(over_turns(), t("insights.scores_none"))

    def draw(self) -> None:
        """Show the scores up to the shown turn."""
        board, turn = self._viewing.board, self._viewing.turn
        self._box.set_visibility(bool(board.scores))
        scores = [board.scores[at] for at in sorted(board.scores) if at <= turn]
        lines: dict[str, list[Point]] = {
            name: [(one.turn, value) for one in scores if (value := getattr(one, name)) is not None] for name in SCORES
        }
        known = {name: points for name, points in lines.items() if points}
        self._chart.draw(
            [line(t(f"insights.{name}"), _SCORE_COLOURS[name], points) for name, points in known.items()],
            t(
                "insights.scores_chart",
                course=" ".join(course(t(f"insights.{name}"), points, 1) for name, points in known.items()),
            ),
            turn=turn,
            longest=longest(known),
        )


class ResponseTimes:
    """Response times in their speakers' colours, with the mean of all as a dashed line."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.response_times")):
            self._chart = ChartBox(over_turns(most=None), t("insights.response_none"), "h-48")

    def draw(self) -> None:
        """Show the response times up to the shown turn."""
        board, turn = self._viewing.board, self._viewing.turn
        said = numbers_of(board).upto(board, turn)
        clouds = {name: response_times(said, name) for name in board.participants}
        known = {name: points for name, points in clouds.items() if points}
        series = [cloud(name, colour(name, board.participants), points) for name, points in known.items()]
        average = mean(value for points in known.values() for _, value in points)
        if series and average is not None:
            series[0] |= mean_line("#94a3b8", average)
        self._chart.draw(
            series,
            t(
                "insights.response_chart",
                course=" ".join(course(name, points, 2) for name, points in known.items()),
            ),
            turn=turn,
            longest=longest(known),
        )
