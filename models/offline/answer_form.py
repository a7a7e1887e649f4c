"""The form of a debate's answer: free text, yes or no, a choice, a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from persimchat.state.answer_format import AnswerFormat

NUMBER: Final = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number in digits, with or without commas between thousands."""


@dataclass(frozen=True)
class AnswerForm:
    """The form of an answer; `choices` is empty unless the answer must be one of them."""

    kind: AnswerFormat = "free"
    choices: tuple[str, ...] = ()


def spelled(value: float) -> str:
    """A number in a sentence: "1,200", "0.25"."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"
