"""A story on the page: whose eyes the page has, its stages, and its transcript by stages and rooms."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from nicegui import ui

from ....reports.story_course import AWAKENING, SETTLEMENT, RoomCourse, StageCourse, StoryCourse
from ....runs.events import StoryOutcome, Uttered
from ....state.plain_text import one_line
from ....state.stories.support import most
from ....state.wording import listed
from ..context import Viewing
from ..shared.runs import StoryPlan, is_played
from ..widgets import follow, named
from ..words import t, t_or
from .ending import draw_afterwards, draw_end
from .lines import LineActions, draw_line
from .transcript import Item, Items, RunTranscript, doing


class StoryView:
    """What every part of the page of a story draws from.

    While a person plays, the page shows what that person's character knows, and nothing else; once the story is over,
    it opens to all.

    Args:
        viewing: the tab's view of the run.
        plan: the story.

    Attributes:
        names: of all characters.
    """

    def __init__(self, viewing: Viewing, plan: StoryPlan) -> None:
        self.viewing, self.plan = viewing, plan
        self._chosen: str | None = None
        self.names = list(plan.story.characters)
        self._known: tuple[Hashable, StoryCourse] | None = None
        if self.played:
            viewing.go_to(None)

    @property
    def played(self) -> bool:
        """Whether people play and the story is not over, so that the page must keep secrets."""
        board = self.viewing.board
        return is_played(board.people, board.stopped.reason if board.stopped is not None else None)

    @property
    def choices(self) -> list[str]:
        """The characters whose eyes may be chosen: all of them, or, while people play, theirs."""
        return self.viewing.board.people if self.played else self.names

    @property
    def eyes(self) -> str | None:
        """The character whose knowledge is shown; None for the researcher, who sees everything."""
        if self.played and self._chosen not in self.choices:
            return self.choices[0]
        return self._chosen

    @property
    def minds(self) -> list[str]:
        """The characters whose minds may be shown: all of them, or the one whose eyes were chosen."""
        return self.names if self.eyes is None else [self.eyes]

    def choose(self, name: str | None) -> None:
        """Show what a character knows; None for everything."""
        self._chosen = name

    @property
    def revision(self) -> Hashable:
        """A value that changes when the course does; single words of an utterance in progress do not change it."""
        viewing, board = self.viewing, self.viewing.board
        return (viewing.at, self.eyes, self.played, len(board.happenings), board.turn, board.stopped is None)

    @property
    def course(self) -> StoryCourse:
        """The story up to the shown turn, as far as it may be seen."""
        now = self.revision
        if self._known is None or self._known[0] != now:
            viewing = self.viewing
            made = self.plan.course(viewing.board, seen_by=self.eyes, turn=None if viewing.newest else viewing.turn)
            self._known = (now, made)
        return self._known[1]

    def sees(self, speaker: str) -> bool:
        """Whether the words that a speaker is just saying may be shown."""
        return self.eyes is None or any(
            room.open and {speaker, self.eyes} <= set(room.members) for room in self.course.rooms
        )


# The words for stages, rooms and the outcome


ROOMS: Final = "rooms"
"""The kind of a stage that splits everybody into rooms."""
LOCK: Final = "lock"
DOOR: Final = "meeting_room"
ICONS: Final = {
    "private": LOCK,
    "confidential": DOOR,
    "group": "groups",
    ROOMS: DOOR,
    "plenary": "groups",
    "settlement": "how_to_vote",
}
"""Pictures of stages, by kind; a word always stands beside one."""


def icon_of(stage: str) -> str:
    """The picture of a kind of stage."""
    return ICONS.get(stage, "forum")


def stage_name(stage: str) -> str:
    """A kind of stage in words; an unknown one as it is."""
    return t_or(f"story.stage_{stage}", one_line(stage))


def heading(stage: StageCourse, course: StoryCourse) -> str:
    """The heading of a stage."""
    if stage.stage == AWAKENING or stage.round > course.rounds:
        return stage_name(stage.stage)
    return t("story.heading", round=stage.round, of=course.rounds, stage=stage_name(stage.stage))


def room_name(room: RoomCourse, cast: Sequence[str]) -> str:
    """Who is in a room.

    Args:
        room: the room.
        cast: the names of all characters.
    """
    if room.stage == ROOMS:
        short = short_names(cast)
        members = ", ".join(short.get(name, one_line(name)) for name in room.members)
        return t("story.room_numbered", n=room.room.rpartition(".")[2], members=members)
    host, others = room.members[0], listed(room.members[1:])
    return t("story.room_with", host=one_line(host), others=others)


def room_known(room: RoomCourse) -> str:
    """Who knows of a room."""
    if room.stage == ROOMS:
        return t("story.room_split")
    return t("story.room_public" if room.public else "story.room_private")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """First names where they tell all apart, else full names; by full name."""
    plain = {name: one_line(name) for name in names}
    first = {name: text.split(" ")[0] for name, text in plain.items()}
    return first if len(set(first.values())) == len(plain) and all(first.values()) else plain


def counted(votes: dict[str, int]) -> str:
    """Ballots by candidate."""
    return ", ".join(f"{one_line(name)} {number}" for name, number in votes.items()) or t("story.no_ballots")


def outcome_sentence(outcome: StoryOutcome, decider: str) -> str:
    """The result of a vote, one sentence; the words of `state.stories.standing.outcome_in_words`."""
    votes = counted(outcome.open)
    if outcome.decided:
        return t("story.decided", decider=one_line(decider), choice=one_line(outcome.decided), votes=votes)
    if outcome.ceded:
        return t("story.ceded", decider=one_line(decider), choice=one_line(outcome.ceded), votes=votes)
    if not outcome.winners:
        return t("story.nobody_won")
    if len(outcome.winners) > 1:
        return t("story.draw", names=listed(outcome.winners), votes=votes)
    tied = len(most(outcome.open, list(outcome.open))) > 1
    return t("story.elected_after_tie" if tied else "story.elected", name=one_line(outcome.winners[0]), votes=votes)


# The bar of a story's rounds and stages, with the present one marked; and the choice of whose eyes the page has


_EVERYBODY = ""

_INTO_VIEW: Final = """
getHtmlElement({id})?.querySelector('[aria-current]')?.scrollIntoView({{inline: 'center', block: 'nearest'}})
"""


class StageBar:
    """The bar, kept up to date.

    Args:
        view: of the story.
        go: shows a stage.
    """

    def __init__(self, view: StoryView, go: Callable[[StageCourse], object]) -> None:
        self._view, self._go = view, go
        self._drawn: object = None
        self._begun: dict[tuple[int, int], StageCourse] = {}
        self._steps: dict[tuple[int, int], ui.button] = {}
        self._offered: Hashable = None
        with ui.element("div").classes("bar story-bar w-full"):
            self._stages = ui.element("nav").classes("story-stages scroll")
            named(self._stages, t("story.stages"))
            self._eyes: ui.select = ui.select({}, label=t("story.seen_by"))
            self._eyes.on_value_change(lambda event: view.choose(event.value or None))
            self._eyes.props("options-dense").classes("story-eyes").mark("seen-by")
        self._draw()
        follow(self.sync)

    def sync(self) -> None:
        """Mark the present stage, and enable those that have begun. Elements stay, so that none loses the focus."""
        self._offer()
        course = self._view.course
        begun = {(stage.round, stage.place): stage for stage in course.stages}
        present = (course.stages[-1].round, course.stages[-1].place) if course.stages else None
        if (present, begun.keys()) == self._drawn:
            return
        self._drawn = (present, begun.keys())
        self._begun = begun
        for at, button in self._steps.items():
            button.set_enabled(at in begun)
            if at == present:
                button.props["aria-current"] = "step"
            else:
                button.props.pop("aria-current", None)
            button.update()
        ui.run_javascript(_INTO_VIEW.format(id=self._stages.id))

    def _draw(self) -> None:
        """Draw all stages of all rounds, and the vote."""
        course = self._view.course
        plan = [
            [(number, place, kind) for place, kind in enumerate(course.plan)] for number in range(1, course.rounds + 1)
        ]
        if course.votes:
            plan.append([(course.rounds + 1, 0, SETTLEMENT)])
        with self._stages, ui.element("ol").classes("plain story-rounds"):
            for stages in plan:
                with ui.element("li").classes("story-round"):
                    if stages[0][2] != SETTLEMENT:
                        ui.label(t("story.round", n=stages[0][0])).classes("panel-title whitespace-nowrap")
                    with ui.element("ol").classes("plain flex gap-1 no-wrap"):
                        for number, place, kind in stages:
                            self._step(kind, (number, place))

    def _step(self, kind: str, at: tuple[int, int]) -> None:
        name = stage_name(kind)

        def go() -> None:
            if at in self._begun:
                self._go(self._begun[at])

        with ui.element("li"):
            button = ui.button(name, icon=icon_of(kind), on_click=go).props("flat dense size=sm")
        button.classes("story-step")
        named(button, name if kind == SETTLEMENT else t("story.to_stage", stage=name, round=at[0]))
        self._steps[at] = button

    def _offer(self) -> None:
        """Offer the eyes that may be chosen; while one person plays, there is no choice."""
        view = self._view
        now = (view.played, tuple(view.choices))
        if now != self._offered:
            self._offered = now
            everybody = {} if view.played else {_EVERYBODY: t("story.everybody")}
            self._eyes.set_options({**everybody, **{name: one_line(name) for name in view.choices}})
            self._eyes.set_value(view.eyes or _EVERYBODY)
            self._eyes.set_visibility(len(self._eyes.options) > 1)


# The transcript of a story by stages, with rooms under headings; closed rooms can be folded


SMALL: Final = 60
"""Up to this many utterances, closed rooms stay unfolded."""


class StoryTranscript(RunTranscript):
    """The transcript.

    Args:
        view: of the story.
        tools: takes the buttons for searching and for the keys.
        below: draws what belongs under an utterance's words; None for nothing.
    """

    def __init__(self, view: StoryView, tools: ui.element, below: Callable[[Uttered], None] | None = None) -> None:
        self._view, self._secret = view, view.played
        self._stages: dict[tuple[int, int], _Stage] = {}
        self._whose: Hashable = view.eyes
        super().__init__(view.viewing, tools, below, "gap-6")

    def revision(self) -> Hashable:
        """A value that changes when there is something new to draw."""
        view, board = self._view, self.viewing.board
        said = (board.asked, board.waits, board.speaking, board.words)
        return (view.revision, len(board.lines), board.status, self.viewing.live is None, said)

    def draw(self) -> bool:
        """Draw the stages; returns whether the end of the run is among them."""
        view, course = self._view, self._view.course
        if self._whose != view.eyes:
            self._whose = view.eyes
            self.items.clear()
        wanted = {(stage.round, stage.place): stage for stage in course.stages}
        self.show([(key, partial(self._stage, key, stage)) for key, stage in wanted.items()])
        asides, ends = self._asides(), [stage.turn for stage in course.stages[1:]]
        for number, (key, stage) in enumerate(wanted.items()):
            begin = stage.turn if number else -1
            after = ends[number] if number < len(ends) else math.inf
            if key in self.items.drawn:
                self._stages[key].sync(stage, [at for at, turn in asides if begin <= turn < after])
        return True

    def heard(self) -> list[Uttered]:
        """The utterances up to the shown turn that may be known."""
        course = self._view.course
        heard = {*chain.from_iterable(stage.said for stage in course.stages)}
        heard |= {*chain.from_iterable(room.said for room in course.rooms)}
        return [one for one in self.viewing.board.utterances if one.turn in heard]

    def doing(self) -> str:
        """A line about the present state; for a character's eyes, nothing that it does not know."""
        view, board = self._view, self.viewing.board
        asked = board.asked is not None and view.eyes in (None, board.asked.agent)
        speaking = board.speaking is not None and view.sees(board.speaking.speaker)
        found = doing(board, asked=asked, speaking=speaking)
        return t("story.working") if found is None else found

    def draw_end(self) -> None:
        """Draw what stands after the last line: the result of the vote is part of it."""
        course = self._view.course
        result = outcome_sentence(course.outcome, course.decider) if course.outcome is not None else ""
        draw_end(self.viewing.board, result=result, counted=not self._view.played)
        if not self._view.played:
            draw_afterwards(self.viewing)

    def unfold(self, turn: int) -> None:
        """Unfold the room in which an utterance was said."""
        for key, stage in self._stages.items():
            if key in self.items.drawn:
                stage.unfold(turn)

    def sees(self, speaker: str) -> bool:
        """Whether the words that somebody is just saying may be shown."""
        return self._view.sees(speaker)

    def tells_origin(self) -> bool:
        """Whether the page may tell of which run this is a branch: not to players."""
        return not self._view.played

    def must_load_again(self) -> bool:
        """Whether the run was resumed in another tab, or a played story opens to all at its end."""
        return super().must_load_again() or (self._secret and not self._view.played)

    def go(self, stage: StageCourse) -> None:
        """Show the beginning of a stage; while a person plays, only scroll there."""
        viewing = self.viewing
        if not self._view.played:
            viewing.go_to(None if stage.turn + 1 >= viewing.board.turn else stage.turn + 1)
            self.sync()
        drawn = self._stages.get((stage.round, stage.place))
        if drawn is not None:
            ui.run_javascript(f"getHtmlElement({drawn.heading.id})?.scrollIntoView({{block: 'start'}})")

    def _stage(self, key: tuple[int, int], stage: StageCourse) -> ui.element:
        # minds are beside the page, and open there; a player's page has no menu either
        actions = replace(self.actions, look=None, menu=None if self._view.played else self.actions.menu)
        made = self._stages[key] = _Stage(self._view, stage, actions)
        return made.root

    def _asides(self) -> list[tuple[int, int]]:
        """The lines between utterances that may be shown: index and turn. Silences are the researcher's."""
        viewing, board = self.viewing, self.viewing.board
        count = len(board.lines) if viewing.newest else board.lines_upto(viewing.turn)
        return [
            (index, line.turn)
            for index, line in enumerate(board.lines[:count])
            if not isinstance(line, Uttered) and (self._view.eyes is None or line.event == "topic")
        ]


