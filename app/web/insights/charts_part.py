"""The part of the panel with the charts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.figures import latest
from persimchat.app.web.insights.left_out import Blocks
from persimchat.app.web.insights.talk import talk
from persimchat.app.web.shared.chart_box import (
    WIDE,
    ChartBox,
    chart_words,
    emotion_names,
    on_turns,
    show_place,
)
from persimchat.app.web.shared.formats import joined, names, number, seconds
from persimchat.app.web.widgets import card, notify_error
from persimchat.app.web.words import t
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.charts.model import Chart
from persimchat.runs.reports.charts.talk import (
    Talk,
    emotion_chart,
    left_out_chart,
    need_chart,
    openness_chart,
    response_chart,
    score_chart,
    stance_chart,
)
from persimchat.state.errors import PerSimChatError

_SHARE: Final = 20
"""Between two drawings of a live run, at least so many times as long passes as the last one took."""

_LEAST_S: Final = 0.5

Make = Callable[[Talk, int], Chart | None]


def charts_part(viewing: Viewing) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it."""
    return _ChartsPart(viewing).draw


class _ChartsPart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._words = chart_words()
        self._manifest: Manifest | None = None
        self._talk: Talk | None = None
        self._drawn: Hashable = None
        self._rests_until = 0.0
        self._waits = False
        feelings = emotion_names()
        makes: dict[str, Make] = {
            "positions": lambda talk, width: stance_chart(talk, width=width, words=self._words),
            "openness": lambda talk, width: openness_chart(talk, width=width, words=self._words),
            "needs": lambda talk, width: need_chart(talk, width=width, words=self._words),
            "emotions": lambda talk, width: emotion_chart(
                talk, feelings, each=width == WIDE, width=width, words=self._words
            ),
            "scores": lambda talk, width: score_chart(talk, width=width, words=self._words),
            "left_out": lambda talk, width: left_out_chart(talk, number_of_words, width=width, words=self._words),
            "responses": lambda talk, width: response_chart(talk, seconds, width=width, words=self._words),
        }
        self._makes = makes
        self._cards: dict[str, ui.column] = {}
        self._boxes: dict[str, ChartBox] = {}
        with ui.column().classes("w-full gap-3 no-wrap") as self._around:
            self._around.props["aria-label"] = t("charts.all")
            on_turns(self._around, viewing.go_to, self._step)
            self._nothing = ui.label(t("charts.nothing")).classes("text-sm muted")
            for key in makes:
                with card() as self._cards[key]:
                    self._boxes[key] = ChartBox(f"{viewing.run}-{key}", viewing.go_to, partial(self._large, key))
                    if key == "needs":
                        self._wants = ui.label().classes("text-xs muted").mark("wants-to-talk")
                    elif key == "left_out":
                        self._blocks = Blocks(viewing)
                self._cards[key].set_visibility(False)

    async def draw(self) -> None:
        """Show the slider's place, and draw what has changed; a live run is not drawn all the time."""
        viewing, board = self._viewing, self._viewing.board
        show_place(self._around, None if viewing.newest else viewing.turn, board.turn)
        self._who_wants()
        now = _drawn_from(viewing)
        if now == self._drawn:
            return
        if time.monotonic() < self._rests_until and board.status == "running":
            self._later()
            return
        if self._manifest is None and not await self._read():
            return
        begun = time.perf_counter()
        self._drawn = now
        self._draw_all()
        took = time.perf_counter() - begun
        self._rests_until = time.monotonic() + max(_LEAST_S, _SHARE * took)

    def _draw_all(self) -> None:
        assert self._manifest is not None
        self._talk = talk(self._viewing.board, self._manifest)
        for key, make in self._makes.items():
            box = self._boxes[key]
            box.draw(partial(make, self._talk))
            self._cards[key].set_visibility(box.chart is not None)
        self._blocks.draw()
        self._nothing.set_visibility(all(box.chart is None for box in self._boxes.values()))

    async def _read(self) -> bool:
        """Read what the run's folder says of its set-up; an error is shown."""
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            self._manifest = await asyncio.to_thread(read_manifest, folder)
        except PerSimChatError as error:
            notify_error(error)
        return self._manifest is not None

    def _later(self) -> None:
        """Draw when the rest is over, if the part is open then."""
        if self._waits:
            return
        self._waits = True

        async def wake() -> None:
            self._waits = False
            if self._viewing.part == "charts":
                await self.draw()

        with self._around:
            ui.timer(max(0.05, self._rests_until - time.monotonic()), wake, once=True)

    def _step(self, by: int) -> None:
        self._viewing.go_to(max(0, self._viewing.turn + by))

    def _large(self, key: str) -> Chart | None:
        return None if self._talk is None else self._makes[key](self._talk, WIDE)

    def _who_wants(self) -> None:
        """Say who wants to talk most at the shown turn, and who has raised a hand."""
        board = self._viewing.board
        needs = latest(board.needs, board.participants, self._viewing.turn)
        most = max(needs.values(), default=0)
        wanting = [name for name, level in needs.items() if level == most > 0]
        said = t("insights.need_most", names=names(wanting), value=most) if wanting else t("insights.need_nobody")
        hands = sorted(board.hands) if self._viewing.newest else []
        raised = t("insights.hands", names=names(hands)) if hands else ""
        self._wants.set_text(joined([said if needs else "", raised]))


def number_of_words(count: float) -> str:
    """A number of words in words."""
    return t("insights.words", n=int(count)) if count == int(count) else number(count)


def _drawn_from(viewing: Viewing) -> Hashable:
    """A value that changes when there is something new to draw; words in progress and the slider do not change it."""
    board = viewing.board
    newest = [len(levels.get(board.turn, ())) for levels in (board.needs, board.emotions, board.openness)]
    counts = (len(board.scores), len(board.left_out), len(board.verdicts), len(board.happenings))
    return (board.turn, *newest, *counts, len(board.participants), board.status == "ended")
