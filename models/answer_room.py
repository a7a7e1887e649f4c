"""Limits of an answer: the tokens that it may have, and the characters that are read of it."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any, Final

from pydantic import BaseModel

from persimchat.models.schemas import wire_schema
from persimchat.state.settings import Settings

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
        needed = min(_AROUND + _longest(schema), MOST)
    else:
        needed = _AROUND + words * (settings.max_messages if module == "script" else 1)
    return needed + THINKING if thinks else needed


def half_again(tokens: int) -> int:
    """The limit of the second answer, if the first one was cut."""
    return tokens + ceil(tokens / 2)


@cache
def _longest(schema: type[BaseModel]) -> int:
    return _tokens(wire_schema(schema))


def _tokens(node: dict[str, Any]) -> int:
    """The approximate tokens of the longest value that a schema allows."""
    if "anyOf" in node:
        return max(map(_tokens, node["anyOf"]))
    if "enum" in node:
        return _text(max(len(str(value)) for value in node["enum"]))
    match node.get("type"):
        case "object":
            return 2 + sum(_text(len(name)) + _tokens(part) for name, part in node["properties"].items())
        case "array":
            return 2 + int(node.get("maxItems", _MOST_ENTRIES)) * (1 + _tokens(node["items"]))
        case "string":
            return _text(node.get("maxLength", _LONGEST_TEXT))
        case _:
            return _SCALAR


def _text(characters: int) -> int:
    return 3 + ceil(characters / _CHARACTERS_A_TOKEN)


def most_characters(tokens: int) -> int:
    """The most characters that are read of an answer with this limit of tokens."""
    return max(_LEAST_CHARACTERS, tokens * _CHARACTERS)
