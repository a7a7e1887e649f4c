"""The panel that sets up a conversation, with the estimate of its calls, tokens and cost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.personas.chooser import take_pending_personas
from persimchat.app.web.setup.checking import RULES, TOPIC
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.files_bar import FilesBar
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.participants import participants_part
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.app.web.setup.setting_field import EMBEDDINGS, MODELS, error_of, label_of, setting_field
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.setup.starting import Starter
from persimchat.app.web.setup.story_part import story_part
from persimchat.app.web.shared.stories import closed
from persimchat.app.web.widgets import FIELD, explained, named, notify_error, title
from persimchat.app.web.words import catalogue, number, t
from persimchat.models.naming import OFFLINE, default_model_name
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.estimate import Estimate, estimate
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.setting import Group
from persimchat.state.settings import ABOUT, Settings

_PREFIX = "setup.topics."


def categories() -> dict[str, list[str]]:
    """Keys of the examples by the key of their category, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for key in catalogue():
        if key.startswith(_PREFIX):
            category, _, number = key.removeprefix(_PREFIX).partition(".")
            found.setdefault(_PREFIX + category, [])
            if number:
                found[_PREFIX + category].append(key)
    return found


def topic_part(form: Form) -> None:
    """Draw the topic and its examples."""
    with ui.column().classes("w-full gap-2"):
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            title(t("setup.topic"))
            with ui.row().classes("items-center gap-1 no-wrap"):
                examples = ui.button(t("setup.examples"), icon="lightbulb").props("flat dense no-caps size=sm")
                explained(t("setup.topic_help"))
        field = ui.textarea(value=form.draft.topic, placeholder=t("setup.topic_placeholder"))
        field.props(f"{FIELD} rows=3 maxlength=8000").classes("w-full grows").mark("topic")
        named(field, t("setup.topic"))

    def typed() -> None:
        if field.value != form.draft.topic:
            form.draft.topic = field.value or ""
            form.changed()

    field.on_value_change(typed)
    with examples:
        _examples(field)
    form.mark(TOPIC, error_of(field))
    form.redraw(lambda: field.set_value(form.draft.topic))


def rules_field(form: Form) -> None:
    """Draw the rules that all participants know, one per line."""
    with ui.row().classes("w-full items-start gap-1 no-wrap"):
        field = ui.textarea(t("setup.rules"), value="\n".join(form.draft.rules))
        field.props(f"{FIELD} rows=3 input-class=text-sm").classes("grow min-w-0 grows").mark("rules")
        explained(t("setup.rules_help"))

    def typed() -> None:
        rules = [line.strip() for line in (field.value or "").splitlines() if line.strip()]
        if rules != form.draft.rules:
            form.draft.rules = rules
            form.changed()

    field.on_value_change(typed)
    form.mark(RULES, error_of(field))
    form.redraw(lambda: field.set_value("\n".join(form.draft.rules)))


def _examples(field: ui.textarea) -> None:
    """The menu that puts an example into the field."""
    with ui.menu().props("auto-close max-width=360px max-height=70vh"):
        for category, keys in categories().items():
            ui.label(t(category)).classes("panel-title px-4 pt-3 pb-1")
            for key in keys:
                ui.menu_item(t(key), lambda key=key: field.set_value(t(key))).classes("text-sm")


ELSEWHERE: Final = ("agent_models", "companion")
"""Filled in with the participants; of no use to conversations."""

SUGGESTED: Final = {"model": MODELS, "embedding": EMBEDDINGS, "listeners": ("all", "4")}


def listed(*groups: Group) -> list[str]:
    """The settings of some groups, in the model's order."""
    return [name for name, about in ABOUT.items() if about.group in groups and name not in ELSEWHERE]


def settings_parts(form: Form) -> None:
    """Draw all settings."""
    with ui.column().classes("w-full gap-2"):
        title(t("setup.conversation"))
        _fields(form, listed("conversation", "judge"))
    with ui.column().classes("w-full gap-2"):
        title(t("setup.model"))
        for name in listed("model"):
            _fields(form, [name])
            if name == "model":
                _offline_note(form)
    with ui.column().classes("w-full gap-2"):
        _folded(form, "psychology", "agents")
        with _folded(form, "record_voice_over", "speaking"):
            rules_field(form)
        _folded(form, "savings", "limits")
        _folded(form, "tune", "advanced")


def _folded(form: Form, icon: str, part: Group) -> ui.column:
    """A group that opens on a click, and by itself if it has an error."""
    names = listed(part)
    expansion = ui.expansion(t(f"setup.{part}"), icon=icon).classes("surface w-full").mark(f"part-{part}")
    expansion.props('dense header-class="text-sm px-3 rounded-xl"')
    with expansion, ui.column().classes("w-full gap-2 pb-2") as inside:
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.label(t(f"setup.{part}_about")).classes("text-xs muted grow")
            explained(t(f"setup.{part}_help"))
        _fields(form, names)
    form.follow(lambda: expansion.open() if any(name in form.wrong for name in names) else None)
    return inside


def _fields(form: Form, names: list[str]) -> None:
    for name in names:
        setting_field(form, name, SUGGESTED.get(name, ()))


def _offline_note(form: Form) -> None:
    """The note on the offline model, shown when it is chosen."""
    with ui.row().classes("w-full items-start gap-2 no-wrap tint") as note:
        note.style("padding:8px 12px; border-radius:12px")
        ui.icon("info", size="18px", color="primary").props("aria-hidden=true")
        ui.label(t("setup.offline_note")).classes("text-xs")
    form.follow(lambda: note.set_visibility(default_model_name(form.value("model"))[0] == OFFLINE))


