"""The transcript of a conversation of any kind: what was said, what is being said, what goes on, and how it ended."""

from __future__ import annotations

import json
import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

from nicegui import app, ui
from nicegui.events import GenericEventArguments

from ....runs.events import Uttered
from ....state.errors import PerSimChatError
from ....state.plain_text import one_line
from ..board import Board
from ..context import Viewing
from ..shared.navigation import comparison_of, page_of
from ..widgets import dialog, follow, icon_button, named, text_button
from ..words import t
from .composer import one_turn, pause_or_go_on
from .lines import LineActions, Said, draw_being_said, told
from .run_dialogs import fill_menu

STEP: Final = 80
"""Lines shown at the end of a transcript, and lines added by each step back."""
LARGEST: Final = 3 * STEP
"""The most lines on the page."""

Item = tuple[Hashable, Callable[[], ui.element]]
"""A line of a transcript: a key that no other line has, and what draws it."""


def window(count: int, first: int | None) -> tuple[int, int]:
    """The lines on the page, as a half-open range of indices.

    Args:
        count: lines there are.
        first: the first line to show; None to follow the end.
    """
    if first is None:
        return max(0, count - STEP), count
    low = max(0, min(first, count - STEP))
    return low, min(count, low + LARGEST)


def earlier(count: int, first: int | None) -> int:
    """The first line after a step back."""
    return max(0, window(count, first)[0] - STEP)


def later(count: int, first: int | None) -> int | None:
    """The first line after a step forward; None where the end is reached."""
    following = window(count, first)[0] + STEP
    return None if following + LARGEST >= count else following


class Items:
    """Lines in a box, in order: only those that are new are drawn.

    Attributes:
        box: the box.
        drawn: the lines by key.
    """

    def __init__(self, box: ui.element) -> None:
        self.box = box
        self.drawn: dict[Hashable, ui.element] = {}

    def sync(self, wanted: Sequence[Item]) -> None:
        """Show these, in this order."""
        for key in self.drawn.keys() - {key for key, _ in wanted}:
            self.drawn.pop(key).delete()
        for place, (key, draw) in enumerate(wanted):
            if key not in self.drawn:
                with self.box:
                    made = draw()
                if place < len(self.drawn):
                    made.move(target_index=place)
                self.drawn[key] = made

    def clear(self) -> None:
        """Remove all."""
        self.box.clear()
        self.drawn.clear()


class Transcript:
    """The box of a transcript. Its view stays at the end unless the reader scrolls up.

    Args:
        name: for screen readers.
        gap: the class of the room between two lines.

    Attributes:
        first: the first line shown; None follows the end.
        head: stands before the first line.
        items: the lines.
        end: stands after the last line.
    """

    def __init__(self, name: str, gap: str = "gap-4") -> None:
        self.first: int | None = None
        self._being_said: Hashable = None
        self._words: ui.label
        self._shown: Sequence[Item] = ()
        with ui.element("div").classes("scroll w-full grow flex flex-col-reverse chat") as self.root:
            named(self.root, name).props("tabindex=0 role=log aria-live=off")
            with ui.column().classes("w-full max-w-3xl mx-auto gap-4 px-4 py-5 mb-auto"):
                self.head = ui.column().classes("w-full")
                self._earlier = text_button(t("chat.earlier"), self._back, icon="expand_less", look="flat dense")
                self.items = Items(ui.column().classes(f"w-full {gap}"))
                self._now = ui.column().classes("w-full gap-4")
                self._later = text_button(t("chat.later"), self._forward, icon="expand_more", look="flat dense")
                for button in (self._earlier, self._later):
                    button.classes("mx-auto")
                with ui.row().classes("items-center gap-2 min-h-6 no-wrap") as self._doing:
                    self._dots = ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                    self._does = ui.label().classes("text-xs muted")
                self.end = ui.column().classes("w-full")
        self._announced = ui.label().classes("sr-only").props("aria-live=polite").mark("announced")

    def show(self, items: Sequence[Item]) -> tuple[int, int]:
        """Show as many lines as there is room for; returns which, as a half-open range of indices."""
        self._shown = items
        low, high = window(len(items), self.first)
        self.items.sync(items[low:high])
        self.head.set_visibility(low == 0)
        self._earlier.set_visibility(low > 0)
        self._later.set_visibility(high < len(items))
        return low, high

    def say(self, of: Hashable, draw: Callable[[], ui.label], words: str) -> None:
        """Show what is being said, word by word.

        Args:
            of: whose words they are.
            draw: draws the place for them.
            words: so far; nothing is shown if there are none.
        """
        now = of if words else None
        if now != self._being_said:
            self._being_said = now
            self._now.clear()
            if now is not None:
                with self._now:
                    self._words = draw()
        if now is not None:
            self._words.set_text(words)

    def do(self, what: str, *, busy: bool) -> None:
        """Show what goes on, in a line; nothing for no words."""
        self._doing.set_visibility(bool(what))
        self._dots.set_visibility(busy)
        self._does.set_text(what)

    def announce(self, told: Iterable[str]) -> None:
        """Tell screen readers what is new, once."""
        if text := "\n".join(told):
            self._announced.set_text(text)

    def redraw(self) -> None:
        """Draw the lines again, from another one on."""
        self.show(self._shown)

    def _back(self) -> None:
        self.first = earlier(len(self._shown), self.first)
        self.redraw()

    def _forward(self) -> None:
        self.first = later(len(self._shown), self.first)
        self.redraw()


