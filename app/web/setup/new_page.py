"""The first screen: one column from the topic to the start, and below it a sample and the latest runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from ....models.naming import OFFLINE, default_model_name
from ....personas.scenario import default_participants, make_scenario
from ....runs.control import Control
from ....runs.folder.listing import ListedRun
from ....runs.folder.reading import read_manifest
from ....state.configuration import load_settings
from ....state.document import table
from ....state.errors import InputError, ModelError, PerSimChatError
from ....state.plain_text import one_line
from ....state.scenario import LONGEST_TOPIC, Scenario
from ....state.settings import Settings
from ..context import WebContext
from ..models.picker import ModelPicker
from ..personas.chooser import take_pending_personas
from ..shared.formats import moment
from ..shared.navigation import page_of
from ..shared.runs import begin_at, closed, closed_runs
from ..widgets import (
    avatar,
    colour,
    errors_shown,
    named,
    notify_error,
    reached,
    say_in,
    text_button,
    title,
    with_waits,
)
from ..words import number, t
from .draft import Draft, KeptDraft, Seat
from .faces import Faces
from .files_menu import QUIET, FilesMenu, MoreSettings
from .form import TOPIC, Form, field_of, specs
from .kinds import kinds_part, offers
from .scenario_files import SavedSetups
from .setting_field import error_of, label_of

# The estimate of calls, tokens and cost, and the start of a run


if TYPE_CHECKING:
    from ....reports.estimate import Estimate


WAIT_S: Final = 0.04
"""Seconds without a change of the draft before it is estimated."""
_DIGITS: Final = 3


@dataclass(frozen=True)
class Reckoned:
    """What a draft would take.

    Attributes:
        settings: of the run.
        least: the estimate; people have no calls of their own.
        most: with people, as if agents took their parts: what people do to a conversation is not known beforehand.
    """

    settings: Settings
    least: Estimate
    most: Estimate


class CostLine:
    """The line. It is grey from a change until the new estimate is there.

    Args:
        form: whose draft it estimates.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._seen = self._told = -1
        self._working = False
        with ui.column().classes("gap-0 grow basis-60 min-w-0"):
            self._line = ui.label(t("setup.estimating")).classes("text-sm reckoning").mark("estimate")
            self._line.props("aria-live=polite")
            self._warning = ui.label().classes("text-xs text-negative").props("role=alert").mark("over-budget")
        self._warning.set_visibility(False)
        self._timer = ui.timer(WAIT_S, self.look)
        form.follow(self._changed)

    def _changed(self) -> None:
        self._line.classes(add="reckoning").props("aria-busy=true")
        self._timer.active = True

    async def look(self) -> None:
        """Estimate the draft if it has changed and then stayed the same for a while."""
        revision = self._form.revision
        if self._working or revision != self._seen:
            self._seen = revision
            return
        if revision == self._told:
            self._timer.active = False
            return
        self._working = True
        try:
            found = await asyncio.to_thread(self._reckon, t("setup.example_cars_topic"))
        finally:
            self._working = False
        self._told = revision
        if revision == self._form.revision:
            self._line.classes(remove="reckoning").props("aria-busy=false")
        self._show(found)

    def _reckon(self, example: str) -> Reckoned | str:
        """The estimate, or why there is none; an example replaces a missing topic."""
        from ....reports.estimate import estimate  # in a thread: it takes long to load

        if set(self._form.wrong) - {TOPIC}:
            return ""
        draft = self._form.draft
        try:
            scenario, settings = replace(draft, topic=draft.topic.strip() or example).simulation()
            least = estimate(scenario, settings)
            if not any(persona.human for persona in scenario.participants):
                return Reckoned(settings, least, least)
            agents = [persona.model_copy(update={"human": False}) for persona in scenario.participants]
            most = estimate(scenario.model_copy(update={"participants": agents}), settings)
            return Reckoned(settings, least, most)
        except PerSimChatError as error:
            return error.what

    def _show(self, found: Reckoned | str) -> None:
        if isinstance(found, str):
            self._line.set_text(t("setup.no_estimate_because", why=found) if found else t("setup.no_estimate"))
            self._warning.set_visibility(False)
            return
        key = "setup.estimate_debate" if found.settings.mode == "debate" else "setup.estimate"
        ends = [found.least.total, found.most.total]
        calls = _between([_about(end.calls) for end in ends])
        tokens = _between([_about(end.input_tokens + end.output_tokens) for end in ends])
        self._line.set_text(t(key, calls=calls, tokens=tokens, cost=_cost(found)))
        reached = [label_of(name) for name in found.most.exceeded(found.settings)]
        say_in(self._warning, t("setup.over_budget", budgets=", ".join(reached)) if reached else "")


