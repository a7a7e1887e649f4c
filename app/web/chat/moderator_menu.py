"""What the moderator does beside speaking: change the topic, give somebody the floor."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import FIELD, icon_button, told
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line


def moderator_menu(viewing: Viewing) -> ui.button:
    """Draw the button and its menu."""

    def floor(name: str) -> None:
        live = viewing.live
        if live is None:
            return
        try:
            live.control.give_floor(name)
        except PerSimChatError as error:
            told(error)
        else:
            ui.notify(t("chat.floor_next", who=one_line(name)), type="positive")

    with icon_button("campaign", t("chat.as_moderator")) as button, ui.menu():
        ui.menu_item(t("chat.change_topic"), lambda: _change_topic(viewing)).mark("change-topic")
        ui.separator()
        for name in viewing.board.participants:
            ui.menu_item(t("chat.give_floor", who=one_line(name)), lambda name=name: floor(name)).mark("floor")
    return button


def _change_topic(viewing: Viewing) -> None:
    with ui.dialog() as dialog, ui.card().classes("surface w-[30rem] max-w-full gap-3"):
        ui.label(t("chat.change_topic").rstrip("…")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        topic = ui.textarea(t("chat.new_topic")).props(f"{FIELD} autogrow autofocus").classes("w-full")

        def change() -> None:
            live = viewing.live
            if live is None:
                dialog.close()
                return
            try:
                live.control.change_topic(topic.value or "")
            except PerSimChatError as error:
                told(error)
            else:
                dialog.close()
                ui.notify(t("chat.topic_next"), type="positive")

        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(t("chat.change_topic").rstrip("…"), on_click=change).props("unelevated no-caps").mark("topic")
    dialog.on("hide", dialog.delete)
    dialog.open()
