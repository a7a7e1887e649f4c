"""The folder of an experiment: its file, its lock file, what happened to its cells, and their runs.

The truth about a cell is its run's folder. `experiment.sqlite` tells what happened to the cells, for people and for the
number of tries, and has the answers about pairs and all requests of judges and polls.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..prompts import prompt_hash
from ..runs.events import OWN_ENDS
from ..runs.folder.listing import CELLS, EXPERIMENT
from ..runs.folder.lock import is_held
from ..runs.folder.manifest import Manifest, public, versions
from ..runs.folder.parts import Stored
from ..runs.folder.reading import opened, read_manifest
from ..runs.folder.run_folder import RUN, now, write_whole
from ..runs.folder.validation import parsed
from ..runs.kinds import ACCOUNTS, KINDS
from ..runs.log import Kind, Kinds, Log
from ..state.document import Document
from ..state.errors import InputError
from ..state.kinds import unheeded
from ..state.minds.pruning import Pruning
from ..state.settings import MODES
from ..state.validation_errors import input_error
from .axes import Label
from .base import start_of
from .file import KEPT_SCENARIO, KEPT_TASKS, SHIPPED
from .plan import SHAPING, Cell, Plan, defaults

FILE, PLAN, LOG, LOCK = "experiment.yaml", EXPERIMENT, "experiment.sqlite", "driver.lock"
RUNS, TABLES, REPORT = CELLS, "tables", "report.html"
"""The files and folders of an experiment."""
ITEMS = "items"
"""The table that a benchmark's folder has and no other."""

FORMAT: Final = 1
"""Version of the lock file."""

_PATIENCE_S: Final = 0.5
"""Seconds to wait for the driver's lock: a page may hold it for a moment to test it (`Place.is_driven`)."""

Status = Literal["planned", "begun", "done", "budget", "failed", "held"]
_OLD: Final = ".replaced"
_UNREADABLE: Final = "Put the file back from a backup, or move the run's folder away: it is then held again."
_PRUNING: Final = "pruning"


class CellEvent(Stored):
    """What happened to a cell."""

    status: Literal["started", "done", "budget", "failed"]
    cell: str = Field(description="its id")
    at: str = Field(description="when, with the time zone")
    run: str = Field(default="", description="the id of the run that was started")
    resumed: bool = Field(default=False, description="whether that run was there before")
    why: str = Field(default="", description="why it failed")


ACCOUNT: Final[Kinds] = {name: KINDS[name] for name in ACCOUNTS}
"""The kinds of an experiment's requests to judges and in polls."""
_CELLS: Final[Kinds] = {"cell": Kind(CellEvent, "cells")}


