"""The field that chooses a model: provider, then model, what is known of the key, and a test."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from nicegui import ui

from ....models.health_check import LISTING, check_model, reach, served_models
from ....models.local.files import stored
from ....models.naming import DEFAULT, OFFLINE, parse_model_name, server_address
from ....models.offers import (
    FILE,
    OFFERS,
    OLLAMA,
    OTHER,
    SERVER,
    USUAL_ADDRESSES,
    Key,
    Parts,
    is_local,
    key_of,
    missing_packages,
    parts_of,
)
from ....models.waiting import Tell, Waiting, waits_told
from ....state.configuration import load_settings
from ....state.errors import InputError, PerSimChatError
from ....state.settings import Settings
from ..live_runs import refuse_model_files
from ..widgets import FIELD, named, silent
from ..words import number, t

NONE: Final = ""
"""The provider of a field that may be left without a model."""
_WORDED: Final = (OFFLINE, FILE, SERVER, OTHER)
_LOOKS: Final = {"good": ("check_circle", "positive"), "bad": ("error", "negative"), "plain": ("info", "grey-7")}


class ModelPicker:
    """The field.

    Args:
        value: the model's name; empty for none.
        on_change: called with the new name whenever it changes. A name that is not complete yet is passed on, too: it
            is refused where names are read.
        none: the words for "no model of its own", if the field may be left so; then the name is empty.
    """

    def __init__(self, value: str, on_change: Callable[[str], object], *, none: str = "") -> None:
        self._on_change, self._none = on_change, none
        self._parts = self._read(value)
        self._served: dict[Parts, list[str]] = {}
        self._showing = False
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-start gap-2"):
                self._provider = ui.select(self._providers(), label=t("models.provider"), value=self._parts.provider)
                self._provider.props(f"{FIELD} options-dense").classes("grow basis-44 min-w-0").mark("model-provider")
                self._address = ui.input(t("models.address")).props(f"{FIELD} spellcheck=false")
                self._address.classes("grow basis-56 min-w-0").mark("model-address").without_auto_validation()
                self._model = ui.input(t("models.model")).props(f"{FIELD} spellcheck=false")
                self._model.classes("grow basis-44 min-w-0").mark("model-name").without_auto_validation()
                with self._model.add_slot("append"):
                    look = ui.button(icon="refresh", on_click=self._look).props("flat round dense size=sm color=grey-7")
                    named(look, t("models.look")).mark("model-look").tooltip(t("models.look"))
                    choose = ui.button(icon="arrow_drop_down").props("flat round dense size=sm color=grey-7")
                    named(choose, t("models.choose")).mark("model-choose")
                    with choose:
                        self._menu = ui.menu().props("auto-close max-height=50vh")
                self._choose, self._lists = choose, look
            with ui.row().classes("w-full items-center gap-x-3 gap-y-1"):
                self._status = _Line("model-key")
                ui.space()
                self._test = ui.button(t("models.test"), icon="bolt", on_click=self.test).props("flat dense no-caps")
                self._test.mark("model-test").classes("text-sm px-2")
            self._told = _Line("model-told", alert=True)
        self._provider.on_value_change(self._provider_given)
        self._address.on_value_change(lambda: self._typed(address=(self._address.value or "").strip()))
        self._model.on_value_change(lambda: self._typed(model=(self._model.value or "").strip()))
        self._address.on("blur", self.check).on("keydown.enter", self._look)
        self._model.on("blur", self.check)
        self._draw()

    @property
    def value(self) -> str:
        """The name as it is filled in; empty for none."""
        return "" if self._parts.provider == NONE else self._parts.name

    def show(self, value: str) -> None:
        """Show another name, without calling `on_change`."""
        if value.strip() != self.value:
            self._parts = self._read(value)
            self._draw()

    def mark(self, told: str | None) -> None:
        """Mark the field with an error, in place of what was told last; None takes the mark away."""
        if told:
            self._told.say("plain", "")
        self._model.error = told if self._model.visible else None
        self._provider.error = None if self._model.visible else told

    def check(self) -> None:
        """Say what is wrong with the name, as far as that shows without asking anybody."""
        self._address.error = self._model.error = None
        if self._parts.provider in (NONE, OFFLINE):
            return
        if self._parts.provider == SERVER:
            try:
                server_address(self._parts.address, t("models.address"))
            except InputError as error:
                self._address.error = error.sentence
                return
        if not self._parts.model:
            self._model.error = t("models.name_missing")
            return
        served = self._served.get(self._server, [])
        if served and self._parts.model not in served:
            self._model.error = t("models.not_served")
            return
        try:
            parse_model_name(self.value)
        except InputError as error:
            self._model.error = error.sentence

    async def test(self) -> None:
        """Test the model, and say how it went."""
        asked = self.value
        self.check()
        if self._address.error or self._model.error:
            return
        self._test.props(add="loading")
        self._told.say("plain", t("models.testing"))
        try:
            with waits_told(self._waits(t("models.testing"))):
                told = "good", t("models.works", seconds=number((await test_model(asked)).seconds, 1))
        except PerSimChatError as error:
            told = "bad", error.sentence
        finally:
            self._test.props(remove="loading")
        if asked == self.value:
            self._told.say(*told)

    def _waits(self, otherwise: str = "") -> Tell:
        """Says which server is silent, or else something other, as long as nobody has chosen another model."""
        parts = self._parts

        def say(waits: list[Waiting]) -> None:
            if parts == self._parts:
                with self._told.place:
                    self._told.say("plain", silent(waits) if waits else otherwise)

        return say

    def _read(self, value: str) -> Parts:
        return Parts(NONE) if self._none and not value.strip() else parts_of(value or OFFLINE)

    def _providers(self) -> dict[str, str]:
        own = {offer.id: t(f"models.of_{offer.id}") if offer.id in _WORDED else offer.name for offer in OFFERS.values()}
        return {NONE: self._none, **own} if self._none else own

    def _provider_given(self) -> Awaitable[None] | None:
        provider = self._provider.value
        if self._showing or provider == self._parts.provider or provider is None:
            return None
        self._parts = Parts(provider, address=USUAL_ADDRESSES[0] if provider == SERVER else "")
        if provider == FILE:
            self._parts = replace(self._parts, model=next(iter(_files()), ""))
        elif DEFAULT.startswith(f"{provider}:"):
            self._parts = parts_of(DEFAULT)
        self._draw()
        self._on_change(self.value)
        return self._look(quietly=True) if provider in (SERVER, OLLAMA) else None

    async def _look(self, _: object = None, *, quietly: bool = False) -> None:
        """Ask the server which models it has, because somebody has clicked."""
        server = self._server
        try:
            with waits_told(self._waits()):
                names = await served_models(server.address or server.provider, patience_s())
        except PerSimChatError as error:
            if self._server == server:
                self._told.say("plain" if quietly else "bad", error.sentence)
            return
        if self._server != server:
            return
        self._served[server] = names
        self._told.say("good", t("models.served", n=len(names)))
        if names and self._parts.model not in names and server.provider in (SERVER, OLLAMA):  # these are for talking
            self._parts = replace(self._parts, model=names[0])
            self._on_change(self.value)
        self._draw(keep=True)

    @property
    def _server(self) -> Parts:
        """Whom the model belongs to."""
        return replace(self._parts, model="")

    def _typed(self, *, address: str | None = None, model: str | None = None) -> None:
        if self._showing:
            return
        now = replace(
            self._parts,
            address=self._parts.address if address is None else address,
            model=self._parts.model if model is None else model,
        )
        if now != self._parts:
            self._parts = now
            self._told.say("plain", "")
            self._state()
            self._on_change(self.value)

    def _draw(self, *, keep: bool = False) -> None:
        """Show the parts; `keep` leaves what was told last."""
        self._showing = True
        try:
            provider = self._parts.provider
            self._provider.set_value(provider)
            self._address.set_value(self._parts.address)
            self._address.set_visibility(provider == SERVER)
            self._model.set_value(self._parts.model)
            self._model.set_visibility(provider not in (NONE, OFFLINE))
            self._lists.set_visibility(provider in (SERVER, *LISTING))
            self._model.props["label"] = t("models.whole_name" if provider == OTHER else "models.model")
            self._model.update()
            self._address.error = self._model.error = None
            if not keep:
                self._told.say("plain", "")
        finally:
            self._showing = False
        self._state()
        self._suggest()

    def _state(self) -> None:
        self._test.set_visibility(self._parts.provider not in (NONE, OFFLINE))
        self._status.say(*status_of(self._parts))

    def _suggest(self) -> None:
        """Fill the menu with what the provider has."""
        self._menu.clear()
        names = self._suggestions()
        self._choose.set_visibility(bool(names))
        with self._menu:
            for name, text in names.items():
                ui.menu_item(text, lambda name=name: self._model.set_value(name)).classes("text-sm")

    def _suggestions(self) -> dict[str, str]:
        return _files() if self._parts.provider == FILE else {name: name for name in self._served.get(self._server, ())}


def status_of(parts: Parts) -> tuple[str, str]:
    """The look ("good", "bad", "plain") and the words of what is known about a model's key, without asking anybody."""
    provider = parts.provider
    if provider in (NONE, OTHER):
        return "plain", ""
    if packages := missing_packages(provider):
        return "bad", t("models.package_missing", command=f"pip install {' '.join(packages)}")
    if provider == OFFLINE:
        return "plain", t("models.offline_about")
    if provider == FILE:
        return ("plain", t("models.file_about")) if _files() else ("bad", t("models.no_files"))
    key, variables = key_of(provider, parts.address)
    named_ = " + ".join(variables)
    if provider == SERVER and key is Key.OPTIONAL and is_local(parts.address):
        return "plain", t("models.key_not_needed")
    looks = {Key.SET: "good", Key.MISSING: "bad"}
    return looks.get(key, "plain"), t(f"models.key_{key}", variable=named_)


