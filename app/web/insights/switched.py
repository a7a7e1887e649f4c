"""A card whose content is shown as it is now, or over time."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from persimchat.app.web.widgets import SEGMENTS, named
from persimchat.app.web.words import t


def now_or_over_time(heading: str, on_change: Callable[[], None]) -> ui.toggle:
    """Draw a card's heading with the choice beside it; its value is `now` or `time`."""
    with ui.row().classes("w-full items-center justify-between gap-1 no-wrap"):
        ui.label(heading).classes("text-sm font-semibold").props("role=heading aria-level=3")
        choices = {"now": t("insights.now"), "time": t("insights.over_time")}
        toggle = ui.toggle(choices, value="now", on_change=on_change).props(f"{SEGMENTS} size=sm").classes("seg")
        named(toggle, t("insights.when", what=heading)).props("role=group")
    return toggle