def _between(ends: list[int]) -> str:
    """A number, or a range where the ends differ."""
    low, high = sorted(ends)
    return number(low) if low == high else t("setup.range", low=number(low), high=number(high))


def _about(counted: int) -> int:
    """A whole number with three significant digits, which is as exact as an estimate is."""
    return round(counted, min(0, _DIGITS - len(str(counted))))


def _cost(found: Reckoned) -> str:
    """The cost in words."""
    if found.most.unpriced():
        return t("setup.price_unknown", models=", ".join(found.most.unpriced()))
    if set(found.most.by("model")) <= {OFFLINE}:
        return t("setup.free")
    low, high = sorted(number(one.total.cost_usd or 0, 4) for one in (found.least, found.most))
    return t("setup.price", usd=low) if low == high else t("setup.price", usd=t("setup.range", low=low, high=high))


# Starts a run from the page: once, with the values that the user saw, and told at once


_PRESS: Final = """(event) => {
  const button = event.currentTarget;
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  const typed = {};
  for (const one of document.querySelectorAll('[data-typed]')) typed[one.dataset.typed] = one.value;
  emit(typed);
}"""
"""What the browser does at once: the button is busy, and what stands in the fields goes along."""


class Starter:
    """A button that starts a run and leads to it.

    Args:
        web: the context of the pages.
        button: shows that the run is being started.
        simulation: gives the scenario and settings; raises PerSimChatError if they are invalid.
        form: the form in which an error is marked; None if there is none.
    """

    def __init__(
        self,
        web: WebContext,
        button: ui.button,
        simulation: Callable[[], tuple[Scenario, Settings]],
        form: Form | None = None,
    ) -> None:
        self._web, self._button, self._simulation, self._form = web, button, simulation, form
        self._starting = False

    async def start(self) -> None:
        """Start the run and show it; errors are marked or shown."""
        if self._starting:
            return
        self._starting = True
        self._button.props(add="loading").disable()
        try:
            scenario, settings = self._simulation()
            control = Control()
            if self._form is not None and settings.baseline is None:  # a baseline has no pace
                begin_at(control, self._form.draft.pace)
            live = await with_waits(self._web.runs.start(scenario, settings, control))
        except PerSimChatError as error:
            self._complain(error)
        else:
            if live is not None:
                ui.navigate.to(page_of(live.run))
        finally:
            self._starting = False
            self._button.props(remove="loading").enable()

    def _complain(self, error: PerSimChatError) -> None:
        field = field_of(error) if isinstance(error, InputError) else None
        if isinstance(error, ModelError) and self._form is not None:  # the server of a model or of the embedding
            field = "embedding" if error.model == self._form.value("embedding") else "model"
        if self._form is None or field is None or not self._form.complain(field, error.sentence):
            notify_error(error)


