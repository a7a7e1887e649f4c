"""The states that a run has passed through, out of its checkpoints: as everything stood after a given utterance."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from persimchat.state.errors import InputError

Graph = CompiledStateGraph[Any, Any, Any, Any]

_AWAKENING: Final = frozenset({"__start__", "assemble", "awaken", "judge_awakens"})
_HEARING: Final = frozenset({"hear", "judge_hears", "person_appraises", "regroup", "judge", "end_check"})
_UNDER_WAY: Final = _AWAKENING | _HEARING | {"publish", "count_votes", "change_sides"}
"""Nodes of all graphs that come between two utterances, before it is chosen what happens next."""


def is_between(snapshot: StateSnapshot) -> bool:
    """Whether the last utterance has been heard by everybody, and what comes next is an utterance, or the end."""
    nodes = _nodes(snapshot)
    # Scoring goes on beside hearing in the conversation, and beside the next answers in baselines.
    return not nodes & _UNDER_WAY and nodes != {"analyse"} and "turn" in snapshot.values


def complete_turn(snapshot: StateSnapshot) -> int:
    """The last utterance of a state that everybody has heard; 0 when all have awoken, -1 before that."""
    nodes = _nodes(snapshot)
    if nodes & _AWAKENING or "turn" not in snapshot.values:
        return -1
    turn = int(snapshot.values["turn"])
    if nodes == {"end_check"} and turn and snapshot.values.get("checked") == turn:
        return turn  # the turn had ended, and people have intervened
    return turn - 1 if nodes & _HEARING or nodes == {"analyse"} else turn


def _nodes(snapshot: StateSnapshot) -> set[str]:
    """What the next step does, or is doing: `snapshot.next` leaves out tasks that a killed step had done already."""
    return {task.name for task in snapshot.tasks}


async def state_at(graph: Graph, config: RunnableConfig, turn: int) -> StateSnapshot:
    """The newest state of a thread in which so many utterances were made and heard and another may follow.

    Args:
        graph: compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.
        turn: utterances, from 0.

    Raises:
        InputError: there is no such state.
    """
    return (await states_at(graph, config, {turn}))[turn]


async def states_at(
    graph: Graph, config: RunnableConfig, turns: Collection[int], *, first: bool = False
) -> dict[int, StateSnapshot]:
    """The same for several numbers of utterances, in one walk.

    Args:
        graph: compiled with the checkpointer that holds the thread.
        config: with the `thread_id`.
        turns: numbers of utterances, from 0.
        first: the first such state of each, as it was when the turn ended; between that and the newest, somebody may
            have failed to speak, or people have done something.

    Returns:
        The states by number of utterances, in ascending order.

    Raises:
        InputError: there is no such state for one of the numbers.
    """
    thread = {"thread_id": config["configurable"]["thread_id"], "checkpoint_ns": ""}
    checkpointer = graph.checkpointer
    if not isinstance(checkpointer, BaseCheckpointSaver):
        raise TypeError("the graph has no checkpointer of its own")
    candidates: dict[int, list[str]] = {}
    # To its end before anything else is asked: a saver is locked for as long as it lists.
    async for found in checkpointer.alist({"configurable": thread}):
        turn = found.checkpoint["channel_values"].get("turn")
        if turn is not None:
            candidates.setdefault(turn, []).append(found.checkpoint["id"])
    result: dict[int, StateSnapshot] = {}
    for turn in sorted(set(turns)):
        ids = candidates.get(turn, [])
        for checkpoint in reversed(ids) if first else ids:
            snapshot = await graph.aget_state({"configurable": {**thread, "checkpoint_id": checkpoint}})
            if is_between(snapshot):
                result[turn] = snapshot
                break
        else:
            raise _no_turn(turn, thread["thread_id"], max(candidates, default=None))
    return result


def _no_turn(turn: int, run: str, last: int | None) -> InputError:
    if last is None:
        return InputError("nothing is kept of this run's states", where=f"run {run}", remedy="Start a new run.")
    if 0 <= turn <= last:
        return InputError(
            f"the run cannot be taken up after utterance {turn}",
            where=f"run {run}",
            remedy="It was interrupted there, or several were made at once. Choose another turn.",
        )
    said = "1 utterance" if last == 1 else f"{last} utterances"
    return InputError(
        f"the run has {said}; there is no turn {turn}", where=f"run {run}", remedy=f"Choose a turn from 0 to {last}."
    )
