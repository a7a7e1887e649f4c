"""A list of personas with a box to tick at each: in the chooser, and for what was generated or converted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from nicegui import ui

from persimchat.app.web.personas.shown import head, matches, read_persona
from persimchat.app.web.widgets import chip, icon_button, named
from persimchat.app.web.words import t
from persimchat.state.folding import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line


@dataclass(frozen=True)
class Pick:
    """Somebody in the list.

    Attributes:
        persona: who it is.
        blocked: why this one cannot be chosen; empty where it can.
        notes: what else is to be told, a line each, behind a small arrow.
    """

    persona: Persona
    blocked: str = ""
    notes: Sequence[str] = field(default=())


class Picks:
    """The list. Of two with the same name only one can be ticked, as they could not take part together.

    Args:
        changed: told when somebody was ticked or not.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.changed = changed
        self.picks: list[Pick] = []
        self._boxes: list[ui.checkbox] = []
        self._lines: list[ui.element] = []

    def add(self, pick: Pick, *, ticked: bool = False) -> None:
        """Draw somebody, in the element that is being filled."""
        number = len(self.picks)
        self.picks.append(pick)
        with ui.column().classes("surface w-full gap-1 px-3 py-2") as line:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                box = ui.checkbox(value=ticked and not pick.blocked, on_change=partial(self._ticked, number))
                named(box, t("personas.choose_one", name=one_line(pick.persona.name)))
                box.set_enabled(not pick.blocked)
                head(pick.persona, "36px")
                if pick.blocked:
                    chip(pick.blocked)
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
        """The numbers of those who are ticked, from 0, in the order of the list."""
        return [number for number, box in enumerate(self._boxes) if box.value]

    def filter(self, query: str) -> int:
        """Show only those who are searched for; ticks stay. How many are shown."""
        found = [matches(pick.persona, query) for pick in self.picks]
        for line, visible in zip(self._lines, found, strict=True):
            line.set_visibility(visible)
        return sum(found)

    def _ticked(self, number: int) -> None:
        if self._boxes[number].value:
            name = folded(self.picks[number].persona.name)
            for other, box in enumerate(self._boxes):
                if other != number and box.value and folded(self.picks[other].persona.name) == name:
                    box.set_value(False)
        self.changed()
