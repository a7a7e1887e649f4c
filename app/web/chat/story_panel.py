"""The panel beside a story: where its characters stand and what they know, the vote, closeness, beliefs; its rooms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from nicegui import ui

from ....reports import palette
from ....reports.charts.lines import Series, levels
from ....reports.charts.model import Chart
from ....reports.charts.story import Edge, belief_lines, graph
from ....reports.palette import people
from ....reports.story_course import BeliefNow, CharacterNow, RoomCourse
from ....state.plain_text import one_line
from ..shared.chart_box import ChartBox
from ..shared.formats import cost, joined, tokens
from ..widgets import SEGMENTS, anew, avatar, card, colour, named, plain_button, table
from ..words import number, t
from .story import DOOR, LOCK, StoryView, counted, outcome_sentence, room_known, room_name, short_names, stage_name


def standing_part(view: StoryView) -> Callable[[], None]:
    """Make the part on who stands where; returns what draws it."""
    return _Standing(view).draw


class _Standing:
    """The cards; those with choices stay, the others are drawn anew with every change."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        self._drawn: Hashable = None
        story = view.plan.story
        self._stands = bool(story.mains)
        self._as_of = ui.label().classes("text-xs muted break-words").mark("story-as-of")
        self._first, self._cards = ui.column().classes("w-full gap-3"), list[Callable[[], None]]()
        if self._stands:
            self._cards.append(Closeness(view).draw)
            if any(one.beliefs for one in story.characters.values()):
                self._cards.append(Beliefs(view).draw)
        self._last = ui.column().classes("w-full gap-3")
        with self._last:
            if self._stands and story.resources:
                with card(t("story.resources")):
                    self._owned = ui.column().classes("w-full")
                self._cards.append(self._draw_owners)
            _cast(view)
        self._used = ui.label().classes("text-xs muted break-words")

    def draw(self) -> None:
        """Draw, if anything shown has changed."""
        view = self._view
        if view.revision == self._drawn:
            return
        self._drawn = view.revision
        last = view.course.standings[-1].round if view.course.standings else 0
        when = t("story.after_round", n=last) if last else t("story.at_beginning")
        who = t("story.everybody") if view.eyes is None else one_line(view.eyes)
        self._as_of.set_text(t("story.as_of", when=when, who=who) if self._stands else t("story.seen_as", who=who))
        with anew(self._first):
            _part(view)
            if self._stands:
                _vote(view)
                _who_stands(view)
        for draw in self._cards:
            draw()
        totals = view.viewing.board.totals_at(view.viewing.turn)
        secret = view.played or not totals.calls
        calls = t("insights.requests", n=totals.calls)
        used = joined([calls, tokens(totals.input_tokens + totals.output_tokens), cost(totals)])
        self._used.set_text("" if secret else f"{t('story.used')}: {used}")

    def _draw_owners(self) -> None:
        """Who owns what."""
        owned = sorted(self._view.course.owners, key=lambda one: one.owner)
        rows = [
            (one_line(one.owner) or t("story.nobody"), one_line(one.resource), number(one.influence)) for one in owned
        ]
        with anew(self._owned):
            table((t("story.owner"), t("story.resource"), t("story.weight")), rows)


def _part(view: StoryView) -> None:
    """Who the character is whose eyes the page has, and what it wants; nothing for the researcher."""
    if view.eyes is None:
        return
    part = view.plan.parts[view.eyes]
    with card(t("story.part")):
        ui.label(one_line(view.eyes)).classes("text-sm font-semibold break-words")
        if part.description:
            ui.label(part.description).classes("text-sm words")
        for goal in part.goals:
            ui.label(t("story.goal", text=one_line(goal))).classes("text-sm break-words")
        for rule in view.plan.rules:
            ui.label(t("story.rule", text=one_line(rule))).classes("text-xs muted break-words")


def _vote(view: StoryView) -> None:
    """The ballots, and the outcome in a sentence; nothing before the first ballot."""
    course = view.course
    if not course.ballots and course.outcome is None:
        return
    none, short = t("story.ballot_none"), short_names(view.names)
    later = t("story.ballot_later") if course.outcome is None else none

    def shown(name: str | None, otherwise: str) -> str:
        return short.get(name, one_line(name)) if name else otherwise

    with card(t("story.vote")):
        if course.outcome is not None:
            sentence = outcome_sentence(course.outcome, course.decider)
            ui.label(sentence).classes("conclusion w-full p-2 text-sm font-semibold break-words").mark("outcome")
        if course.ballots:
            table(
                [t(f"story.{key}") for key in ("voter", "guess", "ballot_open", "ballot_closed")],
                [
                    (short[one.voter], shown(one.guess, none), shown(one.open, later), shown(one.closed, later))
                    for one in course.ballots
                ],
            )
            ui.label(t("story.ballots_about")).classes("text-xs muted")
        if course.outcome is not None and course.outcome.closed:
            ui.label(t("story.closed_count", votes=counted(course.outcome.closed))).classes("text-xs muted")


