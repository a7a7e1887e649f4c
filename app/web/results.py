"""The experiments of the folder of results, by name.

Nothing watches by itself. Whoever shows an experiment asks for it again and again; its folder is read at most once in
`EVERY_S`, for all who ask.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.app.web.watching import TABLE, Stamp, Summary, Watched, folders_in, stamp_of
from persimchat.experiments.place import EVENTS, PLAN, REPORT, TABLES, Place
from persimchat.runs.folder.run_folder import READABLE
from persimchat.state.errors import InputError
from persimchat.state.plain_text import quoted

EVERY_S: Final = 2.0
"""Seconds between two looks into the folder of an experiment."""

KEPT: Final = 8
"""How many experiments stay in memory with all their cells; others are read again."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_CELL: Final = re.compile(r"[0-9a-f]{12}")
_LONGEST_NAME: Final = 80


@dataclass(frozen=True)
class Found:
    """What there is in the folder of results.

    Attributes:
        names: of experiments.
        unread: what is wrong with others, one sentence each.
    """

    names: Sequence[str]
    unread: Sequence[str]


class NoExperimentError(InputError):
    """There is no experiment, or nothing in it, of that name."""


class Experiments:
    """The experiments of the folder of results. Nothing outside of it is ever read: links are not followed.

    Args:
        folder: it holds experiments, each in a folder of its own; it need not be there.
        clock: tells seconds.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self._clock = clock
        self._watched: dict[str, Watched] = {}
        self._short: dict[str, tuple[tuple[Stamp, ...], Summary]] = {}

    async def found(self) -> Found:
        """The experiments by name, the one that was touched last first."""
        return await asyncio.to_thread(self._found)

    async def summary(self, name: str) -> Summary:
        """An experiment in short; one in whose folder nothing has changed is not read again.

        Raises:
            InputError: there is none of that name, or its folder is damaged.
        """
        place = self.place(name)
        stamps = tuple(stamp_of(place.path / file) for file in (PLAN, EVENTS))
        known = self._short.get(name)
        still = known is not None and known[0] == stamps and not known[1].driven
        if known is not None and still and not await asyncio.to_thread(place.is_driven):
            return known[1]
        short = (await self.look(name)).summary()
        self._short[name] = (stamps, short)
        return short

    async def look(self, name: str) -> Watched:
        """An experiment as it is now, or was not longer than `EVERY_S` ago.

        Raises:
            InputError: there is none of that name, or its folder is damaged.
        """
        place = self.place(name)
        watched = self._watched.pop(name, None) or Watched(name, place)
        self._watched[name] = watched  # the last one looked at is the last one to be forgotten
        for other in [*self._watched][:-KEPT]:
            del self._watched[other]
        async with watched.looking:
            if self._clock() - watched.looked >= EVERY_S:
                await asyncio.to_thread(watched.refresh)
                watched.looked = self._clock()
        return watched

    def run_of(self, address: str) -> Path | None:
        """The folder of the run of a cell; None if there is none.

        Args:
            address: EXPERIMENT:CELL.
        """
        name, _, cell = address.partition(":")
        if not _CELL.fullmatch(cell):
            return None
        try:
            place = self.place(name)
        except NoExperimentError:
            return None
        folder = None if place.runs.is_symlink() else place.folder(cell)
        if folder is None or folder.is_symlink() or any(path.is_symlink() for path in folder.iterdir()):
            return None
        return folder

    def report(self, name: str) -> Path:
        """The report of an experiment; raises NoExperimentError if there is none."""
        return _there(self.place(name).path / REPORT, "report", name)

    def table(self, name: str, table: str) -> Path:
        """A table of an experiment, or its codebook, by its file name; raises NoExperimentError if there is none."""
        folder = self.place(name).path / TABLES
        wanted = table if TABLE.fullmatch(table) and not folder.is_symlink() else ""
        return _there(folder / wanted, "table", name)

    def transcript(self, name: str, cell: str) -> Path:
        """The transcript of a cell's run; raises NoExperimentError if there is none."""
        folder = self.run_of(f"{name}:{cell}")
        return _there(folder / READABLE if folder is not None else Path(), "transcript", f"{name}:{cell}")

    def place(self, name: str) -> Place:
        """The folder of an experiment; raises NoExperimentError if there is none of that name."""
        path = self.folder / name if _NAME.fullmatch(name) else None
        if path is None or path.is_symlink() or stamp_of(path / PLAN) is None:
            raise NoExperimentError(
                f"there is no experiment {quoted(name, _LONGEST_NAME)}",
                where="the folder of results",
                remedy="Choose one of the list of experiments.",
            )
        return Place(path)

    def _found(self) -> Found:
        touched: dict[str, float] = {}
        unread = []
        for folder in folders_in(self.folder.resolve()):
            stamps = [stamp for file in (PLAN, EVENTS) if (stamp := stamp_of(folder / file)) is not None]
            if stamp_of(folder / PLAN) is None:
                continue
            if _NAME.fullmatch(folder.name):
                touched[folder.name] = max(stamp[1] for stamp in stamps)
            else:
                unread.append(folder.name)
        return Found(sorted(touched, key=lambda name: (-touched[name], name)), sorted(unread))


def _there(path: Path, what: str, where: str) -> Path:
    if stamp_of(path) is None:
        raise NoExperimentError(f"there is no such {what}", where=where)
    return path
