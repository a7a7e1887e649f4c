"""What to do with persona files that a command has just made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_NAMED: Final = 6
"""So many files are named on the command line that is shown."""


def how_to_use(kept: Sequence[Path]) -> str:
    """A line that tells how to let them talk, or how to read the only one."""
    if len(kept) == 1:
        return f"Read it: persimchat personas show {shlex.quote(str(kept[0]))}"
    named = [str(file) for file in kept[:_NAMED]]
    if any("," in name for name in named):
        return "Let them talk: list the files under 'participants:' in a scenario, and run it with --scenario."
    what = "Let them talk" if len(kept) <= _NAMED else f"Let the first {_NAMED} talk"
    return f'{what}: persimchat run "…" --participants {shlex.quote(",".join(named))}'
