"""Numbers as fields of the page give them."""

from __future__ import annotations

from typing import Any


def whole(value: Any) -> int | None:
    """A field's whole number; None where there is none in it."""
    return int(value) if isinstance(value, int | float) and value == value // 1 else None
