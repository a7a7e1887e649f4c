"""The bar of a story's rounds and stages, with the present one marked; and the choice of whose eyes the page has."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from nicegui import ui

from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import icon_of, stage_name
from persimchat.app.web.widgets import FIELD, named
from persimchat.app.web.words import t
from persimchat.runs.reports.story_course import SETTLEMENT, StageCourse
from persimchat.state.plain_text import one_line

_POLL_S = 0.2
_EVERYBODY = ""

_INTO_VIEW: Final = """
getHtmlElement({id})?.querySelector('[aria-current]')?.scrollIntoView({{inline: 'center', block: 'nearest'}})
"""

Go = Callable[[StageCourse], object]


def stage_bar(view: StoryView, go: Go) -> None:
    """Draw the bar, and keep it up to date.

    Args:
        view: of the story.
        go: shows a stage.
    """
    bar = _StageBar(view, go)
    bar.sync()
    ui.timer(_POLL_S, bar.sync)


class _StageBar:
    def __init__(self, view: StoryView, go: Go) -> None:
        self._view, self._go = view, go
        self._drawn: object = None
        self._begun: dict[tuple[int, int], StageCourse] = {}
        self._steps: dict[tuple[int, int], ui.button] = {}
        self._offered: Hashable = None
        with ui.element("div").classes("bar story-bar w-full"):
            self._stages = ui.element("nav").classes("story-stages scroll")
            named(self._stages, t("story.stages"))
            self._eyes = ui.select({}, label=t("story.seen_by"), on_change=self._looked)
            self._eyes.props(f"{FIELD} options-dense").classes("story-eyes").mark("seen-by")
        self._draw()

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
        plan = [[(number, place, kind) for place, kind in enumerate(course.plan)] for number in _rounds(course.rounds)]
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
            button = ui.button(name, icon=icon_of(kind), on_click=go).props("flat dense no-caps size=sm")
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

    def _looked(self) -> None:
        self._view.choose(self._eyes.value or None)


def _rounds(count: int) -> range:
    return range(1, count + 1)
