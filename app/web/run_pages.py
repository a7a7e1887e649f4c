"""The page of a run: a conversation's, and a story's."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.chat_panel import chat_panel
from persimchat.app.web.chat.composer import composer
from persimchat.app.web.chat.status import run_status
from persimchat.app.web.context import Viewing
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.insights.charts_part import charts_part
from persimchat.app.web.insights.people_part import people_part
from persimchat.app.web.minds.mind_part import mind_part
from persimchat.app.web.panes import PanelPart, Panes
from persimchat.app.web.past.actions import run_actions
from persimchat.app.web.past.other_lines import OtherLines
from persimchat.app.web.past.time_bar import time_bar
from persimchat.app.web.story.panel import rooms_part, standing_part
from persimchat.app.web.story.stage_bar import stage_bar
from persimchat.app.web.story.transcript import Transcript
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.words import t


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
        chat_panel(viewing, frame.actions, below=OtherLines(viewing).below)
        time_bar(viewing)
        composer(viewing)
        disclaimer()
    with frame.status:
        run_status(viewing)
    with frame.actions:
        run_actions(viewing)
        panes.button()


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
        transcript = Transcript(view, frame.actions, below=None if played else OtherLines(viewing).below)
        with head:
            stage_bar(view, transcript.show)
        if not played:
            time_bar(viewing)
        composer(viewing, player=(lambda: view.eyes or "") if played else None)
        disclaimer()
    with frame.status:
        run_status(viewing, secret=played)
    with frame.actions:
        if not played:
            run_actions(viewing)
        panes.button()


def _topic(viewing: Viewing) -> str:
    """What the page of a run is called."""
    return viewing.board.started.topic[:80] if viewing.board.started else viewing.run
