"""The cards on parts: what the character knows of itself whose eyes the page has, and who is who."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.widgets import avatar, card
from persimchat.app.web.words import t
from persimchat.state.plain_text import one_line


class Part:
    """Who the character is whose eyes the page has, and what it wants; hidden for the researcher."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card(t("story.part")) as self._box:
            self._inside = ui.column().classes("w-full gap-1")

    def draw(self) -> None:
        """Show the part."""
        view, eyes = self._view, self._view.eyes
        self._box.set_visibility(eyes is not None)
        self._inside.clear()
        if eyes is None:
            return
        part = view.plan.parts[eyes]
        with self._inside:
            ui.label(one_line(eyes)).classes("text-sm font-semibold break-words")
            if part.description:
                ui.label(part.description).classes("text-sm words")
            for goal in part.goals:
                ui.label(t("story.goal", text=one_line(goal))).classes("text-sm break-words")
            for rule in view.plan.rules:
                ui.label(t("story.rule", text=one_line(rule))).classes("text-xs muted break-words")


class Cast:
    """The characters as everybody knows them."""

    def __init__(self, view: StoryView) -> None:
        names = [one.name for one in view.course.cast]
        people, mains = view.viewing.board.people, view.plan.story.mains
        with card(t("story.cast")), ui.element("ul").classes("plain w-full flex flex-col gap-2"):
            for one in view.course.cast:
                with ui.element("li"), ui.row().classes("w-full items-start gap-2 no-wrap"):
                    avatar(one_line(one.name), colour(one.name, names), "26px", human=one.name in people)
                    with ui.column().classes("gap-0 grow min-w-0"):
                        kind = [t("story.main" if one.main else "story.other")] if mains else []
                        ui.label(" · ".join([one_line(one.name), *kind])).classes("text-sm break-words")
                        if one.known_as:
                            ui.label(one_line(one.known_as)).classes("text-xs muted break-words")

    def draw(self) -> None:
        """Everybody knows this from the beginning; it does not change."""
