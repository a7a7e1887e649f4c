"""A chart on a page: drawn by the report's chart module, enlarged in a window, kept as a picture or a table.

Clicks and keys are handled once for all charts in an element, however many points they have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from ....reports.charts.drawing import picture, place_of, svg, table
from ....reports.charts.model import Chart
from ..widgets import icon_button, item, menu, named
from ..words import t

NARROW: Final = 260
"""The width of a chart until the browser has told how much room it has; no room is narrower."""

_STEP: Final = 10
"""A chart is laid out at its room's width, down to a multiple of this: its texts are 12 pixels, hardly more."""

WIDE: Final = 900

_CLICK: Final = """(e) => {
  const drawn = e.target.closest('svg.chart'), marked = e.target.closest('[data-turn]');
  if (!drawn) return;
  if (marked) return emit(Number(marked.dataset.turn));
  const box = drawn.getBoundingClientRect(), d = drawn.dataset;
  const share = ((e.clientX - box.left) / box.width * d.width - d.left) / (d.right - d.left);
  if (share >= 0 && share <= 1) emit(Math.round(Number(d.first) - 0.5 + share * (d.last - d.first + 1)));
}"""
_KEY: Final = """(e) => {
  const step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
  if (!step || e.target !== e.currentTarget) return;
  e.preventDefault();
  emit(step);
}"""

_PAINT: Final = """(async () => {
  const drawn = new Image();
  drawn.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(SVG);
  await drawn.decode();
  const scale = Math.max(2, 1600 / drawn.width), canvas = document.createElement('canvas');
  canvas.width = drawn.width * scale;
  canvas.height = drawn.height * scale;
  canvas.getContext('2d').drawImage(drawn, 0, 0, canvas.width, canvas.height);
  const link = document.createElement('a');
  link.download = NAME;
  link.href = canvas.toDataURL('image/png');
  link.click();
  return link.href.length > 100;
})().catch(() => false)"""
"""Lets the browser paint an SVG as a PNG and keep it; says whether it did. Nothing leaves the browser."""
_PATIENCE_S: Final = 60.0

Make = Callable[[int], Chart | None]
"""Makes a chart of a width."""


def on_turns(around: ui.element, go: Callable[[int], object], step: Callable[[int], object] | None = None) -> None:
    """Call back when a turn is chosen in any chart within an element.

    Args:
        around: the element.
        go: takes the turn of a click.
        step: takes −1 or 1 when the element has the focus and an arrow key is pressed; None for no keys.
    """

    def chosen(event: GenericEventArguments, then: Callable[[int], object]) -> None:
        if isinstance(event.args, int) and not isinstance(event.args, bool):
            then(event.args)

    around.on("click", lambda event: chosen(event, go), js_handler=_CLICK)
    around.classes("charts")
    if step is not None:
        around.on("keydown", lambda event: chosen(event, step), js_handler=_KEY)
        around.props("tabindex=0 role=group")


def show_place(around: ui.element, turn: int | None, last: int) -> None:
    """Show the slider's place in all charts over turns within an element; they are not drawn again.

    Args:
        around: the element.
        turn: the turn; None if the page follows the run.
        last: the newest turn.
    """
    around.classes(add="following" if turn is None else "", remove="" if turn is None else "following")
    around.style(f"--at:{1 if turn is None else place_of(turn, 0, max(last, 1))}")


