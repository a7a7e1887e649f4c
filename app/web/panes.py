"""The two panes of a run's page: the conversation, and the panel with its parts; below 900 pixels one at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.widgets import named, word_button
from persimchat.app.web.words import t

Draw = Callable[[], Awaitable[None] | None]
"""Draws a part of the panel, if anything that it shows has changed."""

_POLL_S: Final = 0.2
_CHAT: Final = "chat"


@dataclass(frozen=True)
class PanelPart:
    """A part of the panel.

    Attributes:
        key: its value of `Viewing.part`.
        name: in the page's language.
        icon: its picture.
        make: makes its elements, when the part is first opened, and returns what draws them.
    """

    key: str
    name: str
    icon: str
    make: Callable[[], Draw]


class Panes:
    """The panes of a page; the conversation goes into `main`.

    Args:
        viewing: the run; its `part` is the open part of the panel.
        parts: of the panel.
        revision: a value that changes when there is something new to draw.

    Attributes:
        main: the pane of the conversation.
    """

    def __init__(
        self, viewing: Viewing, parts: Sequence[PanelPart], revision: Callable[[], Hashable] | None = None
    ) -> None:
        self._viewing = viewing
        self._revision = revision or (lambda: viewing.revision)
        self._parts = {part.key: part for part in parts}
        self._boxes: dict[str, ui.element] = {}
        self._draws: dict[str, Draw] = {}
        self._drawn: Hashable = None
        self._looks = viewing.looks
        self._views: dict[str, ui.button] = {}
        if viewing.part not in self._parts:
            viewing.part = parts[0].key
        ui.query(".nicegui-content").classes("p-0 gap-0")
        with ui.column().classes("page-height w-full gap-0 no-wrap"):
            with ui.element("div").classes("cols show-chat") as self._cols:
                with ui.element("section") as self.main:
                    named(self.main, t("common.conversation"))
                with ui.element("aside") as aside:
                    named(aside, t("common.panel"))
                    self._make_panel()
            self._make_bar()
        ui.timer(_POLL_S, self.draw)

    def button(self) -> None:
        """The button that shows or hides the panel where both panes are beside each other."""
        button = word_button(t("common.panel_short"), t("common.panel_toggle"), self._toggle, icon="view_sidebar")
        button.classes("wide")

    def _toggle(self) -> None:
        self._cols.classes(toggle="no-panel")

    async def draw(self) -> None:
        """Draw the open part, if there is anything new."""
        viewing = self._viewing
        if viewing.looks != self._looks:
            self._looks = viewing.looks
            self._show("panel")
        now = (viewing.part, self._revision())
        if now == self._drawn:
            return
        self._drawn = now
        self._open(viewing.part)
        made = self._draws[viewing.part]()
        if made is not None:
            await made

    def _make_panel(self) -> None:
        with ui.tabs(on_change=self._chosen) as self._tabs:
            self._tabs.props("no-caps dense narrow-indicator align=justify active-color=primary").classes("panel-tabs")
            named(self._tabs, t("common.panel"))
            for part in self._parts.values():
                ui.tab(part.key, label=part.name)
        for part in self._parts.values():
            box = ui.column().classes("scroll w-full grow p-4 gap-3 no-wrap").props("tabindex=0 role=tabpanel")
            self._boxes[part.key] = named(box, part.name)
        self._open(self._viewing.part)

    def _make_bar(self) -> None:
        with ui.element("nav").classes("nav bar w-full") as nav:
            named(nav, t("common.views"))
            self._view(_CHAT, t("common.conversation"), "forum")
            for part in self._parts.values():
                self._view(part.key, part.name, part.icon)
        self._mark()

    def _view(self, key: str, name: str, icon: str) -> None:
        button = ui.button(name, icon=icon, on_click=lambda: self._go(key), color=None)
        self._views[key] = button.props("flat stack no-caps").classes("nav-view")

    async def _go(self, key: str) -> None:
        """Show a view on a phone."""
        if key == _CHAT:
            self._show(_CHAT)
            return
        self._viewing.part = key
        self._show("panel")
        await self.draw()

    async def _chosen(self) -> None:
        """A tab was chosen."""
        if self._tabs.value in self._parts and self._tabs.value != self._viewing.part:
            self._viewing.part = self._tabs.value
            await self.draw()

    def _show(self, pane: str) -> None:
        self._shown = pane
        self._cols.classes(replace=f"cols show-{pane}")
        self._mark()

    def _open(self, key: str) -> None:
        """Show a part, and make it when it is first shown."""
        for other, box in self._boxes.items():
            box.set_visibility(other == key)
        if key not in self._draws:
            with self._boxes[key]:
                self._draws[key] = self._parts[key].make()
        self._tabs.set_value(key)
        self._mark()

    def _mark(self) -> None:
        """Mark the button of the view that a phone shows."""
        shown = _CHAT if self._shown == _CHAT else self._viewing.part
        for key, button in self._views.items():
            button.props["aria-pressed"] = str(key == shown).lower()

    _shown = _CHAT
