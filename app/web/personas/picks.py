"""A list of personas with boxes, and saving the ticked ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from nicegui import ui

from persimchat.app.web.personas.cards import head, matches, read_persona
from persimchat.app.web.personas.library import Library
from persimchat.app.web.widgets import chip, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.normalise import visible_form
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line


@dataclass(frozen=True)
class Pick:
    """A persona in the list.

    Attributes:
        persona: the persona.
        blocked: why it cannot be selected; empty if it can.
        notes: remarks, a line each, behind a small arrow.
    """

    persona: Persona
    blocked: str = ""
    notes: Sequence[str] = field(default=())


class Picks:
    """The list. Of two personas with the same name only one can be ticked, as they could not take part together.

    Args:
        changed: called when a box was ticked or unticked.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.changed = changed
        self.picks: list[Pick] = []
        self._boxes: list[ui.checkbox] = []
        self._lines: list[ui.element] = []

    def add(self, pick: Pick, *, ticked: bool = False) -> None:
        """Draw a persona in the current element."""
        number = len(self.picks)
        self.picks.append(pick)
        with ui.column().classes("surface w-full gap-1 px-3 py-2") as line:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                box = ui.checkbox(value=ticked and not pick.blocked, on_change=partial(self._ticked, number))
                named(box, t("personas.choose_one", name=one_line(pick.persona.name)))
                box.set_enabled(not pick.blocked)
                with ui.row().classes("grow min-w-0 items-center gap-x-2 gap-y-1").mark(f"pick-{number}") as face:
                    with ui.element("div").classes("grow basis-[180px] min-w-0"):
                        head(pick.persona, "36px")
                    if pick.blocked:  # under the name on a phone
                        chip(pick.blocked)
                if not pick.blocked:
                    face.classes("cursor-pointer").on("click", lambda: box.set_value(not box.value))
                icon_button(
                    "article",
                    t("personas.read_one", name=one_line(pick.persona.name)),
                    partial(read_persona, pick.persona),
                )
            if pick.notes:
                more = ui.expansion(t("personas.where_from")).props("dense header-class=text-xs").classes("w-full")
                with more, ui.column().classes("w-full gap-1"):
                    for note in pick.notes:
                        ui.label(note).classes("text-xs muted break-words")
        self._boxes.append(box)
        self._lines.append(line)

    def chosen(self) -> list[int]:
        """The numbers of the ticked personas, from 0, in the order of the list."""
        return [number for number, box in enumerate(self._boxes) if box.value]

    def filter(self, query: str) -> int:
        """Show only personas that match; ticks stay. Returns how many are shown."""
        found = [matches(pick.persona, query) for pick in self.picks]
        for line, visible in zip(self._lines, found, strict=True):
            line.set_visibility(visible)
        return sum(found)

    def _ticked(self, number: int) -> None:
        if self._boxes[number].value:
            name = visible_form(self.picks[number].persona.name)
            for other, box in enumerate(self._boxes):
                if other != number and box.value and visible_form(self.picks[other].persona.name) == name:
                    box.set_value(False)
        self.changed()


async def keep_chosen(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> bool:
    """Keep personas with the comments of their files' heads, all or none; returns whether they were kept."""
    if not chosen:
        ui.notify(t("personas.nobody_chosen"), type="warning", position="top")
        return False
    try:
        await asyncio.to_thread(_add_all, library, chosen)
    except PerSimChatError as error:
        notify_error(error)
        return False
    return True


def _add_all(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> None:
    added = []
    try:
        for persona, notes in chosen:
            added.append(library.add(persona, notes))
    except PerSimChatError:
        for path in added:
            library.delete(path)
        raise
