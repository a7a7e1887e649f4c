"""Small parts that all panels share. Text from people and models goes into labels, which never read it as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.words import t
from persimchat.runs.reports.report_people import initials
from persimchat.state.plain_text import capitalised

SEGMENTS: Final = 'no-caps unelevated toggle-color=primary color=transparent text-color=grey-7 padding="3px 10px"'
"""Properties of a toggle whose choices stand side by side, with the classes `seg surface`."""

FIELD: Final = "outlined dense"
"""Properties of a field."""


def named(element: ui.element, name: str) -> ui.element:
    """Give an element its name for screen readers; the property is set, as text in `.props()` would be read as code."""
    element.props["aria-label"] = name
    return element


def avatar(name: str, colour: str, size: str = "36px", *, human: bool = False) -> None:
    """A participant's initials in their colour; decoration, as the name stands beside it."""
    with (
        ui.avatar(color=None, size=size)
        .classes("font-semibold shrink-0")
        .props("aria-hidden=true")
        .style(f"background:{colour}; color:var(--on)")
    ):
        if human:
            ui.icon("person")
        else:
            ui.label(initials(name)).style("font-size:.76em; letter-spacing:.03em")


def icon_button(icon: str, name: str, on_click: Callable[..., Any] | None = None) -> ui.button:
    """A round button with a picture; its name is its tooltip, also for screen readers."""
    button = ui.button(icon=icon, on_click=on_click).props("flat round dense color=grey-7").tooltip(name)
    named(button, name)
    return button


def title(text: str) -> None:
    """The small heading of a section of a panel."""
    ui.label(text).classes("panel-title").props("role=heading aria-level=2")


@contextmanager
def card(text: str = "") -> Iterator[ui.column]:
    """A framed section of a panel, with an optional heading."""
    with ui.column().classes("surface w-full gap-2 p-3") as box:
        if text:
            ui.label(text).classes("text-sm font-semibold").props("role=heading aria-level=3")
        yield box


def chip(text: str, colour: str = "") -> ui.label:
    """A short text on a tint of a colour."""
    label = ui.label(text).classes("tint text-xs whitespace-nowrap")
    if colour:
        label.style(f"--c:{colour}")
    return label


@contextmanager
def menu(icon: str, name: str) -> Iterator[ui.button]:
    """A round button that opens a menu; its name is not a tooltip, which would cover the menu."""
    button = ui.button(icon=icon).props("flat round dense color=grey-7 aria-haspopup=menu")
    named(button, name).props["title"] = name
    with button, ui.menu().props("role=menu"):
        yield button


def word_button(text: str, name: str, on_click: Callable[..., Any] | None = None, *, icon: str = "") -> ui.button:
    """A quiet button with a word; its longer name, which has the word in it, is for screen readers and as a tooltip."""
    button = ui.button(text, on_click=on_click, icon=icon or None, color=None).props("flat dense no-caps no-wrap")
    button.classes("word")
    named(button, name).props["title"] = name
    return button


def brief_button(text: str, name: str, on_click: Callable[..., Any] | None = None, *, icon: str) -> ui.button:
    """A `word_button` of which only the picture is left where there is little room."""
    return word_button(text, name, on_click, icon=icon).classes("brief")


@contextmanager
def word_menu(text: str, name: str = "", *, icon: str = "") -> Iterator[ui.button]:
    """A quiet button with a word that opens a menu; where there is little room, a picture stands for the word.

    Args:
        text: the word.
        name: for screen readers, with the word in it; the word itself if it is empty.
        icon: the picture, which stands beside the word otherwise; three dots alone if it is empty.
    """
    button = word_button(text, name or text, icon=icon).props("aria-haspopup=menu")
    with button:
        if icon:
            button.classes("brief")
        else:
            button.props("icon-right=expand_more")
            ui.icon("more_vert").classes("word-narrow").props("aria-hidden=true")
        with ui.menu().props("role=menu"):
            yield button


def item(
    icon: str, text: str, on_click: Callable[[], Any] | None = None, *, href: str = "", target: str = ""
) -> ui.menu_item:
    """A line of a menu: an action, or a link, which the user can also open in another tab.

    Args:
        icon: its picture.
        text: its text.
        on_click: the action.
        href: in place of the action, an address of this server.
        target: the window in which the address opens.
    """
    line = ui.menu_item(on_click=on_click).props("role=menuitem dense").classes("items-center gap-3 min-h-[40px]")
    with line:
        ui.icon(icon, size="20px").classes("muted").props("aria-hidden=true")
        ui.label(text).classes("text-sm grow")
    if href:
        line.props["href"] = href
    if target:
        line.props["target"] = target
    return line


def explained(text: str) -> None:
    """A small question mark that explains the field beside it; it works with a keyboard and on a touch screen, too."""
    with ui.button(icon="help_outline").props("flat round dense size=xs color=grey-7") as button:
        named(button, t("common.explain"))
        with ui.menu().props("max-width=320px"):
            ui.label(text).classes("text-sm p-3 whitespace-pre-line")


def hint(text: str, field: ui.element | None = None) -> ui.label:
    """A grey line under a field that explains it; a screen reader reads it with the field."""
    label = ui.label(text).classes("hint")
    if field is not None:
        field.props["aria-describedby"] = label.html_id
    return label


async def answered(dialog: ui.dialog) -> Any:
    """Show a dialog until it is closed, and remove it; returns its result, None if the page is gone."""
    answer = await dialog
    if not dialog.is_deleted:
        dialog.delete()
    return answer


def nothing_yet(icon: str, heading: str, why: str, begin: str) -> None:
    """Say that there is nothing to show yet, and what to do; the button leads to a new conversation.

    Args:
        icon: a picture.
        heading: in a few words.
        why: what would be here, and how it comes.
        begin: the word of the button.
    """
    with ui.column().classes("w-full items-center gap-3 py-16 text-center"):
        ui.icon(icon, size="72px", color="primary").props("aria-hidden=true")
        ui.label(heading).classes("text-xl font-semibold").props("role=heading aria-level=2")
        ui.label(why).classes("muted max-w-[46ch]")
        ui.button(begin, icon="add", on_click=lambda: ui.navigate.to("/")).props("unelevated no-caps")


COPYING_S: Final = 60.0
"""How long a browser may take to copy: it may ask its user first."""


def notify_error(error: Exception) -> None:
    """Show an error as a notification, as plain text."""
    close = {"label": t("common.close"), "color": "white"}
    ui.notify(capitalised(str(error)), type="negative", position="top", multi_line=True, timeout=8000, actions=[close])


def bar(share: float, colour: str) -> ui.element:
    """A bar, as decoration beside its number.

    Args:
        share: of the whole, 0–1.
        colour: of the palette.

    Returns:
        The bar, for `fill`.
    """
    with ui.element("div").classes("meter grow").props("aria-hidden=true"):
        inner = ui.element("div").style(f"background:{colour}")
    fill(inner, share)
    return inner


def fill(inner: ui.element, share: float) -> None:
    """Set a bar's share, 0–1."""
    inner.style(f"width:{min(max(share, 0.0), 1.0):.1%}")


def whole_number(value: Any) -> int | None:
    """The whole number in a field; None if there is none."""
    return int(value) if isinstance(value, int | float) and value == value // 1 else None
