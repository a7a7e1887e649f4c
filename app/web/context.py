"""The context of a page: the server's runs and library, and the run and turn that a tab shows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...runs.folder.answers import Labels
from ...runs.folder.manifest import Manifest
from ...runs.folder.reading import manifest_and_labels
from .background import Downloads, Forecasts
from .board import Board
from .live_runs import LiveRun, LiveRuns

if TYPE_CHECKING:
    from ...runs.companion.world import World
    from .pairs import Pairs
    from .watching import Experiments


@dataclass(frozen=True)
class WebContext:
    """The context that every page gets.

    Attributes:
        runs: the runs of this server.
        library: the folder of the user's own personas (`personas/`) and scenarios (`scenarios/`).
        results: the folder of experiments.
        forecasts: what prompts would lack, worked out for everybody who asks.
        world: the companion's world that this server has opened; None if it has opened none.
        downloads: of model files.
    """

    runs: LiveRuns
    library: Path
    results: Path
    forecasts: Forecasts = field(default_factory=Forecasts)
    world: World | None = None
    downloads: Downloads = field(default_factory=Downloads)

    @cached_property
    def experiments(self) -> Experiments:
        """Those of the folder of results."""
        from .watching import Experiments

        return Experiments(self.results)

    @cached_property
    def pairs(self) -> Pairs:
        """The talks of the world that pages show."""
        from .pairs import Pairs

        return Pairs()


class Viewing:
    """A tab's view of a run. Panels read from it what to draw, and draw again when `revision` has changed.

    Attributes:
        web: the context of the pages.
        run: the run's id.
        board: the run's data.
        at: the turn that is shown; None for the newest.
        part: the part of the panel beside the conversation that is open: "people", "charts" or "mind".
        mind_of: the agent whose mind is shown; None for the last speaker.
        looks: how often a mind was asked for; each time the panel comes to the front.
        experiment: the experiment whose cell the run is, which nobody may change; empty for any other run.
        manifest: how the run was set up; None if it has not been read.
        labels: what the run's user calls it.
    """

    def __init__(self, web: WebContext, run: str, board: Board, at: int | None = None) -> None:
        self.web = web
        self.run = run
        self.experiment = web.runs.experiment_of(run)
        self.board = board
        self.at = None if at is None else max(0, at)
        self.part = "people"
        self.mind_of: str | None = None
        self.looks = 0
        self.manifest: Manifest | None = None
        self.labels = Labels()

    async def read(self) -> None:
        """Read how the run was set up, and what it is called; raises InputError if its folder is gone or damaged."""
        folder = self.web.runs.folder(self.run)
        self.manifest, self.labels = await asyncio.to_thread(manifest_and_labels, folder, [])

    @property
    def live(self) -> LiveRun | None:
        """The run if this server is running it and it has not told its end; None otherwise."""
        live = self.web.runs.going_on(self.run)
        return live if live is not None and live.board.stopped is None else None

    @property
    def turn(self) -> int:
        """The turn that is shown, with everything up to its end and nothing after it."""
        return self.board.turn if self.at is None else min(self.at, self.board.turn)

    @property
    def newest(self) -> bool:
        """Whether the view follows the run, including the utterance in progress."""
        return self.at is None

    @property
    def revision(self) -> tuple[int, int | None, str, str | None]:
        """A value that changes when there is something new to draw."""
        return (self.board.revision, self.at, self.part, self.mind_of)

    def look_at(self, agent: str, turn: int | None = None) -> None:
        """Show an agent's mind beside the conversation.

        Args:
            agent: their name.
            turn: go to this turn; None to stay where the slider is.
        """
        self.part, self.mind_of = "mind", agent
        self.looks += 1
        if turn is not None and turn != self.turn:
            self.go_to(turn)

    def go_to(self, turn: int | None) -> None:
        """Show a turn; None to follow the run again."""
        self.at = None if turn is None else max(0, min(turn, self.board.turn))
