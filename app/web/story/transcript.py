"""The transcript of a story by stages, with rooms under headings; closed rooms can be folded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Final

from nicegui import ui

from persimchat.app.web.board import Line
from persimchat.app.web.chat.afterwards import draw_afterwards
from persimchat.app.web.chat.being_said import BeingSaid
from persimchat.app.web.chat.chat_panel import fill_menu, server_waits, told
from persimchat.app.web.chat.ending import draw_end
from persimchat.app.web.chat.lines import LineActions, Said, draw_line
from persimchat.app.web.chat.origin import Origin, OriginBar
from persimchat.app.web.chat.tools import mark_found, transcript_tools
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import DOOR, LOCK, heading, icon_of, outcome_sentence, room_known, room_name
from persimchat.app.web.widgets import named
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.reports.story_course import RoomCourse, StageCourse, StoryCourse
from persimchat.state.plain_text import one_line

SMALL: Final = 60
"""Up to this many utterances, closed rooms stay unfolded."""
_POLL_S = 0.15


class Transcript:
    """The transcript.

    Args:
        view: of the story.
        tools: takes the buttons for searching and for the keys.
        below: draws what belongs under an utterance's words; None for nothing.
    """

    def __init__(self, view: StoryView, tools: ui.element, *, below: Callable[[Uttered], None] | None = None) -> None:
        self._view = view
        self._stages: dict[tuple[int, int], _Stage] = {}
        self._drawn: Hashable = None
        self._whose: Hashable = None
        self._ended = False
        self._told = view.viewing.board.turn
        self._secret = view.played
        self._reloading = False
        self._found: int | None = None
        self._origin_bar = OriginBar(view.viewing)
        with ui.element("div").classes("chat-box w-full"):
            transcript_tools(view.viewing, tools, self._heard, self._reveal)
            with ui.element("div").classes("scroll w-full grow flex flex-col-reverse chat") as self._root:
                self._root.props("tabindex=0 role=log aria-live=off")
                named(self._root, t("chat.log"))
                with ui.column().classes("w-full max-w-3xl mx-auto gap-4 px-4 py-5 mb-auto"):
                    self._box = ui.column().classes("w-full gap-6")
                    self._said = BeingSaid()
                    with ui.row().classes("items-center gap-2 min-h-6 no-wrap") as self._doing:
                        self._dots = ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                        self._does = ui.label().classes("text-xs muted")
                    self._end = ui.column().classes("w-full")
        self._announce = ui.label().classes("sr-only").props("aria-live=polite").mark("announced")
        self._actions = LineActions(None, lambda said: fill_menu(view.viewing, said, self._root), below)
        self.sync()
        ui.timer(_POLL_S, self.sync)
        if not view.played:
            ui.timer(0, self._read_origin, once=True)

    async def _read_origin(self) -> None:
        """Show of which run this is a branch."""
        self._origin_bar.show(await Origin.of(self._view.viewing))

    def sync(self) -> None:
        """Draw what has changed."""
        view, viewing, board = self._view, self._view.viewing, self._view.viewing.board
        live = viewing.live
        if self._reload(resumed=live is not None and live.board is not board):
            return
        seen_here = viewing.newest and board.speaking is not None and view.sees(board.speaking.speaker)
        self._said.show(board if seen_here else None)
        seen = (view.revision, len(board.lines), board.status, live is None, board.asked, board.waits, board.speaking)
        if seen == self._drawn or board.started is None:
            return
        self._drawn = seen
        if self._whose != view.eyes:
            self._whose = view.eyes
            self._box.clear()
            self._stages.clear()
        self._draw_stages()
        at_end = viewing.turn == board.turn
        going = viewing.newest and live is not None and board.status != "ended"
        self._doing.set_visibility(going or not view.course.stages)
        self._dots.set_visibility(board.status == "running" and going)
        self._does.set_text(doing(view) if going else t("chat.empty"))
        self._the_end(shown=at_end and board.status == "ended")
        self._tell()

    def show(self, stage: StageCourse) -> None:
        """Show the beginning of a stage; while a person plays, only scroll there."""
        viewing = self._view.viewing
        if not self._view.played:
            viewing.go_to(None if stage.turn + 1 >= viewing.board.turn else stage.turn + 1)
            self.sync()
        drawn = self._stages.get((stage.round, stage.place))
        if drawn is not None:
            ui.run_javascript(f"getHtmlElement({drawn.heading.id})?.scrollIntoView({{block: 'start'}})")

    def _reload(self, *, resumed: bool) -> bool:
        """Load the page again if the run was resumed in another tab, or if a played story opens to all at its end."""
        opened = self._secret and not self._view.played
        if (resumed or opened) and not self._reloading:  # once: a second call would restart the load
            self._reloading = True
            ui.navigate.reload()
        return self._reloading

    def _draw_stages(self) -> None:
        course = self._view.course
        wanted = {(stage.round, stage.place): stage for stage in course.stages}
        for key in [key for key in self._stages if key not in wanted]:
            self._stages.pop(key).delete()
        asides = self._asides()
        for number, (key, stage) in enumerate(wanted.items()):
            after = course.stages[number + 1].turn if number + 1 < len(course.stages) else None
            mine = [
                index
                for index, turn in asides
                if (turn >= stage.turn or number == 0) and (after is None or turn < after)
            ]
            if key not in self._stages:
                with self._box:
                    self._stages[key] = _Stage(self._view, heading(stage, course), icon_of(stage.stage), self._actions)
            self._stages[key].sync(stage, mine)

    def _asides(self) -> list[tuple[int, int]]:
        """The lines between utterances that may be shown: index and turn. Silences are the researcher's."""
        viewing, board = self._view.viewing, self._view.viewing.board
        count = len(board.lines) if viewing.newest else board.lines_upto(viewing.turn)
        return [
            (index, line.turn)
            for index, line in enumerate(board.lines[:count])
            if not isinstance(line, Uttered) and (self._view.eyes is None or line.event == "topic")
        ]

    def _the_end(self, *, shown: bool) -> None:
        if shown == self._ended:
            return
        self._ended = shown
        self._end.clear()
        if shown:
            view = self._view
            outcome = view.course.outcome
            result = outcome_sentence(outcome, view.course.decider) if outcome is not None else ""
            with self._end:
                draw_end(view.viewing.board, result=result, counted=not view.played)
                if not view.played:
                    draw_afterwards(view.viewing)

    def _tell(self) -> None:
        """Announce each finished utterance once to screen readers."""
        board = self._view.viewing.board
        if board.turn > self._told:
            said = [one for one in self._heard() if one.turn > self._told]
            self._told = board.turn
            self._announce.set_text("\n".join(map(told, said)))

    def _heard(self) -> list[Uttered]:
        """The utterances up to the shown turn that may be known."""
        heard = {turn for turns in _said(self._view.course) for turn in turns}
        return [one for one in self._view.viewing.board.utterances if one.turn in heard]

    def _reveal(self, turn: int | None) -> None:
        """Bring an utterance into view and mark it, unfolding its room; None marks none."""
        mark_found(self._said_at(self._found), found=False)
        self._found = turn
        if turn is not None:
            for stage in self._stages.values():
                stage.unfold(turn)
            mark_found(self._said_at(turn), found=True)

    def _said_at(self, turn: int | None) -> Said | None:
        drawn = self._box.descendants() if turn is not None else ()
        return next((one for one in drawn if isinstance(one, Said) and one.said.turn == turn), None)


