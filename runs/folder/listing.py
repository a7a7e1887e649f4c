"""Lists the runs of a folder from their run.json, and deletes runs with their memories."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from persimchat.memory.chroma_client import EPHEMERAL, RUN
from persimchat.runs.folder.checkpoints import RUN as HERE
from persimchat.runs.folder.checkpoints import is_server, opened
from persimchat.runs.folder.labels import Labels, read_labels
from persimchat.runs.folder.lock import check_free, is_held
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.folder.run_folder import TRANSCRIPT
from persimchat.runs.folder.stored import is_empty, is_none
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.normalise import folded
from persimchat.state.settings import Settings

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
    utterances: int = Field(description="whole lines of the transcript")
    ended: str = Field(description="why it ended (stop_reason), or unfinished")
    cost_usd: float | None = Field(description="null where it is not known")
    active: bool = Field(description="a process is working on it")
    guided: bool = Field(default=False, exclude_if=is_empty, description="a focus group with a guide; else left out")
    branch_of: str | None = Field(default=None, description="the run whose past it shares; null where it is no branch")
    branch_turn: int | None = Field(
        default=None, exclude_if=is_none, description="how many utterances it shares; left out where it is no branch"
    )
    branch_why: str = Field(
        default="", exclude_if=is_empty, description="branch or regenerate; left out where it is no branch"
    )
    branch_changed: dict[str, Any] = Field(
        default={}, exclude_if=is_empty, description="what the branch changed: settings, say, choose; else left out"
    )
    name: str = Field(default="", exclude_if=is_empty, description="what its user calls it; left out without a name")
    tags: list[str] = Field(default=[], exclude_if=is_empty, description="its user's tags; left out without any")


@dataclass(frozen=True)
class Listing:
    """The runs of a folder.

    Attributes:
        runs: the latest first.
        unread: the faults of folders whose run.json or labels cannot be read, a sentence each. A run whose labels
            cannot be read is listed without them.
    """

    runs: list[ListedRun]
    unread: list[str]


def list_runs(out: Path) -> Listing:
    """The runs in a folder; a folder without run.json is not a run.

    Args:
        out: the folder of runs; if it is missing, there are none.

    Raises:
        InputError: the folder cannot be read.
    """
    try:
        folders = sorted(out.iterdir())
    except FileNotFoundError:
        folders = []
    except OSError as error:
        raise InputError(
            f"the folder of runs cannot be read: {error.strerror}", where=str(out), remedy="Choose another with --out."
        ) from error
    runs: list[ListedRun] = []
    unread: list[str] = []
    for folder in folders:
        if not (folder / "run.json").is_file():
            continue
        try:
            manifest = read_manifest(folder)
            runs.append(_listed(folder, manifest, _labels(folder, unread)))
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


def _labels(folder: Path, unread: list[str]) -> Labels:
    try:
        return read_labels(folder)
    except InputError as error:
        unread.append(str(error))
        return Labels()


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
        utterances=_lines(folder / TRANSCRIPT),
        ended=manifest.stop_reason or UNFINISHED,
        cost_usd=total.cost_usd if total else None,
        active=is_held(folder),
        guided=manifest.guide is not None,
        branch_of=branch.of if branch else None,
        branch_turn=branch.turn if branch else None,
        branch_why=branch.why if branch else "",
        branch_changed=branch.changed if branch and isinstance(branch.changed, dict) else {},
        name=labels.name,
        tags=labels.tags,
    )


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), remedy="Check permissions.") from error


@dataclass(frozen=True)
class Deletable:
    """A run that can be deleted.

    Attributes:
        folder: its folder.
        manifest: its run.json.
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
    if not (folder / TRANSCRIPT).is_file():
        raise InputError(
            f"this is not a run's folder: it has no {TRANSCRIPT}", where=str(folder), remedy="Delete it by hand."
        )
    if Path.cwd().is_relative_to(folder.resolve()):
        raise InputError("this is the folder you are in", where=str(folder), remedy="Change to another folder first.")
    inside = next((path for path in sorted(folder.rglob("run.json")) if path.parent != folder), None)
    if inside is not None:
        raise InputError("there is another run in this folder", where=str(inside.parent), remedy="Move it away first.")
    settings = manifest.settings.model_dump()
    store, place = str(settings.get("store") or EPHEMERAL), str(settings.get("checkpoints") or HERE)
    checkpoints = place if is_server(place) else None
    copy = _copy(folder, manifest.run) if checkpoints or store not in (EPHEMERAL, RUN) else None
    if copy is not None:
        kept = [] if store in (EPHEMERAL, RUN) else [f"Its memories in {store} are kept: they are {copy.name}'s too."]
        kept += [f"Its checkpoints in {checkpoints} are kept: they are {copy.name}'s too."] if checkpoints else []
        return Deletable(folder, manifest, None, " ".join(kept))
    if store in (EPHEMERAL, RUN):  # RUN: they are in the folder, and are deleted with it
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
        if other != folder.resolve() and (other / "run.json").is_file():
            try:
                same = read_manifest(other).run == run
            except InputError:
                continue  # its run.json cannot be read, so it is not a copy of this run
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
        from persimchat.memory.recollection import forget

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
        (going / "run.json").unlink()
        shutil.rmtree(going)
    except OSError as error:
        raise InputError(
            f"the folder cannot be deleted: {error.strerror}",
            where=str(error.filename or folder),
            remedy="Check permissions, and delete the rest by hand.",
        ) from error
