"""Fits a request to the model's context: which parts of a question are sent, and how long its answer may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Final, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ..prompts.fitting import Dropped, Question, followed_by, prompt_size
from ..state.errors import ModelError, PromptTooLong
from ..state.settings import Settings
from . import capacity, ladder
from .ladder import is_openai
from .naming import ModelName
from .schemas import wire_schema

THINKING: Final = 8192
"""Additional tokens for a model whose thinking counts against the limit."""
MOST: Final = 16_384
"""The most tokens of an answer that is not a script: current models write no more."""

_AROUND: Final = 64
"""Tokens for text around an answer: a fence, a sentence."""
_A_WORD: Final = 8
"""Tokens per word of the target length: twice the number in languages that tokenizers handle worst."""
_CHARACTERS_A_TOKEN: Final = 3
_LONGEST_TEXT: Final = 1500
_MOST_ENTRIES: Final = 20
"""Assumed if a schema has no bound."""
_SCALAR: Final = 8

_CHARACTERS: Final = 8
"""Characters that are read per token of the limit; a server that sends more ignores the limit."""
_LEAST_CHARACTERS: Final = 4000


def answer_tokens(
    settings: Settings, module: str, schema: type[BaseModel] | None = None, *, thinks: bool = False
) -> int:
    """The limit of an answer in tokens: enough for every valid answer, and little more.

    Args:
        settings: `answer_tokens` if it is set; else `utterance_words` and, for a script, `max_messages`.
        module: the module that asks.
        schema: the answer's schema; None for free text.
        thinks: whether the model's thinking counts against the limit.
    """
    if settings.answer_tokens is not None:
        return settings.answer_tokens
    words = settings.utterance_words * _A_WORD + _AROUND
    if schema is not None:
        needed = min(_AROUND + longest(schema), MOST)
    else:
        needed = _AROUND + words * (settings.max_messages if module == "script" else 1)
    return needed + THINKING if thinks else needed


def half_again(tokens: int) -> int:
    """The limit of the second answer, if the first one was cut."""
    return tokens + ceil(tokens / 2)


@cache
def longest(schema: type[BaseModel]) -> int:
    """The approximate tokens of the longest answer that a schema allows."""
    return _tokens(wire_schema(schema))


def _tokens(node: dict[str, Any]) -> int:
    """The approximate tokens of the longest value that a schema allows."""
    if "anyOf" in node:
        return max(map(_tokens, node["anyOf"]))
    if "enum" in node:
        return _text(max(len(str(value)) for value in node["enum"]))
    match node.get("type"):
        case "object":
            return 2 + sum(_text(len(name)) + _tokens(part) for name, part in node.get("properties", {}).items())
        case "array":
            return 2 + int(node.get("maxItems", _MOST_ENTRIES)) * (1 + _tokens(node.get("items", {})))
        case "string":
            return _text(node.get("maxLength", _LONGEST_TEXT))
        case _:
            return _SCALAR


def _text(characters: int) -> int:
    return 3 + ceil(characters / _CHARACTERS_A_TOKEN)


def most_characters(tokens: int) -> int:
    """The most characters that are read of an answer with this limit of tokens."""
    return max(_LEAST_CHARACTERS, tokens * _CHARACTERS)


WHOLE: Final = ("judge", "analysis", "revision", "evaluation", "poll", "interview")
"""Modules that judge a conversation, or answer a question as somebody: their prompts are never shortened, because they
would judge another one, or answer as somebody else."""

_LEAST_ROOM: Final = 16


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits, and the limit of its answer.

    Attributes:
        messages: the prompt.
        tokens: the most tokens of the answer.
        field: the request's field for this limit; None if the server accepts no limit.
        dropped: the parts of the question that were left out.
        context: tokens of the model's context; None if it has no limit.
    """

    messages: list[BaseMessage]
    tokens: int
    field: str | None
    dropped: Dropped = Dropped()
    context: int | None = None

    def arguments(self, model: BaseChatModel, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a request, with the limit of tokens among them."""
        if self.field is None:
            return given
        if not is_openai(model):
            return {**given, self.field: self.tokens}
        # As a normal argument, the client would rename it to the field of OpenAI's newest models.
        return {**given, "extra_body": {**given.get("extra_body", {}), self.field: self.tokens}}


class Asking(Protocol):
    """Who asks: the settings, the cognitive module and the model of a question, and the error that names them."""

    settings: Settings
    module: str
    name: ModelName

    def error(self, what: str, *, remedy: str = "", kind: type[ModelError] = ModelError) -> ModelError:
        """An error that names who asked."""


async def fit(
    exchange: Asking,
    model: BaseChatModel,
    question: Question,
    schema: type[BaseModel] | None = None,
    *,
    behind: str = "",
    more_room: bool = False,
) -> Fitted:
    """Make a question fit the model's context, together with room for its answer.

    If it does not fit, memories are left out, then utterances (`prompts/fitting.py`). The answer may have as many
    tokens as its limit says, or as are left. Parts are left out until half of the limit, or a quarter of the context,
    is free for the answer. If no more can be left out, a quarter of the limit, or a sixteenth of the context, suffices.

    Args:
        exchange: names the module and the model.
        model: the model's client.
        question: the question.
        schema: the answer's schema; None for free text.
        behind: text that follows the question.
        more_room: whether the answer was cut, so that it may have half again as many tokens.

    Raises:
        PromptTooLong: the prompt does not fit, and no more may be left out.
    """
    name, settings = exchange.name, exchange.settings
    tokens = answer_tokens(settings, exchange.module, schema, thinks=capacity.thinks(name))
    tokens = half_again(tokens) if more_room else tokens
    tokens = min(tokens, capacity.most_output(model) or tokens)
    field = ladder.token_limit(name)
    context = await capacity.context_tokens(name, model, settings)
    if context is None:
        return Fitted(followed_by(question.messages, behind) if behind else question.messages, tokens, field)
    room = max(_LEAST_ROOM, min(tokens // 2, context // 4))
    asked = question.whole() if exchange.module in WHOLE else question
    messages, dropped = asked.shortened_to(context - room, behind=behind)
    size = prompt_size(messages)
    least = max(_LEAST_ROOM, min(tokens // 4, context // 16))
    if size + least > context:
        raise _too_long(exchange, size, least, context)
    return Fitted(messages, min(tokens, context - size), field, dropped, context)


def _too_long(exchange: Asking, size: int, room: int, context: int) -> ModelError:
    own = exchange.settings.context_tokens
    if own is not None and own <= context:
        remedy = f"Raise context_tokens, for example --set context_tokens={max(8192, 2 * (size + room))}."
    elif exchange.name.provider == "ollama":
        remedy = "Start Ollama with a greater OLLAMA_CONTEXT_LENGTH, or name another model."
    elif exchange.module in WHOLE:
        remedy = f"Name a model with a larger context for it (module_models, {exchange.module})."
    else:
        remedy = "Name a model with a larger context, or start the server with a larger one."
    return exchange.error(
        f"too long: the prompt has about {size:,} tokens, with {room:,} for the answer more than the context of "
        f"{context:,} tokens, and nothing can be left out",
        remedy=remedy,
        kind=PromptTooLong,
    )
