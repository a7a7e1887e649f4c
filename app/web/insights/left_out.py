"""What prompts lacked, in all and by block of the prompt."""

from __future__ import annotations

from collections.abc import Iterable

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.looks import BLOCK_COLOURS
from persimchat.app.web.shared.formats import block_name, whole
from persimchat.app.web.widgets import bar
from persimchat.app.web.words import t
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


class Blocks:
    """Words left out of the prompts, in all and by block; it stands below the chart of them."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._total = ui.label().classes("text-xs muted").mark("left-out-total")
        self._blocks = ui.element("ul").classes("plain w-full flex flex-col gap-2").mark("left-out-insights")

    def draw(self) -> None:
        """Show what was left out up to the shown turn."""
        lacked = {at: blocks for at, blocks in self._viewing.board.left_out.items() if at <= self._viewing.turn}
        self._total.set_visibility(bool(lacked))
        self._blocks.set_visibility(bool(lacked))
        blocks = together(block for found in lacked.values() for block in found)
        removed, words = sum(one.words_removed for one in blocks), sum(one.words for one in blocks)
        self._total.set_text(t("insights.left_out_total", removed=whole(removed), words=whole(words), n=len(lacked)))
        self._blocks.clear()
        with self._blocks:
            for one in blocks:
                with ui.element("li"), ui.row().classes("w-full items-center gap-2 no-wrap"):
                    ui.label(block_name(one.block)).classes("text-xs truncate w-28 shrink-0")
                    bar(
                        one.words_removed / one.words if one.words else 0,
                        BLOCK_COLOURS.get(one.block, "var(--neutral)"),
                    )
                    told = t("insights.left_out_of", removed=whole(one.words_removed), words=whole(one.words))
                    ui.label(told).classes("text-xs muted tabular-nums whitespace-nowrap min-w-[6rem] text-right")