def _said(course: StoryCourse) -> Iterator[list[int]]:
    """The utterances of each stage and room that are known."""
    yield from (stage.said for stage in course.stages)
    yield from (room.said for room in course.rooms)


def doing(view: StoryView) -> str:
    """A line about the present state; for a character's eyes, nothing that it does not know."""
    board = view.viewing.board
    if board.status == "paused":
        return t("chat.paused")
    if board.asked is not None and view.eyes in (None, board.asked.agent):
        return t("chat.waiting", who=one_line(board.asked.agent))
    if board.waits is not None:
        return server_waits(board.waits)
    if board.speaking is not None and view.sees(board.speaking.speaker):
        return t("chat.thinking", who=one_line(board.speaking.speaker)) if not board.words else ""
    return t("story.working")


class _Items:
    """Elements in order, each with a key: only what is new is drawn."""

    def __init__(self, box: ui.element) -> None:
        self._box = box
        self._drawn: dict[Hashable, ui.element] = {}

    def sync(self, wanted: Sequence[tuple[Hashable, Callable[[], ui.element]]]) -> None:
        """Show these, in this order."""
        keys = [key for key, _ in wanted]
        for key in [key for key in self._drawn if key not in keys]:
            self._drawn.pop(key).delete()
        for place, (key, draw) in enumerate(wanted):
            if key not in self._drawn:
                with self._box:
                    made = draw()
                if place < len(self._drawn):
                    made.move(target_index=place)
                self._drawn[key] = made

    def clear(self) -> None:
        """Remove all."""
        self._box.clear()
        self._drawn.clear()


