"""The slider through a run's turns, and the replay: every panel shows the turn of the slider."""

from __future__ import annotations

from typing import Final

from nicegui import context, ui
from nicegui.events import GenericEventArguments, ValueChangeEventArguments

from ..context import Viewing
from ..shared.navigation import page_of
from ..widgets import icon_button, named, reached, text_button
from ..words import t

POLL_S: Final = 0.2
STEP_S: Final = 1.6
"""Seconds per turn of the replay at normal speed."""
SPEEDS: Final = (1, 2, 4)
_FEWEST: Final = 2
"""From this many utterances on, the bar is shown."""

# The slider and text fields use these keys themselves.
_KEYS: Final = """
document.addEventListener('keydown', event => {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const at = document.activeElement;
  if (at && at !== document.body && (!at.closest('.time-bar') || at.closest('.q-slider'))) return;
  event.preventDefault();
  emitEvent('turn_step', step);
});
"""


class TimeBar:
    """The bar, kept up to date."""

    def __init__(self, viewing: Viewing) -> None:
        self.viewing = viewing
        self.playing = False
        self.speed = SPEEDS[0]
        self.addressed = viewing.at
        self.drawn: tuple[object, ...] = ()
        with ui.row().classes("time-bar bar w-full items-center gap-1 px-3 py-1 no-wrap").props("role=group") as box:
            named(box, t("past.time"))
            icon_button("skip_previous", t("past.back"), lambda: self.step(-1))
            self.play = icon_button("play_arrow", t("past.play_pause"), self.toggle)
            icon_button("skip_next", t("past.forth"), lambda: self.step(1))
            self.slider = ui.slider(min=0, max=1, value=0, on_change=self.slid).props("dense").classes("mx-3 min-w-0")
            named(self.slider, t("past.slider"))
            self.where = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")
            self.pace = ui.button(on_click=self.faster).props("flat dense color=grey-7 size=sm")
            self.end = icon_button("last_page", t("past.newest"), self.to_end)
            self.follow = text_button(t("past.follow"), self.to_end, icon="sensors", look="flat dense size=sm")
            self.follow.classes("whitespace-nowrap")
        self.box = box
        self._name_pace()
        ui.on("turn_step", self.key)
        ui.run_javascript(_KEYS)
        ui.timer(POLL_S, self.refresh)
        self.timer = ui.timer(STEP_S, self.next, active=False, immediate=False)
        request = context.client.request
        if request is not None and request.query_params.get("play"):
            self.toggle()
        self.refresh()

    def refresh(self) -> None:
        """Draw what has changed."""
        viewing = self.viewing
        live = viewing.live is not None
        now = (viewing.board.turn, viewing.turn, viewing.newest, live, self.playing)
        if now != self.drawn:
            self.drawn = now
            self.box.set_visibility(viewing.board.turn >= _FEWEST)
            self.slider.props["max"] = max(1, viewing.board.turn)
            self.slider.set_value(viewing.turn)
            self.where.set_text(t("past.turn_of", turn=viewing.turn, last=viewing.board.turn))
            self.play.props["icon"] = "pause" if self.playing else "play_arrow"
            named(self.play, t("past.pause" if self.playing else "past.play"))
            for button, mine in ((self.follow, live), (self.end, not live)):
                button.set_visibility(mine)  # `invisible` below keeps its place, so that the slider does not move
                button.classes(**{"add" if viewing.newest else "remove": "invisible"})
        if viewing.at != self.addressed:
            self.addressed = viewing.at
            ui.navigate.history.replace(reached(page_of(viewing.run, viewing.at)))

    def show(self, turn: int) -> None:
        """Show a turn; the last one means to follow the run."""
        last = self.viewing.board.turn
        self.viewing.go_to(None if turn >= last else turn)
        self.refresh()

    def step(self, by: int) -> None:
        """Go one turn back or forward."""
        self._play(False)
        self.show(self.viewing.turn + by)

    def key(self, event: GenericEventArguments) -> None:
        """An arrow key."""
        if event.args in (-1, 1) and self.box.visible:
            self.step(event.args)

    def slid(self, event: ValueChangeEventArguments[float | None]) -> None:
        """Called when the user or `refresh` moved the slider."""
        if event.value is not None and int(event.value) != self.viewing.turn:
            self.show(int(event.value))

    def to_end(self) -> None:
        """The newest turn."""
        self._play(False)
        self.show(self.viewing.board.turn)

    def toggle(self) -> None:
        """Play or pause; at the end, play from the beginning."""
        self._play(not self.playing)
        if self.playing and self.viewing.turn >= self.viewing.board.turn:
            self.viewing.go_to(0)
        self.refresh()

    def next(self) -> None:
        """The replay's next turn."""
        turn = self.viewing.turn + 1
        if turn >= self.viewing.board.turn:
            self._play(False)
        self.show(turn)

    def faster(self) -> None:
        """The next speed; after the fastest comes the first."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]
        self.timer.interval = STEP_S / self.speed
        self._name_pace()

    def _name_pace(self) -> None:
        self.pace.set_text(f"{self.speed}×")
        named(self.pace, t("past.speed", times=self.speed))

    def _play(self, playing: bool) -> None:
        self.playing = playing
        self.timer.active = playing