class LockFile(BaseModel):
    """What an experiment is made of: the cells, and everything that they were resolved from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    name: str
    axes: dict[str, list[Label]]
    tasks: list[list[str]]
    combinations: int
    versions: dict[str, str]
    prompt_hash: str
    defaults: dict[str, dict[str, Any]]
    cells: list[Cell]


@dataclass(frozen=True)
class Standing:
    """How far a cell is.

    Attributes:
        status: planned, begun, done, budget (its own budget was used up), failed, or held by another process.
        folder: its run's; None where there is none.
        manifest: what is known about its run; None where that cannot be read.
        why: why its run cannot be read, and what to do; empty where it can.
    """

    status: Status
    folder: Path | None = None
    manifest: Manifest | None = None
    why: str = ""


@dataclass(frozen=True)
class Changes:
    """How the cells of a file differ from those that the folder knows.

    Attributes:
        kept: cells that both have.
        new: cells that only the file has.
        gone: cells that only the folder has; their runs stay where they are.
    """

    kept: int
    new: int
    gone: int


class Place:
    """An experiment's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / RUNS
        self._log: Log | None = None

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Hold the folder against a second driver while the body runs.

        Raises:
            InputError: another driver holds it, or it cannot be written.
        """
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / LOCK, thread_local=False)
            lock.acquire(timeout=_PATIENCE_S, poll_interval=0.02)
        except Timeout:
            raise InputError(
                "the experiment is being run by another process",
                where=str(self.path),
                remedy="Wait until it has ended, or stop it there.",
            ) from None
        except OSError as error:
            raise InputError(
                f"the folder of the experiment cannot be used: {error.strerror}",
                where=str(self.path),
                remedy="Choose another with --out.",
            ) from error
        try:
            for old in self.runs.glob(f".*{_OLD}"):
                shutil.rmtree(old, ignore_errors=True)
            with Log(self.path / LOG, _CELLS) as self._log:
                yield
        finally:
            self._log = None
            lock.release()

    def is_driven(self) -> bool:
        """Whether a process holds the experiment's cells now; False where its lock cannot be tried."""
        if not (self.path / LOCK).is_file():
            return False
        lock = FileLock(self.path / LOCK, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False
        lock.release()
        return False

    def changes(self, plan: Plan) -> Changes | None:
        """How the file's cells differ from the folder's; None where the folder is new.

        Raises:
            InputError: the folder is another experiment's, or its lock file is damaged.
        """
        if not (self.path / PLAN).is_file():
            return None
        known = self.locked()
        if known.name != plan.experiment.name:
            raise InputError(
                f"this is the folder of another experiment, {known.name!r}",
                where=str(self.path),
                remedy="Choose another folder with --out, or give the experiment its old name.",
            )
        before, after = {cell.id for cell in known.cells}, {planned.cell.id for planned in plan.cells}
        return Changes(len(before & after), len(after - before), len(before - after))

    def keep(self, plan: Plan) -> None:
        """Write the copies of the file and of those that it names, and the lock file, each whole or not at all."""
        experiment = plan.experiment
        text = experiment.text()
        if text is None:
            made = plan.experiment.model_dump(by_alias=True, mode="json", exclude_defaults=True)
            text = json.dumps(public(made), ensure_ascii=False).encode()
        locked = LockFile(
            format=FORMAT,
            name=plan.experiment.name,
            axes={axis.name: [level.label for level in axis.levels] for axis in plan.axes},
            tasks=[list(each) for each in plan.tasks],
            combinations=plan.combinations,
            versions=versions(),
            prompt_hash=prompt_hash(),
            defaults={mode: {k: v for k, v in defaults(mode).items() if k in SHAPING} for mode in MODES},
            cells=[planned.cell for planned in plan.cells],
        )
        copies: dict[str, Any] = {}
        if experiment.base.scenario is not None or experiment.base.participants:
            scenario = start_of(experiment).scenario
            copies[KEPT_SCENARIO] = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        if experiment.tasks is not None and experiment.tasks.file not in (None, SHIPPED):
            tasks = [task.model_dump(mode="json", exclude_defaults=True) for task in experiment.all_tasks()]
            copies[KEPT_TASKS] = {"tasks": tasks}
        for name, data in copies.items():
            write_whole(self.path / name, json.dumps(public(data), ensure_ascii=False, indent=1).encode())
        for file in _persona_files(plan):
            (self.path / file).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / file, (experiment.folder / file).read_bytes())
        write_whole(self.path / FILE, text)
        write_whole(self.path / PLAN, (locked.model_dump_json(indent=1) + "\n").encode())

    def locked(self) -> LockFile:
        """The lock file.

        Raises:
            InputError: there is none, or it is damaged or of another version.
        """
        path = self.path / PLAN
        if not path.is_file():
            raise InputError(
                "this is not an experiment's folder: it has no lock file",
                where=str(self.path),
                remedy="Run the experiment first: persimchat experiment run FILE",
            )
        data = parsed(path.read_bytes(), str(path))
        try:
            return LockFile.model_validate(data)
        except ValidationError as error:
            raise input_error(error, LockFile, Document(data, str(path))) from None

    def standing(self, cell: str, *, anew: bool = False, whole: bool = False) -> Standing:
        """How far a cell is, from its run's folder; one whose run cannot be read has failed.

        Args:
            cell: its id.
            anew: whether it is held again; then only the run counts that is to replace the one there is.
            whole: whether to look at every event of a run that is complete.
        """
        folder = self._replacing(cell) if anew else self.folder(cell)
        if folder is None:
            return Standing("planned")
        try:
            manifest = read_manifest(folder)
            if is_held(folder):
                return Standing("held", folder, manifest)
            if whole and manifest.stop_reason in OWN_ENDS:
                with opened(folder) as log:
                    log.check(leave_out=ACCOUNTS)
        except InputError as error:
            if is_held(folder):  # it has just begun
                return Standing("held", folder)
            return Standing("failed", folder, why=f"{error.what} ({error.where}). {_UNREADABLE}")
        reason = manifest.stop_reason
        status: Status = "done" if reason in OWN_ENDS else "begun"
        if reason in ("budget", "error"):
            status = "budget" if reason == "budget" else "failed"
        return Standing(status, folder, manifest)

    def folder(self, cell: str) -> Path | None:
        """The cell's run folder: under its own name, or, if its process was killed, still under the run's."""
        own = self.runs / cell
        return own if (own / RUN).is_file() else self._replacing(cell)

    def _replacing(self, cell: str) -> Path | None:
        """The folder of the cell's run that does not have the cell's name yet."""
        return next((path.parent for path in sorted(self.runs.glob(f"{cell}-*/{RUN}"))), None)

    def new_run(self, cell: str, *, anew: bool = False) -> str:
        """The id of a run that begins; what a kill has left of one that had not begun is removed.

        Args:
            cell: its id.
            anew: whether the run is to replace one that there is.
        """
        for left in [*([] if anew else [self.runs / cell]), *self.runs.glob(f"{cell}-*")]:
            if left.is_dir() and not (left / RUN).is_file():
                shutil.rmtree(left)
        return f"{cell}-{secrets.token_hex(4)}"

    def opened(self, cell: str, *, anew: bool = False) -> Path | None:
        """The folder of the cell's run, for going on with it; None where the run has to begin.

        A run that was killed before it had asked a model is removed: its checkpoints or its shared past may not be
        complete, and nothing is lost with it.

        Args:
            cell: its id.
            anew: whether it is held again, beside the run that there is.
        """
        folder = self._replacing(cell) if anew else self.named(cell)
        if folder is not None and read_manifest(folder).ended is None and not _has_asked(folder):
            shutil.rmtree(folder)
            return None
        return folder

    def drop(self, cell: str) -> None:
        """Remove the run that was to replace the cell's."""
        while (folder := self._replacing(cell)) is not None:
            shutil.rmtree(folder)

    def replace(self, cell: str) -> None:
        """Put the run that was held again in the place of the one before, which is removed.

        The new one is complete on disk before the old one goes, and a kill in between leaves the new one.
        """
        own, old = self.runs / cell, self.runs / f".{cell}{_OLD}"
        if (new := self._replacing(cell)) is None:
            return
        if own.is_dir():
            own.rename(old)
        new.rename(own)
        shutil.rmtree(old, ignore_errors=True)

    def named(self, cell: str) -> Path | None:
        """Give the cell's run folder the cell's name; nobody may be working on it."""
        folder, own = self.folder(cell), self.runs / cell
        if folder is not None and folder != own:
            folder.rename(own)
        return own if folder is not None else None

    def tell(self, status: Literal["started", "done", "budget", "failed"], cell: str, **more: Any) -> None:
        """Keep what has happened to a cell."""
        with nullcontext(self._log) if self._log is not None else Log(self.path / LOG, _CELLS) as log:
            log.append([CellEvent(status=status, cell=cell, at=now().isoformat(timespec="seconds"), **more)])

    def told(self) -> list[CellEvent]:
        """What has happened to the cells; what is damaged is left out, for the runs' folders hold the truth."""
        if not (self.path / LOG).is_file() or not (self.path / LOG).stat().st_size:  # killed when it was made
            return []
        with Log(self.path / LOG, _CELLS, read_only=True) as log:
            return log.read_whole("cell")[0]

    def tries(self) -> dict[str, int]:
        """How often each cell was begun or resumed."""
        return Counter(one.cell for one in self.told() if one.status == "started")


