"""The head of a talk: the agent's face, what it feels and does, and how far it trusts the person."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.companion.beside import doing_in_words
from persimchat.app.web.companion.face import Face
from persimchat.app.web.pairs import Pair
from persimchat.app.web.shared.formats import joined
from persimchat.app.web.widgets import bar, fill, named
from persimchat.app.web.words import t
from persimchat.state.day import activity_at
from persimchat.state.plain_text import one_line

_FACE = 60
_MOST = 10


class Head:
    """The strip above the talk, at every width."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        agent = one_line(pair.companion.agent)
        with ui.row().classes("companion-head w-full items-center gap-3 no-wrap px-4 py-2"):
            self._face = Face(agent, _FACE)
            with ui.column().classes("gap-0 grow min-w-0"):
                ui.label(agent).classes("text-lg font-semibold break-words").props("role=heading aria-level=1")
                self._now = ui.label().classes("text-sm muted break-words").mark("now")
            with ui.column().classes("gap-1 shrink-0 companion-trust"):
                with ui.row().classes("w-full items-baseline justify-between no-wrap gap-2"):
                    ui.label(t("companion.trust")).classes("text-xs muted")
                    self._trust = ui.label().classes("text-sm font-semibold tabular-nums whitespace-nowrap")
                self._trust.mark("trust")
                with (
                    ui.element("div")
                    .props("role=meter aria-valuemin=0 aria-valuemax=10")
                    .classes("flex w-full") as self._meter
                ):
                    named(self._meter, t("companion.trust"))
                    self._bar = bar(0, "var(--ring)")

    def sync(self) -> None:
        """Show what is true now."""
        pair = self._pair
        self._face.show(pair.emotion)
        tie = pair.tie
        doing = activity_at(pair.mind, pair.companion.world.now(), tie.person if tie is not None else "")
        self._now.set_text(joined([t(f"companion.emotion_{pair.emotion}"), doing_in_words(doing)]))
        self._trust.set_text(t("companion.of_ten", n=pair.trust))
        self._meter.props["aria-valuenow"] = pair.trust
        fill(self._bar, pair.trust / _MOST)
