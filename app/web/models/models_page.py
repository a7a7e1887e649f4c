"""The model files of this machine: a list, getting another after consent, removing one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from nicegui import ui

from ....models.health_check import reach
from ....models.local import files
from ....models.local.files import Stored
from ....models.local.getting import Announced, announced
from ....models.naming import SMOLLM2, default_model_name
from ....models.offers import OFFERS, Key, key_of, missing_packages
from ....models.waiting import Waiting, waits_told
from ....reports.words import spaced
from ....runs.trying import Trial, recorded_questions, try_model, verdict
from ....state.configuration import load_settings
from ....state.errors import PerSimChatError
from ....state.plain_text import capitalised
from ....state.settings import Settings
from ..background import Download, Downloads
from ..context import WebContext
from ..frame import disclaimer, page, page_title
from ..live_runs import refuse_model_files
from ..shared.dialogs import agreed
from ..shared.formats import joined
from ..shared.lists import pairs
from ..widgets import anew, card, errors_shown, icon_button, named, silent, table, text_button
from ..words import number, t
from .picker import ModelPicker, patience_s, size_of

_LOOK_S: Final = 0.5
"""Seconds between looks at downloads."""


class _FilesCard:
    """The card; `choose` is called with the name of a file that the user wants to try."""

    def __init__(self, downloads: Downloads, choose: Callable[[str], object]) -> None:
        self._downloads, self._choose = downloads, choose
        self._stored: list[Stored] | None = None
        self._loads: Sequence[tuple[str, str]] = ()
        self._lines: list[_Line] = []
        with card(t("models.files")) as self._card:
            ui.label(t("models.files_about")).classes("text-sm muted")
            self._list = ui.column().classes("w-full gap-0").props("role=list")
            self._loading = ui.column().classes("w-full gap-2")
            with ui.row().classes("w-full items-center gap-2 pt-1"):
                self._name = ui.input(t("models.get_name"), placeholder=t("models.get_example"))
                self._name.props("spellcheck=false").classes("grow basis-60 min-w-0").mark("get-name")
                self._name.without_auto_validation().on("keydown.enter", self._ask)
                self._button = text_button(t("models.get"), self._ask, icon="download", look="unelevated").mark("get")
            with ui.row().classes("w-full items-center gap-2") as self._small:
                ui.label(t("models.small")).classes("text-xs muted grow basis-60")
                small = text_button(t("models.get_small"), self._ask_small, look="flat dense")
                small.mark("get-small").classes("text-sm px-2")
            self._where = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
        ui.timer(0, self.look, once=True)
        ui.timer(_LOOK_S, self.look)

    async def look(self) -> None:
        """Show what there is, and how far downloads are."""
        try:
            stored, room = await asyncio.to_thread(_here)
        except PerSimChatError as error:
            stored, room = [], None
            self._name.error = capitalised(str(error))
        loads = [load for load in self._downloads.all if load.state != "done"]
        if stored != self._stored:
            self._stored = stored
            self._draw(stored)
        states = tuple((load.name, load.state) for load in loads)
        if states != self._loads:
            self._loads = states
            with anew(self._loading):
                self._lines = [_Line(load, self._downloads) for load in loads]
        for load, line in zip(loads, self._lines, strict=True):
            line.show(load)
        space = "" if room is None else t("models.room", folder=str(files.folder()), size=size_of(room))
        self._where.set_text(space)

    def _draw(self, stored: list[Stored]) -> None:
        with anew(self._list):
            if not stored:
                ui.label(t("models.none")).classes("text-sm py-2").props("role=listitem")
            for entry in stored:
                self._row(entry)
        self._small.set_visibility(all(entry.name != SMOLLM2 for entry in stored))

    def _row(self, entry: Stored) -> None:
        with ui.row().classes("w-full items-center gap-2 py-2 border-t no-wrap").props("role=listitem") as row:
            row.style("border-color:var(--line)")
            with ui.column().classes("gap-0 grow min-w-0"):
                ui.label(entry.name).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                about = (size_of(entry.size), entry.licence or t("models.no_licence"), entry.source)
                ui.label(" · ".join(about)).classes("text-xs muted [overflow-wrap:anywhere]")
            use = text_button(t("models.try_it"), lambda: self._choose(entry.name), look="flat dense")
            named(use, t("models.try_named", name=entry.name)).classes("text-sm px-2").mark(f"try-{entry.name}")
            remove = icon_button("delete_outline", t("models.remove", name=entry.name), lambda: self._remove(entry))
            remove.mark("remove-model")

    async def _ask_small(self) -> None:
        self._name.set_value(SMOLLM2)
        await self._ask()

    async def _ask(self) -> None:
        """Say what a download would be; only a second click downloads."""
        name = (self._name.value or "").strip()
        self._name.error = None
        if not name:
            self._name.error = t("models.name_missing")
            return
        self._button.props(add="loading")
        try:
            found = await asyncio.to_thread(announced, name)
        except PerSimChatError as error:
            self._name.error = error.sentence
            return
        finally:
            self._button.props(remove="loading")
        if found.there:
            self._name.error = t("models.there_already")
        elif await _consents(found):
            with errors_shown():
                self._downloads.start(name)
            self._name.set_value("")
            await self.look()

    async def _remove(self, entry: Stored) -> None:
        about = t("models.remove_about", name=entry.name, size=size_of(entry.size))
        with self._card:  # the row that asked for this may be drawn anew
            if not await agreed(t("models.remove_title"), t("models.remove_it"), draw=lambda: ui.label(about)):
                return
            with errors_shown():
                await asyncio.to_thread(files.remove, entry.name)
            self._downloads.forget(entry.name)
            await self.look()


class _Line:
    """How far a download is."""

    def __init__(self, load: Download, downloads: Downloads) -> None:
        with ui.row().classes("w-full items-center gap-3 no-wrap"):
            with ui.column().classes("gap-1 grow min-w-0"):
                self._text = ui.label().classes("text-xs [overflow-wrap:anywhere]").props("role=status")
                self._bar = ui.linear_progress(0, show_value=False).props("rounded aria-hidden=true")
            if load.state == "failed":
                icon_button("close", t("common.close"), lambda: downloads.forget(load.name))
        self.show(load)

    def show(self, load: Download) -> None:
        """Bring it up to date."""
        self._bar.set_visibility(load.state == "loading")
        if load.state == "failed":
            self._text.set_text(t("models.get_failed", name=load.name, why=load.error))
            self._text.classes(add="text-negative")
            return
        of = size_of(load.total) if load.total else t("models.unknown_size")
        self._text.set_text(t("models.getting", name=load.name, done=size_of(load.done), of=of))
        self._bar.set_value(min(1.0, load.done / load.total) if load.total else 0)


async def _consents(found: Announced) -> bool:
    """Ask whether a file shall be downloaded: what, from where, how large, to where."""
    size = t("models.unknown_size") if found.size is None else size_of(found.size)
    facts = {
        "models.model": found.name,
        "models.size": size,
        "models.source": found.source,
        "models.licence": found.licence or t("models.licence_there"),
        "models.folder": str(files.folder()),
    }
    told = {t(key): value for key, value in facts.items()}
    yes = t("models.download", size=size)
    return await agreed(t("models.consent"), yes, draw=lambda: pairs(told), colour="primary")


def _here() -> tuple[list[Stored], int | None]:
    """The files of this machine, and the bytes that are free where they are. Blocks."""
    where: Path = files.folder()
    while not where.exists() and where != where.parent:
        where = where.parent
    try:
        room = shutil.disk_usage(where).free
    except OSError:
        room = None
    return files.stored(), room


# Is a model good enough: a few questions of every module, and what the answers were like


_QUESTIONS: Final = 1
"""Questions of each module."""


def trial_part(model: Callable[[], str]) -> None:
    """Draw the button that asks a model questions of every module, and the place of the results.

    Args:
        model: gives the model's name.
    """
    with ui.row().classes("w-full items-center gap-3"):
        ui.label(t("models.trial_about")).classes("text-xs muted grow basis-60")
        button = text_button(t("models.trial"), lambda: ask(), icon="fact_check").mark("trial")
    place = ui.column().classes("w-full gap-2")

    async def ask() -> None:
        name = model()
        button.props(add="loading").disable()
        with anew(place):
            status = ui.label().classes("text-sm muted [overflow-wrap:anywhere]").props("role=status")

        def say(waits: list[Waiting]) -> None:
            with status:
                status.set_text(silent(waits) if waits else "")

        try:
            refuse_model_files({"model": name})
            with waits_told(say):
                trial = await _tried(name)
        except PerSimChatError as error:
            with place:
                ui.label(error.sentence).classes("text-sm text-negative").props("role=alert")
        else:
            with place:
                _results(trial)
        finally:
            button.props(remove="loading").enable()


async def _tried(name: str) -> Trial:
    settings = Settings(timeout_s=patience_s())
    await reach(name, settings)
    return await try_model(name, settings, await recorded_questions(_QUESTIONS))


def _results(trial: Trial) -> None:
    ui.label(verdict(trial)).classes("text-sm font-semibold").props("role=status").mark("verdict")
    columns = ("module", "asked", "valid", "again", "corrected", "failed", "seconds")
    rows = []
    for row in trial.rows:
        values = [row.asked, row.valid, row.again, row.corrected, row.failed]
        rows.append([spaced(row.module), *map(str, values), number(row.seconds / max(1, row.asked), 1)])
    table([t(f"models.column_{name}") for name in columns], rows)


# The page of models: the files of this machine, a field that tests any model, and which keys are set


def models_page(web: WebContext) -> None:
    """Draw the page."""
    with page(t("models.heading"), 760):
        page_title(t("models.heading"))
        with card(t("models.try")):
            ui.label(t("models.try_about")).classes("text-sm muted")
            picker = ModelPicker(_usual(), lambda _: None)
            trial_part(lambda: picker.value)
        _FilesCard(web.downloads, picker.show)
        with card(t("models.keys")):
            ui.label(t("models.keys_about")).classes("text-sm muted")
            _keys()
        disclaimer()


def _keys() -> None:
    """The providers that can be used at once; the others, with what they lack, are folded."""
    lacks = {offer: _lacking(offer.id) for offer in OFFERS.values() if offer.keys}
    ready = [offer for offer, lacking in lacks.items() if not lacking]
    if ready:
        pairs({offer.name: t("models.ready", variable=" + ".join(offer.keys)) for offer in ready}, "text-positive")
    others = {offer.name: lacking for offer, lacking in lacks.items() if lacking}
    if others:
        with ui.expansion(t("models.others", n=len(others))).props("dense header-class=px-0").classes("w-full text-sm"):
            pairs(others, "muted")


def _lacking(provider: str) -> str:
    """What a provider needs before it can be used, as far as that shows here; empty if nothing."""
    key, variables = key_of(provider)
    needed = " + ".join(variables) if key is Key.MISSING else ""
    packages = missing_packages(provider)
    return joined([needed, f"pip install {' '.join(packages)}" if packages else ""])


def _usual() -> str:
    """The model of the environment's settings, else the one that answers if nobody chooses."""
    try:
        chosen = load_settings().model
    except PerSimChatError:
        chosen = None
    return default_model_name(chosen)[0]