class RunTranscript(Transcript, ABC):
    """The transcript of a run, with search and keys; a kind of run says what its lines are.

    Args:
        viewing: the run.
        tools: takes the buttons for searching and for the keys; outside the transcript, whose words they would cover.
        below: draws what belongs under an utterance's words; None for nothing.
        gap: the class of the room between two lines.
    """

    def __init__(
        self, viewing: Viewing, tools: ui.element, below: Callable[[Uttered], None] | None, gap: str = "gap-4"
    ) -> None:
        self.viewing = viewing
        self.actions = LineActions(viewing.look_at, self._fill_menu, below, above=self.above)
        self._drawn: Hashable = None
        self._told = viewing.board.turn
        self._ended = self._reloading = False
        self._found: int | None = None
        if self.tells_origin():
            draw_origin(viewing)
        with ui.element("div").classes("chat-box w-full"):
            self._search = Search(self.heard, self._reveal)
            super().__init__(t("chat.log"), gap)
        keys = Shortcuts(
            {
                "/": self._search.open,
                "m": lambda: ui.run_javascript("document.querySelector('.composer textarea')?.focus()"),
                "p": lambda: pause_or_go_on(viewing),
                ".": lambda: one_turn(viewing),
            }
        )
        with tools:
            icon_button("search", t("chat.search"), self._search.open).mark("search")
            icon_button("keyboard", t("chat.shortcuts"), keys.show).classes("gt-xs").mark("shortcuts")
        follow(self.sync)

    # What a kind of run says

    @abstractmethod
    def revision(self) -> Hashable:
        """A value that changes when there is something new to draw."""

    @abstractmethod
    def draw(self) -> bool:
        """Draw the lines; returns whether the end of the run is among them."""

    @abstractmethod
    def heard(self) -> list[Uttered]:
        """The utterances up to the shown turn that may be known."""

    @abstractmethod
    def doing(self) -> str:
        """A line about the present state of a run that goes on; empty if the page shows it anyway."""

    @abstractmethod
    def draw_end(self) -> None:
        """Draw what stands after the last line of a run that has ended."""

    def unfold(self, turn: int) -> None:
        """Make sure that an utterance is among the lines."""

    def sees(self, speaker: str) -> bool:
        """Whether the words that somebody is just saying may be shown."""
        return True

    def tells_origin(self) -> bool:
        """Whether the page may tell of which run this is a branch."""
        return True

    def must_load_again(self) -> bool:
        """Whether the page shows something that is not so any longer: the run was resumed, in another tab."""
        live = self.viewing.live
        return live is not None and live.board is not self.viewing.board

    def above(self, said: Uttered) -> None:
        """Draw what stands over an utterance: the line where a branch begins."""
        branch = self.viewing.manifest.branch if self.viewing.manifest is not None else None
        if branch is not None and said.turn == branch.turn + 1 and self.tells_origin():
            with ui.row().classes("w-full items-center gap-3 no-wrap parts").props("role=separator"):
                again = branch.why == "regenerate"
                ui.label(t("chat.said_again" if again else "chat.own_way")).classes("text-xs muted break-words")

    # What all have in common

    def sync(self) -> None:
        """Draw what has changed."""
        viewing, board = self.viewing, self.viewing.board
        if self._reloading or self.must_load_again():
            if not self._reloading:  # once: a second call would restart the load
                self._reloading = True
                ui.navigate.reload()
            return
        seen = (self.revision(), self.first)
        if seen == self._drawn or board.started is None:
            return
        self._drawn = seen
        at_end = self.draw() and viewing.turn == board.turn
        speaking = board.speaking if viewing.newest and at_end else None
        shown = speaking is not None and self.sees(speaking.speaker)
        self.say(speaking, lambda: draw_being_said(board), board.words if shown else "")
        going_on = viewing.newest and at_end and viewing.live is not None and board.status != "ended"
        self.do(
            self.doing() if going_on else "" if self._shown else t("chat.empty"),
            busy=board.status == "running" and going_on,
        )
        ended = at_end and board.status == "ended"
        if ended != self._ended:
            self._ended = ended
            self.end.clear()
            if ended:
                with self.end:
                    self.draw_end()
        if board.turn > self._told:
            self.announce(told(one) for one in self.heard() if one.turn > self._told)
            self._told = board.turn

    def redraw(self) -> None:
        """Draw from another line on."""
        self.sync()

    def _fill_menu(self, said: Uttered) -> None:
        fill_menu(self.viewing, said, self.root)

    def _reveal(self, turn: int | None) -> None:
        """Bring an utterance into view and mark it, wherever it is; None marks none."""
        if (row := self._row_of(self._found)) is not None:
            row.classes(remove="found")
        self._found = turn
        if turn is not None:
            self.unfold(turn)
        if (row := self._row_of(turn)) is not None:
            row.classes("found")
            ui.run_javascript(f"getHtmlElement({row.id})?.scrollIntoView({{block: 'center'}})")

    def _row_of(self, turn: int | None) -> Said | None:
        drawn = self.items.box.descendants() if turn is not None else ()
        return next((one for one in drawn if isinstance(one, Said) and one.said.turn == turn), None)


