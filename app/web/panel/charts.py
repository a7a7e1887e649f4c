"""The part of the panel with the charts of a run, from what the page already holds of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Final

from nicegui import ui

from ....reports.charts.model import Chart
from ....reports.charts.talk import (
    Talk,
    emotion_chart,
    left_out_chart,
    need_chart,
    openness_chart,
    own_chart,
    response_chart,
    score_chart,
    stance_chart,
)
from ....reports.palette import people
from ....reports.pruning_figures import by_block
from ....reports.report import talk_of
from ....reports.stances import ledger
from ....reports.words import block_name, whole
from ....runs.folder.manifest import Manifest
from ..board import Board
from ..context import Viewing
from ..shared.chart_box import WIDE, ChartBox, on_turns, show_place
from ..shared.formats import joined, names
from ..widgets import BLOCK_COLOURS, anew, bar, card, errors_shown
from ..words import t
from .people import latest

_SHARE: Final = 20
"""Between two drawings of a live run, at least so many times as long passes as the last one took."""
_LEAST_S: Final = 0.5


def talk(board: Board, manifest: Manifest) -> Talk:
    """The data of a run's charts, as far as it is; polls are held afterwards, and are not among them."""
    record = board.record(manifest)
    who = people(board.participants, dict.fromkeys(board.people, "person"))
    lacked = [
        (said.turn, board.left_out[said.turn].words_removed, said.speaker)
        for said in board.utterances
        if said.turn in board.left_out
    ]
    return replace(talk_of(record, who, ledger(record, ("supports", "verdicts", "answers"))), left_out=lacked)


def charts_part(viewing: Viewing) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it."""
    return _ChartsPart(viewing).draw


class _ChartsPart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._talk: Talk | None = None
        self._drawn: Hashable = None
        self._rests_until = 0.0
        self._waits = False
        self._cards: dict[str, ui.column] = {}
        self._boxes: dict[str, ChartBox] = {}
        with ui.column().classes("w-full gap-3 no-wrap") as self._around:
            self._around.props["aria-label"] = t("charts.all")
            on_turns(self._around, viewing.go_to, lambda by: viewing.go_to(max(0, viewing.turn + by)))
            self._nothing = ui.label(t("charts.nothing")).classes("text-sm muted")
            for key in ("positions", "openness", "needs", "own", "emotions", "scores", "left_out", "responses"):
                with card() as self._cards[key]:
                    self._boxes[key] = ChartBox(f"{viewing.run}-{key}", viewing.go_to, partial(self._make, key, WIDE))
                    if key == "needs":
                        self._wants = ui.label().classes("text-xs muted").mark("wants-to-talk")
                    elif key == "left_out":
                        self._total = ui.label().classes("text-xs muted").mark("left-out-total")
                        self._blocks = ui.element("ul").classes("plain w-full flex flex-col gap-2")
                        self._blocks.mark("left-out-insights")
                self._cards[key].set_visibility(False)

    async def draw(self) -> None:
        """Show the slider's place, and draw what has changed; a live run is not drawn all the time."""
        viewing, board = self._viewing, self._viewing.board
        show_place(self._around, None if viewing.newest else viewing.turn, board.turn)
        self._who_wants()
        counts = (len(board.scores), len(board.left_out), len(board.verdicts), len(board.happenings))
        minds = len(board.minds.get(board.turn, ()))
        now = (board.turn, minds, *counts, len(board.participants), board.status == "ended")
        if now == self._drawn:
            return
        if time.monotonic() < self._rests_until and board.status == "running":
            self._later()
            return
        if viewing.manifest is None:
            with errors_shown():
                await viewing.read()
        if viewing.manifest is None:
            return
        begun = time.perf_counter()
        self._drawn = now
        self._talk = talk(board, viewing.manifest)
        for key, box in self._boxes.items():
            box.draw(partial(self._make, key))
            self._cards[key].set_visibility(box.chart is not None)
        self._draw_left_out()
        self._nothing.set_visibility(all(box.chart is None for box in self._boxes.values()))
        self._rests_until = time.monotonic() + max(_LEAST_S, _SHARE * (time.perf_counter() - begun))

    def _make(self, key: str, width: int) -> Chart | None:
        """A chart of a width; None if there is nothing to show in it."""
        makes: dict[str, Callable[..., Chart | None]] = {
            "positions": stance_chart,
            "openness": openness_chart,
            "needs": need_chart,
            "own": own_chart,
            "emotions": partial(emotion_chart, each=width == WIDE),
            "scores": score_chart,
            "left_out": left_out_chart,
            "responses": response_chart,
        }
        return None if self._talk is None else makes[key](self._talk, width=width)

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

    def _draw_left_out(self) -> None:
        """Words left out of the prompts up to the shown turn, in all and by block of the prompt."""
        lacked = [pruned for at, pruned in self._viewing.board.left_out.items() if at <= self._viewing.turn]
        order = list(BLOCK_COLOURS)
        blocks = sorted(by_block(lacked), key=lambda one: order.index(one.block) if one.block in order else len(order))
        self._total.set_visibility(bool(lacked))
        self._blocks.set_visibility(bool(lacked))
        removed, words = sum(one.words_removed for one in blocks), sum(one.words for one in blocks)
        self._total.set_text(t("insights.left_out_total", removed=whole(removed), words=whole(words), n=len(lacked)))
        with anew(self._blocks):
            for one in blocks:
                with ui.element("li"), ui.row().classes("w-full items-center gap-2 no-wrap"):
                    ui.label(block_name(one.block)).classes("text-xs truncate w-28 shrink-0")
                    share = one.words_removed / one.words if one.words else 0
                    bar(share, BLOCK_COLOURS.get(one.block, "var(--neutral)"))
                    told = t("insights.left_out_of", removed=whole(one.words_removed), words=whole(one.words))
                    ui.label(told).classes("text-xs muted tabular-nums whitespace-nowrap min-w-[6rem] text-right")

    def _who_wants(self) -> None:
        """Say who wants to talk most at the shown turn, and who has raised a hand."""
        board = self._viewing.board
        needs = latest(board, self._viewing.turn, "need_to_talk")
        most = max(needs.values(), default=0)
        wanting = [name for name, level in needs.items() if level == most > 0]
        said = t("insights.need_most", names=names(wanting), value=most) if wanting else t("insights.need_nobody")
        hands = sorted(board.hands) if self._viewing.newest else []
        raised = t("insights.hands", names=names(hands)) if hands else ""
        self._wants.set_text(joined([said if needs else "", raised]))
