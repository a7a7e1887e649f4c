"""Lists the runs of a folder from their logs, and deletes runs with their memories."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ...memory.chroma_client import EPHEMERAL
from ...memory.chroma_client import RUN as IN_FOLDER
from ...state.errors import InputError, PerSimChatError, nearest_word
from ...state.plain_text import folded, quoted
from ...state.settings import Settings
from .answers import Labels
from .checkpoints import RUN as HERE
from .checkpoints import is_server, opened
from .lock import PID, check_free, is_held
from .manifest import Manifest
from .parts import left_out
from .reading import manifest_and_labels, read_manifest
from .run_folder import RUN

UNFINISHED: Final = "unfinished"
"""The ending of a run that has none: it is still running, or was killed."""


class ListedRun(BaseModel):
    """Summary of one run."""

    model_config = ConfigDict(frozen=True)

    run: str = Field(description="the run's id")
    folder: str
    started: str = Field(description="ISO 8601; empty where it is not known")
    mode: str
    baseline: str | None
    topic: str
    participants: list[str]
    model: str | None
    utterances: int = Field(description="so far")
    ended: str = Field(description="why it ended (stop_reason), or unfinished")
    cost_usd: float | None = Field(description="null where it is not known")
    active: bool = Field(description="a process is working on it")
    guided: bool = left_out("a focus group with a guide; else left out", False)
    branch_of: str | None = Field(default=None, description="the run whose past it shares; null where it is no branch")
    branch_turn: int | None = left_out("how many utterances it shares; left out where it is no branch")
    branch_why: str = left_out("branch or regenerate; left out where it is no branch", "")
    branch_changed: dict[str, Any] = left_out("what the branch changed: settings, say, choose; else left out", {})
    name: str = left_out("what its user calls it; left out without a name", "")
    tags: list[str] = left_out("its user's tags; left out without any", [])


@dataclass(frozen=True)
class Listing:
    """The runs of a folder.

    Attributes:
        runs: the latest first.
        unread: the faults of folders whose log or labels cannot be read, a sentence each. A run whose labels
            cannot be read is listed without them.
    """

    runs: list[ListedRun]
    unread: list[str]


def list_runs(out: Path) -> Listing:
    """The runs in a folder; a folder without a log is not a run.

    Args:
        out: the folder of runs; if it is missing, there are none.

    Raises:
        InputError: the folder cannot be read.
    """
    runs: list[ListedRun] = []
    unread: list[str] = []
    for folder in _folders(out):
        try:
            manifest, labels = manifest_and_labels(folder, unread, parts=False)
            runs.append(_listed(folder, manifest, labels))
        except InputError as error:
            unread.append(str(error))
    return Listing(sorted(runs, key=lambda run: (run.started, run.run), reverse=True), unread)


def matching(
    runs: Iterable[ListedRun],
    *,
    text: str = "",
    mode: str | None = None,
    ended: str | None = None,
    tags: Iterable[str] = (),
) -> list[ListedRun]:
    """The runs that match all criteria.

    Args:
        runs: the runs to choose from.
        text: words that must all occur in id, name, tags, topic, participants or model; case and diacritics do not
            count.
        mode: discussion or debate.
        ended: a stop_reason, or `UNFINISHED`.
        tags: all of which it must have; case and diacritics do not count.
    """
    words, wanted = folded(text).split(), {folded(tag) for tag in tags}

    def fits(run: ListedRun) -> bool:
        about = [run.run, run.name, *run.tags, run.topic, *run.participants, run.model or "", run.baseline or ""]
        said = folded(" ".join(about))
        fitting = mode in (None, run.mode) and ended in (None, run.ended)
        return fitting and all(word in said for word in words) and wanted <= {folded(tag) for tag in run.tags}

    return [run for run in runs if fits(run)]


def _listed(folder: Path, manifest: Manifest, labels: Labels) -> ListedRun:
    total, branch = manifest.usage.total, manifest.branch
    return ListedRun(
        run=manifest.run,
        folder=str(folder),
        started=manifest.started,
        mode=manifest.settings.mode,
        baseline=manifest.settings.baseline,
        topic=manifest.scenario.topic,
        participants=[participant.name for participant in manifest.scenario.participants],
        model=manifest.settings.model,
        utterances=manifest.turn,
        ended=manifest.stop_reason or UNFINISHED,
        cost_usd=total.cost_usd if total else None,
        active=(folder / PID).exists() and is_held(folder),  # a lock is looked at slowly
        guided=manifest.guide is not None,
        branch_of=branch.of if branch else None,
        branch_turn=branch.turn if branch else None,
        branch_why=branch.why if branch else "",
        branch_changed=branch.changed if branch and isinstance(branch.changed, dict) else {},
        name=labels.name,
        tags=labels.tags,
    )


@dataclass(frozen=True)
class Deletable:
    """A run that can be deleted.

    Attributes:
        folder: its folder.
        manifest: what is known about it.
        store: where Chroma holds memories outside the folder that are deleted too; None if there are none.
        checkpoints: the server that holds its checkpoints; None if they are in the folder.
        kept: why memories are kept, in a sentence; empty if none are.
    """

    folder: Path
    manifest: Manifest
    store: str | None
    kept: str
    checkpoints: str | None = None


def deletable(folder: Path, *, keep_memories: bool = False) -> Deletable:
    """Check a run before it is deleted; changes nothing.

    Args:
        folder: the folder of the run.
        keep_memories: whether to keep the memories in Chroma.

    Raises:
        InputError: this is not a run's folder, the run is in progress, something else would be deleted with it, or its
            memories cannot be found.
    """
    manifest = read_manifest(folder)
    check_free(folder)
    if folder.is_symlink():
        raise InputError("this is a link to a folder", where=str(folder), remedy=f"Give {folder.resolve()} itself.")
    if Path.cwd().is_relative_to(folder.resolve()):
        raise InputError("this is the folder you are in", where=str(folder), remedy="Change to another folder first.")
    inside = next((path for path in sorted(folder.rglob(RUN)) if path.parent != folder), None)
    if inside is not None:
        raise InputError("there is another run in this folder", where=str(inside.parent), remedy="Move it away first.")
    settings = manifest.settings.model_dump()
    store, place = str(settings.get("store") or EPHEMERAL), str(settings.get("checkpoints") or HERE)
    checkpoints = place if is_server(place) else None
    copy = _copy(folder, manifest.run) if checkpoints or store not in (EPHEMERAL, IN_FOLDER) else None
    if copy is not None:
        kept = (
            []
            if store in (EPHEMERAL, IN_FOLDER)
            else [f"Its memories in {store} are kept: they are {copy.name}'s too."]
        )
        kept += [f"Its checkpoints in {checkpoints} are kept: they are {copy.name}'s too."] if checkpoints else []
        return Deletable(folder, manifest, None, " ".join(kept))
    if store in (EPHEMERAL, IN_FOLDER):  # IN_FOLDER: they are in the folder, and are deleted with it
        return Deletable(folder, manifest, None, "", checkpoints)
    if keep_memories:
        return Deletable(folder, manifest, None, f"Its memories in {store} are kept.", checkpoints)
    # Opening a store that does not exist would make it.
    if "://" not in store and not (Path(store).expanduser() / "chroma.sqlite3").is_file():
        raise InputError(
            "the run's memories are not where it kept them",
            where=f"store {store}",
            remedy="Run this from the folder in which the run was made, or leave them with --keep-memories.",
        )
    return Deletable(folder, manifest, store, "", checkpoints)


def _copy(folder: Path, run: str) -> Path | None:
    """Another folder beside this one with the id of the same run."""
    for other in sorted(folder.resolve().parent.iterdir()):
        if other != folder.resolve() and (other / RUN).is_file():
            try:
                same = read_manifest(other).run == run
            except InputError:
                continue  # its log cannot be read, so it is not a copy of this run
            if same:
                return other
    return None


async def delete_run(found: Deletable) -> str:
    """Delete a run: first its memories and checkpoints, then its folder, so that a failure can be tried again.

    Returns:
        What remains besides `found.kept`, in a sentence: checkpoints on a server that cannot be used now. Empty if
        nothing remains.

    Raises:
        InputError: the run is in progress, the store cannot be used, or the folder cannot be deleted.
        PerSimChatError: the store failed.
    """
    await asyncio.to_thread(check_free, found.folder)
    if found.store is not None:
        from ...memory.recollection import forget

        await forget(Settings(store=found.store), found.manifest.run)
    left = await _forget_checkpoints(found)
    await asyncio.to_thread(_remove, found.folder)
    return left


async def _forget_checkpoints(found: Deletable) -> str:
    if found.checkpoints is None:
        return ""
    try:
        async with opened(found.checkpoints, None) as saver:
            if saver is not None:
                await saver.adelete_thread(found.manifest.run)
    except PerSimChatError as error:
        return f"Its checkpoints are left on the server: {error.what}. Set PGPASSWORD if it wants a password."
    return ""


def _remove(folder: Path) -> None:
    going = folder.with_name(f".{folder.name[:200]}.{secrets.token_hex(4)}.deleted")
    try:
        folder.rename(going)  # in one step, so that no reader finds half of a run
        (going / RUN).unlink()
        shutil.rmtree(going)
    except OSError as error:
        raise InputError(
            f"the folder cannot be deleted: {error.strerror}",
            where=str(error.filename or folder),
            remedy="Check permissions, and delete the rest by hand.",
        ) from error


@dataclass(frozen=True)
class Tree:
    """A run with its branches.

    Attributes:
        run: the run.
        branches: made of it, in the order of the list from which the tree grew.
    """

    run: ListedRun
    branches: Sequence[Tree]

    def __iter__(self) -> Iterator[Tree]:
        """The tree itself, then its branches with theirs."""
        yield self
        for branch in self.branches:
            yield from branch


def origins(runs: Sequence[ListedRun]) -> dict[str, ListedRun]:
    """The origin of each branch by the branch's folder; of a branch whose origin is not among the runs, nothing.

    Folders that name each other as origin, which no run does by itself, have none.
    """
    known: dict[str, ListedRun] = {}
    for run in runs:
        if run.run not in known or Path(run.folder).name == run.run:  # a copy does not replace the run itself
            known[run.run] = run
    found = {run.folder: known[run.branch_of] for run in runs if run.branch_of in known}
    return {folder: origin for folder, origin in found.items() if not _circular(folder, found)}


def _circular(folder: str, found: dict[str, ListedRun]) -> bool:
    """Whether one comes back to a folder by going from origin to origin."""
    seen: set[str] = set()
    at = folder
    while at in found and at not in seen:
        seen.add(at)
        at = found[at].folder
    return at == folder


def trees(runs: Sequence[ListedRun]) -> list[Tree]:
    """The runs as trees, in their order; a branch without its origin among them is a tree of its own."""
    above = origins(runs)
    below: dict[str, list[ListedRun]] = {}
    for run in runs:
        if run.folder in above:
            below.setdefault(above[run.folder].folder, []).append(run)

    def grown(run: ListedRun) -> Tree:
        return Tree(run, [grown(branch) for branch in below.get(run.folder, ())])

    return [grown(run) for run in runs if run.folder not in above]


def family(folder: Path, runs: Sequence[ListedRun]) -> list[ListedRun]:
    """A run with all runs that share a past with it, the first made first; only itself if there are none.

    Times are whole seconds and clocks go back, so a branch may seem as old as its origin, or older; it comes after it.

    Args:
        folder: the run's.
        runs: of the same list.
    """
    whole = next((tree for tree in trees(runs) if any(Path(one.run.folder) == folder for one in tree)), None)
    found = [] if whole is None else sorted(_made(whole, "", 0))
    known = {run.folder: run for run in runs}
    return [known[place] for _, _, _, place in found]


def _made(tree: Tree, after: str, depth: int) -> Iterator[tuple[str, int, str, str]]:
    """By what the runs of a tree are put in order: not before their origins, then by depth and id; and their folders.

    Args:
        tree: the runs.
        after: when their origin was made; empty without one.
        depth: how many origins they have one above another.
    """
    since = max(after, tree.run.started)
    yield since, depth, tree.run.run, tree.run.folder
    for branch in tree.branches:
        yield from _made(branch, since, depth + 1)


EXPERIMENT, CELLS = "experiment.lock.json", "runs"
"""In an experiment's folder: the file by which it is known, and the folder of its cells' runs."""
LATEST: Final = "latest"
_MOST_NAMED: Final = 3
_MOST_SHOWN: Final = 80


def find_run(wanted: str, out: Path) -> Path:
    """The folder of a run.

    Args:
        wanted: what the user wrote. A folder with this path comes before a run with this id. `results/town:1f07` is the
            cell of an experiment's folder whose id begins like this.
        out: the folder that holds runs.

    Raises:
        InputError: there is no such run, or there are several.
    """
    if wanted.strip() and is_there(Path(wanted)):
        return Path(wanted)
    experiment, colon, cell = wanted.rpartition(":")
    if colon and (runs_of := _cells_of(Path(experiment))) is not None:
        return find_run(cell, runs_of)
    runs = _folders(out)
    if not runs:
        raise InputError(
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: there is no folder with this path, and no run to choose "
            "from",
            where=str(out),
            remedy="Make one with: persimchat run TOPIC; or name the folder that holds runs with --out.",
        )
    if wanted == LATEST:
        return max(runs, key=lambda folder: (_started(folder), folder.name))
    exact = [folder for folder in runs if folder.name == wanted]
    found = exact or [folder for folder in runs if wanted.strip() and folder.name.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        near = nearest_word(wanted, [folder.name for folder in runs])
        raise InputError(
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: no folder has this path, and no run's id begins with it",
            where=str(out),
            remedy=f"Did you mean {near!r}?" if near else "List the runs with: persimchat runs",
        )
    names = [folder.name for folder in sorted(found)]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise InputError(
        f"{len(names)} runs have ids that begin with {quoted(wanted, _MOST_SHOWN)}: "
        f"{', '.join(names[:_MOST_NAMED])}{more}",
        where=str(out),
        remedy="Write more of the id.",
    )


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; nothing is where the name is no possible one, such as a very long one."""
    try:
        return path.exists()
    except OSError:  # not a valid file name, or no permission to look
        return False


def _cells_of(folder: Path) -> Path | None:
    """Where the runs of an experiment's cells are; None where this is no experiment's folder."""
    return folder / CELLS if is_there(folder / EXPERIMENT) else None


def _folders(out: Path) -> list[Path]:
    """The folders of runs in a folder, in the order of their names."""
    try:
        return [path for path in sorted(out.iterdir()) if (path / RUN).is_file()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"the folder of runs cannot be read: {error.strerror}", where=str(out), remedy="Choose another with --out."
        ) from error


def _started(folder: Path) -> str:
    """When a run began; empty, which sorts before all others, if that cannot be read."""
    try:
        return read_manifest(folder).started
    except InputError:
        return ""
