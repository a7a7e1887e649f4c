"""How many tokens an answer may have, and how many characters are taken of it."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any, Final

from pydantic import BaseModel

from persimchat.models.schemas import wire_schema
from persimchat.state.settings import Settings

THINKING: Final = 8192
"""Tokens more for a model that thinks in tokens which count against the limit."""
MOST: Final = 16_384
"""Tokens of the longest answer, but for a script: as many as current models write at most."""

_AROUND: Final = 64
"""Tokens for what models put around an answer: a fence, a sentence."""
_A_WORD: Final = 8
"""Tokens for a word of the target length: twice what words have in languages that tokenizers know least."""
_CHARACTERS_A_TOKEN: Final = 3
_LONGEST_TEXT: Final = 1500
_MOST_ENTRIES: Final = 20
"""What is reckoned with where a schema has no bound."""
_SCALAR: Final = 8

_CHARACTERS: Final = 8
"""So many characters a token of the limit are taken; a server that sends more does not heed it."""
_LEAST_CHARACTERS: Final = 4000


def answer_tokens(
    settings: Settings, module: str, schema: type[BaseModel] | None = None, *, thinks: bool = False
) -> int:
    """How many tokens an answer may have: generous enough for whatever the task asks for, and no more.

    Args:
        settings: `answer_tokens` where it is set; else `utterance_words` and, for a script, `max_messages` count.
        module: who asks.
        schema: the answer's; None for free text.
        thinks: whether the model thinks in tokens that count.
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
    """The limit of an answer that is asked for once more because it was cut."""
    return tokens + ceil(tokens / 2)


@cache
def _longest(schema: type[BaseModel]) -> int:
    return _tokens(wire_schema(schema))


def _tokens(node: dict[str, Any]) -> int:
    """Tokens of the longest value that a schema allows, about."""
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
    """Characters that are taken of an answer with this limit of tokens."""
    return max(_LEAST_CHARACTERS, tokens * _CHARACTERS)
