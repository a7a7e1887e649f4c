"""The cards of an agent's memories: what it recalled and why, and what it concluded from what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.looks import PART_COLOURS
from persimchat.app.web.minds.cards import kind, made, owner, small, words
from persimchat.app.web.minds.look import Look, Node
from persimchat.app.web.widgets import card, chip
from persimchat.app.web.words import t
from persimchat.runs.events import RecalledMemory
from persimchat.runs.folder.mind_record import MindRecord

FIRST: Final = 6
"""How many memories are shown at first; the user unfolds the others."""


def parts_of(memory: RecalledMemory, most: float) -> dict[str, float]:
    """The five parts of a score as shares of the longest bar, by name; they sum to at most 1.

    Args:
        memory: the memory.
        most: the score that fills a bar.
    """
    parts = {name: max(0.0, getattr(memory, name)) for name in PART_COLOURS}
    whole = max(most, sum(parts.values()))
    return {name: value / whole if whole > 0 else 0.0 for name, value in parts.items()}


def recalled_card(mind: MindRecord) -> None:
    """Draw what was recalled, best first."""
    memories = mind.recalled
    with card(t("minds.recalled")):
        if not memories:
            small(t("minds.recalled_nothing", name=owner(mind)))
            return
        most = max(memory.score for memory in memories)  # 0 in a mind that stays as it is: nothing was compared
        if most:
            _legend()
        _list_recalled(memories[:FIRST], most)
        rest = memories[FIRST:]
        if rest:
            _folded(rest, most)


def _legend() -> None:
    """Why memories were recalled, and the colours of a score's parts."""
    small(t("minds.recalled_why"))
    with ui.row().classes("gap-x-4 gap-y-1"):
        for name, colour in PART_COLOURS.items():
            with ui.row().classes("items-center gap-1 no-wrap"):
                _dot(colour)
                ui.label(t(f"minds.part_{name}")).classes("text-xs")


def _folded(rest: Sequence[RecalledMemory], most: float) -> None:
    """The other memories, drawn when the user unfolds them."""

    def unfold() -> None:
        if not inside.default_slot.children:
            with inside:
                _list_recalled(rest, most)

    with ui.element("details").classes("w-full").on("toggle", unfold):
        with ui.element("summary").classes("text-sm py-1"):
            ui.label(t("minds.recalled_rest", n=len(rest)))
        inside = ui.element("div").classes("w-full pt-2")


def _list_recalled(memories: Sequence[RecalledMemory], most: float) -> None:
    with ui.element("ul").classes("plain w-full flex flex-col gap-3"):
        for memory in memories:
            with ui.element("li").classes("w-full"):
                _recalled_memory(memory, most)


def _recalled_memory(memory: RecalledMemory, most: float) -> None:
    with ui.column().classes("w-full gap-1"):
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            words(memory.theme, "text-sm grow min-w-0 clamped")
            if most:
                ui.label(f"{memory.score:.2f}").classes("text-sm font-semibold tabular-nums").props["aria-label"] = t(
                    "minds.score", value=f"{memory.score:.2f}"
                )
        if most:
            with ui.element("div").classes("meter w-full").props("aria-hidden=true"):
                for name, share in parts_of(memory, most).items():
                    ui.element("div").style(f"width:{share:.2%};background:{PART_COLOURS[name]}")
        with ui.row().classes("w-full items-center gap-x-3 gap-y-0"):
            chip(kind(memory.kind))
            small(made(memory.turn))
            if not most:
                return
            small(t("minds.for_question", number=memory.focal_point + 1))
            for name, colour in PART_COLOURS.items():
                with ui.row().classes("items-center gap-1 no-wrap"):
                    _dot(colour)
                    ui.label(f"{t(f'minds.part_{name}')} ").classes("sr-only")
                    ui.label(f"{getattr(memory, name):.2f}").classes("text-xs tabular-nums")


def _dot(colour: str) -> None:
    ui.element("span").classes("dot").props("aria-hidden=true").style(f"background:{colour}")


def tree_card(seen: Look, go_to: Callable[[int], object]) -> None:
    """Draw the last reflection, and links to earlier ones.

    Args:
        seen: the mind.
        go_to: called to show the mind at another turn.
    """
    with card(t("minds.insights")):
        if not seen.tree:
            small(t("minds.insights_none", name=owner(seen.mind)))
            return
        small(t("minds.insights_drawn", turn=seen.reflected))
        _list_nodes(seen.tree)
        if seen.reflections:
            with ui.row().classes("items-center gap-1"):
                small(t("minds.insights_earlier"))
                for turn in seen.reflections:
                    button = ui.button(made(turn), on_click=lambda turn=turn: go_to(turn))
                    button.props("flat dense no-caps size=sm")


def _list_nodes(nodes: Sequence[Node]) -> None:
    with ui.element("ul").classes("plain tree w-full"):
        for node in nodes:
            with ui.element("li"):
                if not node.rests_on:
                    _node(node)
                    continue
                with ui.element("details").classes("w-full"):
                    with ui.element("summary"):
                        _node(node)
                    _list_nodes(node.rests_on)


def _node(node: Node) -> None:
    with ui.element("div").classes("flex flex-col gap-0 py-1 min-w-0"):
        if node.memory is None:
            small(t("minds.unknown_memory"))
            return
        words(node.memory.theme, "text-sm clamped")
        with ui.row().classes("items-center gap-x-2 gap-y-0"):
            chip(kind(node.memory.kind))
            small(made(node.memory.turn))
            if node.rests_on:
                small(t("minds.rests_on", n=len(node.rests_on)))
            elif node.elsewhere:
                small(t("minds.elsewhere"))