class ChartBox:
    """A place for a chart, with its name, what is said below it, and what can be done with it.

    Args:
        file: the beginning of the names of the files that are kept.
        go: takes the turn of a click in the window; None if clicks do nothing.
        larger: makes the chart for the window; None for the chart itself.
        head: whether the name of the chart stands above it.
        slider: whether the chart is over turns, and shows the slider's place.
    """

    def __init__(
        self,
        file: str,
        go: Callable[[int], object] | None = None,
        larger: Callable[[], Chart | None] | None = None,
        *,
        head: bool = True,
        slider: bool = True,
    ) -> None:
        self._file = re.sub(r"[^\w-]+", "-", file)
        self._go = go
        self._larger = larger
        self._slider = slider
        self._make: Make | None = None
        self._width = NARROW
        self._chart: Chart | None = None
        with ui.element("figure").classes("w-full chart-box") as self._box:
            with ui.row().classes("w-full items-center justify-between gap-1 no-wrap"):
                self._head = ui.label().classes("text-sm font-semibold").props("role=heading aria-level=3")
                self._head.set_visibility(head)
                ui.space()
                with ui.row().classes("gap-0 no-wrap"):
                    self._enlarge = icon_button("open_in_full", t("charts.enlarge"), self._open).props("size=sm")
                    with menu("download", t("charts.keep")) as button:
                        button.props("size=sm")
                        item("image", t("charts.keep_png"), self._keep_png).mark("keep-png")
                        item("polyline", t("charts.keep_picture"), self._keep_picture).mark("keep-picture")
                        item("table_view", t("charts.keep_table"), self._keep_table).mark("keep-table")
            self._drawing = ui.html("", sanitize=False).classes("w-full")  # only ever the autoescaped template's
            room = ui.element("q-resize-observer").props("debounce=0").mark("chart-room")
            room.on("resize", self._fit, args=["width"])
            self._note = ui.element("figcaption").classes("text-xs muted")
            with self._note:
                self._said = ui.label()
        self._box.set_visibility(False)

    @property
    def chart(self) -> Chart | None:
        """What is drawn; None for nothing."""
        return self._chart

    def draw(self, make: Make | None) -> None:
        """Draw what is made for the width of the box, if it is not drawn already; no chart hides the box."""
        self._make = make
        chart = None if make is None else make(self._width)
        if chart == self._chart:
            return
        self._chart = chart
        self._box.set_visibility(chart is not None)
        if chart is None:
            return
        self._head.set_text(chart.title)
        self._drawing.set_content(svg(chart, f"chart{self._drawing.id}", slider=self._slider))
        self._said.set_text(chart.note)
        self._note.set_visibility(bool(chart.note))

    def _fit(self, event: GenericEventArguments) -> None:
        """Draw again if the browser tells another width; a hidden box has none."""
        told = event.args.get("width") if isinstance(event.args, dict) else None
        if not isinstance(told, int | float) or told < NARROW:
            return
        width = int(min(told, WIDE)) // _STEP * _STEP
        if width != self._width:
            self._width = width
            self.draw(self._make)

    def _open(self) -> None:
        chart = self._larger() if self._larger is not None else self._chart
        if chart is None:
            return
        with ui.dialog() as window, ui.card().classes("surface chart-window p-4 gap-2"):
            named(window, chart.title)
            with ui.row().classes("w-full items-center no-wrap"):
                ui.label(chart.title).classes("text-base font-semibold").props("role=heading aria-level=2")
                ui.space()
                icon_button("close", t("common.close"), window.close)
            drawn = ui.html(svg(chart, f"large{window.id}"), sanitize=False).classes("w-full")
            ui.label(chart.note).classes("text-xs muted")
            if self._go is not None:
                go = self._go
                on_turns(drawn, lambda turn: (go(turn), window.close()))
        window.on("hide", window.delete)
        window.open()

    def _keep_picture(self) -> None:
        if self._chart is not None:
            ui.download.content(picture(self._chart).encode(), f"{self._file}.svg", "image/svg+xml")

    async def _keep_png(self) -> None:
        if self._chart is None:
            return
        given = {"SVG": picture(self._chart), "NAME": f"{self._file}.png"}
        names = "".join(f"const {name} = {json.dumps(text)};\n" for name, text in given.items())
        try:
            kept = await ui.run_javascript(f"{names}return await {_PAINT}", timeout=_PATIENCE_S)
        except TimeoutError:
            kept = False
        if not kept:
            ui.notify(t("charts.no_png"), type="warning")

    def _keep_table(self) -> None:
        if self._chart is not None:
            ui.download.content(table(self._chart).encode(), f"{self._file}.csv", "text/csv")
