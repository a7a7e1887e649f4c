"""Lines over time: openness with the verdicts, scores of the analysis, response times."""

from __future__ import annotations

from typing import Final

from persimchat.app.web.insights.charts import ChartBox, cloud, line, mean_line, over_turns, verdict_series
from persimchat.app.web.insights.figures import numbers_of
from persimchat.app.web.insights.series import levels_of, longest, response_times, verdict_marks
from persimchat.app.web.insights.wording import course
from persimchat.app.web.looks import VERDICT_COLOURS, colour
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import card
from persimchat.app.web.words import t
from persimchat.runs.report_charts import Point
from persimchat.runs.summary import SCORES, mean

_SCORE_COLOURS: Final = dict(zip(SCORES, ("#0284c7", "#d97706", "#059669"), strict=True))


class Openness:
    """Openness to consensus with the judge's verdicts; only debates have it."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.openness")) as self._box:
            self._chart = ChartBox(over_turns(marked=True), t("insights.openness_none"), "h-60")
        self._words = {kind: t(f"insights.verdict_{kind}") for kind in VERDICT_COLOURS}

    def draw(self) -> None:
        """Show openness up to the turn that is looked at."""
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
    """Coherence, sentiment and engagement; not to be seen where nothing was analysed."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.scores")) as self._box:
            self._chart = ChartBox(over_turns(), t("insights.scores_none"))

    def draw(self) -> None:
        """Show the scores up to the turn that is looked at."""
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
        """Show the response times up to the turn that is looked at."""
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
