"""One run in the list, with its beginning and ending in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.context import WebContext
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.formats import dollars
from persimchat.app.web.shared.navigation import comparison_of, like, page_of, resume_and_show
from persimchat.app.web.widgets import avatar, chip, item, menu, named
from persimchat.app.web.words import catalogue, t
from persimchat.runs.folder.listing import UNFINISHED, ListedRun
from persimchat.runs.reports.words import spaced
from persimchat.state.plain_text import one_line

_COLOURS: Final = {
    "message_limit": "#6366f1",
    "closed": "#6366f1",
    "consensus": "#059669",
    "guide": "#059669",
    "settled": "#059669",
    "finished": "#6366f1",
    "budget": "#d97706",
    "stopped": "#64748b",
    "error": "#dc2626",
    "unfinished": "#d97706",
}
LIVE: Final = "#059669"


INTERRUPTED: Final = frozenset({UNFINISHED, "stopped", "error"})
"""Endings (`ListedRun.ended`) after which a run can be resumed without changes."""

_MOST_FACES: Final = 5
_SOLID: Final = "unelevated no-caps no-wrap dense padding='4px 12px'"
_FLAT: Final = "flat no-caps no-wrap dense padding='4px 8px'"


def moment(started: str) -> str:
    """When a run began, in the server's time zone; text that is not a time stays as it is."""
    try:
        return t("past.moment", d=datetime.fromisoformat(started).astimezone())
    except (ValueError, OverflowError):
        return started or t("past.unknown")


def ending(reason: str) -> str:
    """The ending of a run, or that it has none (`runs.listing.UNFINISHED`)."""
    key = f"past.ended_{reason}"
    return t(key) if key in catalogue() else spaced(reason)


def ending_colour(reason: str) -> str:
    """The colour of a kind of ending."""
    return _COLOURS.get(reason, "#64748b")


def address_of(listed: ListedRun) -> str:
    """The run's id on this server: the name of its folder, even if the folder was renamed or copied."""
    return Path(listed.folder).name


class RunCard:
    """A run's card.

    Args:
        web: the context of the pages.
        listed: the run.
        chosen: whether it is chosen.
        on_choose: called when the choice changes.
        on_delete: called to delete it.
        closed: whether people play it, so that the card tells nothing of its course until it is over.
    """

    def __init__(
        self,
        web: WebContext,
        listed: ListedRun,
        *,
        chosen: bool,
        on_choose: Callable[[str, bool], None],
        on_delete: Callable[[str], Any],
        closed: bool = False,
    ) -> None:
        self.run = address_of(listed)
        self._listed, self._closed = listed, closed
        topic = one_line(listed.topic)
        with ui.row().classes("run-card surface w-full items-center gap-x-3 gap-y-2 px-3 py-2").props("role=listitem"):
            box = ui.checkbox(value=chosen, on_change=lambda event: on_choose(self.run, bool(event.value)))
            named(box.props("dense"), t("past.choose", topic=topic))
            _faces(listed.participants)
            with ui.column().classes("gap-0 min-w-0 grow basis-[240px]"):
                with ui.link(target=page_of(self.run)).classes("run-topic no-underline text-inherit max-w-full"):
                    ui.label(topic).classes("font-semibold leading-snug line-clamp-2 [overflow-wrap:anywhere]")
                self._about = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
            with ui.row().classes("items-center gap-2 no-wrap ml-auto"):
                self._state = chip("")
                self._buttons(web, listed, on_delete)
        self.refresh(None)

    def refresh(self, board: Board | None) -> None:
        """Show the state of the run.

        Args:
            board: the data of an active run of this server.
        """
        listed = self._listed
        made = listed.utterances if board is None else max(board.turn, listed.utterances)
        mode = f"past.mode_{listed.mode}"
        parts = [
            moment(listed.started),
            *([] if self._closed else [t("past.utterances", n=made)]),
            t(mode) if mode in catalogue() else listed.mode,
            *([listed.baseline] if listed.baseline else []),
            *([t("past.is_branch")] if listed.branch_of else []),
            listed.model or t("past.unknown"),
            *([] if listed.active or self._closed else [dollars(listed.cost_usd)]),
            *([t("past.played")] if self._closed else []),
        ]
        self._about.set_text(" · ".join(parts))
        status = "running" if board is None else board.status
        live = listed.active and f"past.live_{status}" in catalogue()
        self._state.set_text(t(f"past.live_{status}") if live else ending(listed.ended))
        self._state.style(f"--c:{LIVE if live else ending_colour(listed.ended)}")
        self._state.classes(**{"add" if live else "remove": "live-chip"})

    def _buttons(self, web: WebContext, listed: ListedRun, on_delete: Callable[[str], Any]) -> None:
        run, topic = self.run, one_line(listed.topic)
        if listed.active:
            _link(t("past.watch"), "visibility", page_of(run), topic).props(_SOLID)
        else:
            opens = _link(t("past.open"), "open_in_new", page_of(run), topic).props(_FLAT)
            if not self._closed:
                opens.classes("gt-xs")  # the topic is a link to the same page
                _link(t("past.replay"), "replay", page_of(run, 0, play=True), topic).props(_SOLID)
        with menu("more_vert", t("past.card_do", what=t("past.actions"), topic=topic)):
            if not listed.active and listed.ended in INTERRUPTED:
                item("play_arrow", t("past.resume"), lambda: resume_and_show(web, run))
            if not self._closed:
                item("library_add", t("past.like"), href=like(run))
                item("compare_arrows", t("past.compare_with"), href=comparison_of(run))
            if not listed.active:
                item("delete", t("past.delete"), lambda: on_delete(run))


def _link(text: str, icon: str, href: str, topic: str) -> ui.button:
    """A button that is a link, so that the user can open it in another tab."""
    button = ui.button(text)
    with button:
        ui.icon(icon, size="18px").classes("order-first mr-1").props("aria-hidden=true")
    button.props["href"] = href
    named(button, t("past.card_do", what=text, topic=topic))
    return button


def _faces(names: list[str]) -> None:
    with ui.row().classes("faces no-wrap shrink-0 gap-0"):
        for name in names[:_MOST_FACES]:
            avatar(name, colour(name, names), "30px")
        if len(names) > _MOST_FACES:
            ui.label(f"+{len(names) - _MOST_FACES}").classes("text-xs muted self-center pl-3")
