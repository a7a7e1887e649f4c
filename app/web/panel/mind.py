"""The cards of an agent's memories: what it recalled and why, and what it concluded from what."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from ....runs.events import RecalledMemory
from ....runs.folder.parts import MindRecord
from ....state.plain_text import one_line
from ..context import Viewing
from ..shared.navigation import interview_of
from ..widgets import (
    PART_COLOURS,
    anew,
    avatar,
    card,
    chip,
    colour,
    errors_shown,
    icon_button,
    named,
    text_button,
)
from ..words import t
from . import mind_cards as cards
from .mind_cards import kind, made, owner, small, words
from .mind_reading import Look, MindFile, Node, look
from .pruning import left_out_card, show_what_would_go

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


def recalled_card(mind: MindRecord) -> None:
    """Draw what was recalled, best first."""
    memories = mind.recalled
    with card(t("minds.recalled")):
        if not memories:
            small(t("minds.recalled_nothing", name=owner(mind)))
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


def tree_card(seen: Look, go_to: Callable[[int], object]) -> None:
    """Draw the last reflection, and links to earlier ones.

    Args:
        seen: the mind.
        go_to: called to show the mind at another turn.
    """
    with card(t("minds.insights")):
        if not seen.tree:
            small(t("minds.insights_none", name=owner(seen.mind)))
            return
        small(t("minds.insights_drawn", turn=seen.reflected))
        _list_nodes(seen.tree)
        if seen.reflections:
            with ui.row().classes("items-center gap-1"):
                small(t("minds.insights_earlier"))
                for turn in seen.reflections:
                    text_button(made(turn), partial(go_to, turn), look="flat dense size=sm")


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


# The part of the panel that shows one mind at the turn of the slider


_JUDGE: Final = -1


def mind_part(viewing: Viewing, seen: Callable[[], Sequence[str]] | None = None) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it.

    Args:
        viewing: the run; its `mind_of` is the agent.
        seen: the participants whose minds may be shown; None for all.
    """
    return _MindPart(viewing, seen or (lambda: viewing.board.participants)).draw


def whose(viewing: Viewing, names: Sequence[str], judge: str) -> str:
    """The agent whose mind is shown: the chosen one, else the last speaker who has a mind, else the first one."""
    if viewing.mind_of is not None and (viewing.mind_of in names or viewing.mind_of == judge):
        return viewing.mind_of
    agents = [name for name in names if name not in viewing.board.people]
    said = reversed(viewing.board.utterances[: viewing.turn])
    return next((one.speaker for one in said if one.speaker in agents), next(iter(agents or names), ""))


