"""The alternatives of a line, in place: ‹ 1/3 › under it leads to the runs that said something else there."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.shared.stories import closed_runs
from persimchat.app.web.widgets import named
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.folder.family import family
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.reports.alternatives import Alternative, Alternatives, alternatives
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line, shortened

_POLL_S: Final = 1.0
_MOST_WORDS: Final = 120


class OtherLines:
    """Draws them on the page of a run.

    Args:
        viewing: the run.
    """

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._family: list[ListedRun] = []
        self._found: dict[int, Alternatives] = {}
        self._read_to = -1
        self._boxes: dict[int, ui.element] = {}
        ui.timer(0, self._begin, once=True)

    def below(self, said: Uttered) -> None:
        """Make the place for the alternatives of a line, under its words."""
        self._boxes[said.turn] = ui.element("div")
        self._fill(said.turn)

    async def _begin(self) -> None:
        """Look for the run's family; if there is one, read it again whenever this run has said something."""
        web = self._viewing.web
        try:
            folder, listing = web.runs.folder(self._viewing.run), await web.runs.runs()
            members = family(folder, listing.runs)
            shut = await asyncio.to_thread(closed_runs, members)
        except PerSimChatError:
            return  # the folder is gone or damaged; other parts of the page report it
        self._family = [member for member in members if member.folder not in shut]
        if len(self._family) > 1:
            await self._read()
            ui.timer(_POLL_S, self._read)

    async def _read(self) -> None:
        turn = self._viewing.board.turn
        if turn == self._read_to:
            return
        self._read_to = turn
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            found = await asyncio.to_thread(alternatives, folder, self._family)
        except PerSimChatError:
            return
        before, self._found = self._found, {one.turn: one for one in found}
        for place in [place for place, box in self._boxes.items() if box.is_deleted]:
            del self._boxes[place]
        for place in self._boxes:
            if before.get(place) != self._found.get(place):
                self._fill(place)

    def _fill(self, turn: int) -> None:
        box, found = self._boxes[turn], self._found.get(turn)
        box.clear()
        if found is None:
            return
        count = len(found.lines)
        with box, ui.row().classes("other-lines items-center gap-0 no-wrap muted").props("role=group") as row:
            named(row, t("past.other_lines", turn=turn))
            self._step("chevron_left", found, found.shown - 1)
            ui.label(f"{found.shown + 1}/{count}").classes("text-xs tabular-nums")
            self._step("chevron_right", found, found.shown + 1)

    def _step(self, icon: str, found: Alternatives, place: int) -> None:
        """A link to the run with the line of this place; beyond both ends, a button without effect."""
        button = ui.button(icon=icon).props("flat round dense size=sm color=grey-7")
        if not 0 <= place < len(found.lines):
            named(button, t("past.other_none"))
            button.disable()
            return
        line = found.lines[place]
        named(button, t("past.other_line", n=place + 1, of=len(found.lines), line=_worded(line)))
        button.props["href"], button.props["title"] = page_of(line.run, found.turn), _worded(line)


def _worded(line: Alternative) -> str:
    return f"{one_line(line.speaker)}: {shortened(one_line(line.text), _MOST_WORDS)}"
