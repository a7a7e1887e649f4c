"""Resumes a run that was interrupted, failed, killed or stopped, or continues one beyond its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from persimchat.graph import phases
from persimchat.graph.ending import ending
from persimchat.graph.stories.agenda import reopened
from persimchat.memory.recollection import memories_of
from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.folder.calls import CALLS
from persimchat.runs.folder.manifest import STATE_VERSION, Manifest
from persimchat.runs.folder.rebuild import rebuild
from persimchat.runs.folder.run_folder import RunFolder, now
from persimchat.runs.run.going_on import (
    NO_END,
    NO_LEAVE,
    changed_settings,
    check_memories,
    has_begun,
    manifest_of,
    past_of,
    scenario_of,
    settings_of,
)
from persimchat.runs.run.history import brought_up, complete_turn
from persimchat.runs.run.minds import complete_minds, remembered
from persimchat.runs.run.resources import Replaying, RunResources, open_resources
from persimchat.runs.run.run import Run, events_of
from persimchat.runs.run.simulation import check, input_of
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError
from persimchat.state.settings import ABOUT, BUDGETS, Settings

MAY_CHANGE: Final = frozenset(name for name, about in ABOUT.items() if about.changes == "resume")
"""Settings that may change when a run is resumed: its length, its models, its budget. Others need a branch."""

_OPEN_END: Final = {**NO_END, **NO_LEAVE, "quiet": 0}


def resume_run(
    folder: Path, *, changes: Mapping[str, Any] | None = None, control: Control | None = None
) -> AsyncGenerator[Event, None]:
    """Continue a run from its last checkpoint; the events of its past come first.

    Args:
        folder: the folder of the run.
        changes: settings that change from now on, of `MAY_CHANGE`.
        control: lets people take part in the run; without one, it stops at a person's turn.

    Raises:
        InputError: before the first event: the folder is not a run's, or another process is working on it; the run
            has ended or cannot be resumed; a change is invalid.
        PerSimChatError: after the `stopped` event that reports it.
    """
    return events_of(_checked(folder, dict(changes or {}), control))


@asynccontextmanager
async def _checked(folder: Path, changes: Mapping[str, Any], control: Control | None) -> AsyncIterator[Run]:
    manifest = await asyncio.to_thread(manifest_of, folder)
    check_memories(manifest, folder)
    scenario = scenario_of(manifest, folder)
    settings = settings_of(manifest, changes)
    _check_changes(manifest, changed_settings(manifest, settings), folder)
    await check(scenario, settings)
    async with go_on(folder, manifest, settings, control) as run:
        yield run


@asynccontextmanager
async def go_on(
    folder: Path,
    manifest: Manifest,
    settings: Settings,
    control: Control | None,
    *,
    replay: Replaying | None = None,
    tell_past: bool = True,
) -> AsyncIterator[Run]:
    """Continue a run after all checks.

    Args:
        folder: the folder of the run.
        manifest: its run.json.
        settings: with which it continues.
        control: lets people take part in the run.
        replay: the record from which the models' answers come.
        tell_past: whether the events of its past come first.

    Raises:
        InputError: before the first event: the run has ended, or another process is working on it.
        PerSimChatError: as `resume_run`.
    """
    changed = changed_settings(manifest, settings)
    async with open_resources(manifest.run, settings, folder, attended=True, earlier=True, replay=replay) as place:
        again = await asyncio.to_thread(manifest_of, folder)  # the lock is held now
        if (again.settings, again.resumed) != (manifest.settings, manifest.resumed):
            raise InputError("another process has continued the run meanwhile", where=str(folder), remedy="Try again.")
        manifest = again
        earlier = settings.baseline is None and manifest.state_version != STATE_VERSION
        known = not earlier or await brought_up(place.graph, place.config)
        snapshot = await place.graph.aget_state(place.config)
        if snapshot.created_at is not None:  # by its id: the state at the beginning of the step
            snapshot = await place.graph.aget_state(snapshot.config)
        state, given, reopened = dict(snapshot.values) if known else {}, None, False
        if snapshot.created_at is None or not known:  # killed before its first checkpoint
            await asyncio.to_thread(_check_unbegun, folder, manifest)
            given = input_of(scenario_of(manifest, folder), manifest.run)
        # If run.json has no end, the run was killed at its end, which is now written.
        elif reopened := not snapshot.next and bool(changed or replay or manifest.stop_reason == state["stop_reason"]):
            await _reopen(place, state, settings, folder)
            state |= _OPEN_END
        await _check_remembered(place, state)
        complete = complete_turn(snapshot)
        rebuilt = await asyncio.to_thread(rebuild, folder, manifest, state, complete, earlier=earlier)
        gone = await complete_minds(folder, place, rebuilt, since=manifest.branch.turn if manifest.branch else 0)
        manifest = manifest.going_on(
            at=now().isoformat(timespec="seconds"),
            turn=len(utterances(state.get("messages", []))),
            settings=settings,
            changed=changed,
            silences=rebuilt.silences,
            reopened=reopened and not changed,
        )
        kept = await asyncio.to_thread(RunFolder.reopened, folder, rebuilt.asides)
        await asyncio.to_thread(kept.manifest, manifest)
        notice = " ".join(filter(None, [rebuilt.lost, _lost(place, manifest, gone)]))
        past = await past_of(folder, notice=notice) if tell_past else []
        yield Run(place, manifest, kept, control, given=given, first=past, state=state, complete=complete)


def _check_unbegun(folder: Path, manifest: Manifest) -> None:
    """Refuse to begin a run again if its files hold what its checkpoints lack. Blocks."""
    if has_begun(folder, manifest):
        raise InputError(
            "the checkpoints hold nothing of this run",
            where=str(folder),
            remedy="Restore the checkpoints with which it was made; without them it can be shown, but not resumed.",
        )
    if manifest.branch:
        raise InputError(
            "the run was killed before its past was copied",
            where=str(folder),
            remedy=f"Branch {manifest.branch.of} again.",
        )


def _check_changes(manifest: Manifest, changed: Mapping[str, Any], folder: Path) -> None:
    others = sorted(changed.keys() - MAY_CHANGE)
    if others:
        raise InputError(
            f"{others[0]} cannot change when a run is resumed",
            where=str(folder),
            remedy=f"Branch it: persimchat branch {manifest.run} --at TURN --set {others[0]}=…",
        )
    if manifest.stop_reason == "budget" and not changed.keys() & set(BUDGETS):
        raise InputError(
            "the run's budget is used up",
            where=str(folder),
            remedy="Raise it, for example with --budget-calls.",
        )


def _lost(place: RunResources, manifest: Manifest, gone: Collection[int]) -> str:
    """What is lost of a run's past, for people; empty if nothing is.

    Args:
        place: the resources of the run.
        manifest: its run.json, with the number of requests.
        gone: turns whose minds are missing.
    """
    lost = list(place.lost)
    known, total = sum(row["calls"] for row in place.ledger.rows()), manifest.usage.total
    made = total.calls if total else 0
    if known < made:
        lost.append(f"{CALLS} holds {known} of {made} requests.")
    if lost:
        lost.append("Earlier usage is known only in part: budgets count the known part, and a replay may be refused.")
    if gone:
        lost.append(f"Minds of {len(gone)} turns of the past that the branch shares are lost; the other run has them.")
    return " ".join(lost)


async def _check_remembered(place: RunResources, state: Mapping[str, Any]) -> None:
    """Refuse to continue if memories of an agent are gone, before anything is written."""
    for mind in state.get("agents", {}).values():
        await memories_of(place.settings, state["simulation"], mind["name"], remembered(mind), mind["unsaved"])


async def _reopen(place: RunResources, state: dict[str, Any], settings: Settings, folder: Path) -> None:
    """Reopen a conversation that has ended, if its rules allow that with these settings."""
    if settings.baseline is not None:
        raise InputError(
            "the run has ended, and a baseline cannot continue",
            where=str(folder),
            remedy="Start a new run.",
        )
    if settings.mode == "story":
        await _reopen_story(place, state, settings, folder)
        return
    found = ending({**state, **_OPEN_END}, settings)  # type: ignore[typeddict-item]
    if found is not None:
        raise InputError(
            f"the run has ended: {found.detail.rstrip('.')}",
            where=str(folder),
            remedy="Branch it at an earlier turn."
            if found.reason in ("consensus", "guide")
            else "Raise --messages, or branch it at an earlier turn.",
        )
    # The end check runs again and finds no end.
    await place.graph.aupdate_state(place.config, _OPEN_END, as_node=phases.OUTSIDE)


async def _reopen_story(place: RunResources, state: dict[str, Any], settings: Settings, folder: Path) -> None:
    """Reopen a story that was stopped, or that ended without a vote and now has more rounds."""
    if reopened(state, settings) is None:
        voted = state.get("outcome") is not None
        raise InputError(
            "the story is settled" if voted else f"the story's rounds are over ({settings.rounds})",
            where=str(folder),
            remedy="Branch it at an earlier turn." if voted else "Give it more with --rounds, or branch it.",
        )
    await place.graph.aupdate_state(place.config, _OPEN_END, as_node=phases.OUTSIDE)
