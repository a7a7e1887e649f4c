"""What would be left out of a past prompt: of which runs it may be told, and by which methods."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from persimchat.app.web.shared.stories import closed
from persimchat.runs.folder.reading import Record, read_run
from persimchat.state.errors import InputError

Scored = Literal["attention", "embedding", "length", "random"]
"""The methods that can be asked about."""


class ClosedError(InputError):
    """People play the story, so its prompts are not told."""


def open_record(folder: Path) -> Record:
    """A run whose prompts may be told. Blocks.

    Raises:
        ClosedError: people play it.
        InputError: the folder is damaged.
    """
    if closed(folder):
        raise ClosedError(
            "people play this story, so nothing of its prompts is told",
            where=folder.name,
            remedy="Let them play it to its end.",
        )
    return read_run(folder)
