"""The figures of a run as tiles, and its budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.insights.figures import Figures
from persimchat.app.web.shared.budgets import Budget
from persimchat.app.web.shared.formats import (
    dollars,
    joined,
    module_name,
    names,
    number,
    seconds,
    short,
    trended,
    whole,
)
from persimchat.app.web.widgets import bar, card, fill
from persimchat.app.web.words import t
from persimchat.runs.events import Totals
from persimchat.runs.folder.past import UNKNOWN
from persimchat.state.plain_text import one_line

_ALWAYS = {
    "messages": "chat_bubble",
    "response": "timer",
    "last": "short_text",
    "active": "campaign",
    "tokens": "toll",
    "cost": "payments",
}
_LONG = 1_000_000
"""From this many tokens on, a tile shows them in short; the exact numbers are below."""
_ANALYSED = {
    "coherence_best": "emoji_events",
    "coherence_mean": "link",
    "sentiment_mean": "sentiment_satisfied",
    "engagement_mean": "bolt",
}


_WEAK = {"failed": "error_outline", "corrected": "build"}


class Tiles:
    """The tiles; those of the analysis appear with the first score, those of weak answers with the first of them."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[ui.label, ui.label]] = {}
        with ui.element("div").classes("tiles"):
            for name, icon in _ALWAYS.items():
                self._tile(name, icon)
        with ui.element("div").classes("tiles") as self._analysed:
            for name, icon in _ANALYSED.items():
                self._tile(name, icon)
        with ui.element("div").classes("tiles") as self._weak:
            for name, icon in _WEAK.items():
                self._tile(name, icon)

    def _tile(self, name: str, icon: str) -> None:
        size = "text-sm leading-7" if name == "active" else "text-lg"  # names are longer than numbers
        with ui.column().classes("surface gap-0 px-3 py-2 min-w-0"):
            with ui.row().classes("items-center gap-1 muted no-wrap"):
                ui.icon(icon, size="14px").props("aria-hidden=true")
                ui.label(t(f"insights.{name}")).classes("text-[11px] truncate")
            value = ui.label().classes(f"{size} font-semibold tabular-nums truncate w-full").mark(f"figure-{name}")
            more = ui.label().classes("text-[11px] muted words clamped w-full").mark(f"beside-{name}")
        self._shown[name] = (value, more)

    def draw(self, figures: Figures, totals: Totals, limit: int | None) -> None:
        """Show figures.

        Args:
            figures: up to the turn.
            totals: what was used up to the turn.
            limit: the message limit; None if there is none.
        """
        total = figures.total
        self._set("messages", whole(total.utterances), t("insights.of_limit", limit=whole(limit)) if limit else "")
        response = total.response_time_s
        self._set("response", seconds(response.mean), trended(response.trend, "s"))
        self._last(figures)
        active = figures.most_active
        most = max((agent.speech.utterances for agent in figures.agents), default=0)
        self._set(
            "active", names(active, 2) or t("insights.unknown"), t("insights.messages_of", n=most) if most else ""
        )
        self._usage(totals)
        self._analysed.set_visibility(total.scored > 0)
        best = figures.highest_coherence
        if best is not None:
            whose = t("insights.best_of", name=one_line(best.speaker), turn=best.turn)
            self._set("coherence_best", number(best.value), whose)
        for name in ("coherence", "sentiment", "engagement"):
            course = getattr(total, name)
            self._set(f"{name}_mean", number(course.mean), trended(course.trend))

    def draw_weak(self, board: Board, turn: int) -> None:
        """Show how many judgements of minds were unusable or corrected up to a turn, and of which modules."""
        found = {"failed": board.failed, "corrected": board.corrected}
        counts = {
            name: Counter(module for at, modules in by_turn.items() if at <= turn for module in modules)
            for name, by_turn in found.items()
        }
        self._weak.set_visibility(any(counts.values()))
        for name, counted in counts.items():
            of = joined([f"{module_name(key)} {whole(number)}" for key, number in sorted(counted.items())])
            self._set(name, whole(counted.total()), of)

    def _last(self, figures: Figures) -> None:
        if figures.last is None:
            self._set("last", t("insights.unknown"), "")
            return
        length = figures.last.length
        tokens = "" if length.last_tokens is None else t("insights.tokens_of", n=length.last_tokens)
        words = "" if length.last_words is None else t("insights.words", n=length.last_words)
        self._set("last", words, joined([tokens, one_line(figures.last_speaker)]))

    def _usage(self, totals: Totals) -> None:
        if totals == UNKNOWN:
            self._set("tokens", t("insights.unknown"), t("insights.unknown_words"))
            self._set("cost", t("insights.unknown"), t("insights.unknown_words"))
            return
        tokens = totals.input_tokens + totals.output_tokens
        used = whole(tokens) if tokens < _LONG else short(tokens)
        parts = t("insights.read_written", read=whole(totals.input_tokens), written=whole(totals.output_tokens))
        self._set("tokens", t("insights.estimated", value=used) if totals.estimated and totals.calls else used, parts)
        requests = t("insights.requests", n=totals.calls, shown=whole(totals.calls))
        cached = t("insights.cached", n=totals.cached_tokens, shown=short(totals.cached_tokens))
        self._set("cost", dollars(totals.cost_usd), joined([requests, cached if totals.cached_tokens else ""]))

    def _set(self, name: str, value: str, more: str) -> None:
        shown, below = self._shown[name]
        shown.set_text(value)
        below.set_text(more)


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
