"""The reflection tree on the page: lists in lists, each insight unfolded to what it rests on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from persimchat.app.web.minds.look import Look
from persimchat.app.web.minds.parts import kind, made, small, words
from persimchat.app.web.minds.tree import Node
from persimchat.app.web.widgets import card, chip
from persimchat.app.web.words import t


def tree_card(seen: Look, go_to: Callable[[int], Awaitable[None]]) -> None:
    """Draw the last reflection and the way to those before it.

    Args:
        seen: what is to be seen.
        go_to: shows the mind at another turn.
    """
    with card(t("minds.insights")):
        if not seen.tree:
            small(t("minds.insights_none"))
            return
        small(t("minds.insights_drawn", turn=seen.reflected))
        _listed(seen.tree)
        if seen.reflections:
            with ui.row().classes("items-center gap-1"):
                small(t("minds.insights_earlier"))
                for turn in seen.reflections:
                    button = ui.button(made(turn), on_click=lambda turn=turn: go_to(turn))
                    button.props("flat dense no-caps size=sm")


def _listed(nodes: Sequence[Node]) -> None:
    with ui.element("ul").classes("plain tree w-full"):
        for node in nodes:
            with ui.element("li"):
                if not node.rests_on:
                    _memory(node)
                    continue
                with ui.element("details").classes("w-full"):
                    with ui.element("summary"):
                        _memory(node)
                    _listed(node.rests_on)


def _memory(node: Node) -> None:
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
