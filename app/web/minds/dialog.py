"""The dialog with an agent's mind at a turn, and the cards of its memories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from nicegui import context, ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.looks import PART_COLOURS, colour
from persimchat.app.web.minds import cards
from persimchat.app.web.minds.cards import kind, made, small, words
from persimchat.app.web.minds.left_out import left_out_card
from persimchat.app.web.minds.look import Look, Minds, Node, look, minds_of
from persimchat.app.web.minds.would_go import show_what_would_go
from persimchat.app.web.widgets import FIELD, avatar, card, chip, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.runs.events import RecalledMemory
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

FIRST: Final = 6
"""How many memories are shown at first; the user unfolds the others."""


def parts_of(memory: RecalledMemory, most: float) -> dict[str, float]:
    """The five parts of a score as shares of the longest bar, by name; they sum to at most 1.

    Args:
        memory: the memory.
        most: the score that fills a bar.
    """
    parts = {name: max(0.0, getattr(memory, name)) for name in PART_COLOURS}
    whole = max(most, sum(parts.values()))
    return {name: value / whole if whole > 0 else 0.0 for name, value in parts.items()}


def recalled_card(memories: Sequence[RecalledMemory]) -> None:
    """Draw what was recalled, best first."""
    with card(t("minds.recalled")):
        if not memories:
            small(t("minds.recalled_nothing"))
            return
        most = max(memory.score for memory in memories)  # 0 in a mind that stays as it is: nothing was compared
        if most:
            _legend()
        _list_recalled(memories[:FIRST], most)
        rest = memories[FIRST:]
        if rest:
            _folded(rest, most)


def _legend() -> None:
    """Why memories were recalled, and the colours of a score's parts."""
    small(t("minds.recalled_why"))
    with ui.row().classes("gap-x-4 gap-y-1"):
        for name, colour in PART_COLOURS.items():
            with ui.row().classes("items-center gap-1 no-wrap"):
                _dot(colour)
                ui.label(t(f"minds.part_{name}")).classes("text-xs")


def _folded(rest: Sequence[RecalledMemory], most: float) -> None:
    """The other memories, drawn when the user unfolds them."""

    def unfold() -> None:
        if not inside.default_slot.children:
            with inside:
                _list_recalled(rest, most)

    with ui.element("details").classes("w-full").on("toggle", unfold):
        with ui.element("summary").classes("text-sm py-1"):
            ui.label(t("minds.recalled_rest", n=len(rest)))
        inside = ui.element("div").classes("w-full pt-2")


def _list_recalled(memories: Sequence[RecalledMemory], most: float) -> None:
    with ui.element("ul").classes("plain w-full flex flex-col gap-3"):
        for memory in memories:
            with ui.element("li").classes("w-full"):
                _recalled_memory(memory, most)


def _recalled_memory(memory: RecalledMemory, most: float) -> None:
    with ui.column().classes("w-full gap-1"):
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            words(memory.theme, "text-sm grow min-w-0 clamped")
            if most:
                ui.label(f"{memory.score:.2f}").classes("text-sm font-semibold tabular-nums").props["aria-label"] = t(
                    "minds.score", value=f"{memory.score:.2f}"
                )
        if most:
            with ui.element("div").classes("meter w-full").props("aria-hidden=true"):
                for name, share in parts_of(memory, most).items():
                    ui.element("div").style(f"width:{share:.2%};background:{PART_COLOURS[name]}")
        with ui.row().classes("w-full items-center gap-x-3 gap-y-0"):
            chip(kind(memory.kind))
            small(made(memory.turn))
            if not most:
                return
            small(t("minds.for_question", number=memory.focal_point + 1))
            for name, colour in PART_COLOURS.items():
                with ui.row().classes("items-center gap-1 no-wrap"):
                    _dot(colour)
                    ui.label(f"{t(f'minds.part_{name}')} ").classes("sr-only")
                    ui.label(f"{getattr(memory, name):.2f}").classes("text-xs tabular-nums")


def _dot(colour: str) -> None:
    ui.element("span").classes("dot").props("aria-hidden=true").style(f"background:{colour}")


