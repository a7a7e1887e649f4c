"""Gives new checkpoints greater ids than all existing ones, even if the clock has gone back.

LangGraph takes the checkpoint with the greatest id for the newest. It makes ids from the time, so they ascend within
one process only. After the clock has gone back, or on a machine whose clock is behind, new checkpoints would sort below
old ones, and a resumed run would ignore them.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from persimchat.graph.langgraph_compat import make_ids_above, new_id, saver_around
from persimchat.state.errors import PerSimChatError


def begin_above(newest: str) -> None:
    """From now on, give the new checkpoints of this process greater ids than `newest`.

    Args:
        newest: a checkpoint's id.

    Raises:
        PerSimChatError: that is impossible: `newest` is not an id of LangGraph's, or LangGraph has changed its ids.
    """
    if not make_ids_above(newest):
        raise PerSimChatError(
            "no new checkpoint can come after the newest one",
            where=f"checkpoint {newest[:40]!r}",
            remedy="The checkpoints are damaged, or an unknown version of LangGraph made them. Begin a new run, or "
            "install the version of LangGraph that made them.",
        )


def id_above(newest: str) -> str:
    """A checkpoint id that is greater than `newest` and than all ids of this process.

    Raises:
        PerSimChatError: as `begin_above`.
    """
    begin_above(newest)
    return new_id()


def begin_above_kept(checkpointer: Any, config: RunnableConfig | None) -> None:
    """Make new checkpoints come after all checkpoints of a thread, also those of inner graphs; for sync code.

    Args:
        checkpointer: the graph's own; if it has none, the one of the surrounding graph.
        config: with the `thread_id`; without one, no checkpoints are kept.

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
        # The list is read to its end before any other call, because a saver is locked while it lists.
        for found in [one async for one in saver.alist({"configurable": {"thread_id": thread}}, limit=1)]:
            begin_above(found.checkpoint["id"])


def _thread(checkpointer: Any, config: RunnableConfig | None) -> tuple[BaseCheckpointSaver[Any] | None, str]:
    """The saver of a thread's checkpoints, and the thread's id; None if no checkpoints are kept."""
    given = (config or {}).get("configurable", {})
    saver = checkpointer if isinstance(checkpointer, BaseCheckpointSaver) else saver_around(given)
    thread = given.get("thread_id")
    known = isinstance(saver, BaseCheckpointSaver) and thread is not None
    return (saver, str(thread)) if known else (None, "")
