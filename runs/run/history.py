"""Reads the states of a run from its checkpoints: the whole conversation after a given utterance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from persimchat.graph import phases
from persimchat.graph.checkpoint_ids import abegin_above_kept
from persimchat.graph.earlier import as_of_today, reader
from persimchat.state.conversation import judge_mind
from persimchat.state.errors import InputError

Graph = CompiledStateGraph[Any, Any, Any, Any]


def is_between(snapshot: StateSnapshot) -> bool:
    """Whether all agents have heard the last utterance, and an utterance or the end comes next."""
    return phases.between_utterances(_nodes(snapshot)) and "turn" in snapshot.values


def is_whole(snapshot: StateSnapshot) -> bool:
    """Whether a run can continue from a state without its pending tasks: the turn is over, or has not begun."""
    nodes = _nodes(snapshot)
    ended = phases.ending_turn(nodes) and complete_turn(snapshot) == snapshot.values.get("turn")
    return ended or is_between(snapshot)


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


async def brought_up(graph: Graph, config: RunnableConfig) -> bool:
    """Have a thread of an earlier version continue from its last whole turn, with a state of this version.

    Work after that turn is done again, because the other version had other steps.

    Args:
        graph: the conversation, compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.

    Returns:
        Whether there is such a turn; the awakening of all agents counts as one.
    """
    saver, thread = _thread(graph, config)
    reading = reader(saver)
    # Exhaust the list before other queries: a saver is locked while it lists.
    for checkpoint in [found async for found, _ in _channels(saver, thread)]:
        at: RunnableConfig = {"configurable": {**thread, "checkpoint_id": checkpoint}}
        snapshot = await reading.aget_state(at)
        if is_whole(snapshot):
            judge = judge_mind(as_of_today(snapshot.values))
            update = {"agents": {judge["name"]: judge}} if judge else {}
            await abegin_above_kept(saver, config)
            await reading.aupdate_state(at, update, as_node=phases.OUTSIDE if snapshot.next else phases.AT_END)
            return True
    return False


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
    """`state_at` for several numbers of utterances, in one walk; the thread may be of any version.

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
    reading = reader(saver)
    candidates = await _by_turn(saver, thread, max(turns, default=0))
    result: dict[int, StateSnapshot] = {}
    for turn in sorted(set(turns)):
        ids = candidates.get(turn, [])
        for checkpoint in reversed(ids) if first else ids:
            snapshot = await reading.aget_state({"configurable": {**thread, "checkpoint_id": checkpoint}})
            if is_between(snapshot) and (fits is None or fits(snapshot.values)):
                result[turn] = snapshot._replace(values=as_of_today(snapshot.values))
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
) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
    from persimchat.runs.folder.checkpoint_file import FileSaver  # imported only for files: it needs a driver

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
