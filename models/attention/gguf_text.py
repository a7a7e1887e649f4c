"""A model's prompt under its own chat template."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..naming import shown
from ..redaction import short

if TYPE_CHECKING:
    from tokenizers import Tokenizer


_SCRIPT: Final = Path(__file__).with_name("template_process.py")
_SECONDS: Final = 30.0
"""The longest wait for a template; its process ends itself much earlier, unless the machine is busy."""
_LONGEST: Final = 1 << 16
_SYSTEM, _USER = "PERSIMCHAT-SYSTEM", "PERSIMCHAT-USER"
"""What stands in the place of the two messages while a template is rendered: it sees no data."""


@dataclass(frozen=True)
class ChatTemplate:
    """What stands before, between and behind the messages of a prompt.

    Attributes:
        with_system: before the system message, between it and the user message, and behind both; None if the model
            takes no system message.
        alone: before and behind a user message without a system message.
    """

    with_system: tuple[str, str, str] | None
    alone: tuple[str, str]

    def prompt(self, system: str, user: str) -> tuple[str, int]:
        """The prompt, and where the user's message begins in it.

        A model that takes no system message gets it at the beginning of the user's.
        """
        if not system:
            before, behind = self.alone
        elif self.with_system is None:
            before, behind = f"{self.alone[0]}{system}\n\n", self.alone[1]
        else:
            first, between, behind = self.with_system
            before = f"{first}{system}{between}"
        return f"{before}{user}{behind}", len(before)

    def begun(self, token: str) -> ChatTemplate:
        """The same with the token that begins a sequence, unless it is there already."""
        if self.alone[0].startswith(token):
            return self
        full = self.with_system
        return ChatTemplate(
            (f"{token}{full[0]}", full[1], full[2]) if full else None, (f"{token}{self.alone[0]}", self.alone[1])
        )


def read_template(source: str, *, begin: str, end: str) -> ChatTemplate:
    """Render a chat template once, in a process of its own with bounded time, memory and length.

    Args:
        source: a template in the language of jinja2.
        begin: the text of the token that begins a sequence.
        end: the text of the token that ends one.

    Raises:
        ValueError: it cannot be used; the message says why.
    """
    if len(source) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST:,} characters")
    user = {"role": "user", "content": _USER}
    conversations = [[{"role": "system", "content": _SYSTEM}, user], [user]]
    asked = {"template": source, "begin": begin, "end": end, "conversations": conversations}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_SCRIPT)],
            input=json.dumps(asked) + "\n",
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise ValueError("it takes too much time or memory") from None
    full, alone = json.loads(done.stdout)
    if "error" in alone:
        raise ValueError(short(alone["error"]))
    parts = _parts(alone["text"], _USER)
    whole = _parts(full["text"], _SYSTEM, _USER) if "text" in full else None
    return ChatTemplate((whole[0], whole[1], whole[2]) if whole else None, (parts[0], parts[1]))


def _parts(text: str, *messages: str) -> list[str]:
    """What stands before, between and behind the messages."""
    parts = []
    for message in messages:
        before, found, text = text.partition(message)
        if not found or message in text:
            raise ValueError("it does not write each message once, in order")
        parts.append(before)
    return [*parts, text]


# What a GGUF file says of text: its tokens, how it splits a text into them, and its chat template


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
