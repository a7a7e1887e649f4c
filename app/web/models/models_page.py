"""The page of models: the files of this machine, a field that tests any model, and which keys are set."""

from __future__ import annotations

from collections.abc import Mapping

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.models.files_card import files_card
from persimchat.app.web.models.picker import model_picker
from persimchat.app.web.models.trial import trial_part
from persimchat.app.web.shared.formats import joined
from persimchat.app.web.widgets import card
from persimchat.app.web.words import t
from persimchat.models.naming import default_model_name
from persimchat.models.offers import OFFERS, Key, key_of, missing_packages
from persimchat.state.configuration import load_settings
from persimchat.state.errors import PerSimChatError


def models_page(web: WebContext) -> None:
    """Draw the page."""
    Frame(t("models.heading"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[760px] mx-auto p-4 gap-4"):
        ui.label(t("models.heading")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        with card(t("models.try")):
            ui.label(t("models.try_about")).classes("text-sm muted")
            picker = model_picker(_usual(), lambda _: None)
            trial_part(lambda: picker.value)
        files_card(web.downloads, picker.show)
        with card(t("models.keys")):
            ui.label(t("models.keys_about")).classes("text-sm muted")
            _keys()
        disclaimer()


def _keys() -> None:
    """The providers that can be used at once; the others, with what they lack, are folded."""
    lacks = {offer: _lacking(offer.id) for offer in OFFERS.values() if offer.keys}
    ready = [offer for offer, lacking in lacks.items() if not lacking]
    if ready:
        _rows({offer.name: t("models.ready", variable=" + ".join(offer.keys)) for offer in ready}, "text-positive")
    others = {offer.name: lacking for offer, lacking in lacks.items() if lacking}
    if others:
        with ui.expansion(t("models.others", n=len(others))).props("dense header-class=px-0").classes("w-full text-sm"):
            _rows(others, "muted")


def _rows(rows: Mapping[str, str], colour: str) -> None:
    with ui.element("dl").classes("grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 m-0 w-full"):
        for name, text in rows.items():
            with ui.element("dt"):
                ui.label(name).classes("text-sm")
            with ui.element("dd").classes("m-0 self-center"):
                ui.label(text).classes(f"text-xs {colour} [overflow-wrap:anywhere]")


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