WAIT_S: Final = 0.5
"""Seconds without a change of the draft before it is estimated."""


_DIGITS: Final = 3


class CostLine:
    """The line with the estimate, and below it the budgets that would be used up."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._seen = self._told = -1
        self._working = False
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.icon("calculate", size="18px").classes("muted").props("aria-hidden=true")
            self._line = ui.label(t("setup.estimating")).classes("text-xs muted grow").props("aria-live=polite")
            self._line.mark("estimate")
            explained(t("setup.estimate_help"))
        self._warning = ui.label().classes("text-xs text-negative").props("role=alert").mark("over-budget")
        self._warning.set_visibility(False)
        ui.timer(WAIT_S, self.look)

    async def look(self) -> None:
        """Estimate the draft if it has changed and then stayed the same for a while."""
        revision = self._form.revision
        if self._working or revision == self._told or revision != self._seen:
            self._seen = revision
            return
        self._working = True
        try:
            self._show(*await asyncio.to_thread(self._estimated, t("setup.demo_topic")))
            self._told = revision
        finally:
            self._working = False

    def _estimated(self, example: str) -> tuple[Estimate, Settings] | tuple[None, str]:
        """The estimate, or why there is none; an example replaces a missing topic."""
        if set(self._form.wrong) - {TOPIC}:
            return None, ""
        draft = self._form.draft
        try:
            scenario, settings = replace(draft, topic=draft.topic.strip() or example).simulation()
            return estimate(scenario, settings), settings
        except PerSimChatError as error:
            return None, error.what

    def _show(self, found: Estimate | None, settings: Settings | str) -> None:
        if found is None or isinstance(settings, str):
            why = t("setup.no_estimate") if not settings else t("setup.no_estimate_because", why=settings)
            self._line.set_text(why)
            self._warning.set_visibility(False)
            return
        total = found.total
        key = "setup.estimate_debate" if settings.mode == "debate" else "setup.estimate"
        self._line.set_text(
            t(
                key,
                calls=number(_about(total.calls)),
                tokens=number(_about(total.input_tokens + total.output_tokens)),
                cost=_cost(found),
            )
        )
        reached = [label_of(name) for name in found.exceeded(settings)]
        self._warning.set_text(t("setup.over_budget", budgets=", ".join(reached)) if reached else "")
        self._warning.set_visibility(bool(reached))


def _about(counted: int) -> int:
    """A whole number with three significant digits, which is as exact as an estimate is."""
    return round(counted, min(0, _DIGITS - len(str(counted))))


def _cost(found: Estimate) -> str:
    """The cost in words."""
    if found.unpriced():
        return t("setup.price_unknown", models=", ".join(found.unpriced()))
    if set(found.by("model")) <= {OFFLINE}:
        return t("setup.free")
    return t("setup.price", usd=number(found.total.cost_usd or 0, 4))


async def setup_panel(web: WebContext, *, like: str = "", setup: str = "") -> None:
    """Draw the panel; see `conversation_page.new_page` for `like` and `setup`."""
    try:
        base = load_settings()
    except PerSimChatError as error:  # settings of the environment are wrong; starting a run raises the same error
        notify_error(error)
        base = Settings()
    try:
        draft = await asyncio.to_thread(_draft, web, base, like, setup)
    except PerSimChatError as error:
        notify_error(error)
        draft = Draft.fresh(base)
    if not (like or setup) and (personas := take_pending_personas()):
        draft.seats = [Seat(persona) for persona in personas]
    form = Form(draft, base)
    with ui.column().classes("setup scroll w-full grow p-4 gap-5 no-wrap"):
        FilesBar(web, form)
        story_part(form)
        topic_part(form)
        participants_part(web, form)
        settings_parts(form)
    with ui.column().classes("w-full px-4 pt-2 pb-3 gap-2 border-t").style("border-color:var(--line)"):
        CostLine(form)
        _start(web, form, t("setup.start_again" if like else "setup.start"))
    form.changed()


def _draft(web: WebContext, base: Settings, like: str, setup: str) -> Draft:
    if setup:
        return SavedSetups(web.library).load(setup)
    if not like:
        return Draft.fresh(base)
    folder = web.runs.folder(like)
    if closed(folder):  # parts, goals and secrets of all characters are in its set-up
        raise InputError(t("setup.closed"), where=like, remedy=t("setup.closed_remedy"))
    return Draft.of_run(read_manifest(folder), base)


def _start(web: WebContext, form: Form, name: str) -> None:
    """The start button, and above it the errors that prevent a start."""
    wrong = ui.label().classes("text-xs text-negative").props("role=alert").mark("wrong")
    wrong.set_visibility(False)
    button = ui.button(name, icon="play_arrow").props("unelevated no-caps").classes("w-full").mark("start")
    starter = Starter(web, button, lambda: form.draft.simulation(), form)

    async def start() -> None:
        if form.insist():
            await starter.start()
        else:
            say()

    def say() -> None:
        wrong.set_text(t("setup.to_correct", fields=", ".join(map(_called, form.wrong))))
        wrong.set_visibility(True)

    form.follow(lambda: wrong.set_visibility(False))
    button.on_click(start)


def _called(field: str) -> str:
    return label_of(field) if field in specs() else t(f"setup.{field}")