class _Stage:
    """A stage on the page."""

    def __init__(self, view: StoryView, title: str, icon: str, actions: LineActions) -> None:
        self._view, self._actions = view, actions
        self._rooms: dict[str, _Room] = {}
        with ui.element("section").classes("w-full story-stage") as self._root:
            named(self._root, title)
            with ui.row().classes("items-center gap-2 no-wrap story-heading").props("role=heading aria-level=2") as row:
                ui.icon(icon, size="18px", color="primary").props("aria-hidden=true")
                ui.label(title).classes("text-sm font-semibold")
            self.heading = row
            self._items = _Items(ui.column().classes("w-full gap-4 pt-3"))

    def delete(self) -> None:
        """Remove it."""
        self._root.delete()

    def sync(self, stage: StageCourse, asides: Sequence[int]) -> None:
        """Show its rooms, words and reviews.

        Args:
            stage: as it is now.
            asides: the indices of lines between its utterances.
        """
        board, course = self._view.viewing.board, self._view.course
        rooms = {key: course.room(key) for key in stage.rooms}
        wanted: list[tuple[float, Hashable, Callable[[], ui.element]]] = []
        for key, room in rooms.items():
            wanted.append((room.turn + 0.2, ("room", key), partial(self._room, key, room)))
        for turn in stage.said:
            wanted.append((turn, ("said", turn), partial(_utterance, self._view, turn, self._actions)))
        for index in asides:
            line = board.lines[index]
            wanted.append((line.turn + 0.1, ("aside", index), partial(self._aside, line)))
        for name, before in stage.left_out.items():
            wanted.append((before + 0.15, ("left out", name), partial(_forced, "story.nobody_by_branch", name)))
        for name, text in stage.reviews.items():
            wanted.append((float("inf"), ("review", name), partial(_thought, "story.review", name, text)))
        self._items.sync([(key, draw) for _, key, draw in sorted(wanted, key=lambda one: one[0])])
        for key in [key for key in self._rooms if key not in rooms]:
            del self._rooms[key]
        last = course.rooms[-1].room if course.rooms else ""
        for key, room in rooms.items():
            self._rooms[key].sync(room, wide=room.open or key == last or board.turn <= SMALL)

    def unfold(self, turn: int) -> None:
        """Unfold the room in which an utterance was said, if it is one of this stage's."""
        for room in self._rooms.values():
            room.unfold(turn)

    def _room(self, key: str, room: RoomCourse) -> ui.element:
        self._rooms[key] = _Room(self._view, room, self._actions)
        return self._rooms[key].root

    def _aside(self, line: Line) -> ui.element:
        return draw_line(line, self._view.viewing.board, self._actions)


