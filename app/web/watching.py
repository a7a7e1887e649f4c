"""One experiment as pages and API show it; usually another process drives it.

Its folder is read as it grows, and of it what has changed: the lock file, its log, and
those of the cells' runs.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import Final, Literal, get_args

from ...experiments.axes import Label
from ...experiments.estimate import summed
from ...experiments.place import LOG, PLAN, REPORT, TABLES, CellEvent, Place
from ...experiments.plan import Cell
from ...runs.events import OWN_ENDS, Totals
from ...runs.folder.lock import is_held
from ...runs.folder.reading import read_manifest
from ...runs.folder.run_folder import READABLE, RUN
from ...state.errors import InputError, PerSimChatError
from ...state.plain_text import quoted

Status = Literal["planned", "running", "begun", "done", "budget", "failed"]
"""How far a cell is: `begun` was interrupted, `budget` has used up its own budget."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)

_RUN: Final = re.compile(r"[0-9a-f]{12}-[0-9a-f]{1,16}")
TABLE: Final = re.compile(r"[a-z][a-z_]{0,40}\.(csv|md)")
"""The name of a table, or of the codebook."""

_ENDED: Final = ("done", "failed", "budget")

Stamp = tuple[int, int, int] | None
"""A value that changes when a file is written anew: its inode, time of the last write, and size; None for no file."""


@dataclass(frozen=True)
class WatchedCell:
    """A cell and how far it is.

    Attributes:
        cell: as it is planned.
        status: how far it is.
        why: why it failed; empty if it has not.
        run: the address of its run on this server; empty if it has not begun.
        utterances: that it has made; None if it has not begun.
        spent: what it has used; None if that is not known yet.
    """

    cell: Cell
    status: Status = "planned"
    why: str = ""
    run: str = ""
    utterances: int | None = None
    spent: Totals | None = None


_WRITTEN: Final = (PLAN, LOG, f"{LOG}-wal")
"""The files of an experiment that change while it is driven."""


def _told(place: Place) -> tuple[dict[str, CellEvent], list[float]]:
    """The last event of each cell, and when cells came to an end, in seconds since 1970; nothing of a damaged log."""
    last: dict[str, CellEvent] = {}
    endings: list[float] = []
    with suppress(InputError):
        for event in place.told():
            if event.status in _ENDED:
                with suppress(ValueError, OverflowError):
                    endings.append(datetime.fromisoformat(event.at).timestamp())
            last[event.cell] = event
    return last, endings


@dataclass(frozen=True)
class Summary:
    """An experiment in short.

    Attributes:
        name: its folder's.
        cells: all of them.
        counts: of the cells, by how far they are.
        spent: what all cells have used; the cost is None if a price is not known.
        driven: whether a process holds its cells now.
        touched: when something was last written, in seconds since 1970.
        seconds_left: until the end at the pace so far; None if nobody drives it or nothing has ended yet.
    """

    name: str
    cells: int
    counts: Mapping[str, int]
    spent: Totals
    driven: bool
    touched: float
    seconds_left: float | None


@dataclass(frozen=True)
class _Held:
    """What the log of a cell's run says, as of a stamp of the file."""

    stamp: tuple[Stamp, Stamp]
    reason: str | None
    detail: str
    utterances: int
    spent: Totals | None