class _Stage:
    """A stage on the page."""

    def __init__(self, view: StoryView, stage: StageCourse, actions: LineActions) -> None:
        self._view, self._actions = view, actions
        self._rooms: dict[str, _Room] = {}
        title, icon = heading(stage, view.course), icon_of(stage.stage)
        with ui.element("section").classes("w-full story-stage") as self.root:
            named(self.root, title)
            with ui.row().classes("items-center gap-2 no-wrap story-heading").props("role=heading aria-level=2") as row:
                ui.icon(icon, size="18px", color="primary").props("aria-hidden=true")
                ui.label(title).classes("text-sm font-semibold")
            self.heading = row
            self._items = Items(ui.column().classes("w-full gap-4 pt-3"))

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
            wanted.append((line.turn + 0.1, ("aside", index), partial(draw_line, line, board, self._actions)))
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
        self._items = Items(self._box)

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
        wanted: list[Item] = []
        if room.chosen_by:
            host, partners = room.members[0], listed(room.members[1:])
            wanted.append(("forced", partial(_forced, "story.by_branch", host, partner=partners)))
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
    return draw_line(board.utterances[turn - 1], board, actions, in_room=in_room, numbered=not view.played)


def _remark(icon: str, key: str, name: str, **values: str) -> ui.element:
    """A line beside the words: whom a branch has let a host meet, or what a character has in mind."""
    with ui.row().classes("w-full items-start gap-2 no-wrap story-thought") as row:
        ui.icon(icon, size="16px").classes("muted").props("aria-hidden=true")
        ui.label(t(key, who=one_line(name), **values)).classes("text-xs muted break-words min-w-0")
    return row


_forced: Final = partial(_remark, "call_split")


def _thought(key: str, name: str, text: str) -> ui.element:
    return _remark("psychology", key, name, text=one_line(text))
