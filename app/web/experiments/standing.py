"""How far an experiment is, in words, as a bar, and as a chip."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from nicegui import ui

from persimchat.app.web.past.wording import moment
from persimchat.app.web.shared.formats import cost, joined, tokens
from persimchat.app.web.watching import Status, Summary
from persimchat.app.web.widgets import named
from persimchat.app.web.words import number, t

COLOURS: Final[Mapping[Status, str]] = {
    "done": "#059669",
    "running": "#6366f1",
    "failed": "#dc2626",
    "budget": "#d97706",
    "begun": "#d97706",
    "planned": "#64748b",
}
_SHORTEST_S: Final = 90
"""Seconds from which on the time left is told in minutes."""
_LONGEST_S: Final = 2 * 3600


def status_in_words(status: Status) -> str:
    """How far a cell is."""
    return t(f"experiments.status_{status}")


def counts_in_words(short: Summary) -> str:
    """How many conversations are how far; of those that are not done or running only what there is."""
    told = [t("experiments.done_of", n=short.cells, done=number(short.counts.get("done", 0)))]
    rest = [status for status in COLOURS if status != "done" and short.counts.get(status)]
    told += [t(f"experiments.n_{status}", n=short.counts[status]) for status in rest]
    return joined(told)


def spent_in_words(short: Summary) -> str:
    """What all conversations have used so far."""
    spent = short.spent
    if not spent.calls:
        return t("experiments.nothing_spent")
    return joined(
        [t("experiments.calls", n=spent.calls), tokens(spent.input_tokens + spent.output_tokens), cost(spent)]
    )


def left_in_words(seconds: float | None) -> str:
    """The time left; empty if it is not known."""
    if seconds is None:
        return ""
    if seconds < _SHORTEST_S:
        return t("experiments.seconds_left", n=max(1, round(seconds)))
    if seconds < _LONGEST_S:
        return t("experiments.minutes_left", n=round(seconds / 60))
    return t("experiments.hours_left", hours=number(seconds / 3600, 1))


def touched_in_words(short: Summary) -> str:
    """When something was last written."""
    return t("experiments.touched", moment=moment(datetime.fromtimestamp(short.touched, UTC).isoformat()))


class StandingChip:
    """Whether an experiment is running, complete, or neither."""

    def __init__(self) -> None:
        self._label = ui.label().classes("tint text-xs whitespace-nowrap")

    @property
    def text(self) -> str:
        """What it says."""
        return str(self._label.text)

    def show(self, short: Summary) -> None:
        """Show it."""
        complete = short.counts.get("done", 0) == short.cells
        self._label.set_text(t(f"experiments.stands_{'running' if short.driven else 'done' if complete else 'open'}"))
        colour = COLOURS["running" if short.driven else "done" if complete else "begun"]
        self._label.style(f"--c:{colour}").classes(**{"add" if short.driven else "remove": "live-chip"})


class Bar:
    """A bar of all cells: one stretch for each way that they stand."""

    def __init__(self) -> None:
        self._parts: dict[Status, ui.element] = {}
        self._bar = ui.element("div").classes("meter w-full").props("role=progressbar aria-valuemin=0")
        named(self._bar, t("experiments.progress"))
        with self._bar:
            for status in ("done", "running", "begun", "budget", "failed"):
                self._parts[status] = ui.element("div").style(f"background:{COLOURS[status]}")

    def show(self, short: Summary) -> None:
        """Show how far an experiment is."""
        for status, part in self._parts.items():
            part.style(f"width:{short.counts.get(status, 0) / max(1, short.cells):.2%}")
        self._bar.props["aria-valuemax"], self._bar.props["aria-valuenow"] = short.cells, short.counts.get("done", 0)
        self._bar.props["aria-valuetext"] = counts_in_words(short)
        self._bar.update()