def _now(view: StoryView) -> Sequence[CharacterNow]:
    """Where characters stand after the last update."""
    return view.course.standings[-1].characters if view.course.standings else ()


def _who_stands(view: StoryView) -> None:
    """Who is behind whom, after what, and with how much influence."""
    mains = {one.name for one in view.course.cast if one.main}
    with card(t("story.who_stands")):
        if not _now(view):
            ui.label(t("story.nothing")).classes("text-sm muted")
            return
        with ui.element("ul").classes("plain w-full flex flex-col gap-2"):
            for one in _now(view):
                with _character(view, one.name, t("story.influence", n=one.influence)):
                    if one.supports:
                        behind = t("story.behind", who=one_line(one.supports))
                    else:
                        behind = t("story.for_itself" if one.name in mains else "story.behind_nobody")
                    ui.label(behind).classes("text-xs muted break-words")
                    if one.beliefs:
                        first = max(one.beliefs, key=lambda belief: belief.score)
                        told = t("story.strongest", score=first.score, text=one_line(first.text))
                        ui.label(told).classes("text-xs muted break-words")


@contextmanager
def _character(view: StoryView, name: str, beside: str = "") -> Iterator[None]:
    """A line of a list with a character's picture and name, to be filled with more about it."""
    names = [one.name for one in view.course.cast]
    with ui.element("li"), ui.row().classes("w-full items-start gap-2 no-wrap"):
        avatar(one_line(name), colour(name, names), "26px", human=name in view.viewing.board.people)
        with ui.column().classes("gap-0 grow min-w-0"):
            with ui.row().classes("w-full items-baseline gap-2 no-wrap justify-between"):
                ui.label(one_line(name)).classes("text-sm break-words min-w-0")
                ui.label(beside).classes("text-xs whitespace-nowrap")
            yield


def _cast(view: StoryView) -> None:
    """The characters as everybody knows them from the beginning."""
    with card(t("story.cast")), ui.element("ul").classes("plain w-full flex flex-col gap-2"):
        for one in view.course.cast:
            kind = t("story.main" if one.main else "story.other") if view.plan.story.mains else ""
            with _character(view, one.name, kind):
                if one.known_as:
                    ui.label(one_line(one.known_as)).classes("text-xs muted break-words")


# Closeness: a table whose cells hold the numbers, and the same as a graph


def edges(characters: Sequence[CharacterNow], least: int) -> list[Edge]:
    """Who is close to whom, and how much, from a closeness on."""
    return [(one.name, other, value) for one in characters for other, value in one.closeness.items() if value >= least]