class _Room:
    """A room on the page: a heading that folds it, and its words."""

    def __init__(self, view: StoryView, room: RoomCourse, actions: LineActions) -> None:
        self._view, self._room, self._actions = view, room, actions
        self._name = room_name(room, view.names)
        self._chosen: bool | None = None
        self._wide = False
        with ui.column().classes("w-full gap-0 story-room surface") as self.root:
            with ui.row().classes("w-full items-center gap-2 no-wrap px-3 py-2").props("role=heading aria-level=3"):
                ui.icon(DOOR if room.public else LOCK, size="18px").classes("muted").props("aria-hidden=true")
                with ui.column().classes("gap-0 grow min-w-0"):
                    ui.label(self._name).classes("text-sm font-semibold break-words")
                    known = room_known(room) if room.heard else f"{room_known(room)} {t('story.not_heard')}"
                    ui.label(known).classes("text-xs muted break-words")
                self._count = ui.label().classes("text-xs muted tabular-nums whitespace-nowrap")
                self._fold = ui.button(icon="expand_more", on_click=self._toggle).props("flat round dense size=sm")
                self._fold.props("color=grey-7").set_visibility(room.heard)
            self._box = ui.column().classes("w-full gap-3 px-3 pb-3")
        self._items = _Items(self._box)

    def sync(self, room: RoomCourse, *, wide: bool) -> None:
        """Show it as it is now.

        Args:
            room: as it is now.
            wide: whether it is unfolded, unless the reader has chosen otherwise.
        """
        self._room = room
        self._wide = (wide if self._chosen is None else self._chosen) and room.heard
        name = t("story.fold" if self._wide else "story.unfold", room=self._name)
        if self._fold.props.get("aria-label") != name:
            named(self._fold, name)
            self._fold.props["aria-expanded"] = "true" if self._wide else "false"
            self._fold.props["icon"] = "expand_less" if self._wide else "expand_more"
            self._fold.update()
        self._count.set_text(t("story.words", n=len(room.said)) if room.heard else "")
        self._box.set_visibility(self._wide)
        if not self._wide:
            self._items.clear()
            return
        wanted: list[tuple[Hashable, Callable[[], ui.element]]] = []
        if room.chosen_by:
            host, partners = room.members[0], listed(room.members[1:])
            wanted.append(("forced", partial(_forced, "story.by_branch", host, partners)))
        if room.why:
            wanted.append(("why", partial(_thought, "story.why", room.members[0], room.why)))
        for turn in room.said:
            wanted.append((turn, partial(_utterance, self._view, turn, self._actions, in_room=True)))
        for name, text in room.kept.items():
            wanted.append((("kept", name), partial(_thought, "story.kept", name, text)))
        self._items.sync(wanted)

    def unfold(self, turn: int) -> None:
        """Unfold it if an utterance was said in it."""
        if turn in self._room.said and not self._wide:
            self._toggle()

    def _toggle(self) -> None:
        self._chosen = not self._wide
        self.sync(self._room, wide=self._chosen)


def _utterance(view: StoryView, turn: int, actions: LineActions, *, in_room: bool = False) -> ui.element:
    board = view.viewing.board
    given = LineActions(None, None) if view.played else actions
    said = board.utterances[turn - 1]
    return draw_line(said, board, given, in_room=in_room, numbered=not view.played)


def _forced(key: str, host: str, partner: str = "") -> ui.element:
    """Whom a branch has let a host meet."""
    with ui.row().classes("w-full items-start gap-2 no-wrap story-thought") as row:
        ui.icon("call_split", size="16px").classes("muted").props("aria-hidden=true")
        ui.label(t(key, who=one_line(host), partner=partner)).classes("text-xs muted break-words min-w-0")
    return row


def _thought(key: str, name: str, text: str) -> ui.element:
    """What a character has in mind, beside the words."""
    with ui.row().classes("w-full items-start gap-2 no-wrap story-thought") as row:
        ui.icon("psychology", size="16px").classes("muted").props("aria-hidden=true")
        ui.label(t(key, who=one_line(name), text=one_line(text))).classes("text-xs muted break-words min-w-0")
    return row
