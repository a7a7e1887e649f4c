"""The graph's stream, superstep by superstep."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig

from persimchat.graph import phases
from persimchat.runs.events import Speaking, Token, Waiting
from persimchat.runs.run.resources import RunResources


async def steps(
    place: RunResources, given: Any, config: RunnableConfig, *, by_turns: bool
) -> AsyncGenerator[tuple[set[str] | None, Any], None]:
    """Live events, and after every superstep which nodes ran, with the state that they left.

    Questions to people come with None in the place of nodes; none of them where the graph stops between two turns.

    Args:
        place: what the run works with.
        given: what the graph is given; None to go on from its last checkpoint.
        config: of what it does next.
        by_turns: whether the graph stops after every turn.
    """
    stream: AsyncIterator[tuple[str, Any]] = place.graph.astream(
        given,
        config,
        context=place.settings,
        stream_mode=["messages", "updates", "values", "custom"],
        durability="sync" if place.resumable else None,
        interrupt_after=[phases.TURN_END] if by_turns else None,  # each turn is told as one run
    )  # type: ignore[assignment]
    nodes: set[str] = set()
    speaking: Speaking | None = None
    streamed: str | None = None
    async with aclosing(cast(AsyncGenerator[tuple[str, Any], None], stream)) as parts:
        async for mode, payload in parts:
            if mode == "messages":
                message, metadata = payload
                spoken = isinstance(message, AIMessageChunk) and metadata.get("langgraph_node") == phases.SPEAK
                if speaking is None or not spoken:
                    continue
                if streamed and message.id != streamed:  # the first words were of no use and are asked for again
                    yield set(), speaking
                streamed = message.id
                if message.text:
                    yield set(), Token(turn=speaking.turn, speaker=speaking.speaker, text=str(message.text))
            elif mode == "custom" and "waiting" in payload:
                yield set(), Waiting.model_validate(payload["waiting"])
            elif mode == "custom":
                speaking, streamed = Speaking.model_validate(payload), None
                yield set(), speaking
            elif mode == "updates":
                if "__interrupt__" in payload:
                    yield None, payload["__interrupt__"]
                nodes |= set(payload)
            elif nodes:
                yield nodes, payload
                nodes = set()
