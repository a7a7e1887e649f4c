"""The compiled conversation as LangGraph sees it, alone or inside another graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from persimchat.state.settings import Settings

UNLIMITED: Final = 10_000_000
"""Supersteps: a conversation ends by its own message limit, never by the recursion limit of a graph around it."""


class ConversationGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled conversation that may carry its settings with it.

    As a node of another graph, a conversation gets that graph's context and recursion limit. The first may be something
    else than settings, and the second counts the steps of that graph.

    Args:
        settings: how conversations are held where no context is given; None for the context of the graph around it.
        **parts: of the compiled graph, as LangGraph's own `copy` hands them on.
    """

    def __init__(self, *, settings: Settings | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.settings = settings

    def stream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> Iterator[Any]:
        """Hold the conversation; LangGraph's `invoke` calls this, too."""
        yield from super().stream(input, _unlimited(config), context=context or self.settings, **options)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Hold the conversation; LangGraph's `ainvoke` calls this, too."""
        stream: Any = super().astream(input, _unlimited(config), context=context or self.settings, **options)
        async with aclosing(stream) as parts:
            async for part in parts:
                yield part


def _unlimited(config: RunnableConfig | None) -> RunnableConfig:
    return {**(config or {}), "recursion_limit": UNLIMITED}
