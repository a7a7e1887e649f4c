"""The frame of every page: colours, header, navigation, language, light and dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Final

from nicegui import app, context, ui

from ...reports import palette
from ...reports.charts.drawing import style_sheet
from .widgets import item, menu, named
from .words import LANGUAGES, t


@cache
def _style() -> str:
    written = files("persimchat.app.web").joinpath("style.css").read_text(encoding="utf-8")
    return (
        f":root {{ {palette.style()} }}\nbody.body--dark {{ {palette.style(dark=True)} }}\n{style_sheet()}\n{written}"
    )


def chosen_language() -> str:
    """The language that this browser's user has chosen, or that the browser asks for."""
    kept = app.storage.user.get("language")
    if kept in LANGUAGES:
        return str(kept)
    request = context.client.request
    wanted = request.headers.get("accept-language", "") if request is not None else ""
    codes = (part.split(";")[0].strip().lower()[:2] for part in wanted.split(","))
    return next((code for code in codes if code in LANGUAGES), "en")


_PLACES: Final = (
    ("/", "common.new_short", "add_comment"),
    ("/runs", "common.runs", "history"),
    ("/personas", "common.people", "groups"),
    ("/experiments", "common.studies", "science"),
)
"""The parts of the product: address, name and picture. The gear has models, language and colours."""
_WITHIN: Final = {"/run": "/runs", "/compare": "/runs", "/companion": "/"}
"""The part to which the pages of other addresses belong."""


# The bar of a lost connection is NiceGUI's, which has no Czech.
_SPEAK: Final = """
const words = {words};
document.documentElement.lang = words.lang;
const bar = document.getElementById('popup');
bar.setAttribute('role', 'alert');
bar.children[0].textContent = words.lost;
bar.children[1].textContent = words.again;
"""

# A dialog that is removed while it closes gives the focus back to nobody: whoever uses the keyboard would start anew.
_BACK: Final = """
const portal = '[id^="q-portal--"]';
let last = null;
document.addEventListener('focusin', event => { if (!event.target.closest(portal)) last = event.target; });
new MutationObserver(changes => {
  if (!changes.some(change => [...change.removedNodes].some(one => one.matches?.(portal)))) return;
  if (document.activeElement !== document.body || document.querySelector('.q-dialog')) return;
  if (last?.isConnected) last.focus({preventScroll: true});
}).observe(document.body, {childList: true});
"""


class Frame:
    """The header, and the navigation: on the left, or below 900 pixels in a menu. Each page fills the header's parts.

    Attributes:
        status: beside the name of the product.
        actions: on the right.
    """

    def __init__(self, heading: str) -> None:
        app.storage.client["language"] = chosen_language()
        ui.colors(
            primary="#4f46e5",
            secondary="#0369a1",
            accent="#be185d",
            positive="#047857",
            negative="#dc2626",
            warning="#b45309",
            dark="#131c31",
            dark_page="#0b1120",
        )
        ui.on_exception(_Faults().notify_once)
        ui.add_css(_style())
        ui.page_title(f"{heading} · PerSimChat")
        words = {"lang": app.storage.client["language"], "lost": t("common.lost"), "again": t("common.connecting")}
        ui.run_javascript(_SPEAK.format(words=json.dumps(words)) + _BACK)
        self._dark = ui.dark_mode().bind_value(app.storage.user, "dark")
        with ui.header(elevated=False).classes("bar top items-center gap-2 px-3 py-0"):
            with menu("menu", t("common.menu")) as button:
                button.classes("narrow")
                self._menu()
            with ui.link(target="/").classes("brand flex items-center gap-2 no-underline text-inherit no-wrap") as home:
                named(home, t("common.home"))
                ui.icon("forum", size="26px", color="primary").props("aria-hidden=true")
                ui.label("PerSimChat").classes("text-lg font-bold tracking-tight gt-xs")
            self._rail()
            self.status = ui.row().classes("status items-center gap-2 no-wrap min-w-0")
            ui.space()
            self.actions = ui.row().classes("items-center gap-1 no-wrap")

    def _rail(self) -> None:
        """The navigation from 900 pixels on."""
        with ui.element("nav").classes("rail bar") as rail:
            named(rail, t("common.navigation"))
            here = _here()
            for address, name, icon in _PLACES:
                with ui.link(target=address).classes("rail-item") as link:
                    ui.icon(icon, size="22px").props("aria-hidden=true")
                    ui.label(t(name))
                if address == here:
                    link.props["aria-current"] = "page"
            ui.space()
            with ui.button(color=None).props("flat stack aria-haspopup=menu").classes("rail-item") as gear:
                ui.icon("settings", size="22px").props("aria-hidden=true")
                ui.label(t("common.preferences"))
                with ui.menu().props("role=menu"):
                    self._preferences()
            named(gear, t("common.preferences"))

    def _menu(self) -> None:
        """The same below 900 pixels."""
        here = _here()
        for address, name, icon in _PLACES:
            line = item(icon, t(name), href=address)
            if address == here:
                line.props("active aria-current=page")
        ui.separator()
        self._preferences()

    def _preferences(self) -> None:
        models = item("memory", t("common.models"), href="/models")
        if _here() == "/models":
            models.props("active aria-current=page")
        item("dark_mode", t("common.dark"), lambda: self._dark.set_value(not self._dark.value))
        ui.separator()
        for code, name in LANGUAGES.items():
            ui.menu_item(name, lambda code=code: _speak(code))


@contextmanager
def page(heading: str, width: int) -> Iterator[Frame]:
    """A page that is one column in the middle, at most so many pixels wide, to be filled."""
    frame = Frame(heading)
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes(f"w-full max-w-[{width}px] mx-auto p-4 gap-4"):
        yield frame


def page_title(text: str) -> None:
    """The heading of a page."""
    ui.label(text).classes("text-2xl font-bold").props("role=heading aria-level=1")


def _here() -> str:
    """The part of the product that the page belongs to; empty for none."""
    request = context.client.request
    path = request.url.path if request is not None else ""
    first = "/" + path.strip("/").split("/")[0]
    return _WITHIN.get(first, first)


class _Faults:
    """Reports a fault of the program once per page, because a part that is drawn repeatedly may fail repeatedly."""

    def __init__(self) -> None:
        self._notified = False

    def notify_once(self) -> None:
        """Show a message without details; the terminal shows the fault."""
        if not self._notified:
            self._notified = True
            told, close = t("common.fault"), t("common.close")
            ui.notify(told, type="negative", position="top", multi_line=True, timeout=0, close_button=close)


def _speak(code: str) -> None:
    app.storage.user["language"] = code
    ui.navigate.reload()


def disclaimer() -> None:
    """The notice on every page that simulated people are not people."""
    ui.label(t("common.disclaimer")).classes("text-xs muted text-center w-full px-4 py-1")
