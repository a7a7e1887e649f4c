"""The cards on where characters stand: the vote, who is behind whom, beliefs over the rounds, resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.shared.chart_box import ChartBox, chart_words
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import counted, outcome_sentence, short_names
from persimchat.app.web.widgets import FIELD, avatar, card, named
from persimchat.app.web.words import number, t
from persimchat.runs.reports import palette
from persimchat.runs.reports.charts.lines import Series, levels
from persimchat.runs.reports.charts.story import belief_lines
from persimchat.runs.reports.story_course import BeliefNow, CharacterNow
from persimchat.state.plain_text import one_line


@contextmanager
def _table(*heads: str) -> Iterator[None]:
    """A table with these heads; the caller adds its rows."""
    with ui.element("div").classes("w-full cells-box"), ui.element("table").classes("facts w-full text-sm"):
        with ui.element("thead"), ui.element("tr"):
            for head in heads:
                with ui.element("th").props("scope=col"):
                    ui.label(head)
        with ui.element("tbody"):
            yield


def _row(first: str, *more: str) -> None:
    with ui.element("tr"):
        with ui.element("th").props("scope=row"):
            ui.label(first)
        for text in more:
            with ui.element("td"):
                ui.label(text)


def strongest(beliefs: Sequence[BeliefNow]) -> BeliefNow | None:
    """The strongest belief, the first of equals; None without beliefs."""
    return max(beliefs, key=lambda one: one.score, default=None)


def belief_styles(beliefs: Sequence[BeliefNow], names: list[str]) -> list[str]:
    """A class of the style sheet for each belief: that of whom it is for, unless another belief has it already."""
    places = palette.places(names)
    free = [f"p{place}" for place in range(len(palette.PEOPLE))]
    taken: list[str] = []
    for belief in beliefs:
        own = f"p{places[belief.favours]}" if belief.favours in places else "neutral"
        taken.append(own if own not in taken else next((one for one in free if one not in taken), own))
    return taken


class Vote:
    """The ballots, and the outcome in a sentence; hidden before the first ballot."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card(t("story.vote")) as self._box:
            self._inside = ui.column().classes("w-full gap-2")

    def draw(self) -> None:
        """Show the vote at the shown turn."""
        course = self._view.course
        self._box.set_visibility(bool(course.ballots) or course.outcome is not None)
        self._inside.clear()
        if not self._box.visible:
            return
        none, short = t("story.ballot_none"), short_names(self._view.names)
        later = t("story.ballot_later") if course.outcome is None else none
        with self._inside:
            if course.outcome is not None:
                sentence = outcome_sentence(course.outcome, course.decider)
                ui.label(sentence).classes("conclusion w-full p-2 text-sm font-semibold break-words").mark("outcome")
            if course.ballots:
                with _table(*(t(f"story.{key}") for key in ("voter", "guess", "ballot_open", "ballot_closed"))):
                    for one in course.ballots:
                        made = ((one.guess, none), (one.open, later), (one.closed, later))
                        _row(short[one.voter], *(short.get(name, one_line(name)) if name else no for name, no in made))
                ui.label(t("story.ballots_about")).classes("text-xs muted")
            if course.outcome is not None and course.outcome.closed:
                ui.label(t("story.closed_count", votes=counted(course.outcome.closed))).classes("text-xs muted")


