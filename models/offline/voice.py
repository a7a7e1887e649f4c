"""How a sentence sounds in a register, and the last look over it: spacing, capitals, full stops."""

from __future__ import annotations

import re
from typing import Final

from persimchat.models.offline.grammar import capitalised
from persimchat.models.offline.words import expanded

_FORMAL: Final = (
    (re.compile(r"\bkids\b"), "children"),
    (re.compile(r"\bMum\b"), "my mother"),
    (re.compile(r"\bDad\b"), "my father"),
    (re.compile(r"\bmates\b"), "friends"),
    (re.compile(r"\bdaft\b"), "foolish"),
    (re.compile(r"\bgran\b"), "grandmother"),
)
_SENTENCE_START: Final = re.compile(r"(?<=[.!?…])\s+(\w)")


def spoken(sentences: list[str], register: str) -> str:
    """Sentences as one utterance in a register.

    Args:
        sentences: in order; empty ones are left out.
        register: "casual", "neutral" or "formal"; formal speech has no contractions.
    """
    text = " ".join(s.strip() for s in sentences if s.strip())
    if register == "formal":
        text = expanded(text)
        for pattern, word in _FORMAL:
            text = pattern.sub(word, text)
    return tidied(text)


def tidied(text: str) -> str:
    """One utterance with single spaces, no doubled punctuation, capitals after full stops and an end."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    text = re.sub(r"([?!])[.,;:]+", r"\1", text)
    text = re.sub(r"\.{2,}", ".", text)
    text = re.sub(r"[,;:]+([.,;:!?])", r"\1", text)
    text = re.sub(r",{2,}", ",", text)
    text = _SENTENCE_START.sub(lambda m: " " + m.group(1).upper(), text)
    text = capitalised(text.strip(" ,;:-"))
    return text if text and text[-1] in ".!?…" else f"{text}."