def tree_card(seen: Look, go_to: Callable[[int], Awaitable[None]]) -> None:
    """Draw the last reflection, and links to earlier ones.

    Args:
        seen: the mind.
        go_to: called to show the mind at another turn.
    """
    with card(t("minds.insights")):
        if not seen.tree:
            small(t("minds.insights_none"))
            return
        small(t("minds.insights_drawn", turn=seen.reflected))
        _list_nodes(seen.tree)
        if seen.reflections:
            with ui.row().classes("items-center gap-1"):
                small(t("minds.insights_earlier"))
                for turn in seen.reflections:
                    button = ui.button(made(turn), on_click=lambda turn=turn: go_to(turn))
                    button.props("flat dense no-caps size=sm")


def _list_nodes(nodes: Sequence[Node]) -> None:
    with ui.element("ul").classes("plain tree w-full"):
        for node in nodes:
            with ui.element("li"):
                if not node.rests_on:
                    _node(node)
                    continue
                with ui.element("details").classes("w-full"):
                    with ui.element("summary"):
                        _node(node)
                    _list_nodes(node.rests_on)


def _node(node: Node) -> None:
    with ui.element("div").classes("flex flex-col gap-0 py-1 min-w-0"):
        if node.memory is None:
            small(t("minds.unknown_memory"))
            return
        words(node.memory.theme, "text-sm clamped")
        with ui.row().classes("items-center gap-x-2 gap-y-0"):
            chip(kind(node.memory.kind))
            small(made(node.memory.turn))
            if node.rests_on:
                small(t("minds.rests_on", n=len(node.rests_on)))
            elif node.elsewhere:
                small(t("minds.elsewhere"))


_JUDGE = -1


