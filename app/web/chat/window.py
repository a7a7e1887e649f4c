"""Which lines of a conversation stand on the page: a window, so that long ones stay smooth. Pure arithmetic."""

from __future__ import annotations

from typing import Final

STEP: Final = 80
"""So many lines stand at the end of the conversation, and so many more come with each step back."""

LARGEST: Final = 3 * STEP
"""Never more lines than that stand on the page."""


def window(count: int, first: int | None) -> tuple[int, int]:
    """The lines that stand on the page, as the half-open range of their indices.

    Args:
        count: lines there are.
        first: the first line to be shown; None follows the end.
    """
    if first is None:
        return max(0, count - STEP), count
    low = max(0, min(first, count - STEP))
    return low, min(count, low + LARGEST)


def earlier(count: int, first: int | None) -> int:
    """The first line after a step back."""
    return max(0, window(count, first)[0] - STEP)


def later(count: int, first: int | None) -> int | None:
    """The first line after a step forward; None where the end is reached."""
    following = window(count, first)[0] + STEP
    return None if following + LARGEST >= count else following