def _files() -> dict[str, str]:
    """The model files of this machine, with their sizes; none where the list of files is damaged. Blocks shortly."""
    try:
        return {file.name: t("models.file", name=file.name, size=size_of(file.size)) for file in stored()}
    except PerSimChatError:
        return {}


def size_of(size: int) -> str:
    """A size in bytes in words."""
    if size >= 1e9:
        return t("models.gigabytes", size=number(size / 1e9, 1))
    return t("models.megabytes", size=number(size / 1e6))


class _Line:
    """A line with an icon that says how something is."""

    def __init__(self, mark: str, *, alert: bool = False) -> None:
        with ui.row().classes("items-start gap-1 no-wrap min-w-0") as self.place:
            self._icon = ui.icon("info", size="16px").props("aria-hidden=true").classes("mt-[2px]")
            self._label = ui.label().classes("text-xs [overflow-wrap:anywhere]").mark(mark)
            self._label.props("role=status" if alert else "")
        self.say("plain", "")

    def say(self, look: str, text: str) -> None:
        icon, colour = _LOOKS[look]
        self._icon.props(f"name={icon} color={colour}")
        self._label.set_text(text)
        self._label.classes(remove="text-negative text-positive muted")
        self._label.classes(add="muted" if look == "plain" else f"text-{'negative' if look == 'bad' else 'positive'}")
        self.place.set_visibility(bool(text))


# The test of a model: is it there, and does it answer one small question


def patience_s() -> float:
    """The most seconds to wait for a model's server; raises InputError if the environment's settings are wrong."""
    return load_settings().timeout_s


@dataclass(frozen=True)
class Tested:
    """A model that works.

    Attributes:
        model: its name.
        seconds: until it had answered.
    """

    model: str
    seconds: float


async def test_model(name: str) -> Tested:
    """Ask a model one small question; first, whether its server is there.

    Raises:
        InputError: the name is wrong, or a key, a file or a library is missing.
        ModelError: the model does not answer, or not usefully.
    """
    refuse_model_files({"model": name})
    settings = Settings(timeout_s=patience_s())
    began = time.perf_counter()
    by_address = parse_model_name(name).provider == "compatible"
    await reach(name, settings, ask=by_address)  # such a request follows no redirect, wherever the address came from
    if not by_address:
        await check_model(name, settings)
    return Tested(name, time.perf_counter() - began)
