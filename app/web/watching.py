"""One experiment as pages and API show it; usually another process drives it.

Its folder is read as it grows: the lock file when it is new, then the lines that are added to `cells.jsonl` and the
runs of the cells that are being held.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final, Literal, get_args

from persimchat.experiments.axes import Label
from persimchat.experiments.needs import summed
from persimchat.experiments.place import EVENTS, PLAN, REPORT, TABLES, Place
from persimchat.experiments.plan import Cell
from persimchat.runs.events import OWN_ENDS, Totals
from persimchat.runs.folder.lock import is_held
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.folder.run_folder import MANIFEST
from persimchat.state.errors import PerSimChatError

Status = Literal["planned", "running", "begun", "done", "budget", "failed"]
"""How far a cell is: `begun` was interrupted, `budget` has used up its own budget."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)

_RUN: Final = re.compile(r"[0-9a-f]{12}-[0-9a-f]{1,16}")
TABLE: Final = re.compile(r"[a-z][a-z_]{0,40}\.(csv|md)")
"""The name of a table, or of the codebook."""

_ENDED: Final = ("done", "failed", "budget")
_ACTIVE: Final = ("running", "begun")

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


class _Events:
    """What `cells.jsonl` says, read as it grows.

    Attributes:
        last: the last event of each cell.
        endings: when cells came to an end, as seconds since 1970, in order.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin(0)

    def _begin(self, inode: int) -> None:
        self._inode, self._read = inode, 0
        self.last: dict[str, Mapping[str, Any]] = {}
        self.endings: list[float] = []

    def more(self) -> tuple[bool, set[str]]:
        """Read what was added: whether the file was replaced, and the cells of which something was told."""
        inode, _, size = stamp_of(self._path) or (0, 0, 0)
        replaced = inode != self._inode or size < self._read
        if replaced:
            self._begin(inode)
        if size == self._read:
            return replaced, set()
        with self._path.open("rb") as file:
            file.seek(self._read)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]  # a line that is being written comes next time
        self._read += len(whole)
        return replaced, {cell for line in whole.splitlines() if (cell := self._take(line))}

    def _take(self, line: bytes) -> str:
        """The cell of a line; empty for a damaged one: the folders of the runs hold the truth."""
        try:
            event = json.loads(line)
            cell, kind = str(event["cell"]), event["event"]
            if kind in _ENDED:
                self.endings.append(datetime.fromisoformat(event["at"]).timestamp())
        except (ValueError, KeyError, TypeError, OverflowError):
            return ""
        self.last[cell] = event
        return cell


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
    """What the run.json of a cell's run says, as of a stamp of the file."""

    stamp: Stamp
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
        self._events = _Events(place.path / EVENTS)
        self._held: dict[str, _Held] = {}
        self._active: set[str] = set()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the pace since the driver began; None if nobody drives it, or nothing has ended."""
        if not self.driven or self._locked is None:
            return None
        begun = self._locked[1] / 1e9
        ended = len(self._events.endings) - bisect_left(self._events.endings, math.floor(begun))
        left = sum(self.counts.get(status, 0) for status in ("planned", *_ACTIVE))
        return (time.time() - begun) / ended * left if ended else None

    def summary(self) -> Summary:
        """The experiment in short."""
        return Summary(
            self.name, len(self.cells), self.counts, self.spent, self.driven, self.touched, self.seconds_left
        )

    def refresh(self) -> None:
        """Read what has changed. Blocks.

        Raises:
            InputError: the lock file is damaged.
        """
        before = (self.driven, self.report, self.tables)
        locked, self.driven = stamp_of(self.place.path / PLAN), self.place.is_driven()
        replaced, told = self._events.more()
        if replaced or self._locked != locked:
            self._read_all()
            self._locked, changed = locked, True
        else:
            changed = self._read_some(told | self._active)
        self._read_results()
        if changed:
            self.counts = Counter(one.status for one in self.cells.values())
            self.spent = summed(one.spent for one in self.cells.values() if one.spent is not None)
        if changed or before != (self.driven, self.report, self.tables):
            self.revision += 1

    def _read_all(self) -> None:
        """Read the lock file and the runs of all cells; a run.json that has not changed is not read again."""
        locked = self.place.locked()
        folders: dict[str, Path] = {}
        for folder in folders_in(self.place.runs):
            cell, _, rest = folder.name.partition("-")
            if not rest or cell not in folders:
                folders[cell] = folder
        self.axes = locked.axes
        self.cells = {cell.id: self._read(cell, self._folder(cell.id) or folders.get(cell.id)) for cell in locked.cells}
        self._held = {id_: held for id_, held in self._held.items() if id_ in self.cells}
        self._active = {id_ for id_, one in self.cells.items() if one.status in _ACTIVE}
        self.planned += 1

    def _read_some(self, ids: Iterable[str]) -> bool:
        """Read the runs of some cells; whether any has changed."""
        changed = False
        for id_ in ids:
            before = self.cells.get(id_)
            if before is None:  # the file does not have this cell any more
                continue
            now = self._read(before.cell, self._folder(id_))
            (self._active.add if now.status in _ACTIVE else self._active.discard)(id_)
            if now != before:
                self.cells[id_] = now
                changed = True
        return changed

    def _folder(self, id_: str) -> Path | None:
        """The folder of a cell's run: under its own name, or, while it is held or held again, under the run's."""
        if self.place.runs.is_symlink():
            return None
        run = str(self._events.last.get(id_, {}).get("run", ""))
        names = [id_, *([run] if _RUN.fullmatch(run) and run.startswith(id_) else [])]
        folders = [self.place.runs / name for name in (reversed(names) if self._running(id_) else names)]
        return next((folder for folder in folders if stamp_of(folder / MANIFEST) and not folder.is_symlink()), None)

    def _running(self, id_: str) -> bool:
        return self.driven and self._events.last.get(id_, {}).get("event") == "started"

    def _read(self, cell: Cell, folder: Path | None) -> WatchedCell:
        """How far a cell is: what its run's folder says, and what was told of it where the folder cannot know."""
        event = self._events.last.get(cell.id, {})
        told = event.get("event")
        try:
            held = self._manifest(cell.id, folder)
        except PerSimChatError as error:
            return WatchedCell(cell, "failed", str(error))
        running = self._running(cell.id)
        if held is None or folder is None:
            failed = told == "failed"
            status: Status = "failed" if failed else "running" if running else "planned"
            return WatchedCell(cell, status, str(event.get("why", "")) if failed else "")
        why = ""
        if held.reason in OWN_ENDS:
            status = "done"
        elif told == "failed":
            status, why = "failed", str(event.get("why", "")) or held.detail
        elif running or (held.reason is None and is_held(folder)):
            status = "running"
        elif held.reason == "error":
            status, why = "failed", held.detail
        else:
            status = "budget" if held.reason == "budget" else "begun"
        return WatchedCell(cell, status, why, f"{self.name}:{cell.id}", held.utterances, held.spent)

    def _manifest(self, id_: str, folder: Path | None) -> _Held | None:
        """What the run.json in a folder says; None if there is none."""
        stamp = stamp_of(folder / MANIFEST) if folder is not None else None
        if folder is None or stamp is None:
            return None
        known = self._held.get(id_)
        if known is None or known.stamp != stamp:
            read = read_manifest(folder)
            known = _Held(stamp, read.stop_reason, read.detail, read.turn, read.usage.total)
            self._held[id_] = known
        return known

    def _read_results(self) -> None:
        path = self.place.path
        report, events = stamp_of(path / REPORT), stamp_of(path / EVENTS)
        self.report = report[1] / 1e9 if report is not None else 0.0
        self.tables = tuple(sorted(file.name for file in files_in(path / TABLES) if TABLE.fullmatch(file.name)))
        self.touched = max(stamp[1] / 1e9 for stamp in (self._locked, report, events, (0, 0, 0)) if stamp is not None)


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
