"""What the pages work with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from persimchat.app.web.live_runs import LiveRuns


@dataclass(frozen=True)
class Place:
    """What every page is given.

    Attributes:
        runs: the runs of this server.
        library: the folder of one's own personas (`personas/`) and scenarios (`scenarios/`).
    """

    runs: LiveRuns
    library: Path