def start_part(web: WebContext, form: Form, *, opened: Callable[[set[str]], None]) -> None:
    """Draw the button with what it starts, the estimate, and above them the errors that prevent a start.

    They stay in sight at the bottom of the window while what is above them is longer than it.

    Args:
        web: the context of the pages.
        form: whose draft is started.
        opened: called with the fields that are wrong, so that they can be seen.
    """
    with ui.column().classes("start-bar surface w-full gap-2"):
        wrong = ui.label().classes("text-sm text-negative").props("role=alert").mark("wrong")
        wrong.set_visibility(False)
        with ui.row().classes("w-full items-center gap-x-4 gap-y-1"):
            button = ui.button().props("unelevated padding='8px 20px'").classes("new-start").mark("start")
            with button, ui.row().classes("items-center gap-3 no-wrap text-left"):
                ui.icon("play_arrow", size="24px").props("aria-hidden=true")
                with ui.column().classes("gap-0"):
                    ui.label(t("setup.start")).classes("text-base font-semibold leading-tight")
                    echo = ui.label().classes("text-xs leading-tight").mark("echo")
            CostLine(form)
    starter = Starter(web, button, lambda: form.draft.simulation(), form)

    async def start(event: GenericEventArguments) -> None:
        if isinstance(event.args, dict):
            form.typed(event.args)
        if form.insist():
            await starter.start()
        if form.wrong:
            say()
        ui.run_javascript(f"getHtmlElement({button.id})?.removeAttribute('aria-busy')")

    def say() -> None:
        say_in(wrong, t("setup.to_correct", fields=", ".join(map(_called, form.wrong))))
        opened(set(form.wrong))

    def follow() -> None:
        wrong.set_visibility(False)
        people = t("setup.echo_people", n=len(form.draft.seats))
        ends_by_itself = form.draft.guide is not None or form.value("mode") == "debate"
        key = "setup.echo_most" if ends_by_itself else "setup.echo"
        echo.set_text(people if form.draft.story is not None else t(key, n=_messages(form), people=people))

    form.follow(follow)
    button.on("click", start, js_handler=_PRESS)


def _messages(form: Form) -> Any:
    value = form.value("max_messages")
    return value if isinstance(value, int) else 0


def _called(field: str) -> str:
    return label_of(field) if field in specs() else t(f"setup.{field}")


# Below the set-up: a finished sample that plays quietly, and the latest runs


RECENT: Final = 5
"""How many of the latest runs are shown."""
_FACES: Final = 4
_LINE_S: Final = 2.5
"""Seconds from one line of the sample to the next."""
_MESSAGES: Final = 12


@cache
def sample() -> dict[str, Any]:
    """The sample: topic, participants, lines."""
    return dict(table(__file__, "sample.yaml"))


def sample_part(web: WebContext) -> None:
    """Draw the sample, with a button that holds a conversation like it."""
    shown = sample()
    with ui.column().classes("surface w-full gap-3 p-4") as box:
        named(box, t("setup.sample"))
        with ui.row().classes("w-full items-center justify-between gap-2"):
            with ui.column().classes("gap-0 min-w-0"):
                title(t("setup.sample"))
                ui.label(shown["topic"]).classes("text-sm font-semibold").props("lang=en")
            button = text_button(t("setup.demo"), icon="play_circle", look="outline padding='4px 12px'")
            button.mark("demo").on_click(Starter(web, button, _demo).start)
        with ui.element("ol").classes("plain sample").props("lang=en"):
            for number, line in enumerate(shown["lines"]):
                with ui.element("li").classes("sample-line").style(f"animation-delay:{number * _LINE_S:g}s"):
                    avatar(line["speaker"], colour(line["speaker"], shown["participants"]), "28px")
                    with ui.column().classes("gap-0 min-w-0"):
                        with ui.row().classes("gap-x-2 gap-y-0 items-baseline"):
                            ui.label(line["speaker"]).classes("text-xs font-semibold")
                            told = t("setup.sample_line", to=line["to"], need=line["need"])
                            ui.label(told).classes("text-xs muted")
                        ui.label(line["text"]).classes("text-sm")
        ui.label(t("setup.sample_about")).classes("text-xs muted")


async def latest_runs(web: WebContext) -> tuple[list[ListedRun], frozenset[str]]:
    """The latest runs, and the folders of those whose course is told to nobody yet.

    There are none if their folder cannot be read, about which the page of the runs tells.
    """
    try:
        runs: list[ListedRun] = (await web.runs.runs()).runs[:RECENT]
        return runs, await asyncio.to_thread(closed_runs, runs)
    except PerSimChatError:
        return [], frozenset()