class Closeness:
    """The card of closeness."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card():
            with ui.row().classes("w-full items-center justify-between gap-1 no-wrap"):
                ui.label(t("story.closeness")).classes("text-sm font-semibold").props("role=heading aria-level=3")
                kinds = {"table": t("story.table"), "graph": t("story.graph")}
                self._kind = ui.toggle(kinds, value="table", on_change=self.draw)
                self._kind.props(f"{SEGMENTS} size=sm role=group").classes("seg").mark("closeness-as")
                named(self._kind, t("story.closeness_as"))
            self._nothing = ui.label(t("story.nothing")).classes("text-sm muted")
            self._table = ui.element("div").classes("w-full heat-box").props("tabindex=0 role=group")
            named(self._table, t("story.closeness"))
            self._graph = ChartBox(f"{view.viewing.run}-closeness", head=False, slider=False)
            self._about = ui.label().classes("text-xs muted")

    def draw(self) -> None:
        """Show closeness after the last update."""
        course, now = self._view.course, _now(self._view)
        as_table = self._kind.value == "table"
        self._nothing.set_visibility(not now)
        self._table.set_visibility(bool(now) and as_table)
        self._about.set_visibility(bool(now))
        if not now or as_table:
            self._graph.draw(None)
        if not now:
            return
        least, names = course.support, [one.name for one in course.cast]
        if as_table:
            self._draw_table(now, names, least)
            self._about.set_text(t("story.closeness_about", least=least))
            return
        found = edges(now, least)
        told = [t("story.edge", a=one_line(a), b=one_line(b), value=number(value)) for a, b, value in found]
        none = t("story.graph_none", least=least)
        words = t("story.graph_words", least=least, edges="; ".join(told)) if told else none
        short = short_names(names)
        who = {name: replace(person, name=short[name]) for name, person in people(names).items()}
        weights = {one.name: one.influence for one in now}
        self._graph.draw(lambda width: graph(t("story.closeness"), who, found, weights, words, width=width))
        self._about.set_text(f"{t('story.graph_about', least=least)} {words}")

    def _draw_table(self, now: Sequence[CharacterNow], names: list[str], least: int) -> None:
        short = short_names(names)
        with anew(self._table), ui.element("table").classes("heat"):
            with ui.element("thead"), ui.element("tr"):
                with ui.element("th").props("scope=col"):
                    ui.label(t("story.closeness_to")).classes("text-xs muted whitespace-nowrap")
                for name in names:
                    with ui.element("th").props("scope=col").classes("heat-to"):
                        ui.label(short[name])
            with ui.element("tbody"):
                for one in now:
                    with ui.element("tr"):
                        with ui.element("th").props("scope=row").classes("heat-who"):
                            ui.label(short[one.name]).classes("truncate")
                        for name in names:
                            _cell(one.closeness.get(name), least)


def _cell(value: int | None, least: int) -> None:
    with ui.element("td") as cell:
        if value is None:
            ui.label("·").classes("muted").props("aria-hidden=true")
            return
        ui.label(number(value))
    cell.style(f"--share:{value}%").classes("close" if value >= least else "")


# A character's beliefs over the rounds, as lines and in words


def belief_styles(beliefs: Sequence[BeliefNow], names: list[str]) -> list[str]:
    """A class of the style sheet for each belief: that of whom it is for, unless another belief has it already."""
    places = palette.places(names)
    free = [f"p{place}" for place in range(len(palette.PEOPLE))]
    taken: list[str] = []
    for belief in beliefs:
        own = f"p{places[belief.favours]}" if belief.favours in places else "neutral"
        taken.append(own if own not in taken else next((one for one in free if one not in taken), own))
    return taken


class Beliefs:
    """The card of beliefs."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        self._names: list[str] = []
        with card(t("story.beliefs")):
            self._whose = ui.select({}, on_change=self.draw).props("options-dense").classes("w-full")
            named(self._whose, t("story.whose")).mark("whose-beliefs")
            self._nothing = ui.label(t("story.beliefs_none")).classes("text-sm muted")
            self._chart = ChartBox(f"{view.viewing.run}-beliefs", head=False, slider=False)
            self._list = ui.element("ul").classes("plain w-full flex flex-col gap-1")

    def draw(self) -> None:
        """Show the chosen character's beliefs up to the shown turn."""
        course = self._view.course
        known: Mapping[str, CharacterNow] = {one.name: one for one in _now(self._view) if one.beliefs}
        self._offer(list(known))
        self._list.clear()
        chosen = known.get(str(self._whose.value or ""))
        self._nothing.set_visibility(chosen is None)
        if chosen is None:
            self._chart.draw(None)
            return
        styles = belief_styles(chosen.beliefs, [one.name for one in course.cast])
        letters = [chr(ord("a") + place) for place in range(len(styles))]
        lines = zip(belief_lines(course.standings, chosen.name).items(), letters, styles, strict=True)
        series = [Series(text, letter, style, points) for (text, points), letter, style in lines]
        about = t("story.beliefs_chart", who=one_line(chosen.name))

        def drawn(width: int) -> Chart | None:
            size = partial(levels, width=width, height=150, labels=48, last=course.rounds)
            return size(about, series, axis=t("charts.round"), highest=100, values=(0, 50, 100))

        self._chart.draw(drawn)
        with self._list:
            for belief, letter, style in zip(chosen.beliefs, letters, styles, strict=True):
                with ui.element("li"), ui.row().classes("w-full items-baseline gap-2 no-wrap"):
                    ui.label(letter).classes("text-xs font-semibold").style(f"color:var(--{style})")
                    key = "story.belief_for" if belief.favours else "story.belief_of_none"
                    told = t(key, score=belief.score, text=one_line(belief.text), who=one_line(belief.favours))
                    ui.label(told).classes("text-xs break-words min-w-0")

    def _offer(self, names: list[str]) -> None:
        self._whose.set_visibility(bool(names))
        if names == self._names:
            return
        self._names = names
        kept = self._whose.value if self._whose.value in names else next(iter(names), None)
        self._whose.set_options({name: one_line(name) for name in names}, value=kept)


# The rooms: who talked with whom


def rooms_part(view: StoryView) -> Callable[[], None]:
    """Make the part on who talked with whom; returns what draws it."""
    box = ui.column().classes("w-full gap-3")
    drawn: list[Hashable] = [None]

    def draw() -> None:
        if view.revision == drawn[0]:
            return
        drawn[0] = view.revision
        course = view.course
        with anew(box):
            if not course.rooms:
                ui.label(t("story.rooms_none")).classes("text-sm muted")
            for stage in course.stages:
                if stage.rooms:
                    with card(t("story.to_stage", stage=stage_name(stage.stage), round=stage.round)):
                        for key in stage.rooms:
                            _room(view, course.room(key))

    return draw


def _room(view: StoryView, room: RoomCourse) -> None:
    with ui.row().classes("w-full items-start gap-2 no-wrap"):
        ui.icon(DOOR if room.public else LOCK, size="16px").classes("muted pt-1").props("aria-hidden=true")
        with ui.column().classes("gap-0 min-w-0 grow"):
            name = room_name(room, view.names)
            if view.played:
                ui.label(name).classes("text-sm font-semibold break-words")
            else:
                button = plain_button(name, lambda: view.viewing.go_to(room.turn + 1)).classes("who")
                named(button, t("story.room_go", room=name, round=room.round))
            words = t("story.words", n=len(room.said))
            told = t("story.room_now", words=words) if room.open else words
            ui.label(told if room.heard else t("story.not_heard")).classes("text-xs muted")
            ui.label(room_known(room)).classes("text-xs muted break-words")
