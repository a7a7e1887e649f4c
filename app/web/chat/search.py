"""Search in the conversation: a field over it, and the way from one message found to the next."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from nicegui import ui

from persimchat.app.web.widgets import FIELD, icon_button, named
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered


def plain(text: str) -> str:
    """A text as it is compared: without case and without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def matching(utterances: Sequence[Uttered], wanted: str) -> list[int]:
    """The numbers of the utterances whose words or speaker hold what is looked for, in order; empty for nothing."""
    looked = plain(wanted.strip())
    if not looked:
        return []
    return [said.turn for said in utterances if looked in plain(said.text) or looked in plain(said.speaker)]


class Search:
    """The field; it is hidden until somebody searches.

    Args:
        said: the utterances in which one may search.
        reveal: shows an utterance by its number; None: none is shown any more.
    """

    def __init__(self, said: Callable[[], Sequence[Uttered]], reveal: Callable[[int | None], None]) -> None:
        self._said, self._reveal = said, reveal
        self._found: list[int] = []
        self._place = 0
        with ui.row().classes("w-full items-center gap-1 no-wrap px-3 py-2 bar chat-search") as self._bar:
            self._field = (
                ui.input(on_change=self._look).props(f"{FIELD} clearable debounce=200").classes("grow min-w-0")
            )
            named(self._field, t("chat.search")).mark("search-field")
            self._field.props["placeholder"] = t("chat.search")
            self._field.on("keydown.enter", lambda: self.step(-1))
            self._field.on("keydown.esc", self.close)
            self._count = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap px-1").props("role=status")
            icon_button("expand_less", t("chat.search_before"), lambda: self.step(-1)).mark("search-before")
            icon_button("expand_more", t("chat.search_after"), lambda: self.step(1)).mark("search-after")
            icon_button("close", t("common.close"), self.close).mark("search-close")
        self._bar.set_visibility(False)

    def open(self) -> None:
        """Show the field, with the cursor in it."""
        self._bar.set_visibility(True)
        self._field.run_method("focus")
        self._look()

    def close(self) -> None:
        """Hide the field."""
        self._bar.set_visibility(False)
        self._reveal(None)

    def step(self, by: int) -> None:
        """Go to another message that was found.

        Args:
            by: 1 for the next one, -1 for the one before; after the last comes the first.
        """
        if self._found:
            self._place = (self._place + by) % len(self._found)
            self._show()

    def _look(self) -> None:
        """Search again, from the end of what is shown."""
        self._found = matching(self._said(), self._field.value or "")
        self._place = len(self._found) - 1
        self._show()

    def _show(self) -> None:
        searched = bool((self._field.value or "").strip())
        if self._found:
            self._count.set_text(t("chat.search_found", n=self._place + 1, of=len(self._found)))
        else:
            self._count.set_text(t("chat.search_none") if searched else "")
        self._reveal(self._found[self._place] if self._found else None)
