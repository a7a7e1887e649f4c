"""Branching: a new run that shares the past of another up to a turn, with its memories, and continues by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from langgraph.types import StateSnapshot

from ...graph import phases
from ...memory.store import held_store
from ...nodes.minds.awakening import able_to_change
from ...state.errors import InputError, PerSimChatError
from ...state.scenario import Scenario
from ...state.settings import ABOUT, Settings
from ..control import Control
from ..events import Event
from ..folder.manifest import Branch, Manifest
from ..folder.reading import read_run
from ..folder.run_folder import RUN, RunFolder, new_run_id, now
from ..kinds import CONVERSATION
from .branch_start import Wish, made_again, wished
from .progress import remembered
from .resources import Replaying, RunResources, open_resources, store_of
from .resume_input import (
    NO_END,
    NO_LEAVE,
    changed_settings,
    check_memories,
    manifest_of,
    no_turn,
    past_of,
    refuse_out_of_turn,
    scenario_of,
    settings_of,
    state_at,
)
from .run import Run, events_of
from .simulation import check

_STAYS: Final = frozenset(name for name, about in ABOUT.items() if about.changes == "never")
"""Settings on which the shared past depends, so a branch cannot change them."""


def branch_run(
    folder: Path,
    turn: int | None,
    *,
    changes: Mapping[str, Any] | None = None,
    say: tuple[str, str] | None = None,
    choose: tuple[str, str] | None = None,
    out: Path | None = None,
    run: str | None = None,
    control: Control | None = None,
) -> AsyncGenerator[Event, None]:
    """Make a new run that shares the first utterances of another, and continue it; the events of its past come first.

    Args:
        folder: the folder of the run to branch; it is not changed.
        turn: the number of shared utterances, from 0; with `choose`, at least so many, or None for the last choice.
        changes: settings that change after the shared past.
        say: speaker and words of the next utterance; the speaker is a participant's name, or "Moderator".
        choose: of a story: a host and whom it talks to in place of its own choice, or "nobody". The branch begins
            before the host takes stock.
        out: folder in which to make the folder of the new run; None: beside the other run.
        run: the id of the new run; None: made from time and topic.
        control: lets people take part in the run.

    Raises:
        InputError: before the first event: the folder is not a run's; the run kept no checkpoints, or another process
            is working on it; the turn is beyond its end; changes, words or choice are invalid.
        PerSimChatError: after the `stopped` event that reports it.
    """
    wish = partial(wished, folder=folder, turn=turn, say=say, choose=choose)
    return events_of(_branched(folder, "branch", wish, changes or {}, out, run, control))


@dataclass(frozen=True)
class Branching:
    """A branch that may be made, as far as is known without the checkpoints of its run.

    Attributes:
        manifest: what is known about the run.
        scenario: of the run, which the branch shares.
        settings: of the branch.
        changed: the settings that it changes.
        turn: how many utterances it shares.
    """

    manifest: Manifest
    scenario: Scenario
    settings: Settings
    changed: dict[str, Any]
    turn: int


def branching(
    folder: Path,
    turn: int | None,
    *,
    changes: Mapping[str, Any] | None = None,
    say: tuple[str, str] | None = None,
    choose: tuple[str, str] | None = None,
) -> Branching:
    """Check a branch before it is made, without its run's checkpoints. Blocks. Arguments as for `branch_run`.

    Raises:
        InputError: as `branch_run`, but for models, and for checkpoints that are damaged or lack the turn.
    """
    manifest = manifest_of(folder)
    wish = wished(manifest, folder=folder, turn=turn, say=say, choose=choose)
    found = _changing(manifest, folder, changes or {}, wish.turn)
    last = len(read_run(folder).utterances)
    if wish.turn > last:
        raise no_turn(wish.turn, manifest.run, last)
    _check_limit(wish.turn, found.settings, folder)
    return found


async def check_checkpoint(folder: Path, turn: int, choose: tuple[str, str] | None = None) -> None:
    """Refuse a run whose checkpoints lack the state at which a branch begins, or on which another process is working.

    Arguments as for `branch_run`.

    Raises:
        InputError: there is no such state, or the run cannot be opened.
    """
    manifest = await asyncio.to_thread(manifest_of, folder)
    wish = await asyncio.to_thread(partial(wished, manifest, folder=folder, turn=turn, say=None, choose=choose))
    async with open_resources(manifest.run, settings_of(manifest, {}), folder) as origin:
        await state_at(origin.graph, origin.config, wish.turn, fits=wish.fits)


def regenerate_run(
    folder: Path,
    turn: int,
    *,
    changes: Mapping[str, Any] | None = None,
    out: Path | None = None,
    run: str | None = None,
    control: Control | None = None,
) -> AsyncGenerator[Event, None]:
    """Have the same speaker word utterance `turn` anew, in a new run that continues from there.

    Args:
        folder: the folder of the run.
        turn: number of the utterance, from 1.
        changes: as for `branch_run`.
        out: as for `branch_run`.
        run: as for `branch_run`.
        control: as for `branch_run`.

    Raises:
        InputError: as `branch_run`; also if a person or the moderator made the utterance.
        PerSimChatError: after the `stopped` event that reports it.
    """
    wish = partial(made_again, folder=folder, turn=turn)
    return events_of(_branched(folder, "regenerate", wish, changes or {}, out, run, control))


@asynccontextmanager
async def _branched(
    source: Path,
    why: str,
    wish: Callable[[Manifest], Wish],
    changes: Mapping[str, Any],
    out: Path | None,
    run: str | None,
    control: Control | None,
) -> AsyncIterator[Run]:
    """Check and prepare a branch; `wish` returns how it begins."""
    manifest = await asyncio.to_thread(manifest_of, source)
    begins = await asyncio.to_thread(wish, manifest)
    turn, wanted = begins.turn, begins.first
    found = _changing(manifest, source, changes, turn)
    scenario, settings, changed = found.scenario, found.settings, found.changed
    await check(scenario, settings)
    run = run or new_run_id(scenario.topic, now())
    async with open_resources(manifest.run, settings_of(manifest, {}), source) as origin:
        snapshot = await state_at(origin.graph, origin.config, turn, fits=begins.fits)
        _check_limit(turn, settings, source)
        at = now().isoformat(timespec="seconds")
        branch = Branch(of=manifest.run, turn=turn, why=why, changed={**begins.changed, **changed})
        begun = await asyncio.to_thread(Manifest.begun, run, scenario, settings, at, branch=branch)
        refuse_out_of_turn(snapshot.values, wanted, source)
        state = _state_of(snapshot, run, wanted, changed, settings)
        folder = await prepared(origin, source, out or source.parent, begun, state, settings, at=id_of(snapshot))
    made: Run | None = None
    try:
        async with go_on_from(state, folder, begun, settings, control) as made:
            yield made
    except PerSimChatError:
        if not (made and made.begun):
            await asyncio.to_thread(folder.discard)
        raise


@asynccontextmanager
async def go_on_from(
    state: dict[str, Any],
    folder: RunFolder,
    manifest: Manifest,
    settings: Settings,
    control: Control | None,
    *,
    replay: Replaying | None = None,
) -> AsyncIterator[Run]:
    """Begin a run in the middle of a conversation; the events of its past come first.

    Args:
        state: the conversation at its beginning.
        folder: the folder of the run, as `prepared` made it.
        manifest: what is known about it.
        settings: its settings.
        control: lets people take part in the run.
        replay: the record from which the models' answers come.

    Raises:
        PerSimChatError: as `branch_run`.
    """
    async with open_resources(
        manifest.run, settings, folder.path, log=folder.log, attended=True, replay=replay
    ) as place:
        await place.graph.aupdate_state(place.config, state, as_node=phases.OUTSIDE)
        past = await past_of(folder.path)
        yield Run(place, manifest, folder, control, given=None, first=past, state=state, complete=state["turn"])


async def prepared(
    origin: RunResources,
    source: Path,
    out: Path,
    manifest: Manifest,
    state: Mapping[str, Any],
    settings: Settings,
    *,
    at: str,
) -> RunFolder:
    """Make the folder of a run that begins in the middle of another, with the events and memories of its past.

    Args:
        origin: the resources of the other run.
        source: the folder of the other run.
        out: where to make the new folder.
        manifest: what is known about the new run.
        state: the conversation at the beginning of the new run.
        settings: of the new run.
        at: the checkpoint of the other run at which it begins.

    Raises:
        InputError: the folder cannot be made, or memories cannot be found; then no folder is left.
    """
    run, theirs = manifest.run, origin.config["configurable"]["thread_id"]
    folder = await asyncio.to_thread(RunFolder, out, run)
    try:
        await asyncio.to_thread(folder.begin, manifest)
        store = store_of(settings, folder.path)
        await asyncio.to_thread(_copy_memories, origin, state, theirs, run, store)
        shared = (
            f"kind IN ({', '.join(repr(kind) for kind in CONVERSATION)}) AND (checkpoint IS NULL OR checkpoint <= ?)"
        )
        await asyncio.to_thread(folder.log.copy_from, source / RUN, shared, at)
        kept = await asyncio.to_thread(RunFolder.reopened, folder.path, folder.log)
        await asyncio.to_thread(kept.make_readable, manifest)
        return kept
    except BaseException:
        await asyncio.to_thread(folder.discard)
        raise


def id_of(snapshot: StateSnapshot) -> str:
    """The checkpoint of a state."""
    return str(snapshot.config["configurable"]["checkpoint_id"])


def _changing(manifest: Manifest, source: Path, changes: Mapping[str, Any], turn: int) -> Branching:
    """What a branch has of its run, and what it changes; refuses a turn that its run, itself a branch, shares."""
    if (own := manifest.branch) and turn < own.turn:
        raise InputError(
            f"the run begins after utterance {own.turn}; it shares the utterances before that with {own.of}",
            where=f"run {manifest.run}",
            remedy=f"Branch {own.of} instead.",
        )
    check_memories(manifest, source)
    scenario = scenario_of(manifest, source)
    settings = settings_of(manifest, changes)
    changed = changed_settings(manifest, settings)
    _check_changes(changed, settings, source)
    return Branching(manifest, scenario, settings, changed, turn)


def _check_changes(changed: Mapping[str, Any], settings: Settings, source: Path) -> None:
    if settings.baseline is not None:
        raise InputError(
            f"a run of baseline={settings.baseline} cannot be branched",
            where=str(source),
            remedy="Start a new run.",
        )
    kept = sorted(changed.keys() & _STAYS)
    if kept:
        raise InputError(
            f"a branch cannot change {kept[0]}: its shared history depends on it",
            where=str(source),
            remedy=f"Leave {kept[0]} as it is, or start a new run.",
        )


def _check_limit(turn: int, settings: Settings, source: Path) -> None:
    if turn >= settings.max_messages:
        raise InputError(
            f"there can be no utterance after turn {turn}: the message limit is {settings.max_messages}",
            where=str(source),
            remedy="Choose an earlier turn or a higher --messages.",
        )


def _state_of(
    snapshot: StateSnapshot, run: str, wanted: Sequence[Mapping[str, Any]], changed: Any, settings: Settings
) -> dict[str, Any]:
    """The state of a conversation, as the beginning of another run with these settings."""
    state = {name: value for name, value in snapshot.values.items() if name != "usage"}
    state |= {**NO_END, "simulation": run, "interventions": list(wanted)}
    if changed.keys() & {"max_messages", "closing"}:
        state |= NO_LEAVE
    if changed.keys() & {"cognition", "ablation", "modules"}:
        state["agents"] = {name: able_to_change(mind, settings) for name, mind in state["agents"].items()}
    return state


def _copy_memories(origin: RunResources, state: Mapping[str, Any], source: str, run: str, location: str) -> None:
    """Copy the memories of all agents. Blocks.

    Raises:
        InputError: some cannot be found, or a store cannot be used.
    """
    settings = origin.settings
    with held_store(settings.store) as theirs, held_store(location) as ours:
        for mind in state["agents"].values():
            unsaved = {whole["id"] for whole in mind["unsaved"]}
            ids = [memory for memory in remembered(mind) if memory not in unsaved]
            lost = theirs.copy_to(ours, source, run, mind["name"], settings.embedding, ids)
            if lost:
                raise InputError(
                    f"{len(lost)} memories of {mind['name']} cannot be found",
                    where=f"store {settings.store}",
                    remedy="An ephemeral store ends with its process: branch only runs that keep their memories.",
                )
