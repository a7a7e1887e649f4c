"""The compiled conversation as LangGraph sees it, alone or inside another graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackManager, CallbackManager, Callbacks
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.arguments import settings_of
from persimchat.graph.redacting import redact_told
from persimchat.state.settings import Settings

UNLIMITED: Final = 10_000_000
"""Supersteps: a conversation ends by its own message limit, never by the recursion limit of a graph around it."""


class ConversationGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled conversation, of minds or of a baseline, that may carry its settings with it.

    As a node of another graph, a conversation gets that graph's context and recursion limit. The first may be something
    else than settings, and the second counts the steps of that graph.

    Every input begins a conversation of its own. Its messages say the topic where it names none, also on a thread whose
    earlier conversation had one.

    Args:
        settings: how conversations are held where no context is given; None for the context of the graph around it.
        **parts: of the compiled graph, as LangGraph's own `copy` hands them on.

    Raises:
        InputError: what is given as settings is none.
    """

    def __init__(self, *, settings: Settings | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.settings = None if settings is None else settings_of(settings)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> Iterator[Any]:
        """Hold the conversation; LangGraph's `invoke` calls this, too."""
        manager = CallbackManager.configure(inheritable_callbacks=self._callbacks(config))
        config = _unlimited(config, manager)
        yield from super().stream(_begun(input), config, context=context or self.settings, **options)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Hold the conversation; LangGraph's `ainvoke` calls this, too."""
        callbacks = self._callbacks(config)
        # In a thread: the first use of LangSmith's client reads files.
        manager = await asyncio.to_thread(AsyncCallbackManager.configure, inheritable_callbacks=callbacks)
        config = _unlimited(config, manager)
        stream: Any = super().astream(_begun(input), config, context=context or self.settings, **options)
        async with aclosing(stream) as parts:
            async for part in parts:
                yield part

    def _callbacks(self, config: RunnableConfig | None) -> Callbacks:
        """The callbacks that LangGraph would take: of the call, else of the graph, else of what runs around it."""
        given = (config or {}).get("callbacks") or (self.config or {}).get("callbacks")
        return given or ensure_config().get("callbacks")


def _begun(given: Any) -> Any:
    """An input without the topic that its thread may still hold of an earlier conversation."""
    said = isinstance(given, Mapping) and given.get("messages") and not given.get("topic")
    return {**given, "topic": ""} if said else given


def _unlimited(config: RunnableConfig | None, manager: BaseCallbackManager) -> RunnableConfig:
    """A conversation's own configuration; where it is traced, what is told of errors holds no key."""
    told: RunnableConfig = {"callbacks": manager} if redact_told(manager) else {}
    return {**(config or {}), **told, "recursion_limit": UNLIMITED}
