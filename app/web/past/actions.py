"""What can be done to a run from its page: branch, export, report, and the rest in a menu."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.chat.branch_dialog import branch_from
from persimchat.app.web.past.addresses import comparison_of, export_of, like, page_of, report_of
from persimchat.app.web.past.deleting import ask_delete
from persimchat.app.web.past.setup_file import setup_of
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import FIELD, answered, icon_button, named, told
from persimchat.app.web.words import t
from persimchat.runs.export_writing import need
from persimchat.state.errors import MissingExtraError, PerSimChatError

FORMATS: Final = ("csv", "jsonl", "parquet", "md", "html")
_POLL_S: Final = 1.0

# The clipboard is there for pages of this machine and of https only.
_COPY: Final = """
const link = location.origin + {path};
try {{ await navigator.clipboard.writeText(link); return ''; }} catch {{ return link; }}
"""


def run_actions(viewing: Viewing) -> None:
    """Draw the buttons."""
    place, run = viewing.place, viewing.run

    async def branch() -> None:
        await branch_from(viewing, viewing.turn)

    async def delete() -> None:
        if await ask_delete(place, [run]):
            ui.navigate.to("/runs")

    async def set_up() -> None:
        try:
            text = await asyncio.to_thread(setup_of, place.runs.folder(run))
        except PerSimChatError as error:
            told(error)
            return
        ui.download(text.encode("utf-8"), f"{run}.yaml", "application/yaml")

    icon_button("call_split", t("past.branch"), branch).classes("wide")
    with menu("download", t("past.export")) as exports:
        exports.classes("wide")
        _exports(run)
    report = icon_button("summarize", t("past.report_new")).classes("wide")
    report.props["href"], report.props["target"] = report_of(run), "_blank"
    with menu("more_vert", t("past.actions")):
        item("call_split", t("past.branch"), branch).classes("past-narrow")
        item("summarize", t("past.report_new"), href=report_of(run), target="_blank").classes("past-narrow")
        item("link", t("past.link"), lambda: _copy(page_of(run, viewing.turn)))
        item("compare_arrows", t("past.compare_with"), href=comparison_of(run))
        item("library_add", t("past.like"), href=like(run))
        item("description", t("past.setup_file"), set_up)
        with ui.element("div").classes("past-narrow"):
            ui.separator()
            _exports(run)
        ui.separator()
        gone = item("delete", t("past.delete"), delete)

    gone.set_visibility(viewing.live is None)
    ui.timer(_POLL_S, lambda: gone.set_visibility(viewing.live is None))


@contextmanager
def menu(icon: str, name: str) -> Iterator[ui.button]:
    """A round button that opens a menu of what is drawn inside; its name is no tooltip, which would lie on the menu."""
    button = ui.button(icon=icon).props("flat round dense color=grey-7 aria-haspopup=menu")
    named(button, name).props["title"] = name
    with button, ui.menu().props("role=menu"):
        yield button


def item(
    icon: str, text: str, on_click: Callable[[], Any] | None = None, *, href: str = "", target: str = ""
) -> ui.menu_item:
    """A line of a menu: something that is done, or a link, which can be opened in another tab as well.

    Args:
        icon: its picture.
        text: what it says.
        on_click: what is done.
        href: where it leads, in place of that; an address of this server.
        target: where it is opened.
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


def _exports(run: str) -> None:
    for form in FORMATS:
        try:
            need(form)
        except MissingExtraError as error:
            item("block", t(f"past.export_{form}"), partial(told, error))
        else:
            item("download", t(f"past.export_{form}"), href=export_of(run, form)).props["download"] = ""


async def _copy(path: str) -> None:
    """Copy the link to a turn; where the browser does not allow it, show it."""
    link = await ui.run_javascript(_COPY.format(path=json.dumps(path)))
    if not link:
        ui.notify(t("past.link_copied"), type="positive")
        return
    with ui.dialog() as dialog, ui.card().classes("surface w-[480px] max-w-full"):
        field = ui.input(t("past.link_here"), value=str(link)).props(f"{FIELD} readonly autofocus").classes("w-full")
        field.on("focus", js_handler="event => event.target.select()")
        ui.button(t("common.close"), on_click=dialog.close).props("flat no-caps").classes("self-end")
    await answered(dialog)