def doing(board: Board, *, asked: bool = True, speaking: bool = True) -> str | None:
    """A line about the present state; empty if the page shows it anyway, None where nobody is asked or speaks.

    Args:
        board: the run's.
        asked: whether to tell who is asked.
        speaking: whether to tell who speaks.
    """
    if board.status == "paused":
        return t("chat.paused")
    if board.asked is not None and asked:
        return t("chat.waiting", who=one_line(board.asked.agent))
    if board.waits is not None:
        return t("chat.server_waits", model=one_line(board.waits.model), n=math.ceil(board.waits.wait_s))
    if board.speaking is not None and speaking:
        return "" if board.words else t("chat.thinking", who=one_line(board.speaking.speaker))
    return None


def draw_origin(viewing: Viewing) -> None:
    """The bar over a branch: what it is, with the way to the run it comes from and to both side by side."""
    branch = viewing.manifest.branch if viewing.manifest is not None else None
    if branch is None:
        return
    with ui.row().classes("w-full items-center gap-3 no-wrap px-4 py-2 origin-bar").mark("origin"):
        again = branch.why == "regenerate"
        ui.icon("replay" if again else "call_split", size="18px").classes("muted").props("aria-hidden=true")
        said = t("chat.origin_again", n=branch.turn + 1) if again else t("chat.origin_branch", n=branch.turn)
        ui.label(said).classes("text-sm min-w-0 break-words grow")
        with ui.row().classes("items-center gap-x-3 gap-y-0 shrink-0 max-w-[40%] justify-end"):
            try:
                viewing.web.runs.folder(branch.of)
            except PerSimChatError:  # it was deleted, or belongs to another folder
                ui.label(t("chat.origin_gone")).classes("text-sm muted")
                return
            ui.link(t("chat.origin_open"), page_of(branch.of, branch.turn)).classes("text-sm")
            ui.link(t("chat.origin_compare"), comparison_of(branch.of, viewing.run)).classes("text-sm")


# Search in a transcript: a field over it, and the way from one message found to the next


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
            self._field = ui.input(on_change=self._look, placeholder=t("chat.search"))
            self._field.props("clearable debounce=200").classes("grow min-w-0")
            named(self._field, t("chat.search")).mark("search-field")
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
        if self._found:
            self._count.set_text(t("chat.search_found", n=self._place + 1, of=len(self._found)))
        else:
            self._count.set_text(t("chat.search_none") if (self._field.value or "").strip() else "")
        self._reveal(self._found[self._place] if self._found else None)


# Keys for what is done often in a conversation; who uses single keys otherwise can switch them off


_KEPT: Final = "shortcuts"
"""Whether a browser's user wants them, in their storage; they do unless they have said no."""

# Fields, menus and dialogs use these keys themselves.
_KEYS: Final = """
window.chatKeys = %s;
document.addEventListener('keydown', event => {
  if (!window.chatKeys || !%s.includes(event.key)) return;
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable], .q-menu, .q-dialog')) return;
  event.preventDefault();
  emitEvent('chat_key', event.key);
});
"""


class Shortcuts:
    """The keys of a page.

    Args:
        actions: by key, what it does; `?` shows the list.
    """

    def __init__(self, actions: Mapping[str, Callable[[], object]]) -> None:
        self._actions = {**actions, "?": self.show}
        ui.on("chat_key", self._pressed)
        ui.run_javascript(_KEYS % (json.dumps(_wanted()), json.dumps(list(self._actions))))

    def show(self) -> None:
        """Show the list, with a switch for all of them."""
        names = {
            "←  →": "chat.key_turn",
            "/": "chat.search",
            "m": "chat.key_write",
            "p": "chat.key_pause",
            ".": "chat.one_turn",
            "?": "chat.shortcuts",
        }
        with dialog(t("chat.shortcuts")) as box:
            with ui.element("dl").classes("shortcuts w-full"):
                for key, name in names.items():
                    with ui.element("dt"):
                        ui.label(key).classes("key")
                    with ui.element("dd"):
                        ui.label(t(name)).classes("text-sm")
            ui.switch(t("chat.shortcuts_on"), value=_wanted(), on_change=lambda event: _want(event.value is True))
            text_button(t("common.close"), box.close).classes("self-end")

    def _pressed(self, event: GenericEventArguments) -> None:
        action = self._actions.get(str(event.args))
        if action is not None:
            action()


def _wanted() -> bool:
    return app.storage.user.get(_KEPT, True) is not False


def _want(wanted: bool) -> None:
    app.storage.user[_KEPT] = wanted
    ui.run_javascript(f"window.chatKeys = {json.dumps(wanted)}")
