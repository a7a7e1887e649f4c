"""Cuts an answer where a client wants it to end: before a text, or after a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from persimchat.prompts.blocks import estimated_tokens

_BYTES_A_TOKEN: Final = 4
"""As in `estimated_tokens`."""


class Cut:
    """Takes an answer piece by piece, and gives what a client may see of it.

    Attributes:
        text: what was given so far.
        reason: why it ended; "stop" also for an answer that came to its own end.
        over: whether the rest is not given.

    Args:
        stops: texts before which it ends.
        tokens: the most tokens, estimated; None for no limit.
    """

    def __init__(self, stops: Sequence[str] = (), tokens: int | None = None) -> None:
        self._stops = [stop for stop in stops if stop]
        self._bytes = None if tokens is None else tokens * _BYTES_A_TOKEN
        self._held = ""
        self._given = 0
        self.text = ""
        self.reason: Literal["stop", "length"] = "stop"
        self.over = False

    def take(self, piece: str) -> str:
        """What may be seen of another piece; the beginning of a stop text is held back."""
        if self.over:
            return ""
        self._held += piece
        found = [at for at in map(self._held.find, self._stops) if at >= 0]
        if found:
            return self._let(self._held[: min(found)], over=True)
        keep = max((_begun(self._held, stop) for stop in self._stops), default=0)
        return self._let(self._held[: len(self._held) - keep], rest=self._held[len(self._held) - keep :])

    def rest(self) -> str:
        """What was held back, when the answer is complete."""
        return "" if self.over else self._let(self._held)

    @property
    def tokens(self) -> int:
        """Estimated tokens of what was given; 0 for nothing."""
        return estimated_tokens(self.text) if self.text else 0

    def _let(self, text: str, *, rest: str = "", over: bool = False) -> str:
        self._held, self.over = rest, over
        if self._bytes is not None and len(data := text.encode()) > self._bytes - self._given:
            text = data[: self._bytes - self._given].decode(errors="ignore")
            self.reason, self.over, self._held = "length", True, ""
        self._given += len(text.encode())
        self.text += text
        return text


def _begun(text: str, stop: str) -> int:
    """How many characters at the end of a text begin a stop text."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
