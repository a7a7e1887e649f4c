"""A ledger for conversations without a run: inside other graphs, by `invoke`, in Studio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from persimchat.models.ledger import LEDGER, Ledger
from persimchat.state.errors import BudgetExhausted


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
        over = bool(self._last.get("stop_reason"))  # only the majority's position is missing
        return self._again({**self._last, **({} if over else end), "usage": rows})


def has_ledger(place: Mapping[str, Any]) -> bool:
    """Whether the caller of the conversation has given it a ledger."""
    return isinstance(place.get(LEDGER), Ledger)
