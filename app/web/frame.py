"""The frame of every page: colours, header, language, light and dark."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from nicegui import app, context, ui

from persimchat.app.web.widgets import icon_button, named
from persimchat.app.web.words import LANGUAGES, t
from persimchat.runs.reports import palette


@cache
def _style() -> str:
    written = files("persimchat.app.web").joinpath("style.css").read_text(encoding="utf-8")
    return f":root {{ {palette.style()} }}\nbody.body--dark {{ {palette.style(dark=True)} }}\n{written}"


def chosen_language() -> str:
    """The language that this browser's user has chosen, or that the browser asks for."""
    kept = app.storage.user.get("language")
    if kept in LANGUAGES:
        return str(kept)
    request = context.client.request
    wanted = request.headers.get("accept-language", "") if request is not None else ""
    codes = (part.split(";")[0].strip().lower()[:2] for part in wanted.split(","))
    return next((code for code in codes if code in LANGUAGES), "en")


class Frame:
    """The header; each page fills its parts.

    Attributes:
        left: before the name of the product.
        status: beside it.
        actions: on the right, before the parts that every page has.
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
        ui.run_javascript(f"document.documentElement.lang = '{app.storage.client['language']}'")
        dark = ui.dark_mode().bind_value(app.storage.user, "dark")
        with ui.header(elevated=False).classes("bar items-center gap-2 px-2 sm:px-4 py-0 h-14 no-wrap"):
            self.left = ui.row().classes("items-center gap-1 no-wrap wide")
            with ui.link(target="/").classes("flex items-center gap-2 no-underline text-inherit no-wrap") as home:
                named(home, t("common.home"))
                ui.icon("forum", size="26px", color="primary").props("aria-hidden=true")
                ui.label("PerSimChat").classes("text-lg font-bold tracking-tight gt-xs")
            self.status = ui.row().classes("items-center gap-2 no-wrap min-w-0")
            ui.space()
            self.actions = ui.row().classes("items-center gap-1 no-wrap")
            with ui.row().classes("items-center gap-0 sm:gap-1 no-wrap"):
                icon_button("history", t("common.runs"), lambda: ui.navigate.to("/runs"))
                icon_button("groups", t("common.personas"), lambda: ui.navigate.to("/personas"))
                icon_button("science", t("common.experiments"), lambda: ui.navigate.to("/experiments"))
                icon_button("face", t("common.companion"), lambda: ui.navigate.to("/companion"))
                with icon_button("translate", t("common.language")), ui.menu():
                    for code, name in LANGUAGES.items():
                        ui.menu_item(name, lambda code=code: _speak(code))
                icon_button("dark_mode", t("common.dark"), lambda: dark.set_value(not dark.value))


class _Faults:
    """Reports a fault of the program once per page, because a part that is drawn repeatedly may fail repeatedly."""

    def __init__(self) -> None:
        self._notified = False

    def notify_once(self) -> None:
        """Show a message without details; the terminal shows the fault."""
        if not self._notified:
            self._notified = True
            close = t("common.close")
            ui.notify(
                t("common.fault"), type="negative", position="top", multi_line=True, timeout=0, close_button=close
            )


def _speak(code: str) -> None:
    app.storage.user["language"] = code
    ui.navigate.reload()


def disclaimer() -> None:
    """The notice on every page that simulated people are not people."""
    ui.label(t("common.disclaimer")).classes("text-xs muted text-center w-full px-4 py-1")
