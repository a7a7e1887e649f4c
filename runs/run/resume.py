"""Resuming a run that was interrupted, failed, killed or stopped, or that is to go on beyond its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from persimchat.graph import phases
from persimchat.graph.ending import ending
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
"""Settings with which the same run may go on: how far, by whose answers, at what cost. Others make another run."""

_OPEN_END: Final = {**NO_END, **NO_LEAVE, "quiet": 0}


def resume_run(
    folder: Path, *, changes: Mapping[str, Any] | None = None, control: Control | None = None
) -> AsyncGenerator[Event, None]:
    """Go on with a run from its last checkpoint; its past comes first.

    Args:
        folder: the run's.
        changes: settings that are to be others from now on, of `MAY_CHANGE`.
        control: what people do to the run; without one, it stops at a person's turn.

    Raises:
        InputError: before the first event, for a folder that is no run's or is held by another process, a run that
            cannot go on or has come to its end, and changes that are wrong.
        PerSimChatError: after the `stopped` event that tells of it.
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
    """Go on with a run for which everything was checked.

    Args:
        folder: the run's.
        manifest: its run.json.
        settings: with which it goes on.
        control: what people do to the run.
        replay: a record out of which the models' answers come.
        tell_past: whether the run's past comes first.

    Raises:
        InputError: before the first event: the run has come to its end, or is held by another process.
        PerSimChatError: as `resume_run`.
    """
    changed = changed_settings(manifest, settings)
    async with open_resources(manifest.run, settings, folder, attended=True, earlier=True, replay=replay) as place:
        again = await asyncio.to_thread(manifest_of, folder)  # now that nobody else works on it
        if (again.settings, again.resumed) != (manifest.settings, manifest.resumed):
            raise InputError("the run has gone on meanwhile", where=str(folder), remedy="Try again.")
        manifest = again
        earlier = settings.baseline is None and manifest.state_version != STATE_VERSION
        known = not earlier or await brought_up(place.graph, place.config)
        snapshot = await place.graph.aget_state(place.config)
        if snapshot.created_at is not None:  # by its id: as the step began, without what was done of it
            snapshot = await place.graph.aget_state(snapshot.config)
        state, given, reopened = dict(snapshot.values) if known else {}, None, False
        if snapshot.created_at is None or not known:  # killed before anything was kept from which it could go on
            await asyncio.to_thread(_check_unbegun, folder, manifest)
            given = input_of(scenario_of(manifest, folder), manifest.run)
        # Where run.json does not know of the end, the run was killed at it, and is to be ended properly.
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
    """Refuse to begin a run once more of which something is known that its checkpoints do not know. Blocks."""
    if has_begun(folder, manifest):
        raise InputError(
            "the checkpoints know nothing of this run",
            where=str(folder),
            remedy="Put back those with which it was made; without them it can be shown, but not go on.",
        )
    if manifest.branch:
        raise InputError(
            "the run was killed before it had taken over its past",
            where=str(folder),
            remedy=f"Branch {manifest.branch.of} again.",
        )


def _check_changes(manifest: Manifest, changed: Mapping[str, Any], folder: Path) -> None:
    others = sorted(changed.keys() - MAY_CHANGE)
    if others:
        raise InputError(
            f"with another {others[0]} it would be another run",
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
    """What is not known any more of a run's past, for people; empty where all is known.

    Args:
        place: where the run goes on.
        manifest: the run's run.json, which says how many requests were made.
        gone: turns of which minds are lacking.
    """
    lost = list(place.lost)
    known, total = sum(row["calls"] for row in place.ledger.rows()), manifest.usage.total
    made = total.calls if total else 0
    if known < made:
        lost.append(f"{CALLS} holds {known} of {made} requests.")
    if lost:
        lost.append("What was used before is known in part: budgets count what is known, and a replay may be refused.")
    if gone:
        lost.append(f"Minds of {len(gone)} turns of the past that the branch shares are lost; the other run has them.")
    return " ".join(lost)


async def _check_remembered(place: RunResources, state: Mapping[str, Any]) -> None:
    """Refuse to go on where somebody's memories are gone, before anything is written."""
    for mind in state.get("agents", {}).values():
        await memories_of(place.settings, state["simulation"], mind["name"], remembered(mind), mind["unsaved"])


async def _reopen(place: RunResources, state: dict[str, Any], settings: Settings, folder: Path) -> None:
    """Let a conversation that has come to its end go on, where its rules allow that with these settings."""
    if settings.baseline is not None:
        raise InputError(
            "the run has come to its end, and a baseline does not go on",
            where=str(folder),
            remedy="Start a new run.",
        )
    found = ending({**state, **_OPEN_END}, settings)  # type: ignore[typeddict-item]
    if found is not None:
        raise InputError(
            f"the run has come to its end: {found.detail.rstrip('.')}",
            where=str(folder),
            remedy="Branch it at an earlier turn."
            if found.reason == "consensus"
            else "Let it go on with a higher --messages, or branch it at an earlier turn.",
        )
    # The end is looked for once more, and is not there.
    await place.graph.aupdate_state(place.config, _OPEN_END, as_node=phases.OUTSIDE)
