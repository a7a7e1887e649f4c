"""One run in the list: a row that opens it, with the one action that fits its state, and a menu for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.context import WebContext
from persimchat.app.web.looks import colour
from persimchat.app.web.past.wording import address_of, branched, ending, moment, title_of
from persimchat.app.web.shared.formats import dollars
from persimchat.app.web.shared.navigation import comparison_of, like, page_of, resume_and_show
from persimchat.app.web.widgets import avatar, chip, item, menu, named
from persimchat.app.web.words import catalogue, t
from persimchat.runs.folder.listing import UNFINISHED, ListedRun
from persimchat.state.plain_text import one_line

_COLOURS: Final = {"budget": "#d97706", "error": "#dc2626", UNFINISHED: "#d97706"}
"""Of the endings that ask for something; the others are told in plain text."""
LIVE: Final = "#059669"

INTERRUPTED: Final = frozenset({UNFINISHED, "stopped", "error"})
"""Endings (`ListedRun.ended`) after which a run can be resumed without changes."""

_MOST_FACES: Final = 5
_QUIET: Final = "flat no-caps no-wrap dense padding='4px 10px'"


@dataclass(frozen=True)
class RowActions:
    """What a row does beside opening its run.

    Attributes:
        choose: called with the run and whether it is chosen.
        delete: called to delete the run.
        label: called to name and tag it.
        find: called with a tag to show only runs that have it.
    """

    choose: Callable[[str, bool], None]
    delete: Callable[[str], Any]
    label: Callable[[ListedRun], Any]
    find: Callable[[str], Any]


class RunRow:
    """A run's row.

    Args:
        web: the context of the pages.
        listed: the run.
        actions: what it does.
        origin: the run under which it stands as a branch; None if it stands by itself.
        chosen: whether it is chosen.
        closed: whether people play it, so that the row tells nothing of its course until it is over.
    """

    def __init__(
        self,
        web: WebContext,
        listed: ListedRun,
        actions: RowActions,
        *,
        origin: ListedRun | None = None,
        chosen: bool = False,
        closed: bool = False,
    ) -> None:
        self.run = address_of(listed)
        self._web, self._listed, self._closed, self._origin = web, listed, closed, origin
        self._wanted: str | None = None
        is_branch = listed.branch_of is not None and not closed
        self._title = branched(listed) if is_branch and origin is not None and not listed.name else title_of(listed)
        with ui.element("div").classes("run-row"):
            box = ui.checkbox(value=chosen, on_change=lambda event: actions.choose(self.run, bool(event.value)))
            named(box.props("dense"), t("past.choose", topic=self._title)).classes("run-over")
            if origin is None:
                _faces(listed.participants)
            else:
                ui.element("div").classes("run-elbow").props("aria-hidden=true")
            with ui.column().classes("gap-0 min-w-0"):
                with ui.link(target=page_of(self.run)).classes("run-topic no-underline text-inherit max-w-full"):
                    weight = "font-semibold" if origin is None or listed.name else "font-medium"
                    ui.label(self._title).classes(f"{weight} leading-snug line-clamp-2 [overflow-wrap:anywhere]")
                if listed.name and origin is None:
                    ui.label(one_line(listed.topic)).classes("text-sm line-clamp-1 [overflow-wrap:anywhere]")
                if is_branch and (listed.name or origin is None):
                    ui.label(branched(listed)).classes("text-sm line-clamp-1 [overflow-wrap:anywhere]")
                self._about = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
                if listed.tags:
                    with ui.row().classes("gap-1 pt-1 run-over"):
                        for tag in listed.tags:
                            _tag(one_line(tag), actions.find)
            with ui.row().classes("run-state items-center gap-2 no-wrap"):
                self._state = chip("")
                self._does = ui.element("div").classes("run-over")
            with ui.element("div").classes("run-more run-over"):
                self._menu(actions)
        self.refresh(None)

    def refresh(self, board: Board | None) -> None:
        """Show the state of the run.

        Args:
            board: the data of an active run of this server.
        """
        listed = self._listed
        status = "running" if board is None else board.status
        live = listed.active and f"past.live_{status}" in catalogue()
        self._about.set_text(" · ".join(self._facts(board, live=live)))
        tint = LIVE if live else _COLOURS.get(listed.ended, "")
        self._state.set_text(t(f"past.live_{status}") if live else ending(listed.ended))
        self._state.set_visibility(bool(tint))
        if tint:
            self._state.style(f"--c:{tint}")
        self._state.classes(**{"add" if live else "remove": "live-chip"})
        self._action("answer" if live and status == "asked" else "watch" if live else "")

    def _facts(self, board: Board | None, *, live: bool) -> list[str]:
        listed = self._listed
        made = listed.utterances if board is None else max(board.turn, listed.utterances)
        mode = "setup.kind_focus" if listed.guided else f"past.mode_{listed.mode}"
        ended = [] if live or listed.ended in _COLOURS else [ending(listed.ended)]
        told = [] if self._closed else [t("past.utterances", n=made), *ended]
        facts = [moment(listed.started), *told]
        if self._origin is None or listed.model != self._origin.model:
            facts += [t(mode) if mode in catalogue() else listed.mode, *([listed.baseline] if listed.baseline else [])]
            facts.append(listed.model or t("past.unknown"))
        if listed.cost_usd and not listed.active and not self._closed:
            facts.append(dollars(listed.cost_usd))
        return [*facts, *([t("past.played")] if self._closed else [])]

    def _action(self, live: str) -> None:
        """Draw the action that fits the state, if it is another one than before."""
        listed = self._listed
        wanted = live or ("resume" if listed.ended in INTERRUPTED else "" if self._closed else "replay")
        if self._wanted == wanted:
            return
        self._wanted = wanted
        self._does.clear()
        with self._does:
            if wanted == "resume":
                button = ui.button(t("past.resume"), on_click=lambda: resume_and_show(self._web, self.run))
            elif wanted:  # on a phone, the row itself opens a run that is over
                button = ui.button(t(f"past.{wanted}"))
                button.props["href"] = page_of(self.run, 0, play=True) if wanted == "replay" else page_of(self.run)
            else:
                return
            button.classes("gt-xs" if wanted == "replay" else "")
            named(button.props(_QUIET), t("past.card_do", what=t(f"past.{wanted}"), topic=self._title))

    def _menu(self, actions: RowActions) -> None:
        listed, run = self._listed, self.run
        with menu("more_vert", t("past.card_do", what=t("past.actions"), topic=self._title)):
            item("label", t("past.labels"), lambda: actions.label(listed))
            if not self._closed:
                if self._origin is None:
                    item("compare_arrows", t("past.compare_with"), href=comparison_of(run))
                else:
                    href = comparison_of(address_of(self._origin), run)
                    item("compare_arrows", t("past.compare_origin"), href=href)
                item("library_add", t("past.like"), href=like(run))
            if not listed.active:
                item("delete", t("past.delete"), lambda: actions.delete(run))


def _tag(tag: str, find: Callable[[str], Any]) -> None:
    button = ui.button(tag, on_click=lambda: find(tag), color=None).props("flat dense no-caps").classes("run-tag")
    named(button, t("past.find_tag", tag=tag))


def _faces(names: list[str]) -> None:
    with ui.row().classes("faces no-wrap shrink-0 gap-0"):
        for name in names[:_MOST_FACES]:
            avatar(name, colour(name, names), "30px")
        if len(names) > _MOST_FACES:
            ui.label(f"+{len(names) - _MOST_FACES}").classes("text-xs muted self-center pl-2")
