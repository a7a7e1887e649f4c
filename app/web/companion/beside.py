"""Beside the talk: the course of trust, and the agent's day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.pairs import Pair
from persimchat.app.web.widgets import card, named
from persimchat.app.web.words import t
from persimchat.state.day import ASLEEP, BUSY, FREE, place_in_plan, plan_for
from persimchat.state.plain_text import one_line

_WIDTH: Final = 300
_HEIGHT: Final = 64
_EDGE: Final = 5
_MOST: Final = 10
_POINTS: Final = 120
"""The most exchanges that the line shows, the last ones."""


def doing_in_words(activity: str) -> str:
    """What the agent does; the words that no model has written, in the page's language."""
    keys = {FREE: "companion.free", ASLEEP: "companion.asleep", BUSY: "companion.busy"}
    return t(keys[activity]) if activity in keys else one_line(activity)


def path_of(values: Sequence[int]) -> str:
    """The course of trust as a path of SVG; a single value is a line from edge to edge."""
    shown = [values[0], *values] if len(values) == 1 else values
    step = (_WIDTH - 2 * _EDGE) / (len(shown) - 1)
    points = [
        f"{_EDGE + index * step:.1f} {_HEIGHT - _EDGE - value / _MOST * (_HEIGHT - 2 * _EDGE):.1f}"
        for index, value in enumerate(shown)
    ]
    return "M" + "L".join(points)


class Course:
    """The card with the course of trust."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._drawn: list[int] | None = None
        with card(t("companion.course")):
            with ui.element("svg").classes("course w-full") as self._drawing:
                self._drawing.props(f"viewBox='0 0 {_WIDTH} {_HEIGHT}' preserveAspectRatio=none role=img")
                for height in (_EDGE, _HEIGHT / 2, _HEIGHT - _EDGE):
                    ui.element("path").classes("grid").props["d"] = f"M0 {height}H{_WIDTH}"
                self._path = ui.element("path").classes("line")
            self._words = ui.label().classes("text-xs muted tabular-nums")

    def sync(self) -> None:
        """Draw the line anew if trust has changed."""
        values = [one["trust"] for one in self._pair.exchanges if one["appraised"]][-_POINTS:]
        if values == self._drawn:
            return
        self._drawn = values
        self._drawing.set_visibility(bool(values))
        if not values:
            self._words.set_text(t("companion.course_none"))
            return
        self._path.props["d"] = path_of(values)
        low, high = min(values), max(values)
        words = t("companion.course_words", n=len(values), first=values[0], last=values[-1], low=low, high=high)
        self._words.set_text(words)
        named(self._drawing, words)


class Day:
    """The card with the day plan, as the person may see it."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._drawn: object = None
        with card(t("companion.day")):
            self._box = ui.element("ol").classes("plain w-full flex flex-col gap-1")
            self._none = ui.label(t("companion.day_none")).classes("text-sm muted")

    def sync(self) -> None:
        """Draw the plan anew if it, or the entry under way, has changed."""
        pair = self._pair
        person = pair.tie.person if pair.tie is not None else ""
        plan, at = plan_for(pair.mind, person), place_in_plan(pair.mind, pair.companion.world.now())
        if (plan, at) == self._drawn:
            return
        self._drawn = (plan, at)
        self._none.set_visibility(not plan)
        self._box.clear()
        with self._box:
            for index, entry in enumerate(plan):
                self._entry(entry["start"], entry["activity"], entry["place"], now=index == at)

    def _entry(self, start: str, activity: str, place: str, *, now: bool) -> None:
        with ui.element("li") as line, ui.row().classes("w-full items-baseline gap-2 no-wrap"):
            ui.label(start).classes("text-xs muted tabular-nums w-10 shrink-0")
            ui.label(doing_in_words(activity)).classes("text-sm words grow min-w-0" + (" font-semibold" if now else ""))
            if place:
                ui.label(one_line(place.split("/")[-1])).classes("text-xs muted words max-w-[40%] text-right")
        if now:
            line.classes("day-now").props("aria-current=time")
