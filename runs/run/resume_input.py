"""With what a run goes on, resumed or as a branch: its scenario, settings, past events and states."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot
from pydantic import ValidationError

from ...graph import phases
from ...memory.chroma_client import EPHEMERAL
from ...models.naming import default_model_name
from ...personas.names import with_full_names
from ...state.configuration import load_settings
from ...state.errors import InputError
from ...state.scenario import Scenario
from ...state.settings import Settings
from ..events import Event
from ..folder.manifest import STATE_VERSION, Manifest
from ..folder.reading import opened, past_in, read_manifest
from ..folder.run_folder import RUN

NO_END: Final = {"stop_reason": "", "stop_source": "", "stop_detail": "", "conclusion": None, "streaks": None}
"""Channel values of a conversation that has not ended; modules that failed are asked again."""
NO_LEAVE: Final = {"closing": "", "closing_since": 0}
"""Channel values of a conversation in which nobody takes leave."""


def manifest_of(folder: Path) -> Manifest:
    """What is known about a run that can continue. Blocks.

    Raises:
        InputError: this is not a run's folder, its version cannot be resumed, or it kept no checkpoints.
    """
    manifest = read_manifest(folder)
    if manifest.state_version != STATE_VERSION:
        by = f"PerSimChat {manifest.versions.get('persimchat', 'of another version')}"
        raise InputError(
            f"the run's state has version {manifest.state_version}; this PerSimChat knows only {STATE_VERSION}",
            where=str(folder),
            remedy=f"Use the version that made it: {by}.",
        )
    place = manifest.settings.given.get("checkpoints", "run")
    if place == "memory" or (place == "run" and manifest.turn and not _has_checkpoints(folder)):
        raise InputError(
            "the run's checkpoints ended with its process" if place == "memory" else "the run kept no checkpoints",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    return manifest


def _has_checkpoints(folder: Path) -> bool:
    with opened(folder) as log:
        return bool(log.rows("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'"))


def check_memories(manifest: Manifest, folder: Path) -> None:
    """Refuse to continue a run whose memories are gone.

    Raises:
        InputError: only its process kept them.
    """
    if manifest.settings.given.get("store") == EPHEMERAL:
        raise InputError(
            "the run's memories ended with its process (store=ephemeral)",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )


def scenario_of(manifest: Manifest, folder: Path) -> Scenario:
    """The scenario of a run that continues.

    Raises:
        InputError: it does not fit this version.
    """
    try:
        return Scenario.model_validate(manifest.scenario.given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"the run's scenario does not fit this version: {first['msg']}",
            where=f"{folder / RUN}, field scenario.{field}",
            remedy="Use the version that made it.",
        ) from None


def settings_of(manifest: Manifest, changes: Mapping[str, Any]) -> Settings:
    """The settings with which a run continues: its own, overridden by the changes.

    A password that the log does not hold is taken from the environment (`PERSIMCHAT_CHECKPOINTS`).

    Raises:
        InputError: a change is invalid, or the settings do not fit this version.
    """
    recorded = dict(manifest.settings.given)
    server = recorded.get("checkpoints")
    if isinstance(server, str) and "checkpoints" not in changes:
        recorded["checkpoints"] = with_own_password(server)
    settings = load_settings(environment={}, scenario=recorded, **changes)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0]})
    return with_full_names(settings, manifest.names)


def with_own_password(checkpoints: str) -> str:
    """The address of a server of checkpoints with the password that the environment has (`PERSIMCHAT_CHECKPOINTS`).

    Args:
        checkpoints: the setting, without a password; another place than a server is returned as it is.
    """
    own = load_settings().checkpoints if "://" in checkpoints else checkpoints
    return own if "://" in own else checkpoints


def changed_settings(manifest: Manifest, settings: Settings) -> dict[str, Any]:
    """The settings that differ from the log, with their new values.

    A setting that the log does not name had its default.
    """
    before = {**Settings().whole(), **manifest.settings.given}
    return {
        name: value for name, value in settings.whole().items() if name != "checkpoints" and before.get(name) != value
    }


def refuse_out_of_turn(state: Mapping[str, Any], wanted: Sequence[Mapping[str, Any]], source: Path) -> None:
    """Refuse words of a story's character whose turn it is not: rooms and their order are part of the shared past.

    Args:
        state: of a story; nothing is refused in other conversations.
        wanted: the interventions with which a branch begins.
        source: the folder of the run that is branched.

    Raises:
        InputError: a character is to speak that is not the next one.
    """
    act = state.get("act")
    if act is None:
        return
    speakers = {one.get("speaker") or one.get("agent") for one in wanted} - {None, ""}
    next_ = act["who"] if act["do"] == "speak" else []
    for speaker in speakers:
        if speaker not in next_:
            room = " and ".join(state["rooms"][act["room"]]["members"]) if act["room"] else ""
            told = f"{next_[0]} speaks next, in the room of {room}" if next_ else "all speak at once there"
            raise InputError(
                f"{speaker} cannot speak there: {told}",
                where=str(source),
                remedy="Choose the speaker, another turn, or let the Moderator say it.",
            )


async def past_of(folder: Path, *, notice: str = "") -> list[Event]:
    """The past of a run as events, without `stopped`.

    Args:
        folder: the folder of the run.
        notice: the notice of `started`, for people.
    """

    def read() -> list[Event]:
        with opened(folder) as log:
            return list(past_in(log, notice=notice))

    return await asyncio.to_thread(read)


Graph = CompiledStateGraph[Any, Any, Any, Any]


def is_between(snapshot: StateSnapshot) -> bool:
    """Whether all agents have heard the last utterance, and an utterance or the end comes next."""
    return phases.between_utterances(_nodes(snapshot)) and "turn" in snapshot.values


def complete_turn(snapshot: StateSnapshot) -> int:
    """The last utterance of a state that all agents have heard; 0 when all have awoken, -1 before that."""
    nodes = _nodes(snapshot)
    if phases.awakening(nodes) or "turn" not in snapshot.values:
        return -1
    turn = int(snapshot.values["turn"])
    if phases.ending_turn(nodes) and turn and snapshot.values.get("checked") == turn:
        return turn  # the turn had ended, and people intervened
    return turn - 1 if phases.hearing(nodes) else turn


def _nodes(snapshot: StateSnapshot) -> set[str]:
    """The nodes of the next or current step, also those that a killed step had done: `snapshot.next` omits these."""
    return {task.name for task in snapshot.tasks}


async def conversation_checkpoints(graph: Graph, config: RunnableConfig) -> AsyncGenerator[str, None]:
    """The ids of a thread's checkpoints, the newest first.

    Args:
        graph: the conversation, compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.
    """
    async with aclosing(_channels(*_thread(graph, config))) as found:
        async for checkpoint, _ in found:
            yield checkpoint


def _thread(graph: Graph, config: RunnableConfig) -> tuple[BaseCheckpointSaver[Any], dict[str, str]]:
    if not isinstance(graph.checkpointer, BaseCheckpointSaver):
        raise TypeError("the graph has no checkpointer of its own")
    return graph.checkpointer, {"thread_id": config["configurable"]["thread_id"], "checkpoint_ns": ""}


async def state_at(
    graph: Graph, config: RunnableConfig, turn: int, *, fits: Callable[[Mapping[str, Any]], bool] | None = None
) -> StateSnapshot:
    """The newest state of a thread in which `turn` utterances were made and heard and another may follow.

    Args:
        graph: compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.
        turn: number of utterances, from 0.
        fits: which of these states; None for any.

    Raises:
        InputError: there is no such state.
    """
    return (await states_at(graph, config, {turn}, fits=fits))[turn]


async def states_at(
    graph: Graph,
    config: RunnableConfig,
    turns: Collection[int],
    *,
    first: bool = False,
    fits: Callable[[Mapping[str, Any]], bool] | None = None,
) -> dict[int, StateSnapshot]:
    """`state_at` for several numbers of utterances, in one walk.

    Args:
        graph: compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.
        turns: numbers of utterances, from 0.
        first: return the first such state of each number, as the turn ended, not the newest; between the two, an
            agent may have failed to speak, or people may have intervened.
        fits: which of these states; None for any.

    Returns:
        The states by number of utterances, in ascending order.

    Raises:
        InputError: one of the numbers has no such state, or the state may be damaged.
    """
    saver, thread = _thread(graph, config)
    candidates = await _by_turn(saver, thread, max(turns, default=0))
    result: dict[int, StateSnapshot] = {}
    for turn in sorted(set(turns)):
        ids = candidates.get(turn, [])
        for checkpoint in reversed(ids) if first else ids:
            snapshot = await graph.aget_state({"configurable": {**thread, "checkpoint_id": checkpoint}})
            if is_between(snapshot) and (fits is None or fits(snapshot.values)):
                result[turn] = snapshot
                break
        else:
            raise no_turn(turn, thread["thread_id"], max(candidates, default=None))
    return result


async def _by_turn(saver: BaseCheckpointSaver[Any], thread: dict[str, str], last: int) -> dict[int, list[str]]:
    """The ids of the checkpoints of a thread by number of utterances, the newest first.

    A damaged checkpoint is listed at every number that it may have, judging by its neighbours, or by `last` if there is
    no newer one: it raises an error only if one of these numbers is asked for.
    """
    candidates: dict[int, list[str]] = {}
    unread: list[str] = []

    def place(oldest: int) -> None:
        for turn in range(oldest, last + 1) if unread else ():
            candidates.setdefault(turn, []).extend(unread)
        unread.clear()

    # Exhaust the list before other queries: a saver is locked while it lists.
    async for checkpoint, channels in _channels(saver, thread):
        if channels is None:
            unread.append(checkpoint)
        elif (turn := channels.get("turn")) is not None:
            place(turn)
            candidates.setdefault(turn, []).append(checkpoint)
            last = turn
    place(0)
    return candidates


async def _channels(
    saver: BaseCheckpointSaver[Any], thread: dict[str, str]
) -> AsyncGenerator[tuple[str, dict[str, Any] | None], None]:
    from ..folder.checkpoint_file import FileSaver  # imported only for files: it needs a driver

    if isinstance(saver, FileSaver):
        async for listed in saver.channels(thread["thread_id"]):
            yield listed
    else:
        async for found in saver.alist({"configurable": thread}):
            yield found.checkpoint["id"], found.checkpoint["channel_values"]


def no_turn(turn: int, run: str, last: int | None) -> InputError:
    """The error that a run has no state at a turn; `last` is its last one, None where it has no states."""
    if last is None:
        return InputError("no states of this run are kept", where=f"run {run}", remedy="Start a new run.")
    if 0 <= turn <= last:
        return InputError(
            f"the run cannot continue after utterance {turn}",
            where=f"run {run}",
            remedy="It was interrupted there, or several utterances were made at once. Choose another turn.",
        )
    said = "1 utterance" if last == 1 else f"{last} utterances"
    return InputError(
        f"the run has {said}; there is no turn {turn}", where=f"run {run}", remedy=f"Choose a turn from 0 to {last}."
    )
