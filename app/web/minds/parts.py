"""Small parts of the look into a mind."""

from __future__ import annotations

from collections.abc import Iterable

from nicegui import ui

from persimchat.app.web.widgets import chip
from persimchat.app.web.words import catalogue, t
from persimchat.state.plain_text import clean


def words(text: str, classes: str = "text-sm") -> ui.label:
    """Text of people and models, as text, whatever it holds."""
    return ui.label(clean(text)).classes(f"words {classes}")


def small(text: str) -> ui.label:
    """A remark."""
    return ui.label(text).classes("text-xs muted words")


def described(name: str, text: str) -> None:
    """A text under its name; nothing where there is none."""
    if text:
        with ui.column().classes("w-full gap-0"):
            small(name)
            words(text)


def chips(texts: Iterable[str]) -> None:
    """Short texts side by side."""
    with ui.row().classes("gap-1 w-full"):
        for text in texts:
            chip(clean(text)).classes("words").classes(remove="whitespace-nowrap")


def bar(share: float, colour: str) -> ui.element:
    """A bar, as decoration beside its number.

    Args:
        share: of the whole, 0–1.
        colour: of the palette.

    Returns:
        What `fill` is given to change it.
    """
    with ui.element("div").classes("meter grow").props("aria-hidden=true"):
        inner = ui.element("div").style(f"background:{colour}")
    fill(inner, share)
    return inner


def fill(inner: ui.element, share: float) -> None:
    """Set a bar's share, 0–1."""
    inner.style(f"width:{min(max(share, 0.0), 1.0):.1%}")


def kind(name: str) -> str:
    """What a memory is, in the page's words."""
    return t(f"minds.kind_{name}" if f"minds.kind_{name}" in catalogue() else "minds.kind_other")


def made(turn: int) -> str:
    """When a memory was made."""
    return t("minds.made_at", turn=turn) if turn else t("minds.made_before")
