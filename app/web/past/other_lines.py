"""The other wordings of a line: ‹ 1 of 3 wordings › under it leads to the runs that said something else there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nicegui import ui

from ....reports.diff_parting import Alternative, Alternatives, alternatives
from ....runs.events import Uttered
from ....runs.folder.listing import ListedRun, family, list_runs
from ....runs.folder.run_folder import RUN
from ....state.errors import PerSimChatError
from ....state.plain_text import one_line, shortened
from ..context import Viewing
from ..live_runs import Stamp, stamp_of
from ..shared.navigation import page_of
from ..shared.runs import closed_runs
from ..widgets import named, reached
from ..words import t

_POLL_S: Final = 1.0
_MOST_WORDS: Final = 120


@dataclass(frozen=True)
class _Known:
    """What was read last of a run's family.

    Attributes:
        runs: the folders that held a run then.
        members: the family.
        stamps: of each of them.
        found: the alternatives.
    """

    runs: frozenset[str] = frozenset()
    members: Sequence[ListedRun] = ()
    stamps: Sequence[Stamp] = ()
    found: Sequence[Alternatives] = ()


class OtherLines:
    """Draws them on the page of a run, also those that come while the page is open.

    Args:
        viewing: the run.
    """

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._known = _Known()
        self._found: dict[int, Alternatives] = {}
        self._boxes: dict[int, ui.element] = {}
        if not viewing.experiment:  # its cells have no branches
            ui.timer(_POLL_S, self._look)

    def below(self, said: Uttered) -> None:
        """Make the place for the alternatives of a line, under its words."""
        self._boxes[said.turn] = ui.element("div")
        self._fill(said.turn)

    async def _look(self) -> None:
        """Draw what runs of the family have said anew."""
        runs = self._viewing.web.runs
        try:
            self._known = await asyncio.to_thread(_read, runs.folder(self._viewing.run), runs.out, self._known)
        except PerSimChatError:
            return  # other parts of the page report a folder that is gone or damaged; the next look may find it whole
        before, self._found = self._found, {one.turn: one for one in self._known.found}
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
            ui.label(t("past.other_count", n=found.shown + 1, of=count)).classes("text-xs tabular-nums")
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
        button.props["href"], button.props["title"] = reached(page_of(line.run, found.turn)), _worded(line)


def _read(folder: Path, out: Path, before: _Known) -> _Known:
    """Read a run's family again, as far as it has changed. Blocks.

    What is compared is looked at before it is read, so nothing that is written meanwhile is missed.

    Raises:
        InputError: the folder of runs or the run's transcript cannot be read.
    """
    there = _runs_in(out, before.runs)
    members = before.members if there == before.runs else family(folder, list_runs(out).runs)
    stamps = [stamp_of(Path(member.folder)) for member in members]
    if (members, stamps) == (before.members, before.stamps):
        return replace(before, runs=there)
    shut = closed_runs(members)
    found = alternatives(folder, [member for member in members if member.folder not in shut])
    return _Known(there, members, stamps, found)


def _runs_in(out: Path, known: frozenset[str]) -> frozenset[str]:
    """The folders that hold a run; if they cannot be listed, reading them says so.

    Args:
        out: the folder of runs.
        known: folders that held one; only others are looked into.
    """
    try:
        places = {place.name: place for place in out.iterdir()}
        return frozenset(name for name, place in places.items() if name in known or (place / RUN).is_file())
    except OSError:
        return frozenset()


def _worded(line: Alternative) -> str:
    return f"{one_line(line.speaker)}: {shortened(one_line(line.text), _MOST_WORDS)}"
