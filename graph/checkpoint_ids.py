"""New checkpoints come after those that are kept, whatever the clock says.

LangGraph takes the checkpoint with the greatest id for the newest. Ids are made from the time, and ascend within one
process only: where the clock has gone back since, or a run was moved to a machine whose clock is behind, what is new
would sort below what is old, and be left out when the run goes on.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from persimchat.graph.langgraph_compat import make_ids_above, new_id, saver_around
from persimchat.state.errors import PerSimChatError


def begin_above(newest: str) -> None:
    """Have this process give the checkpoints that it makes from now on greater ids than this one.

    Args:
        newest: a checkpoint's id.

    Raises:
        PerSimChatError: none is greater: this is no id of LangGraph's, or LangGraph makes them in another way now.
    """
    if not make_ids_above(newest):
        raise PerSimChatError(
            "nothing can come after the newest checkpoint",
            where=f"checkpoint {newest[:40]!r}",
            remedy="The checkpoints are damaged, or of a version of LangGraph that is not known here.",
        )


def id_above(newest: str) -> str:
    """A checkpoint's id that is greater than this one, and than those of this process.

    Raises:
        PerSimChatError: as `begin_above`.
    """
    begin_above(newest)
    return new_id()


def begin_above_kept(checkpointer: Any, config: RunnableConfig | None) -> None:
    """Have new checkpoints come after all that a thread has, also those of graphs inside; for sync code.

    Args:
        checkpointer: the graph's; where it has none of its own, that of the graph around it is looked at.
        config: with the `thread_id`; without one, nothing is kept.

    Raises:
        PerSimChatError: as `begin_above`.
    """
    saver, thread = _thread(checkpointer, config)
    if saver is not None:
        for found in list(saver.list({"configurable": {"thread_id": thread}}, limit=1)):
            begin_above(found.checkpoint["id"])


async def abegin_above_kept(checkpointer: Any, config: RunnableConfig | None) -> None:
    """As `begin_above_kept`, for async code."""
    saver, thread = _thread(checkpointer, config)
    if saver is not None:
        # To its end before anything else is asked: a saver is locked for as long as it lists.
        for found in [one async for one in saver.alist({"configurable": {"thread_id": thread}}, limit=1)]:
            begin_above(found.checkpoint["id"])


def _thread(checkpointer: Any, config: RunnableConfig | None) -> tuple[BaseCheckpointSaver[Any] | None, str]:
    """What keeps a thread's checkpoints, and its id; None where nothing is kept."""
    given = (config or {}).get("configurable", {})
    saver = checkpointer if isinstance(checkpointer, BaseCheckpointSaver) else saver_around(given)
    thread = given.get("thread_id")
    known = isinstance(saver, BaseCheckpointSaver) and thread is not None
    return (saver, str(thread)) if known else (None, "")