def recent_part(runs: Sequence[ListedRun], secret: frozenset[str]) -> None:
    """Draw the latest runs; nothing if there are none."""
    if not runs:
        return
    with ui.column().classes("w-full gap-2"):
        with ui.row().classes("w-full items-center justify-between"):
            title(t("setup.recent"))
            ui.link(t("setup.recent_all"), "/runs").classes("text-sm no-underline text-primary")
        with ui.column().classes("surface w-full gap-0 py-1").props("role=list"):
            for listed in runs:
                _recent(listed, secret=listed.folder in secret)


def _recent(listed: ListedRun, *, secret: bool) -> None:
    topic = one_line(listed.topic)
    link = ui.link(target=page_of(listed.folder.rpartition("/")[2])).classes("recent no-underline text-inherit")
    with ui.element("div").classes("w-full").props("role=listitem") as item:
        link.move(item)
    with link:
        with ui.row().classes("faces no-wrap shrink-0 gap-0"):
            for name in listed.participants[:_FACES]:
                avatar(name, colour(name, listed.participants), "26px")
        ui.label(topic).classes("text-sm grow min-w-0 line-clamp-1 [overflow-wrap:anywhere]")
        told = moment(listed.started, "setup.recent_day")
        if listed.active:
            told = t("setup.recent_running")
        elif not secret:
            told = t("setup.recent_about", n=listed.utterances, when=told)
        ui.label(told).classes("text-xs muted whitespace-nowrap")


def _demo() -> tuple[Scenario, Settings]:
    scenario = make_scenario(t("setup.example_cars_topic"), default_participants())
    return scenario, Settings(model=OFFLINE, max_messages=_MESSAGES)


# One line on the language model; the field that chooses it opens on a click


_MODEL = "model"


class _ModelLine:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._picker: ModelPicker | None = None
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center gap-x-2 gap-y-1"):
                ui.icon("memory", size="20px").classes("muted").props("aria-hidden=true")
                self._line = ui.label().classes("text-sm max-w-[88%] [overflow-wrap:anywhere]").mark("model-line")
                look = "flat dense padding='2px 8px' aria-expanded=false"
                self._change = text_button("", self._toggle, look=look).mark("model-change")
            self._box = ui.column().classes("surface w-full p-3")
            self._box.set_visibility(False)
        form.mark(_MODEL, self._mark)
        form.redraw(self._show)
        form.follow(self._follow)

    @property
    def _name(self) -> str:
        return default_model_name(self._form.value(_MODEL))[0]

    def _toggle(self) -> None:
        self._unfold(not self._box.visible)

    def _unfold(self, wanted: bool) -> None:
        if wanted and self._picker is None:
            with self._box:
                self._picker = ModelPicker(self._name, lambda name: self._form.set(_MODEL, name or None))
        self._box.set_visibility(wanted)
        self._change.props(f"aria-expanded={'true' if wanted else 'false'}")

    def _show(self) -> None:
        if self._picker is not None:
            self._picker.show(self._name)

    def _mark(self, told: str | None) -> None:
        """Mark the field once the user tries to start; before, it checks itself when it is left."""
        if told and self._form.insisting:
            self._unfold(True)
        if self._picker is not None and (told is None or self._form.insisting):
            self._picker.mark(told)

    def _follow(self) -> None:
        name = self._name
        offline = name == OFFLINE
        self._line.set_text(t("setup.offline_line") if offline else t("setup.model_line", model=name))
        self._change.set_text(t("setup.connect") if offline else t("setup.change_model"))


# The large box for the topic, with examples


EXAMPLES: Final = ("cars", "week", "essays", "oats", "house", "vote")
"""The examples by their keys in the catalogue."""

_START: Final = "() => document.querySelector('.new-start').click()"


