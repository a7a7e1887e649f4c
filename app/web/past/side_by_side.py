"""The utterances of two runs side by side: what they share is folded, and what differs is marked word by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.chat.lines import put_in
from persimchat.app.web.looks import colour
from persimchat.app.web.widgets import avatar, title
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.diff import Comparison
from persimchat.runs.reports.diff_words import Piece, word_changes
from persimchat.state.plain_text import one_line

PAGE: Final = 30
"""How many turns are drawn at a time."""

Pair = tuple[int, Uttered | None, Uttered | None]
"""A turn with the utterances of both runs."""


def pairs(a: Sequence[Uttered], b: Sequence[Uttered]) -> list[Pair]:
    """The utterances of two runs turn by turn."""
    by_turn_a, by_turn_b = ({said.turn: said for said in run} for run in (a, b))
    return [(turn, by_turn_a.get(turn), by_turn_b.get(turn)) for turn in sorted(by_turn_a.keys() | by_turn_b.keys())]


def side_by_side(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw them."""
    shared = a.utterances[: comparison.shared]
    own = pairs(a.utterances[comparison.shared :], b.utterances[comparison.shared :])
    names = [share.name for share in comparison.participants]
    title(t("past.transcripts"))
    if shared:
        with ui.expansion(t("past.shared_past", n=len(shared)), icon="merge").classes("surface w-full") as past:
            inside = ui.column().classes("w-full gap-2")

        def unfold() -> None:
            if not inside.default_slot.children:  # drawn when it is first opened
                windowed(inside, len(shared), lambda at: _said(shared[at], names))

        past.on_value_change(unfold)
        past.set_value(not own)
    if own:
        with ui.element("div").classes("side-by-side side-head w-full"):
            for run in ("A", "B"):
                ui.label(run).classes("panel-title")
        windowed(ui.column().classes("w-full gap-3"), len(own), lambda at: _pair(own, at, names))


def windowed(box: ui.column, total: int, draw: Callable[[int], None]) -> None:
    """Draw the first items into a box, and more of them on demand."""
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
    _, one, other = own[at]
    pieces = word_changes(one.text, other.text) if one is not None and other is not None else None
    with ui.element("div").classes("side-by-side pair w-full"):
        for side, run in ((1, "A"), (2, "B")):
            with ui.column().classes("gap-1 min-w-0"):
                said = own[at][side]
                if isinstance(said, Uttered):
                    _said(said, names, run, pieces[side - 1] if pieces is not None else ())
                elif before is None or before[side] is not None:  # shown once for both runs
                    with ui.row().classes("items-baseline gap-2"):
                        ui.label(run).classes("side-tag text-xs font-bold")
                        ui.label(t("past.nothing_more")).classes("text-sm muted italic")


def _said(said: Uttered, names: list[str], run: str = "", pieces: Sequence[Piece] = ()) -> None:
    """An utterance; with pieces, those that the other run does not have are marked."""
    tint, edited = colour(said.speaker, names), " edited" if said.edited_by is not None else ""
    with ui.row().classes(f"w-full gap-2 no-wrap items-start{edited}").style(f"--c:{tint}"):
        avatar(said.speaker, tint, "30px")
        with ui.column().classes("gap-1 min-w-0 grow"):
            with ui.row().classes("items-baseline gap-2 gap-y-0"):
                if run:
                    ui.label(run).classes("side-tag text-xs font-bold")
                ui.label(one_line(said.speaker)).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                ui.label(t("past.turn", turn=said.turn)).classes("text-xs muted")
                if said.heard_by is not None:
                    whisper = ui.label(t("past.whisper", names=", ".join(map(one_line, said.heard_by))))
                    whisper.classes("text-xs muted italic break-words")
                if said.edited_by is not None:
                    ui.label(put_in(said.edited_by)).classes("put-in text-xs break-words")
            if not pieces:
                ui.label(said.text).classes("bubble text-sm")
                return
            with ui.element("div").classes("bubble text-sm"):
                for piece in pieces:
                    with ui.element("mark" if piece.differs else "span"):
                        ui.label(piece.text).classes("inline")