class _MindPart:
    """The part, while the page is open."""

    def __init__(self, viewing: Viewing, seen: Callable[[], Sequence[str]]) -> None:
        self._viewing, self._seen = viewing, seen
        self._folder: Path | None = None
        self._judge = ""
        self._names: dict[int, str] = {}
        self._asked = 0
        self._agent = ""
        self._story = viewing.board.started is not None and viewing.board.started.mode == "story"
        self._drawn: Hashable = None
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            self._face = ui.row()
            self._who = ui.select({}, on_change=self._chosen).props("options-dense").classes("grow min-w-0")
            named(self._who, t("minds.whose")).mark("mind-of")
            self._previous = icon_button("chevron_left", t("minds.previous"), lambda: self._step(-1))
            self._next = icon_button("chevron_right", t("minds.next"), lambda: self._step(1))
        self._when = ui.label().classes("text-xs muted").props("aria-live=polite").mark("mind-when")
        self._beside = ui.row().classes("w-full")
        self._body = ui.column().classes("mind w-full gap-3 no-wrap")
        with self._body:
            ui.spinner("dots", size="40px", color="primary").classes("m-auto").props("aria-hidden=true")

    async def draw(self) -> None:
        """Draw the mind, if another one is to be shown or if it was not recorded yet."""
        viewing, board = self._viewing, self._viewing.board
        if self._folder is None and not await self._open():
            return
        self._offer_all()
        agent = whose(viewing, list(self._names.values()), self._judge)
        now = (agent, viewing.turn, board.turn, min(board.heard, viewing.turn), board.status == "ended")
        if now == self._drawn:
            return
        self._drawn, self._agent = now, agent
        await self._show(agent)

    async def _open(self) -> bool:
        """Find the run's folder, and whether it has a persona judge; an error is shown."""
        with errors_shown():
            folder = await asyncio.to_thread(self._viewing.web.runs.folder, self._viewing.run)
            judges = await asyncio.to_thread(MindFile(folder, "judge_mind").agents)
            self._judge, self._folder = judges[0] if judges else "", folder
        return self._folder is not None

    async def _show(self, agent: str) -> None:
        assert self._folder is not None
        self._asked += 1
        asked, turn = self._asked, self._viewing.turn
        file, seen = MindFile(self._folder, "judge_mind" if agent == self._judge else "mind"), None
        with errors_shown():
            seen = await asyncio.to_thread(look, file, agent, turn, or_before=self._story)
        if asked != self._asked or self._body.is_deleted:  # a later call draws the newer turn
            return
        self._heading(agent, turn if seen is None else seen.mind.turn)
        with anew(self._body):
            self._why_empty(agent, turn) if seen is None else self._draw(seen, turn)

    def _draw(self, seen: Look, turn: int) -> None:
        said = self._viewing.board.utterances
        mind = seen.mind
        with ui.column().classes("mind-cards w-full gap-3 no-wrap"):
            cards.weak_notes(mind)
            if self._story:
                cards.story_card(mind)
                cards.short_term_card(mind)
                if seen.plan is not None:
                    cards.plan_card(seen)
                if mind.recalled:
                    recalled_card(mind)
                if seen.tree:
                    tree_card(seen, self._viewing.go_to)
                return
            cards.felt_card(seen)
            cards.need_card(mind)
            cards.own_cards(mind)
            cards.plan_card(seen)
            cards.heard_card(mind, said[turn - 1] if 0 < turn <= len(said) else None)
            self._draw_left_out(mind, turn)
            cards.asked_card(mind)
            recalled_card(mind)
            tree_card(seen, self._viewing.go_to)
            cards.short_term_card(mind)
            cards.doing_card(mind)

    def _draw_left_out(self, mind: MindRecord, turn: int) -> None:
        """What the prompt of the utterance of this turn lacked, if this agent said it."""
        said = self._viewing.board.utterances
        utterance = said[turn - 1] if 0 < turn <= len(said) else None
        spoke = utterance is not None and utterance.speaker == mind.agent and utterance.edited_by is None
        if mind.pruned is not None or spoke:
            ask = partial(show_what_would_go, self._viewing, mind.agent, turn, mind.pruned)
            left_out_card(mind.agent, mind.pruned, ask if spoke else None)

    def _why_empty(self, agent: str, turn: int) -> None:
        board = self._viewing.board
        if agent in board.people:
            why = t("minds.is_person")
        elif board.started is not None and board.started.baseline:
            why = t("minds.baseline", method=board.started.baseline)
        else:
            going_on = board.status in ("running", "paused", "asked") and turn >= board.heard
            why = t("minds.not_yet" if going_on else "minds.nothing")
        with ui.column().classes("w-full items-center gap-2 p-8 text-center"):
            ui.icon("psychology_alt", size="48px", color="primary").props("aria-hidden=true")
            small(why)

    def _heading(self, agent: str, turn: int) -> None:
        board = self._viewing.board
        self._who.set_value(next(key for key, name in self._names.items() if name == agent))
        with anew(self._face):
            avatar(agent, colour(agent, board.participants), "34px", human=agent in board.people)
        self._when.set_text(t("minds.turn", turn=turn, last=board.turn) if turn else t("minds.awakening"))
        self._offer_interview(agent, turn)
        _offer(self._previous, self._viewing.turn > 0)
        _offer(self._next, self._viewing.turn < board.turn)

    def _offer_interview(self, agent: str, turn: int) -> None:
        """A link to an interview with the agent as it is shown, when the run is over."""
        viewing, board = self._viewing, self._viewing.board
        over = viewing.live is None and not viewing.experiment and not board.elsewhere
        self._beside.clear()
        if over and agent in board.participants and agent not in board.people:
            at = turn if turn < board.turn else None
            with self._beside:
                href, text = interview_of(viewing.run, agent, at), t("interview.open", name=one_line(agent))
                button = text_button(text, icon="record_voice_over", look="flat dense", href=href)
                button.mark("interview-open")

    def _offer_all(self) -> None:
        """Offer the minds that may be shown now."""
        names = dict(enumerate(self._seen())) | ({_JUDGE: self._judge} if self._judge else {})
        if names != self._names:
            self._names = names
            self._drawn = None
            self._who.set_options({key: self._title(key, name) for key, name in names.items()})

    def _title(self, key: int, name: str) -> str:
        if key == _JUDGE:
            return t("minds.judge") if name == cards.OWN_JUDGE else one_line(name)
        return t("minds.person", name=one_line(name)) if name in self._viewing.board.people else one_line(name)

    def _chosen(self) -> Coroutine[Any, Any, None] | None:
        """Another mind was chosen; known at once, or what is drawn next would show the one of before."""
        name = self._names.get(self._who.value)
        if name is None or name == self._agent:
            return None
        self._viewing.mind_of = name
        return self.draw()

    async def _step(self, by: int) -> None:
        """Take the whole page a turn back or forward."""
        viewing = self._viewing
        turn = viewing.turn + by
        if 0 <= turn <= viewing.board.turn:
            viewing.go_to(None if turn == viewing.board.turn else turn)
            await self.draw()


def _offer(button: ui.button, possible: bool) -> None:
    """Show whether a button leads anywhere; disabling it would move the keyboard's focus away."""
    button.props["aria-disabled"] = str(not possible).lower()
    button.classes(**{"remove" if possible else "add": "opacity-40"})
