"""Where a world is served: its address, in a file of its folder while a server has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from persimchat.state.plain_text import one_line

SERVED: Final = "served.txt"
"""The file with the address; it is there while the world is served, and after a server was killed."""
_LONGEST: Final = 300


@contextmanager
def noted(folder: Path, address: str) -> Iterator[None]:
    """Note the address of a world while the body serves it.

    Args:
        folder: the world's, which this process holds.
        address: where the page is, for people.
    """
    note = folder / SERVED
    with suppress(OSError):  # it only helps people to find the server
        note.write_text(f"{address}\n", encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)


def served_at(folder: Path) -> str:
    """The address of a world that another process holds; empty if it serves nobody. Means nothing for a free world."""
    try:
        return one_line((folder / SERVED).read_text(encoding="utf-8"))[:_LONGEST]
    except (OSError, UnicodeDecodeError):
        return ""
