"""What the pages work with: the server's runs and library, and the run and turn that one tab shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from persimchat.app.web.board import Board
from persimchat.app.web.live_runs import LiveRun, LiveRuns


@dataclass(frozen=True)
class WebContext:
    """What every page is given.

    Attributes:
        runs: the runs of this server.
        library: the folder of the user's own personas (`personas/`) and scenarios (`scenarios/`).
    """

    runs: LiveRuns
    library: Path


class Viewing:
    """A tab's view of a run. Panels ask it what to draw, and draw when `revision` has changed.

    Attributes:
        web: what the pages work with.
        run: the run's id.
        board: the run as its events tell it.
        at: the turn that is shown; None for the newest.
    """

    def __init__(self, web: WebContext, run: str, board: Board, at: int | None = None) -> None:
        self.web = web
        self.run = run
        self.board = board
        self.at = None if at is None else max(0, at)

    @property
    def live(self) -> LiveRun | None:
        """The run if this server is running it; None otherwise."""
        return self.web.runs.going_on(self.run)

    @property
    def turn(self) -> int:
        """The turn that is shown, with everything up to its end and nothing after it."""
        return self.board.turn if self.at is None else min(self.at, self.board.turn)

    @property
    def newest(self) -> bool:
        """Whether the view follows the run, also the utterance that is being made."""
        return self.at is None

    @property
    def revision(self) -> tuple[int, int | None]:
        """Differs when there is something else to draw."""
        return (self.board.revision, self.at)

    def go_to(self, turn: int | None) -> None:
        """Show a turn; None follows the run again."""
        self.at = None if turn is None else max(0, min(turn, self.board.turn))
