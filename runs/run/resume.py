"""Resumes a run that was interrupted, failed, killed or stopped, or continues one beyond its end.

First, its log is made to agree with its checkpoints; there is no other repair. Events of checkpoints that do not exist
are taken back; checkpoints without events are projected again, by the same function that made the events at first.
Damaged events are made again in the same way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from ...graph import phases
from ...graph.ending import ending
from ...graph.stories.agenda import reopened
from ...memory.recollection import memories_of
from ...state.conversation import utterances
from ...state.errors import InputError
from ...state.settings import ABOUT, BUDGETS, Settings
from ..control import Control
from ..events import Event, Uttered
from ..folder.manifest import Manifest
from ..folder.run_folder import RUN, RunFolder, now
from ..kinds import CONVERSATION, TakenBack
from ..log import Log
from .progress import Projection, remembered
from .resources import Replaying, RunResources, open_resources
from .resume_input import (
    NO_END,
    NO_LEAVE,
    changed_settings,
    check_memories,
    complete_turn,
    conversation_checkpoints,
    manifest_of,
    past_of,
    scenario_of,
    settings_of,
)
from .run import Run, events_of
from .simulation import check, input_of


async def repaired(place: RunResources, folder: Path, settings: Settings) -> tuple[RunFolder, str]:
    """Open the folder of a run to be written, after its log was repaired.

    Args:
        place: the resources of the run.
        folder: its path.
        settings: with which its events were made.

    Returns:
        The folder, and a message about utterances that no checkpoint has; empty if there are none.

    Raises:
        InputError: what is damaged cannot be made again.
        MachineError: the folder cannot be written.
    """
    log = place.log
    if log is None:
        raise TypeError("the run has no log")
    anew = await asyncio.to_thread(_damaged, log)
    ((told,),) = [(None,)] if anew else await asyncio.to_thread(log.rows, "SELECT max(checkpoint) FROM events")
    base, newer = await _since(place, told)
    made = await _projected(place, settings, base, newer)
    lost = await asyncio.to_thread(_take_back, log, base, anew=anew)
    kept = await asyncio.to_thread(RunFolder.reopened, folder, log)
    for checkpoint, events in made:
        await asyncio.to_thread(kept.keep, events, checkpoint)
    if not lost:
        return kept, ""
    what = f"{len(lost)} utterance{'s' if len(lost) > 1 else ''}"
    return kept, (
        f"The checkpoints end before utterance {lost[0].turn}: {what} will be made again. "
        "The run's log keeps the old ones (taken_back)."
    )


def _damaged(log: Log) -> bool:
    """Whether damaged events can be made again; an error if something else is damaged."""
    if not log.damaged(*CONVERSATION):
        log.check(leave_out=("asked_model", "embedded"))
        return False
    log.check(leave_out=(*CONVERSATION, "asked_model", "embedded"))
    marks = ", ".join("?" * len(CONVERSATION))
    for _ in log.read(*CONVERSATION, where="checkpoint IS NULL"):
        pass  # the past that a branch shares: no checkpoint has it
    return bool(log.rows(f"SELECT 1 FROM events WHERE kind IN ({marks}) LIMIT 1", *CONVERSATION))


async def _since(place: RunResources, told: str | None) -> tuple[str | None, list[str]]:
    """The newest checkpoint that is told, and those after it, the oldest first."""
    newer: list[str] = []
    async with aclosing(conversation_checkpoints(place.graph, place.config)) as found:
        async for checkpoint in found:
            if told is not None and checkpoint <= told:
                return checkpoint, newer[::-1]
            newer.append(checkpoint)
    return None, newer[::-1]


async def _projected(
    place: RunResources, settings: Settings, base: str | None, newer: list[str]
) -> list[tuple[str, list[BaseModel]]]:
    """The events of checkpoints that are not told."""
    own = settings.model_copy(update={"store": place.settings.store})
    thread = place.config["configurable"]["thread_id"]

    def at(checkpoint: str) -> RunnableConfig:
        return {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}}

    made: list[tuple[str, list[BaseModel]]] = []
    if not newer:
        return made
    before = await place.graph.aget_state(at(base)) if base is not None else None
    projection = Projection(own, before.values if before else None, complete_turn(before) if before else -1)
    for checkpoint in newer:
        snapshot = await place.graph.aget_state(at(checkpoint))
        if before is None or (snapshot.metadata or {}).get("source") != "loop":
            projection = Projection(own, snapshot.values, complete_turn(snapshot))
        else:
            nodes = {task.name for task in before.tasks}
            events = await projection.after(nodes, snapshot.values)
            if events:
                made.append((checkpoint, events))
        before = snapshot
    return made


def _take_back(log: Log, base: str | None, *, anew: bool) -> list[Uttered]:
    """Take back the events of checkpoints that do not exist, or all that can be made again; returns lost utterances."""
    since = "" if anew or base is None else base
    lost = [] if anew else list(log.read("utterance", where="checkpoint > ?", values=[since]))
    if lost:
        log.append([TakenBack(turn=one.turn, speaker=one.speaker, text=one.text) for one in lost])
    marks = ", ".join(f"'{kind}'" for kind in CONVERSATION)
    log.delete(f"checkpoint > ? AND kind IN ({marks})", since)
    return lost


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
        manifest: its log.
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
        snapshot = await place.graph.aget_state(place.config)
        if snapshot.created_at is not None:  # by its id: the state at the beginning of the step
            snapshot = await place.graph.aget_state(snapshot.config)
        state, given, reopened = dict(snapshot.values), None, False
        if snapshot.created_at is None:  # killed before its first checkpoint
            _check_unbegun(folder, manifest)
            given = input_of(scenario_of(manifest, folder), manifest.run)
        kept, lost = await repaired(place, folder, settings_of(manifest, {}))
        # If the log has no end, the run was killed at its end, which is now written.
        over = given is None and not snapshot.next
        if reopened := over and bool(changed or replay or manifest.stop_reason == state["stop_reason"]):
            await _reopen(place, state, settings, folder)
            state |= _OPEN_END
        await _check_remembered(place, state)
        complete = complete_turn(snapshot)
        resumed = manifest.going_on(
            at=now().isoformat(timespec="seconds"),
            turn=len(utterances(state.get("messages", []))),
            settings=settings,
            changed=changed,
            reopened=reopened,
        )
        await asyncio.to_thread(kept.resume, resumed)
        await asyncio.to_thread(kept.make_readable, manifest)
        manifest = manifest.resumed_with(resumed)
        notice = " ".join(filter(None, [lost, _lost(place, manifest)]))
        past = await past_of(folder, notice=notice) if tell_past else []
        yield Run(place, manifest, kept, control, given=given, first=past, state=state, complete=complete)


def _check_unbegun(folder: Path, manifest: Manifest) -> None:
    """Refuse to begin a run again if its log holds what its checkpoints lack."""
    if manifest.turn:
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
        branch = f"Branch it: persimchat branch {manifest.run} --at TURN --set {others[0]}=…"
        stays = f"Leave {others[0]} as it is, or start a new run."
        raise InputError(
            f"{others[0]} cannot change when a run is resumed",
            where=str(folder),
            remedy=stays if ABOUT[others[0]].changes == "never" or manifest.settings.given.get("baseline") else branch,
        )
    if manifest.stop_reason == "budget" and not changed.keys() & set(BUDGETS):
        raise InputError(
            "the run's budget is used up",
            where=str(folder),
            remedy="Raise it, for example with --budget-calls.",
        )


def _lost(place: RunResources, manifest: Manifest) -> str:
    """What is lost of a run's past, for people; empty if nothing is.

    Args:
        place: the resources of the run.
        manifest: what is known about it, with the number of requests.
    """
    lost = list(place.lost)
    known, total = sum(row["calls"] for row in place.ledger.rows()), manifest.usage.total
    made = total.calls if total else 0
    if known < made:
        lost.append(f"{RUN} holds {known} of {made} requests.")
    if lost:
        lost.append("Earlier usage is known only in part: budgets count the known part, and a replay may be refused.")
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