class Watched:
    """An experiment, as far as its folder says.

    Attributes:
        name: its folder's.
        revision: grows when there is something new to draw.
        planned: grows when the cells are other ones.
        axes: what is varied, with the labels of the levels.
        cells: by id, in the order of the grid.
        counts: of the cells, by how far they are.
        spent: what all cells have used.
        driven: whether a process holds its cells now.
        touched: when something was last written, in seconds since 1970.
        report: when the report was written, in seconds since 1970; 0 if there is none.
        tables: the names of its tables and of their codebook.
    """

    def __init__(self, name: str, place: Place) -> None:
        self.name, self.place = name, place
        self.revision = self.planned = 0
        self.axes: Mapping[str, Sequence[Label]] = {}
        self.cells: dict[str, WatchedCell] = {}
        self.counts: Mapping[str, int] = {}
        self.spent = Totals()
        self.driven = False
        self.touched = self.report = 0.0
        self.tables: Sequence[str] = ()
        self.looking, self.looked = asyncio.Lock(), -math.inf
        self._locked: Stamp = None
        self._told: list[Stamp] = []
        self._last: Mapping[str, CellEvent] = {}
        self._endings: Sequence[float] = ()
        self._held: dict[str, _Held] = {}

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the pace since the driver began; None if nobody drives it, or nothing has ended."""
        if not self.driven or self._locked is None:
            return None
        begun = self._locked[1] / 1e9
        ended = len(self._endings) - bisect_left(self._endings, math.floor(begun))
        left = sum(self.counts.get(status, 0) for status in ("planned", "running", "begun"))
        return (time.time() - begun) / ended * left if ended else None

    def summary(self) -> Summary:
        """The experiment in short."""
        cells = len(self.cells)
        return Summary(self.name, cells, self.counts, self.spent, self.driven, self.touched, self.seconds_left)

    def refresh(self) -> None:
        """Read what has changed. Blocks.

        Raises:
            InputError: the lock file is damaged.
        """
        before = (self.driven, self.report, self.tables)
        locked, *told = (stamp_of(self.place.path / file) for file in _WRITTEN)
        self.driven = self.place.is_driven()
        planned = {id_: one.cell for id_, one in self.cells.items()}
        changed = self._locked != locked
        if changed:
            plan = self.place.locked()
            planned = {cell.id: cell for cell in plan.cells}
            self.axes, self._locked = plan.axes, locked
            self.planned += 1
        if self._told != told:
            self._told = told
            self._last, self._endings = _told(self.place)
        folders = {folder.name: folder for folder in folders_in(self.place.runs) if stamp_of(folder / RUN)}
        held = {name.partition("-")[0]: folder for name, folder in folders.items() if "-" in name}
        cells = {id_: self._read(cell, self._folder(id_, folders) or held.get(id_)) for id_, cell in planned.items()}
        self._held = {id_: one for id_, one in self._held.items() if id_ in cells}
        self._read_results()
        if changed or cells != self.cells:
            changed, self.cells = True, cells
            self.counts = Counter(one.status for one in cells.values())
            self.spent = summed(one.spent for one in cells.values() if one.spent is not None)
        if changed or before != (self.driven, self.report, self.tables):
            self.revision += 1

    def _folder(self, id_: str, folders: Mapping[str, Path]) -> Path | None:
        """The folder of a cell's run: under its own name, or, while it is held or held again, under the run's."""
        run = self._last[id_].run if id_ in self._last else ""
        names = [id_, *([run] if _RUN.fullmatch(run) and run.startswith(id_) else [])]
        ordered = reversed(names) if self._running(id_) else names
        return next((folders[name] for name in ordered if name in folders), None)

    def _running(self, id_: str) -> bool:
        return self.driven and id_ in self._last and self._last[id_].status == "started"

    def _read(self, cell: Cell, folder: Path | None) -> WatchedCell:
        """How far a cell is: what its run's folder says, and what was told of it where the folder cannot know."""
        event = self._last.get(cell.id)
        failed = event is not None and event.status == "failed"
        told = event.why if event is not None else ""
        try:
            held = self._manifest(cell.id, folder)
        except PerSimChatError as error:
            return WatchedCell(cell, "failed", str(error))
        running = self._running(cell.id)
        if held is None or folder is None:
            status: Status = "failed" if failed else "running" if running else "planned"
            return WatchedCell(cell, status, told if failed else "")
        why = ""
        if held.reason in OWN_ENDS:
            status = "done"
        elif failed:
            status, why = "failed", told or held.detail
        elif running or (held.reason is None and is_held(folder)):
            status = "running"
        elif held.reason == "error":
            status, why = "failed", held.detail
        else:
            status = "budget" if held.reason == "budget" else "begun"
        return WatchedCell(cell, status, why, f"{self.name}:{cell.id}", held.utterances, held.spent)

    def _manifest(self, id_: str, folder: Path | None) -> _Held | None:
        """What the log in a folder says of its run; None if there is none."""
        whole = stamp_of(folder / RUN) if folder is not None else None
        if folder is None or whole is None:
            return None
        stamp = (whole, stamp_of(folder / f"{RUN}-wal"))
        known = self._held.get(id_)
        if known is None or known.stamp != stamp:
            read = read_manifest(folder)
            known = _Held(stamp, read.stop_reason, read.detail, read.turn, read.usage.total)
            self._held[id_] = known
        return known

    def _read_results(self) -> None:
        path = self.place.path
        report, *written = (stamp_of(path / file) for file in (REPORT, *_WRITTEN))
        self.report = report[1] / 1e9 if report is not None else 0.0
        self.tables = tuple(sorted(file.name for file in files_in(path / TABLES) if TABLE.fullmatch(file.name)))
        self.touched = max(stamp[1] / 1e9 for stamp in (report, *written, (0, 0, 0)) if stamp is not None)


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file; None if there is none. A link is no file."""
    try:
        stat = path.lstat()
    except (OSError, ValueError):
        return None
    return (stat.st_ino, stat.st_mtime_ns, stat.st_size) if S_ISREG(stat.st_mode) else None


def folders_in(path: Path) -> Iterator[Path]:
    """The folders in a folder, without links; none if that is not there or is a link itself."""
    yield from (Path(entry) for entry in _entries(path) if entry.is_dir(follow_symlinks=False))


def files_in(path: Path) -> Iterator[Path]:
    """The files in a folder, without links; none if that is not there or is a link itself."""
    yield from (Path(entry) for entry in _entries(path) if entry.is_file(follow_symlinks=False))


def _entries(path: Path) -> list[os.DirEntry[str]]:
    if path.is_symlink():
        return []
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


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
        stamps = tuple(stamp_of(place.path / file) for file in _WRITTEN)
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
            stamps = [stamp for file in _WRITTEN if (stamp := stamp_of(folder / file)) is not None]
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
