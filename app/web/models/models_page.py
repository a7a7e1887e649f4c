"""The page of models: the files of this machine, and a field that tests any model."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.models.picker import model_picker
from persimchat.app.web.widgets import card
from persimchat.app.web.words import t
from persimchat.models.naming import default_model_name
from persimchat.state.configuration import load_settings
from persimchat.state.errors import PerSimChatError


def models_page() -> None:
    """Draw the page."""
    Frame(t("models.heading"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[760px] mx-auto p-4 gap-4"):
        ui.label(t("models.heading")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        with card(t("models.try")):
            ui.label(t("models.try_about")).classes("text-sm muted")
            model_picker(_usual(), lambda _: None)
        disclaimer()


def _usual() -> str:
    """The model of the environment's settings, else the one that answers if nobody chooses."""
    try:
        chosen = load_settings().model
    except PerSimChatError:
        chosen = None
    return default_model_name(chosen)[0]
