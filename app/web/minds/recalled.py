"""What an agent recalled: memories with their scores, each drawn as its five parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.looks import PART_COLOURS
from persimchat.app.web.minds.parts import kind, made, small, words
from persimchat.app.web.widgets import card, chip
from persimchat.app.web.words import t
from persimchat.runs.events import RecalledMemory

FIRST: Final = 6
"""Memories that are shown at once; the others are unfolded."""


def parts_of(memory: RecalledMemory, most: float) -> dict[str, float]:
    """The five parts of a score as shares of the longest bar, by name; they sum to at most 1.

    Args:
        memory: the memory.
        most: the score that fills a bar.
    """
    parts = {name: max(0.0, getattr(memory, name)) for name in PART_COLOURS}
    whole = max(most, sum(parts.values()))
    return {name: value / whole if whole > 0 else 0.0 for name, value in parts.items()}


def recalled_card(memories: Sequence[RecalledMemory]) -> None:
    """Draw what was recalled, best first."""
    with card(t("minds.recalled")):
        if not memories:
            small(t("minds.recalled_nothing"))
            return
        small(t("minds.recalled_why"))
        with ui.row().classes("gap-x-4 gap-y-1"):
            for name, colour in PART_COLOURS.items():
                with ui.row().classes("items-center gap-1 no-wrap"):
                    _dot(colour)
                    ui.label(t(f"minds.part_{name}")).classes("text-xs")
        most = max(memory.score for memory in memories)
        _listed(memories[:FIRST], most)
        rest = memories[FIRST:]
        if rest:
            _folded(rest, most)


def _folded(rest: Sequence[RecalledMemory], most: float) -> None:
    """The others, drawn when somebody unfolds them: they are many."""

    def unfold() -> None:
        if not inside.default_slot.children:
            with inside:
                _listed(rest, most)

    with ui.element("details").classes("w-full").on("toggle", unfold):
        with ui.element("summary").classes("text-sm py-1"):
            ui.label(t("minds.recalled_rest", n=len(rest)))
        inside = ui.element("div").classes("w-full pt-2")


def _listed(memories: Sequence[RecalledMemory], most: float) -> None:
    with ui.element("ul").classes("plain w-full flex flex-col gap-3"):
        for memory in memories:
            with ui.element("li").classes("w-full"):
                _memory(memory, most)


def _memory(memory: RecalledMemory, most: float) -> None:
    with ui.column().classes("w-full gap-1"):
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            words(memory.theme, "text-sm grow min-w-0 clamped")
            ui.label(f"{memory.score:.2f}").classes("text-sm font-semibold tabular-nums").props["aria-label"] = t(
                "minds.score", value=f"{memory.score:.2f}"
            )
        with ui.element("div").classes("meter w-full").props("aria-hidden=true"):
            for name, share in parts_of(memory, most).items():
                ui.element("div").style(f"width:{share:.2%};background:{PART_COLOURS[name]}")
        with ui.row().classes("w-full items-center gap-x-3 gap-y-0"):
            chip(kind(memory.kind))
            small(made(memory.turn))
            small(t("minds.for_question", number=memory.focal_point + 1))
            for name, colour in PART_COLOURS.items():
                with ui.row().classes("items-center gap-1 no-wrap"):
                    _dot(colour)
                    ui.label(f"{t(f'minds.part_{name}')} ").classes("sr-only")
                    ui.label(f"{getattr(memory, name):.2f}").classes("text-xs tabular-nums")


def _dot(colour: str) -> None:
    ui.element("span").classes("dot").props("aria-hidden=true").style(f"background:{colour}")
