"""The part of the panel on the people: who stands where, what they feel, who moves whom; at its end what was used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.insights.accounts import Accounts, Budgets
from persimchat.app.web.insights.figures import drawn_from, latest, numbers_of
from persimchat.app.web.insights.moves import Stand, felt, stands, stirred, turned
from persimchat.app.web.looks import CALM, EMOTION_COLOURS, EMOTION_FACES, colour
from persimchat.app.web.shared.budgets import budgets, limits_of
from persimchat.app.web.shared.formats import joined, listed, number
from persimchat.app.web.widgets import avatar, bar, card, chip, fill, notify_error
from persimchat.app.web.words import t
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.stances import Position
from persimchat.runs.reports.summary import SCORES, AgentSummary
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import clean, one_line

_MOST_FELT: Final = 2
"""The most emotions that are named for a person."""
_MOST_PAIRS: Final = 6
"""The most pairs in the card of who moves whom."""


def people_part(viewing: Viewing) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it."""
    return _PeoplePart(viewing).draw


class _Person:
    """One participant: position, feelings, need to talk, and how much they have said."""

    def __init__(self, viewing: Viewing, name: str) -> None:
        board = viewing.board
        self._viewing, self._name, self._human = viewing, name, name in board.people
        self._at = 0
        of = colour(name, board.participants)
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            avatar(one_line(name), of, "30px", human=self._human)
            with ui.column().classes("gap-1 grow min-w-0"):
                with ui.row().classes("w-full items-center gap-2 no-wrap justify-between"):
                    look = ui.button(one_line(name), on_click=partial(viewing.look_at, name), color=None)
                    look.props("flat dense no-caps").classes("who min-w-0").tooltip(t("insights.look"))
                    with ui.row().classes("items-center gap-2 no-wrap shrink-0") as self._need:
                        with ui.element("div").classes("flex w-12"):
                            self._level = bar(0, of)
                        self._wants = ui.label().classes("text-xs tabular-nums whitespace-nowrap").mark("need")
                self._position = ui.label().classes("text-sm words clamped").mark("stand")
                self._turned = ui.button(on_click=lambda: viewing.go_to(self._at), color=None)
                self._turned.props("flat dense no-caps").classes("go-turn").mark("turned")
                self._feels = ui.row().classes("items-center gap-1")
                self._said = ui.label().classes("text-xs muted tabular-nums break-words")

    def draw(self, agent: AgentSummary, stand: Stand | None, move: Position | None, need: int | None) -> None:
        """Show the person.

        Args:
            agent: how much they have said, and how it was scored.
            stand: the position; None if it is not known.
            move: when it changed last; None if it has not.
            need: to talk, 0–10; None if it is not known.
        """
        self._draw_need(need)
        words = joined([one_line(stand.answer), one_line(clean(stand.words))]) if stand is not None else ""
        self._position.set_text(words)
        self._position.set_visibility(bool(words))
        self._turned.set_visibility(move is not None)
        if move is not None:
            self._at = move.turn
            self._turned.set_text(moved(move))
        self._draw_feelings()
        scores = [(name, getattr(agent.speech, name).last) for name in SCORES]
        scored = [f"{t(f'insights.{name}')} {number(value)}" for name, value in scores if value is not None]
        self._said.set_text(joined([t("insights.messages_of", n=agent.speech.utterances), *scored]))

    def _draw_need(self, need: int | None) -> None:
        hand = self._viewing.newest and self._name in self._viewing.board.hands
        self._need.set_visibility(need is not None or self._human)
        fill(self._level, (need or 0) / 10)
        of_people = t("insights.hand") if hand else t("insights.person")
        self._wants.set_text(of_people if need is None else t("insights.need_of", value=need))

    def _draw_feelings(self) -> None:
        viewing = self._viewing
        known = latest_known(viewing, self._name)
        self._feels.clear()
        self._feels.set_visibility(known)
        if not known:
            return
        levels = felt(viewing.board, self._name, viewing.turn)[:_MOST_FELT]
        with self._feels:
            if not levels:
                ui.label(f"{CALM} {t('common.emotion_calm')}").classes("text-xs muted")
            for emotion, level, change in levels:
                by = f" ({change:+d})".replace("-", "−") if change else ""
                text = f"{EMOTION_FACES[emotion]} {t(f'common.emotion_{emotion}')} {level}{by}"
                chip(text, EMOTION_COLOURS[emotion]).mark("feels")


