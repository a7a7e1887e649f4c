"""The tools over a transcript, of a conversation and of a story alike: search, and keys with their list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nicegui import ui

from persimchat.app.web.chat.controls import one_turn, pause_or_go_on
from persimchat.app.web.chat.search import Search
from persimchat.app.web.chat.shortcuts import ONE, PAUSE, SEARCH, WRITE, Shortcuts
from persimchat.app.web.context import Viewing
from persimchat.app.web.widgets import icon_button
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered

_TO_THE_FIELD: Final = "document.querySelector('.composer textarea')?.focus()"


def transcript_tools(
    viewing: Viewing,
    tools: ui.element,
    said: Callable[[], Sequence[Uttered]],
    reveal: Callable[[int | None], None],
) -> None:
    """Draw the search into the box of a transcript, and the buttons where no words are covered.

    Args:
        viewing: the run.
        tools: takes the buttons.
        said: the utterances in which one may search.
        reveal: shows an utterance by its number; None: none is shown any more.
    """
    search = Search(said, reveal)
    keys = Shortcuts(
        {
            SEARCH: search.open,
            WRITE: lambda: ui.run_javascript(_TO_THE_FIELD),
            PAUSE: lambda: pause_or_go_on(viewing),
            ONE: lambda: one_turn(viewing),
        }
    )
    with tools:
        icon_button("search", t("chat.search"), search.open).mark("search")
        icon_button("keyboard", t("chat.shortcuts"), keys.show).classes("gt-xs").mark("shortcuts")


def mark_found(row: ui.element | None, *, found: bool) -> None:
    """Mark an utterance as found and bring it into view, or take the mark away; nothing for one that is not drawn."""
    if row is None:
        return
    row.classes(**{"add" if found else "remove": "found"})
    if found:
        ui.run_javascript(f"getHtmlElement({row.id})?.scrollIntoView({{block: 'center'}})")
