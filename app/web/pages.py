"""The two panes of a run's page: the conversation, and the panel with its parts; below 900 pixels one at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui

from .chat.composer import composer
from .chat.conversation import Conversation
from .chat.status import RunStatus
from .chat.story import StageBar, StoryTranscript, StoryView
from .chat.story_panel import rooms_part, standing_part
from .context import Viewing
from .frame import Frame, disclaimer
from .panel.charts import charts_part
from .panel.mind import mind_part
from .panel.people import people_part
from .past.actions import run_actions
from .past.other_lines import OtherLines
from .past.time_bar import TimeBar
from .widgets import named, word_button
from .words import t

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
        self._views[key] = button.props("flat stack").classes("nav-view")

    async def _go(self, key: str) -> None:
        """Show a view on a phone."""
        if key == _CHAT:
            self._show(_CHAT)
            return
        self._viewing.part = key
        self._show("panel")
        await self.draw()

    def _chosen(self) -> Coroutine[Any, Any, None] | None:
        """A tab was chosen; known at once, or what is drawn next would open the part of before."""
        if self._tabs.value not in self._parts or self._tabs.value == self._viewing.part:
            return None
        self._viewing.part = self._tabs.value
        return self.draw()

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


# The page of a run: a conversation's, and a story's


async def conversation_page(viewing: Viewing) -> None:
    """The page of a run: the conversation, and the panel on its people, charts and minds."""
    frame = Frame(_topic(viewing))
    parts = (
        PanelPart("people", t("common.people"), "groups", lambda: people_part(viewing)),
        PanelPart("charts", t("common.charts"), "insights", lambda: charts_part(viewing)),
        PanelPart("mind", t("common.mind"), "psychology", lambda: mind_part(viewing)),
    )
    panes = Panes(viewing, parts)
    with panes.main:
        Conversation(viewing, frame.actions, OtherLines(viewing).below)
        TimeBar(viewing)
        composer(viewing)
    _finish(frame, viewing, panes)


async def story_page(view: StoryView) -> None:
    """The page of a story's run: stages with what was said, and the panel: where its characters stand, rooms, minds.

    While people play, nothing on it tells what their characters do not know: minds, actions and slider come at last.
    """
    viewing, played = view.viewing, view.played
    frame = Frame(_topic(viewing))
    first = "story.standing" if view.plan.story.mains else "story.cast"
    parts = [
        PanelPart("people", t(first), "groups", lambda: standing_part(view)),
        PanelPart("rooms", t("story.rooms"), "meeting_room", lambda: rooms_part(view)),
    ]
    if not played:
        minds = PanelPart("mind", t("common.mind"), "psychology", lambda: mind_part(viewing, lambda: view.minds))
        parts.append(minds)
    panes = Panes(viewing, parts, lambda: (viewing.revision, view.revision))
    with panes.main:
        head = ui.element("div").classes("w-full")
        transcript = StoryTranscript(view, frame.actions, None if played else OtherLines(viewing).below)
        with head:
            StageBar(view, transcript.go)
        if not played:
            TimeBar(viewing)
        composer(viewing, player=(lambda: view.eyes or "") if played else None)
    _finish(frame, viewing, panes, secret=played)


def _finish(frame: Frame, viewing: Viewing, panes: Panes, *, secret: bool = False) -> None:
    """Draw the notice below the conversation, and the header's parts."""
    with panes.main:
        disclaimer()
    with frame.status:
        RunStatus(viewing, secret=secret)
    with frame.actions:
        if not secret:
            run_actions(viewing)
        panes.button()


def _topic(viewing: Viewing) -> str:
    """What the page of a run is called."""
    return viewing.board.started.topic[:80] if viewing.board.started else viewing.run