def topic_box(form: Form) -> None:
    """Draw the sentence, the box and the examples."""
    with ui.column().classes("w-full gap-1"):
        ui.label(t("setup.question")).classes("new-title").props("role=heading aria-level=1")
        ui.label(t("setup.what")).classes("muted")
    with ui.column().classes("w-full gap-3"):
        field = ui.textarea(value=form.draft.topic, placeholder=t("setup.topic_placeholder"))
        field.props(f"autofocus hide-bottom-space rows=3 maxlength={LONGEST_TOPIC}")
        form.text(TOPIC, field)
        field.classes("w-full grows topic").mark("topic")
        field.on("keydown.ctrl.enter", js_handler=_START).on("keydown.meta.enter", js_handler=_START)
        named(field, t("setup.topic"))
        examples = {
            f"example-{key}": (t(f"setup.example_{key}"), partial(field.set_value, t(f"setup.example_{key}_topic")))
            for key in EXAMPLES
        }
        offers(t("setup.examples"), examples, "outline rounded").classes("examples")

    def typed() -> None:
        if field.value != form.draft.topic:
            form.draft.topic = field.value or ""
            form.changed()

    field.on_value_change(typed)
    form.mark(TOPIC, error_of(field))
    form.redraw(lambda: field.set_value(form.draft.topic))


# The first screen: one column from the topic to the start, and below it a sample and the latest runs


async def new_conversation(web: WebContext, *, like: str = "", setup: str = "") -> None:
    """Draw the screen.

    Args:
        web: the context of the pages.
        like: a run whose set-up is copied.
        setup: a saved set-up of the library to copy.
    """
    base = Settings()
    with errors_shown():  # settings of the environment may be wrong; starting a run raises the same error
        base = load_settings()
    kept = KeptDraft(f"setup={setup}" if setup else f"like={like}" if like else "")
    form = Form(await _draft(web, kept, base, like, setup), base)
    latest = await latest_runs(web)  # nothing is drawn before the last wait: the browser gets the page in one piece
    with ui.column().classes("new w-full gap-8 no-wrap"):
        topic_box(form)
        Faces(web, form)
        kinds_part(form)
        with ui.column().classes("w-full gap-3"):
            _ModelLine(form)
            more = MoreSettings(form, kept.unfolded, kept.keep_unfolded)
            with more.beside:
                reset = ui.button(t("setup.reset"), icon="restart_alt").props(QUIET).mark("files-reset")
                FilesMenu(web, form)
            too_large = ui.label(t("setup.too_large")).classes("text-xs text-negative").mark("too-large")
            too_large.set_visibility(False)
        start_part(web, form, opened=more.open_at)
        sample_part(web)
        recent_part(*latest)

    def over() -> None:
        form.take(Draft.fresh(base))
        more.fold()
        kept.drop(form.draft)
        if like or setup:
            ui.navigate.history.replace(reached("/"))

    reset.on_click(over)
    form.changed()
    form.follow(lambda: too_large.set_visibility(not kept.keep(form.draft)))


async def _draft(web: WebContext, kept: KeptDraft, base: Settings, like: str, setup: str) -> Draft:
    """The draft that the page begins with: this browser's own, or the one that the address names."""
    draft = kept.taken_up()
    if draft is None:
        draft = Draft.fresh(base)
        with errors_shown():
            draft = await asyncio.to_thread(_named, web, base, like, setup)
    kept.begin(draft)
    if not (like or setup) and (personas := take_pending_personas()):
        draft = draft if draft.story is None else Draft.fresh(base)
        draft.seats, draft.relationships, draft.guide = [Seat(persona) for persona in personas], [], None
        kept.keep(draft)
    return draft


def _named(web: WebContext, base: Settings, like: str, setup: str) -> Draft:
    if setup:
        return SavedSetups(web.library).load(setup)
    if not like:
        return Draft.fresh(base)
    folder = web.runs.folder(like)
    if closed(folder):  # parts, goals and secrets of all characters are in its set-up
        raise InputError(t("setup.closed"), where=like, remedy=t("setup.closed_remedy"))
    return Draft.of_run(read_manifest(folder), base)
