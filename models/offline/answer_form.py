"""The answer that a debate is to come to, as its prompts word it: free text, yes or no, a choice, a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.verdict import answer_description

_FORMS: Final[dict[str, AnswerFormat]] = {answer_description(f): f for f in ("free", "yesno", "number")}
_CHOICE: Final = answer_description("choice")
NUMBER: Final = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number in digits, with or without commas between thousands."""


@dataclass(frozen=True)
class AnswerForm:
    """What an answer has to look like; `choices` only where one of them is asked for."""

    kind: AnswerFormat = "free"
    choices: tuple[str, ...] = ()


def form_of(words: str) -> AnswerForm:
    """The form that a description asks for; free text where it is none of the known ones."""
    text = words.strip().rstrip(".")
    if text.startswith(_CHOICE):
        choices = tuple(c.strip() for c in text[len(_CHOICE) :].lstrip(": ").split("; ") if c.strip())
        return AnswerForm("choice", choices) if len(choices) > 1 else AnswerForm()
    return AnswerForm(next((kind for said, kind in _FORMS.items() if text.startswith(said)), "free"))


def spelled(value: float) -> str:
    """A number as it stands in a sentence: "1,200", "0.25"."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"
