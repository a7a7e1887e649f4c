"""Counting what a run uses: every request to a model, also one that failed or whose step did not come to its end.

The graph's own `usage` channel has what the steps that ended report. A run that fails or is stopped has used more, and
pays for it, so a run's figures come from here.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from persimchat.models.naming import parse_model_name
from persimchat.models.usage import Tally
from persimchat.state.conversation import add_usage
from persimchat.state.settings import Settings


class Meter(AsyncCallbackHandler):
    """A LangChain callback that counts requests and tokens per module, agent and model.

    Args:
        settings: whose prices count.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tallies: dict[tuple[str, str, str], Tally] = {}
        self._under_way: dict[UUID, tuple[Tally, list[BaseMessage]]] = {}

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A request begins."""
        known = metadata or {}
        if "module" not in known or "model" not in known:
            return
        tally = self._tallies.setdefault((known["module"], known["agent"], known["model"]), Tally())
        tally.requests += 1
        self._under_way[run_id] = (tally, messages[0])

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """A request was answered."""
        begun = self._under_way.pop(run_id, None)
        generation = response.generations[0][0] if response.generations and response.generations[0] else None
        if begun and isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            tally, prompt = begun
            tally.add(prompt, generation.message)

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A request failed."""
        self._under_way.pop(run_id, None)

    def rows(self) -> list[dict[str, Any]]:
        """What was used so far, one row a module, agent and model, in the order of their names."""
        calls = [
            tally.call(parse_model_name(model), agent=agent, module=module, turn=0, prices=self._settings.prices)
            for (module, agent, model), tally in sorted(self._tallies.items())
        ]
        return list(add_usage({}, [calls]).values())
