"""Filters what a model's server sends: limits its length, and removes keys and values that no file can store.

This module does not trust servers: answers may be endless, nested a thousand levels deep, repeat a key, or have
characters that no encoding accepts. An answer that is cut off here is invalid, and the model is asked again.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from .answers import DEEPEST, THINKING, TOO_DEEP, TOO_LONG, is_deep, thinking_of
from .failures import TooMuch, chain
from .redaction import KeysInPieces, keys_in_words, without_keys
from .spoken import UNWRAPPED, StreamedWords

LONGEST: Final = 200_000
"""The most characters of an answer, thinking included: about 50,000 tokens. A longer answer is invalid."""
KEPT: Final = 2_000
"""The characters that are kept of an answer that was too long."""
_AFTER: Final = 64
"""The most pieces of a stream that are read after the one with the stop reason: they report tokens."""
_GREATEST: Final = 2**53
_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "additional_kwargs", "response_metadata")

Keys = re.Pattern[str] | None
"""A pattern of the known keys (`redaction.keys_in_words`)."""


class StreamFilter(BaseChatModel):
    """A chat model that filters the answers of another one (`received`), and gives them the caller's message id.

    LangGraph shows a message only once if a node returns it with the id under which it was streamed. A run is
    repeatable only if ids do not come from a provider or a random number. Both need the id before the first token.

    Attributes:
        inner: the model that answers.
        message_id: the id of the message and of all its chunks; None for LangChain's own id.
        longest: the most characters of an answer. A longer one ends as if the server had cut it: a stream is closed,
            and the words until then stay.
    """

    inner: BaseChatModel
    message_id: str | None = None
    longest: int = LONGEST

    @cached_property
    def _serialized(self) -> dict[str, Any]:
        """The model in traces: its class only, because serialising all its fields takes a millisecond."""
        return {"lc": 1, "type": "not_implemented", "id": self.lc_id(), "name": type(self).__name__}

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return dict(self.inner._identifying_params)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._taken(self.inner._generate(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        try:
            result = await self.inner._agenerate(messages, stop, run_manager, **kwargs)
        except Exception as error:
            reason, length = _unusable(error)
            if not reason:
                raise
            result = ChatResult(generations=[ChatGeneration(message=_cut(AIMessage(""), reason, length))])
        return self._taken(result)

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
        pieces = self._pieces(messages, stop, run_manager, **kwargs)
        async with aclosing(pieces):
            async for chunk in pieces:
                if self.message_id is not None:
                    chunk.message.id = self.message_id
                if held is not None:
                    yield held
                held = chunk
        if held is not None:
            # Without a chunk marked as the last, LangChain would add an empty one with another id.
            if isinstance(held.message, AIMessageChunk):
                held.message.chunk_position = "last"
            yield held

    async def _pieces(self, *given: Any, **kwargs: Any) -> AsyncGenerator[ChatGenerationChunk, None]:
        """The filtered chunks of a stream, up to its limit."""
        words, length, over, after = _Words(), 0, "", 0
        stream = self.inner._astream(*given, **kwargs)
        async with aclosing(cast(Any, stream)):  # LangChain's type does not say that the stream can be closed
            try:
                async for chunk in stream:
                    text = str(chunk.message.text)
                    length += len(text) + len(thinking_of(chunk.message))
                    if after and text:
                        continue  # the answer was over
                    if length > min(self.longest, LONGEST):
                        over = "length" if self.longest < LONGEST else TOO_LONG
                        fits = text[: max(0, self.longest - (length - len(text)))]
                        yield ChatGenerationChunk(message=AIMessageChunk(content=words.take(_encodable(fits))))
                        break
                    chunk = _passed(chunk, words)
                    ended = chunk.generation_info and chunk.generation_info.get("finish_reason")
                    after += bool(after or ended)
                    if ended or after:
                        yield _with_rest(chunk, words)
                    else:
                        yield chunk
                    if after > _AFTER:
                        break
            except Exception as error:
                over, received = _unusable(error)
                if not over:
                    raise
                length = max(length, received)
        if over:
            message = _cut(AIMessage(""), over, length)
            yield ChatGenerationChunk(
                message=AIMessageChunk(
                    content="", response_metadata=message.response_metadata, usage_metadata=message.usage_metadata
                )
            )
        elif any((rest := words.rest(), more := words.removed())):
            yield ChatGenerationChunk(message=AIMessageChunk(content=rest, additional_kwargs=more))

    def _taken(self, result: ChatResult) -> ChatResult:
        """A whole answer, filtered; if a server sends several, the first one is taken."""
        if not result.generations:
            raise ValueError("the answer holds no message")
        generation, keys = result.generations[0], keys_in_words()
        if isinstance(generation.message, AIMessage):
            generation = ChatGeneration(
                message=received(generation.message, keys, self.longest),
                generation_info=_kept(generation.generation_info, keys),
            )
        if self.message_id is not None:
            generation.message.id = self.message_id
        return ChatResult(generations=[generation], llm_output=_kept(result.llm_output, keys))


def received(message: AIMessage, keys: Keys, longest: int = LONGEST) -> AIMessage:
    """A whole answer, cut if it is too long or too deep, without known keys and broken characters.

    The reason for a cut is in its metadata as the stop reason, which `answers.stop_problem` reads.

    Args:
        message: the answer.
        keys: the pattern of known keys (`redaction.keys_in_words`).
        longest: the most characters of its text; longer tool calls and other longer fields are left out.
    """
    length = len(str(message.text)) + sum(len(call.get("args") or "") for call in message.invalid_tool_calls)
    if length > LONGEST:
        message = _cut(message, TOO_LONG, length)
    elif any(is_deep(call["args"]) for call in message.tool_calls):
        message = _cut(message, TOO_DEEP, length)
    else:
        message = _bounded(message, longest)
    fields = {name: _kept(getattr(message, name), keys) for name in _FIELDS}
    return message.model_copy(update={**fields, "id": message.id and _text(message.id, keys)})


def _bounded(message: AIMessage, longest: int) -> AIMessage:
    """The answer, or the beginning of one with more than `longest` characters, as if the server had cut it."""
    text, calls = str(message.text), [*message.tool_calls, *message.invalid_tool_calls]
    kept: dict[str, Any] = {
        "additional_kwargs": {k: v for k, v in message.additional_kwargs.items() if len(str(v)) <= longest}
    }
    if len(text) > longest:
        kept["content"] = text[:longest]
    if len(text) > longest or any(len(str(call["args"])) > longest for call in calls):
        kept |= {"tool_calls": [], "invalid_tool_calls": []}
        kept["response_metadata"] = {**message.response_metadata, "finish_reason": "length"}
    return message.model_copy(update=kept)


def _cut(message: AIMessage, reason: str, length: int) -> AIMessage:
    """The beginning of an unusable answer, with the reason as its stop reason; its length counts as tokens."""
    usage = message.usage_metadata or {"input_tokens": 0, "output_tokens": length // 4, "total_tokens": length // 4}
    return AIMessage(
        str(message.text)[:KEPT],
        id=message.id,
        response_metadata={**message.response_metadata, "finish_reason": reason},
        usage_metadata=usage,
    )


def _unusable(error: BaseException) -> tuple[str, int]:
    """Why an answer is unusable (`TOO_LONG`, `TOO_DEEP`) and its length; empty if the request failed otherwise."""
    for cause in chain(error):
        if isinstance(cause, TooMuch):
            return TOO_LONG, cause.received
        if isinstance(cause, RecursionError):
            return TOO_DEEP, 0
    return "", 0


class _Words:
    """The words of a stream, without thinking, known keys and half characters, however the pieces split them."""

    def __init__(self) -> None:
        self._keys, self._half, self._shown = KeysInPieces(), "", StreamedWords()
        self.known = keys_in_words()

    def take(self, piece: str) -> str:
        piece = self._half + piece
        self._half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        return self._shown.take(self._keys.take(_encodable(piece[: len(piece) - len(self._half)])))

    def rest(self) -> str:
        half, self._half = self._half, ""
        return self._shown.take(self._keys.take(_encodable(half)) + self._keys.rest()) + self._shown.rest()

    def removed(self, told: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """What was left out since the last time, for the `additional_kwargs` of a piece that has these."""
        removed, self._shown.removed = self._shown.removed, ""
        return {THINKING: f"{told.get(THINKING, '')}{removed}", UNWRAPPED: True} if removed else {}


def _passed(chunk: ChatGenerationChunk, words: _Words) -> ChatGenerationChunk:
    """A filtered chunk of a stream."""
    content = chunk.message.content
    fields: dict[str, Any] = {name: _kept(getattr(chunk.message, name), words.known) for name in _FIELDS[3:]}
    fields["content"] = words.take(content) if isinstance(content, str) else _kept(content, words.known)
    fields["additional_kwargs"] |= words.removed(fields["additional_kwargs"])
    message = chunk.message.model_copy(update=fields)
    return ChatGenerationChunk(message=message, generation_info=_kept(chunk.generation_info, words.known))


def _with_rest(chunk: ChatGenerationChunk, words: _Words) -> ChatGenerationChunk:
    """A chunk that ends the words, with the words that were held back."""
    rest, more = words.rest(), words.removed(chunk.message.additional_kwargs)
    if not (rest or more) or not isinstance(chunk.message.content, str):
        return chunk
    update = {"content": chunk.message.content + rest, "additional_kwargs": chunk.message.additional_kwargs | more}
    message = chunk.message.model_copy(update=update)
    return ChatGenerationChunk(message=message, generation_info=chunk.generation_info)


def _kept(value: Any, keys: Keys, depth: int = DEEPEST) -> Any:
    """A value of an answer in a form that files and databases accept; None for too deep values and invalid numbers."""
    if isinstance(value, str):
        return _text(value, keys)
    if isinstance(value, dict):
        return {_kept(key, keys): _kept(item, keys, depth - 1) for key, item in value.items()} if depth else None
    if isinstance(value, list):
        return [_kept(item, keys, depth - 1) for item in value] if depth else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if -_GREATEST <= value <= _GREATEST else None
    return value


def _text(text: str, keys: Keys) -> str:
    return without_keys(_encodable(text), keys)


def _encodable(text: str) -> str:
    """The text with halves of characters (lone surrogates) replaced, because no encoding accepts them."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
