"""Keys for what is done often in a conversation; who uses single keys otherwise can switch them off."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from nicegui import app, ui
from nicegui.events import GenericEventArguments

from persimchat.app.web.words import t

SEARCH, WRITE, PAUSE, ONE, HELP = "/", "m", "p", ".", "?"

_KEPT: Final = "shortcuts"
"""Whether a browser's user wants them, in their storage; they do unless they have said no."""

# Fields, menus and dialogs use these keys themselves.
_KEYS: Final = """
window.chatKeys = %s;
document.addEventListener('keydown', event => {
  if (!window.chatKeys || !%s.includes(event.key)) return;
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable], .q-menu, .q-dialog')) return;
  event.preventDefault();
  emitEvent('chat_key', event.key);
});
"""


class Shortcuts:
    """The keys of a page.

    Args:
        actions: by key, what it does; `?` shows the list.
    """

    def __init__(self, actions: Mapping[str, Callable[[], object]]) -> None:
        self._actions = {**actions, HELP: self.show}
        wanted = app.storage.user.get(_KEPT, True) is not False
        ui.on("chat_key", self._pressed)
        ui.run_javascript(_KEYS % (json.dumps(wanted), json.dumps(list(self._actions))))

    def show(self) -> None:
        """Show the list, with a switch for all of them."""
        with ui.dialog(value=True) as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
            ui.label(t("chat.shortcuts")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            with ui.element("dl").classes("shortcuts w-full"):
                for key, name in (
                    ("←  →", "chat.key_turn"),
                    (SEARCH, "chat.search"),
                    (WRITE, "chat.key_write"),
                    (PAUSE, "chat.key_pause"),
                    (ONE, "chat.one_turn"),
                    (HELP, "chat.shortcuts"),
                ):
                    with ui.element("dt"):
                        ui.label(key).classes("key")
                    with ui.element("dd"):
                        ui.label(t(name)).classes("text-sm")
            wanted = app.storage.user.get(_KEPT, True) is not False
            ui.switch(t("chat.shortcuts_on"), value=wanted, on_change=lambda event: self._want(event.value is True))
            ui.button(t("common.close"), on_click=dialog.close).props("flat no-caps").classes("self-end")
        dialog.on("hide", dialog.delete)

    def _want(self, wanted: bool) -> None:
        app.storage.user[_KEPT] = wanted
        ui.run_javascript(f"window.chatKeys = {json.dumps(wanted)}")

    def _pressed(self, event: GenericEventArguments) -> None:
        action = self._actions.get(str(event.args))
        if action is not None:
            action()
