"""What somebody asks for on the command line. It loads nothing, so a wrong option is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Wanted:
    """What somebody asked for on the command line; None and empty where they did not say."""

    topic: str | None = None
    config: Path | None = None
    participants: str | None = None
    number: int | None = None
    arguments: Mapping[str, Any] | None = None
    """Settings that have an option of their own."""
    settings: Path | None = None
    """A file of settings."""
    assignments: tuple[str, ...] = ()
    """What `--set` was given."""
    humans: tuple[str, ...] = ()
    """Who is a person: participants, or others who join."""
