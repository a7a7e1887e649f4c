"""What can be done with a run that is over, below the card of its end: a focus group's summary, and interviews."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.group_summary import show_group_summary
from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.navigation import interview_of
from persimchat.app.web.widgets import item
from persimchat.app.web.words import t
from persimchat.state.plain_text import one_line


def draw_afterwards(viewing: Viewing) -> None:
    """Draw the buttons; none where nothing can be done."""
    board = viewing.board
    agents = [name for name in board.participants if name not in board.people]
    with ui.row().classes("w-full gap-2"):
        if board.started is not None and board.started.guide is not None:
            button = ui.button(t("groups.open"), icon="summarize").props("outline no-caps").mark("group-summary")
            button.on_click(lambda: show_group_summary(viewing))
        if agents and not viewing.experiment and viewing.live is None and not board.elsewhere:
            button = ui.button(t("interview.somebody"), icon="record_voice_over").mark("interview-somebody")
            with (
                button.props("outline no-caps icon-right=expand_more aria-haspopup=menu"),
                ui.menu().props("role=menu"),
            ):
                for name in agents:
                    told = t("interview.open", name=one_line(name))
                    item("person", told, href=interview_of(viewing.run, name)).mark("interview-of")
