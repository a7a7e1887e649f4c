"""What one tab looks at: a run, up to a turn."""

from __future__ import annotations

from persimchat.app.web.board import Board
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.place import Place


class Viewing:
    """A tab's view of a run. Panels ask it what to draw, and draw when `revision` has changed.

    Attributes:
        place: what the pages work with.
        run: the run's id.
        board: what is to be seen of the run.
        at: the turn that is shown; None for the newest.
    """

    def __init__(self, place: Place, run: str, board: Board, at: int | None = None) -> None:
        self.place = place
        self.run = run
        self.board = board
        self.at = None if at is None else max(0, at)

    @property
    def live(self) -> LiveRun | None:
        """The run where this server holds it and it goes on; None otherwise."""
        live = self.place.runs.get(self.run)
        return live if live is not None and not live.over else None

    @property
    def turn(self) -> int:
        """The turn that is shown: everything up to its end is to be seen, and nothing after it."""
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
