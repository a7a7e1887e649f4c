"""The panel beside a story: where its characters stand, and its rooms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol

from nicegui import ui

from persimchat.app.web.shared.formats import cost, joined, tokens
from persimchat.app.web.story.closeness import Closeness
from persimchat.app.web.story.parts import Cast, Part
from persimchat.app.web.story.standing import Beliefs, Resources, Stands, Vote
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import DOOR, LOCK, room_known, room_name, stage_name
from persimchat.app.web.widgets import card, named
from persimchat.app.web.words import number, t
from persimchat.runs.reports.story_course import RoomCourse
from persimchat.state.plain_text import one_line


def standing_part(view: StoryView) -> Callable[[], None]:
    """Make the part on who stands where; returns what draws it."""
    return _Standing(view).draw


def rooms_part(view: StoryView) -> Callable[[], None]:
    """Make the part on who talked with whom; returns what draws it."""
    return _Rooms(view).draw


class _Card(Protocol):
    def draw(self) -> None: ...


class _Standing:
    def __init__(self, view: StoryView) -> None:
        self._view = view
        self._drawn: Hashable = None
        self._stands = bool(view.plan.story.mains)
        self._as_of = ui.label().classes("text-xs muted break-words").mark("story-as-of")
        self._cards: list[_Card] = [Part(view), *self._standings(), Cast(view)]
        self._used = ui.label().classes("text-xs muted break-words")

    def draw(self) -> None:
        """Draw, if anything shown has changed."""
        view = self._view
        if view.revision == self._drawn:
            return
        self._drawn = view.revision
        course = view.course
        last = course.standings[-1].round if course.standings else 0
        when = t("story.after_round", n=last) if last else t("story.at_beginning")
        who = t("story.everybody") if view.eyes is None else one_line(view.eyes)
        as_of = t("story.as_of", when=when, who=who) if self._stands else t("story.seen_as", who=who)
        self._as_of.set_text(as_of)
        for part in self._cards:
            part.draw()
        self._used.set_text(self._accounts())

    def _standings(self) -> Iterator[_Card]:
        """The cards on where characters stand: those of which the story has anything."""
        view, story = self._view, self._view.plan.story
        if not self._stands:
            return
        yield Vote(view)
        yield Stands(view)
        yield Closeness(view)
        if any(one.beliefs for one in story.characters.values()):
            yield Beliefs(view)
        if story.resources:
            yield Resources(view)

    def _accounts(self) -> str:
        """What the run has used; the researcher's."""
        viewing = self._view.viewing
        totals = viewing.board.totals_at(viewing.turn)
        if self._view.played or not totals.calls:
            return ""
        calls = t("insights.requests", n=totals.calls, shown=number(totals.calls))
        used = joined([calls, tokens(totals.input_tokens + totals.output_tokens), cost(totals)])
        return f"{t('story.used')}: {used}"


class _Rooms:
    def __init__(self, view: StoryView) -> None:
        self._view = view
        self._drawn: Hashable = None
        self._list = ui.column().classes("w-full gap-3")

    def draw(self) -> None:
        """Draw, if anything shown has changed."""
        if self._view.revision == self._drawn:
            return
        self._drawn = self._view.revision
        course = self._view.course
        self._list.clear()
        with self._list:
            if not course.rooms:
                ui.label(t("story.rooms_none")).classes("text-sm muted")
            for stage in course.stages:
                rooms = [course.room(key) for key in stage.rooms]
                if not rooms:
                    continue
                with card(t("story.to_stage", stage=stage_name(stage.stage), round=stage.round)):
                    for room in rooms:
                        self._room(room)

    def _room(self, room: RoomCourse) -> None:
        view = self._view
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            ui.icon(DOOR if room.public else LOCK, size="16px").classes("muted pt-1").props("aria-hidden=true")
            with ui.column().classes("gap-0 min-w-0 grow"):
                name = room_name(room, view.names)
                if view.played:
                    ui.label(name).classes("text-sm font-semibold break-words")
                else:
                    button = ui.button(name, on_click=lambda: view.viewing.go_to(_first(room)), color=None)
                    button.props("flat dense no-caps").classes("who")
                    named(button, t("story.room_go", room=name, round=room.round))
                words = t("story.words", n=len(room.said))
                told = t("story.room_now", words=words) if room.open else words
                ui.label(told if room.heard else t("story.not_heard")).classes("text-xs muted")
                ui.label(room_known(room)).classes("text-xs muted break-words")


def _first(room: RoomCourse) -> int:
    """The turn at which a room's first words are shown."""
    return room.turn + 1