def latest_known(viewing: Viewing, name: str) -> bool:
    """Whether anything is known of what somebody feels at the shown turn."""
    return any(at <= viewing.turn and name in minds for at, minds in viewing.board.emotions.items())


def moved(move: Position) -> str:
    """When somebody changed sides, and after whom."""
    after = listed(list(move.credit))
    if not after:
        return t("insights.turned", turn=move.turn)
    return t("insights.turned_after", turn=move.turn, who=after)


class _Moves:
    """After whose words whose feelings change most."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        with card(t("insights.moves")) as self._box:
            self._box.mark("moves")
            self._rows = ui.element("ul").classes("plain w-full flex flex-col gap-2")
            ui.label(t("insights.moves_why")).classes("text-xs muted break-words")

    def draw(self) -> None:
        """Show the pairs at the shown turn."""
        board = self._viewing.board
        found = stirred(board, self._viewing.turn)[:_MOST_PAIRS]
        self._box.set_visibility(bool(found))
        most = max((one.points for one in found), default=1.0)
        self._rows.clear()
        with self._rows:
            for one in found:
                with ui.element("li"), ui.row().classes("w-full items-center gap-2 no-wrap"):
                    who = t("insights.moves_pair", who=one_line(one.speaker), whom=one_line(one.listener))
                    ui.label(who).classes("text-xs break-words min-w-0 grow basis-0")
                    with ui.element("div").classes("flex w-16 shrink-0"):
                        bar(one.points / most, colour(one.speaker, board.participants))
                    ui.label(number(one.points)).classes("text-xs tabular-nums text-right w-6 shrink-0")


class _PeoplePart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._drawn: Hashable = None
        self._known: tuple[Path, Manifest, dict[str, float]] | None = None
        self._people: dict[str, _Person] = {}
        self._as_of = ui.label().classes("text-xs muted")
        debate = viewing.board.started is not None and viewing.board.started.mode == "debate"
        with card(t("insights.standing" if debate else "insights.everybody_now")):
            self._rows = ui.element("ul").classes("people plain w-full flex flex-col")
        self._moves = _Moves(viewing)
        self._budgets = Budgets()
        self._accounts = Accounts()

    async def draw(self) -> None:
        """Draw, if anything shown has changed."""
        if self._known is None:
            self._known = await self._read()
        now = drawn_from(self._viewing)
        if now == self._drawn:
            return
        self._drawn = now
        viewing, board, turn = self._viewing, self._viewing.board, self._viewing.turn
        self._as_of.set_text(t("insights.as_of", turn=turn))
        self._as_of.set_visibility(not viewing.newest)
        held, needs, moves = stands(board, turn), latest(board.needs, board.participants, turn), self._turned()
        for agent in numbers_of(board).at(board, turn).agents:
            if agent.name not in self._people:
                with self._rows, ui.element("li"):
                    self._people[agent.name] = _Person(viewing, agent.name)
            name = agent.name
            self._people[name].draw(agent, held.get(name), moves.get(name), needs.get(name))
        self._moves.draw()
        if self._known is not None:
            self._budgets.draw(budgets(self._known[2], board.totals_at(turn)))
        self._accounts.draw(board, turn)

    def _turned(self) -> dict[str, Position]:
        """When each person changed sides last."""
        if self._known is None:
            return {}
        folder, manifest, _ = self._known
        return {row.agent: row for row in turned(self._viewing.board, folder, manifest, self._viewing.turn)}

    async def _read(self) -> tuple[Path, Manifest, dict[str, float]] | None:
        """The run's folder, how it was set up, and its budgets; None, with an error shown, if it cannot be read."""
        try:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            return folder, await asyncio.to_thread(read_manifest, folder), await asyncio.to_thread(limits_of, folder)
        except PerSimChatError as error:
            notify_error(error)
            return None
