"""Streamed messages whose id the caller chooses.

LangGraph shows a message once where the one that a node returns has the id under which it was streamed; a run is
repeatable where ids do not come from a provider or a random number. Both need the id to be set before the first token.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult


class WithMessageId(BaseChatModel):
    """A chat model that answers as another one does, under an id of the caller's choice.

    Attributes:
        inner: the model that answers.
        message_id: the id of the message, and of every chunk of it.
    """

    inner: BaseChatModel
    message_id: str

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._named(self.inner._generate(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._named(await self.inner._agenerate(messages, stop, run_manager, **kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if not self.inner._should_stream(async_api=True, stream=True):
            whole = (await self._agenerate(messages, stop, run_manager, **kwargs)).generations[0].message
            yield ChatGenerationChunk(message=AIMessageChunk(**whole.model_dump(exclude={"type"})))
            return
        held: ChatGenerationChunk | None = None
        async for chunk in self.inner._astream(messages, stop, run_manager, **kwargs):
            chunk.message.id = self.message_id
            if held is not None:
                yield held
            held = chunk
        if held is not None:
            # Said to be the last one, LangChain adds no empty chunk under an id of its own.
            if isinstance(held.message, AIMessageChunk):
                held.message.chunk_position = "last"
            yield held

    def _named(self, result: ChatResult) -> ChatResult:
        for generation in result.generations:
            generation.message.id = self.message_id
        return result
