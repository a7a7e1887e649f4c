"""The compiled conversation as LangGraph sees it, alone or inside another graph."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackManager, CallbackManager, Callbacks
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot, StateUpdate

from ..memory.recollection import let_go
from ..models.ledger import LEDGER, Ledger
from ..state.errors import BudgetExhausted, InputError
from ..state.settings import Settings
from .context import settings_of
from .langgraph_compat import (
    abegin_above_kept,
    begin_above_kept,
    cancelled_with_parents,
    is_inside_node,
    is_served,
    saver_around,
    stopped_with_parents,
)
from .node import wait_for
from .redacting import redact_told


class OwnLedger:
    """Enforces a conversation's budgets, and ends it with a stop reason when one is used up.

    Only the output says so: the checkpoints of the thread stay as they were, so that it can continue with a greater
    budget.

    Args:
        used: the requests, tokens and cost of the thread so far, from its state.
        options: the options with which the graph is streamed.
    """

    def __init__(self, used: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> None:
        self._ledger = Ledger(used=used)
        self._mode, self._subgraphs = options.get("stream_mode"), bool(options.get("subgraphs"))
        self._v2 = options.get("version") == "v2"
        self._last: Mapping[str, Any] | None = None
        self._again: Callable[[Any], Any] = lambda values: values

    def added_to(self, config: RunnableConfig, place: Mapping[str, Any]) -> RunnableConfig:
        """The configuration with the ledger in it.

        Args:
            config: of the conversation.
            place: the contents of its own `configurable`, or of the surrounding one.
        """
        return {**config, "configurable": {**place, LEDGER: self._ledger}}

    def see(self, part: Any) -> None:
        """Remember the conversation's values, if a part of the stream has them."""
        if self._v2:
            if part["type"] == "values" and not part["ns"]:
                self._last, self._again = part["data"], lambda values: {**part, "data": values}
            return
        several = self._mode is not None and not isinstance(self._mode, str)
        before: tuple[Any, ...] = part[:-1] if several or self._subgraphs else ()
        values = part[-1] if before else part
        mode, inside = before[-1] if several else self._mode, self._subgraphs and before[0]
        if mode == "values" and not inside and isinstance(values, Mapping):
            self._last, self._again = values, lambda made: (*before, made) if before else made

    async def settled(self) -> None:
        """Wait until cancelled requests have recorded their use."""
        await self._ledger.settled()

    def ended(self, spent: BudgetExhausted) -> Any:
        """The last part of the stream: the conversation as it stands, ended by its budget.

        Raises:
            BudgetExhausted: the caller does not stream the conversation's values.
        """
        if self._last is None:
            raise spent
        rows = {f"{row['module']}|{row['agent']}|{row['model']}": row for row in self._ledger.rows()}
        end = {"stop_reason": "budget", "stop_source": spent.budget, "stop_detail": str(spent)}
        over = bool(self._last.get("stop_reason"))  # only the majority's position or scores are missing
        return self._again({**self._last, **({} if over else end), "usage": rows})


def has_ledger(place: Mapping[str, Any]) -> bool:
    """Whether the caller of the conversation has given it a ledger."""
    return isinstance(place.get(LEDGER), Ledger)


UNLIMITED: Final = 10_000_000
"""The recursion limit in supersteps: a conversation ends by its message limit, never by LangGraph's recursion limit."""


HELD: Final = "persimchat_held"
"""Key in `configurable` of a list, to which a conversation that cannot be resumed adds its store and its id."""


class ConversationGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled conversation, of minds or of a baseline, that may have settings of its own.

    As a node of another graph, a conversation would get that graph's context, which may hold no settings, and its
    recursion limit, which counts that graph's steps. So it can bring settings, and sets its own limit.

    Every input begins a new conversation. If the input has no topic, its messages give one, even on a thread whose
    earlier conversation had a topic.

    Args:
        settings: the settings of conversations without a context; None to use the context of the surrounding graph.
        **parts: the parts of the compiled graph, as LangGraph's own `copy` passes them.

    Raises:
        InputError: `settings` is not valid.
    """

    def __init__(self, *, settings: Settings | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.settings = None if settings is None else settings_of(settings)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> Iterator[Any]:
        """Hold the conversation; LangGraph's `invoke` calls this, too."""
        context = self._context(config, context)
        begin_above_kept(self.checkpointer, config)
        manager = CallbackManager.configure(inheritable_callbacks=self._callbacks(config))
        config, held = self._holding(_unlimited(config, manager))
        place, kept = self._place(config)
        own = None
        if _needs_ledger(place, kept):
            own = OwnLedger(_used(self.get_state(kept)) if kept else {}, options)
        config = own.added_to(config, place) if own else config
        left = threading.Event()
        try:
            with stopped_with_parents(left.set, place):
                for part in super().stream(_begun(input), config, context=context, **options):
                    if left.is_set():
                        return
                    if own:
                        own.see(part)
                    yield part
        except BudgetExhausted as spent:
            if own is None:
                raise
            wait_for(own.settled())
            yield own.ended(spent)
        finally:
            _let_go(held)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Hold the conversation; LangGraph's `ainvoke` calls this, too."""
        context = self._context(config, context)
        await abegin_above_kept(self.checkpointer, config)
        callbacks = self._callbacks(config)
        # In a thread, because the first use of LangSmith's client reads files.
        manager = await asyncio.to_thread(AsyncCallbackManager.configure, inheritable_callbacks=callbacks)
        config, held = self._holding(_unlimited(config, manager))
        place, kept = self._place(config)
        own = None
        if _needs_ledger(place, kept):
            own = OwnLedger(_used(await self.aget_state(kept)) if kept else {}, options)
        config = own.added_to(config, place) if own else config
        stream: Any = super().astream(_begun(input), config, context=context, **options)
        try:
            async with aclosing(stream) as parts, cancelled_with_parents(place):
                async for part in parts:
                    if own:
                        own.see(part)
                    yield part
        except BudgetExhausted as spent:
            if own is None:
                raise
            await own.settled()
            yield own.ended(spent)
        finally:
            if held:
                await asyncio.to_thread(_let_go, held)

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Change a thread's state; LangGraph's `update_state` calls this, too."""
        begin_above_kept(self.checkpointer, config)
        return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Change a thread's state; LangGraph's `aupdate_state` calls this, too."""
        await abegin_above_kept(self.checkpointer, config)
        return await super().abulk_update_state(config, supersteps)

    def _context(self, config: RunnableConfig | None, context: Any) -> Any:
        """The context, with the settings that stand in `configurable`, as LangGraph's server takes them.

        Inside another graph, `configurable` is that graph's, whose names may mean something else.

        Raises:
            InputError: the context says otherwise, or a setting is invalid.
        """
        place = (config or {}).get("configurable") or (self.config or {}).get("configurable") or {}
        named = {name: value for name, value in place.items() if name in Settings.model_fields}
        given = context or self.settings
        if not named or is_inside_node(place) or (context and is_served(place)):
            return given
        if not context:
            return named if given is None else settings_of({**given.model_dump(exclude_unset=True), **named})
        known = context if isinstance(context, Mapping) else vars(settings_of(context))
        if other := [name for name, value in named.items() if known.get(name, value) != value]:
            raise InputError(
                f"{other[0]} is {known[other[0]]!r} in the context and {named[other[0]]!r} in configurable",
                where="configurable",
                remedy="Give settings in one place: context={…}.",
            )
        return {**named, **context} if isinstance(context, Mapping) else context

    def _holding(self, config: RunnableConfig) -> tuple[RunnableConfig, list[tuple[str, str]]]:
        """The configuration, with a list under `HELD` if the conversation cannot be resumed afterwards.

        It can be resumed if there are checkpoints: the graph's own, or those of the surrounding graph.
        """
        place, kept = self._place(config)
        held: list[tuple[str, str]] = []
        if kept is not None:
            return config, held
        return {**config, "configurable": {**place, HELD: held}}, held

    def _place(self, config: RunnableConfig) -> tuple[Mapping[str, Any], RunnableConfig | None]:
        """The contents of `configurable`, and the configuration of the conversation's state; None if none is kept."""
        place = config.get("configurable") or (self.config or {}).get("configurable") or ensure_config()["configurable"]
        kept = self.checkpointer or saver_around(place) is not None
        return place, {"configurable": dict(place)} if kept else None

    def _callbacks(self, config: RunnableConfig | None) -> Callbacks:
        """The callbacks that LangGraph would use: of the call, else of the graph, else of the surrounding run."""
        given = (config or {}).get("callbacks") or (self.config or {}).get("callbacks")
        return given or ensure_config().get("callbacks")


def _needs_ledger(place: Mapping[str, Any], kept: RunnableConfig | None) -> bool:
    """Whether the conversation must make a ledger; not if a required thread id is missing: LangGraph then raises."""
    return not has_ledger(place) and (kept is None or "thread_id" in place)


def _used(snapshot: StateSnapshot) -> Mapping[str, Mapping[str, Any]]:
    """The requests, tokens and cost of a thread so far."""
    return snapshot.values.get("usage") or {}


def _let_go(held: list[tuple[str, str]]) -> None:
    for store, simulation in held:
        let_go(store, simulation)


def _begun(given: Any) -> Any:
    """An input that clears the topic of an earlier conversation on the thread, if its messages give the topic."""
    said = isinstance(given, Mapping) and given.get("messages") and not given.get("topic")
    return {**given, "topic": ""} if said else given


def _unlimited(config: RunnableConfig | None, manager: BaseCallbackManager) -> RunnableConfig:
    """A conversation's own configuration, without a recursion limit, and with traces that leave out keys."""
    told: RunnableConfig = {"callbacks": manager} if redact_told(manager) else {}
    return {**(config or {}), **told, "recursion_limit": UNLIMITED}
