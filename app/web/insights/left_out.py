"""The card of what prompts lacked: words left out by turn, and by block of the prompt."""

from __future__ import annotations

from collections.abc import Iterable

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.charts import ChartBox, cloud, over_turns
from persimchat.app.web.insights.figures import longest, numbers_of
from persimchat.app.web.looks import BLOCK_COLOURS, colour
from persimchat.app.web.shared.formats import block_name, course, whole
from persimchat.app.web.widgets import bar, card
from persimchat.app.web.words import t
from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.pruning_figures import BlockFigures


def together(found: Iterable[BlockFigures]) -> list[BlockFigures]:
    """The sums of each block over several prompts, in the usual order of a prompt."""
    sums: dict[str, BlockFigures] = {}
    for one in found:
        before = sums.get(one.block, BlockFigures(one.block, 0, 0, 0, 0))
        sums[one.block] = BlockFigures(
            one.block,
            before.units + one.units,
            before.removed + one.removed,
            before.words + one.words,
            before.words_removed + one.words_removed,
        )
    order = list(BLOCK_COLOURS)
    return sorted(sums.values(), key=lambda one: order.index(one.block) if one.block in order else len(order))


class LeftOut:
    """Words left out of the prompts; hidden if none was pruned."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.left_out")) as self._box:
            self._box.mark("left-out-insights")
            self._total = ui.label().classes("text-xs muted").mark("left-out-total")
            self._chart = ChartBox(over_turns(most=None), t("insights.left_out_none"), "h-48")
            self._blocks = ui.element("ul").classes("plain w-full flex flex-col gap-2")

    def draw(self) -> None:
        """Show what was left out up to the shown turn."""
        board, turn = self._viewing.board, self._viewing.turn
        lacked = {at: blocks for at, blocks in board.left_out.items() if at <= turn}
        self._box.set_visibility(bool(lacked))
        if not lacked:
            return
        points: dict[str, list[Point]] = {}
        for said in numbers_of(board).upto(board, turn):
            if said.turn in lacked:
                words = sum(block.words_removed for block in lacked[said.turn])
                points.setdefault(said.speaker, []).append((said.turn, words))
        self._chart.draw(
            [cloud(name, colour(name, board.participants), known) for name, known in points.items()],
            t("insights.left_out_chart", course=" ".join(course(name, known) for name, known in points.items())),
            turn=turn,
            longest=longest(points),
        )
        blocks = together(block for found in lacked.values() for block in found)
        removed, words = sum(one.words_removed for one in blocks), sum(one.words for one in blocks)
        self._total.set_text(t("insights.left_out_total", removed=whole(removed), words=whole(words), n=len(lacked)))
        self._blocks.clear()
        with self._blocks:
            for one in blocks:
                with ui.element("li"), ui.row().classes("w-full items-center gap-2 no-wrap"):
                    ui.label(block_name(one.block)).classes("text-xs truncate w-28 shrink-0")
                    bar(one.words_removed / one.words if one.words else 0, BLOCK_COLOURS.get(one.block, "var(--ring)"))
                    told = t("insights.left_out_of", removed=whole(one.words_removed), words=whole(one.words))
                    ui.label(told).classes("text-xs muted tabular-nums whitespace-nowrap min-w-[6rem] text-right")