def _persona_files(plan: Plan) -> set[Path]:
    """The persona files that variants and tasks name, relative to the experiment's file and beside or below it."""
    experiment, found = plan.experiment, set[Path]()
    patches = [level.scenario for axis in plan.axes for level in axis.levels]
    for patch in [*patches, *(task.scenario for task in experiment.all_tasks())]:
        people = patch.get("participants")
        for given in people if isinstance(people, list) else []:
            named = given.get("persona") if isinstance(given, Mapping) else given
            file = Path(named) if isinstance(named, str) else Path()
            if not file.is_absolute() and ".." not in file.parts and (experiment.folder / file).is_file():
                found.add(file)
    return found


def _has_asked(folder: Path) -> bool:
    """Whether a run has made a request."""
    with opened(folder) as log:
        return bool(log.rows("SELECT 1 FROM events WHERE kind = 'asked_model' LIMIT 1"))


def stale(cell: Cell, manifest: Manifest) -> str:
    """Why a run is not what the cell would be if it were held now; empty where it is.

    As in the cell's id, settings that shape nothing do not count: what a baseline does not heed, and how to prune where
    nothing is left out.

    Args:
        cell: as the file says.
        manifest: of its run.
    """
    if manifest.prompt_hash != manifest.settings.prompts_now:
        return "it was held with other prompts"
    held = manifest.settings.model_dump(mode="json")
    wanted = {**defaults(manifest.settings.mode), **cell.settings}
    without = unheeded(wanted)
    if not any(Pruning.model_validate(one.get(_PRUNING) or {}).active for one in (held, wanted)):
        without |= {_PRUNING}
    other = [name for name in SHAPING if name in held and held[name] != wanted.get(name) and name not in without]
    return f"the default of {other[0]} has changed" if other else ""


def stale_cells(cells: Iterable[Cell], standings: Mapping[str, Standing]) -> dict[str, str]:
    """The cells whose runs are stale, by id, each with the reason; those that a process works on are left out."""
    found: dict[str, str] = {}
    for cell in cells:
        standing = standings[cell.id]
        if standing.manifest is not None and standing.status != "held":
            why = stale(cell, standing.manifest)
            found |= {cell.id: why} if why else {}
    return found
