"""What a GGUF file says of text: its tokens, how it splits a text into them, and its chat template."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from persimchat.models.attention.chat_template import ChatTemplate, read_template
from persimchat.models.naming import shown
from persimchat.models.redaction import short

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONTROL: Final = 3
_OWN: Final = 4
"""Kinds of tokens that are found in a text before it is split: those of the template, and the author's own."""
_BYTE_PAIRS: Final = "gpt2"
_DIGITS: Final = {"smollm": True, "gpt-2": False}
"""The known ways of splitting a text into words; whether each digit is a word."""

_rendered = lru_cache(maxsize=8)(read_template)


def tokens_of(entries: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The tokens and their kinds, by id.

    Raises:
        ValueError: the file lacks them.
    """
    tokens, kinds = entries.get("tokenizer.ggml.tokens"), entries.get("tokenizer.ggml.token_type")
    if not isinstance(tokens, list) or not tokens or not isinstance(tokens[0], str):
        raise ValueError("it has no tokenizer")
    if not isinstance(kinds, list) or len(kinds) != len(tokens):
        raise ValueError("its tokenizer does not say of each token what it is")
    return list(zip(tokens, kinds, strict=True))


def split_digits(entries: Mapping[str, Any]) -> bool:
    """Whether the tokenizer reads each digit by itself.

    Raises:
        ValueError: the tokenizer is of a kind that is not built.
    """
    kind, split = entries.get("tokenizer.ggml.model"), entries.get("tokenizer.ggml.pre")
    if kind != _BYTE_PAIRS:
        raise ValueError(f"its tokenizer is {shown(str(kind))}, and only {_BYTE_PAIRS} is built")
    if split not in _DIGITS:
        raise ValueError(f"its tokenizer splits texts as {shown(str(split))}, and only {', '.join(_DIGITS)} are built")
    return _DIGITS[split]


def tokenizer(entries: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer.

    Raises:
        ValueError: it is incomplete, or of a kind that is not built.
    """
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    tokens, merges = tokens_of(entries), entries.get("tokenizer.ggml.merges")
    if not isinstance(merges, list) or not all(isinstance(pair, str) and pair.count(" ") == 1 for pair in merges):
        raise ValueError("its tokenizer has no pairs to join")
    numbers = {text: number for number, (text, _) in enumerate(tokens)}
    if len(numbers) < len(tokens):
        raise ValueError("its tokenizer has a token twice")
    try:
        found = Tokenizer(models.BPE(numbers, [(pair.split(" ")[0], pair.split(" ")[1]) for pair in merges]))
        whole = [pre_tokenizers.ByteLevel(add_prefix_space=False)]
        digits = [pre_tokenizers.Digits(individual_digits=True)] if split_digits(entries) else []
        found.pre_tokenizer = pre_tokenizers.Sequence([*digits, *whole])
        for kind in (CONTROL, _OWN):
            found.add_special_tokens(
                [AddedToken(text, special=True, normalized=False) for text, of in tokens if of == kind and text]
            )
    except Exception as error:  # the library raises this class itself
        raise ValueError(f"its tokenizer cannot be used: {short(str(error))}") from error
    return found


def template_of(entries: Mapping[str, Any]) -> str:
    """The chat template, as it is written.

    Raises:
        ValueError: the file has none.
    """
    found = entries.get("tokenizer.chat_template")
    if not isinstance(found, str) or not found.strip():
        raise ValueError("it has no chat template")
    return found


def chat_template(entries: Mapping[str, Any]) -> ChatTemplate:
    """The chat template, rendered.

    Raises:
        ValueError: it cannot be used.
    """
    tokens = tokens_of(entries)

    def text(key: str) -> str:
        number = entries.get(f"tokenizer.ggml.{key}_token_id")
        return tokens[number][0] if isinstance(number, int) and 0 <= number < len(tokens) else ""

    try:
        found = _rendered(template_of(entries), begin=text("bos"), end=text("eos"))
    except ValueError as error:
        raise ValueError(f"its chat template cannot be used: {error}") from error
    return found.begun(text("bos")) if entries.get("tokenizer.ggml.add_bos_token") is True else found
