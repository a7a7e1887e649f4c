"""The transcripts of two runs in two columns, turn beside turn, with the past that they share folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.widgets import avatar, title
from persimchat.app.web.words import t
from persimchat.runs.diff import Comparison
from persimchat.runs.reading import Record
from persimchat.runs.recorded import RecordedUtterance
from persimchat.state.plain_text import one_line

PAGE: Final = 30
"""Turns that are drawn at once."""

Pair = tuple[int, RecordedUtterance | None, RecordedUtterance | None]
"""A turn and what either run has there."""


def pairs(a: Sequence[RecordedUtterance], b: Sequence[RecordedUtterance]) -> list[Pair]:
    """The utterances of two runs turn by turn."""
    by_turn_a, by_turn_b = ({said.turn: said for said in run} for run in (a, b))
    return [(turn, by_turn_a.get(turn), by_turn_b.get(turn)) for turn in sorted(by_turn_a.keys() | by_turn_b.keys())]


def columns(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw them."""
    shared = a.utterances[: comparison.shared]
    own = pairs(a.utterances[comparison.shared :], b.utterances[comparison.shared :])
    names = [share.name for share in comparison.participants]
    title(t("past.transcripts"))
    if shared:
        with ui.expansion(t("past.shared_past", n=len(shared)), icon="merge").classes("surface w-full") as past:
            inside = ui.column().classes("w-full gap-2")

        def unfold() -> None:
            if not inside.default_slot.children:  # drawn when it is first looked at
                windowed(inside, len(shared), lambda at: _said(shared[at], names, ""))

        past.on_value_change(unfold)
        past.set_value(not own)
    if own:
        with ui.element("div").classes("side-by-side side-head w-full"):
            for run in ("A", "B"):
                ui.label(run).classes("panel-title")
        windowed(ui.column().classes("w-full gap-3"), len(own), lambda at: _pair(own, at, names))


def windowed(box: ui.column, total: int, draw: Callable[[int], None]) -> None:
    """Draw the first things into a box, and more of them when they are asked for."""
    drawn = 0
    with box:
        inside = ui.column().classes("w-full gap-3")
        more = ui.button().props("outline no-caps").classes("self-center")

    def show() -> None:
        nonlocal drawn
        begin, drawn = drawn, min(drawn + PAGE, total)
        with inside:
            for at in range(begin, drawn):
                draw(at)
        more.set_text(t("past.more", n=min(PAGE, total - drawn)))
        more.set_visibility(drawn < total)

    more.on_click(show)
    show()


def _pair(own: list[Pair], at: int, names: list[str]) -> None:
    before = own[at - 1] if at else None
    with ui.element("div").classes("side-by-side pair w-full"):
        for side, run in ((1, "A"), (2, "B")):
            with ui.column().classes("gap-1 min-w-0"):
                said = own[at][side]
                if isinstance(said, RecordedUtterance):
                    _said(said, names, run)
                elif before is None or before[side] is not None:  # said once
                    with ui.row().classes("items-baseline gap-2"):
                        ui.label(run).classes("side-tag text-xs font-bold")
                        ui.label(t("past.nothing_more")).classes("text-sm muted italic")


def _said(said: RecordedUtterance, names: list[str], run: str) -> None:
    with ui.row().classes("w-full gap-2 no-wrap items-start"):
        avatar(said.speaker, colour(said.speaker, names), "30px")
        with ui.column().classes("gap-1 min-w-0 grow"):
            with ui.row().classes("items-baseline gap-2 gap-y-0"):
                if run:
                    ui.label(run).classes("side-tag text-xs font-bold")
                ui.label(one_line(said.speaker)).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                ui.label(t("past.turn", turn=said.turn)).classes("text-xs muted")
                if said.heard_by is not None:
                    whisper = ui.label(t("past.whisper", names=", ".join(map(one_line, said.heard_by))))
                    whisper.classes("text-xs muted italic break-words")
            ui.label(said.text).classes("bubble text-sm")
