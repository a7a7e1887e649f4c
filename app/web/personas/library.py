"""One's own personas: files in the library's folder `personas/`, as the command line reads them."""

from __future__ import annotations

from pathlib import Path

from persimchat.state.persona import Persona


class Library:
    """The personas of a library; every method blocks.

    Args:
        folder: the library's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "personas"

    def personas(self) -> dict[Path, Persona]:
        """One's own personas by file, by name."""
        return {}