class Stands:
    """Who is behind whom, after what, and with how much influence."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card(t("story.who_stands")):
            self._inside = ui.element("ul").classes("plain w-full flex flex-col gap-2")
            self._nothing = ui.label(t("story.nothing")).classes("text-sm muted")

    def draw(self) -> None:
        """Show where characters stand after the last update."""
        course = self._view.course
        now = course.standings[-1].characters if course.standings else []
        self._inside.clear()
        self._nothing.set_visibility(not now)
        self._inside.set_visibility(bool(now))
        names = [one.name for one in course.cast]
        mains = {one.name for one in course.cast if one.main}
        people = self._view.viewing.board.people
        with self._inside:
            for one in now:
                with ui.element("li"), ui.row().classes("w-full items-start gap-2 no-wrap"):
                    avatar(one_line(one.name), colour(one.name, names), "26px", human=one.name in people)
                    with ui.column().classes("gap-0 grow min-w-0"):
                        with ui.row().classes("w-full items-baseline gap-2 no-wrap justify-between"):
                            ui.label(one_line(one.name)).classes("text-sm truncate min-w-0")
                            ui.label(t("story.influence", n=one.influence)).classes("text-xs whitespace-nowrap")
                        self._words(one, main=one.name in mains)

    @staticmethod
    def _words(one: CharacterNow, *, main: bool) -> None:
        if one.supports:
            behind = t("story.behind", who=one_line(one.supports))
        else:
            behind = t("story.for_itself" if main else "story.behind_nobody")
        ui.label(behind).classes("text-xs muted break-words")
        first = strongest(one.beliefs)
        if first is not None:
            told = t("story.strongest", score=first.score, text=one_line(first.text))
            ui.label(told).classes("text-xs muted break-words")


class Beliefs:
    """A character's beliefs over the rounds, as lines and in words."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        self._names: list[str] = []
        with card(t("story.beliefs")) as self._box:
            self._whose = ui.select({}, on_change=self.draw).props(f"{FIELD} options-dense").classes("w-full")
            named(self._whose, t("story.whose")).mark("whose-beliefs")
            self._nothing = ui.label(t("story.beliefs_none")).classes("text-sm muted")
            self._chart = ChartBox(f"{view.viewing.run}-beliefs", head=False, slider=False)
            self._list = ui.element("ul").classes("plain w-full flex flex-col gap-1")

    def draw(self) -> None:
        """Show the chosen character's beliefs up to the shown turn."""
        course = self._view.course
        last = course.standings[-1].characters if course.standings else []
        known: Mapping[str, CharacterNow] = {one.name: one for one in last if one.beliefs}
        self._offer(list(known))
        self._list.clear()
        chosen = known.get(str(self._whose.value or ""))
        self._nothing.set_visibility(chosen is None)
        if chosen is None:
            self._chart.draw(None)
            return
        names = [one.name for one in course.cast]
        styles = belief_styles(chosen.beliefs, names)
        lines = belief_lines(course.standings, chosen.name)
        letters = [chr(ord("a") + place) for place in range(len(styles))]
        words = chart_words()
        about = t("story.beliefs_chart", who=one_line(chosen.name))
        self._chart.draw(
            lambda width: levels(
                about,
                [
                    Series(text, letter, style, points)
                    for (text, points), letter, style in zip(lines.items(), letters, styles, strict=True)
                ],
                last=course.rounds,
                width=width,
                height=150,
                labels=48,
                axis=words.round,
                highest=100,
                values=(0, 50, 100),
                words=words,
            )
        )
        with self._list:
            for belief, letter, style in zip(chosen.beliefs, letters, styles, strict=True):
                with ui.element("li"), ui.row().classes("w-full items-baseline gap-2 no-wrap"):
                    ui.label(letter).classes("text-xs font-semibold").style(f"color:var(--{style})")
                    ui.label(_worded(belief)).classes("text-xs break-words min-w-0")

    def _offer(self, names: list[str]) -> None:
        self._whose.set_visibility(bool(names))
        if names == self._names:
            return
        self._names = names
        kept = self._whose.value if self._whose.value in names else next(iter(names), None)
        self._whose.set_options({name: one_line(name) for name in names}, value=kept)


def _worded(belief: BeliefNow) -> str:
    text = one_line(belief.text)
    if not belief.favours:
        return t("story.belief_of_none", score=belief.score, text=text)
    return t("story.belief_for", score=belief.score, text=text, who=one_line(belief.favours))


class Resources:
    """The resources, by owner."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card(t("story.resources")):
            self._inside = ui.column().classes("w-full gap-2")

    def draw(self) -> None:
        """Show who owns what."""
        owned = sorted(self._view.course.owners, key=lambda one: one.owner)
        self._inside.clear()
        with self._inside, _table(t("story.owner"), t("story.resource"), t("story.weight")):
            for one in owned:
                who = one_line(one.owner) if one.owner else t("story.nobody")
                _row(who, one_line(one.resource), number(one.influence))
