"""The folders to which results go by default, relative to the working directory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

CONVERSATIONS: Final = Path("conversations")
"""Runs."""
RESULTS: Final = Path("results")
"""Experiments, each in a folder of its own."""
WORLDS: Final = Path("worlds")
"""Worlds of companions, each in a folder of its own."""