async def show_mind(viewing: Viewing, agent: str, turn: int) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        agent: whose mind; the persona judge's by its name.
        turn: at which turn it is shown first; 0 before the first utterance.
    """
    client = context.client
    try:
        minds = await minds_of(viewing)
        judges = await asyncio.to_thread(minds.judge.agents)
    except PerSimChatError as error:
        notify_error(error)
        return
    with client.content:  # not inside the element that opened it, which may be removed while the dialog is open
        dialog = _MindDialog(viewing, minds, judges[0] if judges else "", agent, turn)
    await dialog.draw()


class _MindDialog:
    """The dialog, while it is open."""

    def __init__(self, viewing: Viewing, minds: Minds, judge: str, agent: str, turn: int) -> None:
        self._viewing = viewing
        self._minds = minds
        self._judge = judge
        self._turn = min(max(0, turn), viewing.turn)
        self._asked = 0
        self._missing = False
        self._revision = viewing.revision
        names = viewing.board.participants
        who = dict(enumerate(self._title(name) for name in names))
        if judge:
            who[_JUDGE] = t("minds.judge") if judge == "Judge" else one_line(judge)
        self._names = dict(enumerate(names)) | {_JUDGE: judge}
        chosen = names.index(agent) if agent in names else _JUDGE if judge else 0
        with ui.dialog(value=True) as self._dialog, ui.element("div").classes("surface mind"):
            named(self._dialog, t("minds.mind_of", name=one_line(agent)))
            with ui.row().classes("w-full items-center gap-2 no-wrap px-3 py-2 bar"):
                self._face = ui.row()
                self._who = ui.select(who, value=chosen, on_change=self.draw).props(FIELD).classes("grow min-w-0")
                named(self._who, t("minds.whose"))
                self._previous = icon_button("chevron_left", t("minds.previous"), lambda: self.go_to(self._turn - 1))
                self._next = icon_button("chevron_right", t("minds.next"), lambda: self.go_to(self._turn + 1))
                icon_button("close", t("common.close"), self._dialog.close)
            self._when = ui.label().classes("text-sm font-semibold px-4 pt-3")
            self._when.props("role=heading aria-level=2 aria-live=polite")
            self._body = ui.element("div").classes("scroll mind-body").props("tabindex=0")
            with self._body:
                ui.spinner("dots", size="40px", color="primary").classes("m-auto").props("aria-hidden=true")
            ui.timer(1.0, self._poll)
        self._dialog.on("hide", self._dialog.delete)

    async def go_to(self, turn: int) -> None:
        """Show the mind at another turn, within the turns that the page shows."""
        self._turn = min(max(0, turn), self._viewing.turn)
        await self.draw()

    async def draw(self) -> None:
        """Draw the chosen mind at the shown turn."""
        self._asked += 1
        asked, agent = self._asked, self._names[self._who.value]
        judge = self._who.value == _JUDGE
        file = self._minds.judge if judge else self._minds.participants
        try:
            seen = await asyncio.to_thread(look, file, agent, self._turn)
        except PerSimChatError as error:
            notify_error(error)
            return
        if asked != self._asked or self._body.is_deleted:  # a later call draws the newer turn
            return
        self._missing = seen is None
        named(self._body, t("minds.mind_of", name=one_line(agent)))
        self._dialog.props["aria-label"] = t("minds.mind_of", name=one_line(agent))
        self._heading(agent)
        self._body.clear()
        with self._body:
            self._why_empty(agent) if seen is None else self._draw(seen)

    def _draw(self, seen: Look) -> None:
        said = self._viewing.board.utterances
        mind = seen.mind
        cards.weak_notes(mind)
        with ui.element("div").classes("mind-cards"):
            cards.heard_card(mind, said[self._turn - 1] if 0 < self._turn <= len(said) else None)
            cards.felt_card(seen)
            cards.asked_card(mind)
            cards.doing_card(mind)
            cards.need_card(mind)
            cards.short_term_card(mind)
            cards.plan_card(seen)
        self._draw_left_out(mind)
        recalled_card(mind.recalled)
        tree_card(seen, self.go_to)

    def _draw_left_out(self, mind: MindRecord) -> None:
        """What the prompt of the utterance of this turn lacked, if this agent said it."""
        said = self._viewing.board.utterances
        utterance = said[self._turn - 1] if 0 < self._turn <= len(said) else None
        spoke = utterance is not None and utterance.speaker == mind.agent and utterance.edited_by is None
        if mind.pruned is not None or spoke:
            ask = partial(show_what_would_go, self._viewing, mind.agent, self._turn, mind.pruned)
            left_out_card(mind.agent, mind.pruned, ask if spoke else None)

    def _why_empty(self, agent: str) -> None:
        board = self._viewing.board
        if agent in board.people:
            why = t("minds.is_person")
        elif board.started is not None and board.started.baseline:
            why = t("minds.baseline", method=board.started.baseline)
        else:
            going_on = board.status in ("running", "paused", "asked") and self._turn >= board.heard
            why = t("minds.not_yet" if going_on else "minds.nothing")
        with ui.column().classes("w-full items-center gap-2 p-8 text-center"):
            ui.icon("psychology_alt", size="48px", color="primary").props("aria-hidden=true")
            small(why)

    def _heading(self, agent: str) -> None:
        names = self._viewing.board.participants
        self._face.clear()
        with self._face:
            avatar(agent, colour(agent, names), "34px", human=agent in self._viewing.board.people)
        last = self._viewing.turn
        turn = self._turn
        self._when.set_text(t("minds.turn", turn=turn, last=last) if turn else t("minds.awakening"))
        _offer(self._previous, turn > 0)
        _offer(self._next, turn < last)

    def _title(self, name: str) -> str:
        return t("minds.person", name=one_line(name)) if name in self._viewing.board.people else one_line(name)

    async def _poll(self) -> None:
        """Draw again: the run has new utterances, or the page shows another turn."""
        if self._revision == self._viewing.revision or self._body.is_deleted:
            return
        self._revision = self._viewing.revision
        if self._missing or self._turn > self._viewing.turn:
            await self.go_to(self._turn)
        else:
            self._heading(self._names[self._who.value])


def _offer(button: ui.button, possible: bool) -> None:
    """Show whether a button leads anywhere; disabling it would move the keyboard's focus away."""
    button.props["aria-disabled"] = str(not possible).lower()
    button.classes(**{"remove" if possible else "add": "opacity-40"})
