"""What a run has used, in one line; its other figures are folded away below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.insights.figures import Figures, numbers_of
from persimchat.app.web.shared.budgets import Budget
from persimchat.app.web.shared.formats import (
    cost,
    dollars,
    joined,
    module_name,
    names,
    number,
    seconds,
    short,
    tokens,
    trended,
    whole,
)
from persimchat.app.web.widgets import bar, card, fill
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.runs.events import Totals
from persimchat.runs.folder.past import UNKNOWN
from persimchat.state.plain_text import one_line

_FIGURES: Final = (
    *("messages", "response", "last", "active"),
    *("coherence_best", "coherence_mean", "sentiment_mean", "engagement_mean"),
    *("tokens", "cost", "failed", "corrected"),
)


class Accounts:
    """The line, and the figures; a figure that is not known is not shown."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[ui.element, ui.label, ui.label]] = {}
        with ui.column().classes("w-full gap-1 accounts"):
            self._line = ui.label().classes("text-xs muted tabular-nums break-words").mark("accounts")
            with ui.element("details").classes("w-full"):
                with ui.element("summary").classes("text-xs muted"):
                    ui.label(t("insights.figures"))
                with ui.element("dl").classes("figures"):
                    for name in _FIGURES:
                        self._figure(name)

    def _figure(self, name: str) -> None:
        with ui.element("div") as row:
            with ui.element("dt"):
                ui.label(t(f"insights.{name}")).classes("text-xs muted")
            with ui.element("dd"):
                value = ui.label().classes("text-sm tabular-nums break-words").mark(f"figure-{name}")
                more = ui.label().classes("text-xs muted break-words").mark(f"beside-{name}")
        self._shown[name] = (row, value, more)

    def draw(self, board: Board, turn: int) -> None:
        """Show the figures at a turn."""
        figures, totals = numbers_of(board).at(board, turn), board.totals_at(turn)
        limit = board.started.max_messages if board.started is not None else None
        total = figures.total
        messages = t("insights.messages_of", n=total.utterances)
        calls = t("insights.requests", n=totals.calls, shown=whole(totals.calls))
        used = [calls, tokens(totals.input_tokens + totals.output_tokens), cost(totals)] if totals.calls else []
        self._line.set_text(joined([messages, *used]))
        self._set("messages", whole(total.utterances), t("insights.of_limit", limit=whole(limit)) if limit else "")
        self._set("response", *_response(board, figures))
        self._last(figures)
        active = figures.most_active
        most = max((agent.speech.utterances for agent in figures.agents), default=0)
        self._set("active", names(active, 2), t("insights.messages_of", n=most) if most else "")
        self._usage(totals)
        best = figures.highest_coherence
        whose = t("insights.best_of", name=one_line(best.speaker), turn=best.turn) if best is not None else ""
        self._set("coherence_best", number(best.value) if best is not None else "", whose)
        for name in ("coherence", "sentiment", "engagement"):
            course = getattr(total, name)
            self._set(f"{name}_mean", number(course.mean) if total.scored else "", trended(course.trend))
        self._weak(board, turn)

    def _weak(self, board: Board, turn: int) -> None:
        """How many judgements of minds were unusable or corrected up to a turn, and of which modules."""
        for name, of in (("failed", board.failed), ("corrected", board.corrected)):
            counted = Counter(module for at, modules in of.items() if at <= turn for module in modules)
            which = joined(f"{module_name(key)} {whole(count)}" for key, count in sorted(counted.items()))
            self._set(name, whole(counted.total()) if counted else "", which)

    def _last(self, figures: Figures) -> None:
        if figures.last is None:
            self._set("last", "", "")
            return
        length = figures.last.length
        tokens_of = "" if length.last_tokens is None else t("insights.tokens_of", n=length.last_tokens)
        words = "" if length.last_words is None else t("insights.words", n=length.last_words)
        self._set("last", words, joined([tokens_of, one_line(figures.last_speaker)]))

    def _usage(self, totals: Totals) -> None:
        if totals == UNKNOWN:
            for name in ("tokens", "cost"):
                self._set(name, t("insights.unknown_words"), "")
            return
        used = whole(totals.input_tokens + totals.output_tokens)
        parts = t("insights.read_written", read=whole(totals.input_tokens), written=whole(totals.output_tokens))
        self._set("tokens", t("insights.estimated", value=used) if totals.estimated and totals.calls else used, parts)
        cached = t("insights.cached", n=totals.cached_tokens, shown=short(totals.cached_tokens))
        self._set("cost", dollars(totals.cost_usd), cached if totals.cached_tokens else "")

    def _set(self, name: str, value: str, more: str) -> None:
        row, shown, below = self._shown[name]
        row.set_visibility(bool(value))
        shown.set_text(value)
        below.set_text(more)
        below.set_visibility(bool(more))


def _response(board: Board, figures: Figures) -> tuple[str, str]:
    """The mean response time and its trend; the offline model's seconds are made up and left out."""
    models = board.started.models.values() if board.started is not None else ()
    mean = figures.total.response_time_s.mean
    if mean is None or (models and all(model == OFFLINE for model in models)):
        return "", ""
    return seconds(mean), trended(figures.total.response_time_s.trend, "s")


class Budgets:
    """What is left of the budgets; hidden if none is set."""

    def __init__(self) -> None:
        with card(t("insights.budget")) as self._box:
            self._rows = ui.column().classes("w-full gap-2")
        self._box.set_visibility(False)
        self._shown: dict[str, tuple[ui.element, ui.label]] = {}

    def draw(self, budgets: Sequence[Budget]) -> None:
        """Show budgets."""
        self._box.set_visibility(bool(budgets))
        for budget in budgets:
            if budget.name not in self._shown:
                with self._rows, ui.column().classes("w-full gap-1"):
                    with ui.row().classes("w-full justify-between"):
                        ui.label(t(f"insights.{budget.name}")).classes("text-sm")
                        label = ui.label().classes("text-xs muted tabular-nums")
                    with ui.row().classes("w-full"):
                        self._shown[budget.name] = (bar(0, "var(--ring)"), label)
            inner, label = self._shown[budget.name]
            label.set_text(_left(budget))
            fill(inner, 0 if budget.left is None or not budget.limit else budget.left / budget.limit)


def _left(budget: Budget) -> str:
    def shown(value: float) -> str:
        return dollars(value) if budget.name == "budget_usd" else number(value, 0)

    if budget.left is None:
        return t("insights.budget_unknown", limit=shown(budget.limit))
    return t("insights.budget_left", left=shown(budget.left), limit=shown(budget.limit))
