"""What stands in the middle before a conversation has begun."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.place import Place
from persimchat.app.web.setup.starting import Starter
from persimchat.app.web.widgets import card
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

_STEPS = (("edit", "step_topic"), ("groups", "step_people"), ("play_arrow", "step_start"))


def welcome(place: Place) -> None:
    """Draw it."""
    with ui.column().classes("scroll w-full grow"), ui.column().classes("m-auto items-center gap-4 p-6 max-w-2xl"):
        ui.icon("forum", size="64px", color="primary").classes("opacity-80").props("aria-hidden=true")
        ui.label(t("setup.welcome")).classes("text-2xl font-semibold text-center").props("role=heading aria-level=1")
        ui.label(t("setup.what")).classes("muted text-center")
        button = (
            ui.button(t("setup.demo"), icon="play_circle").props('unelevated no-caps padding="10px 22px"').mark("demo")
        )
        button.on_click(Starter(place, button, _demo).start)
        ui.label(t("setup.demo_about")).classes("text-xs muted text-center")
        with ui.row().classes("w-full gap-3 items-stretch justify-center pt-2"):
            for icon, step in _STEPS:
                with card() as box:
                    box.classes("!w-auto grow basis-0 min-w-[170px]")
                    ui.icon(icon, size="22px", color="primary").props("aria-hidden=true")
                    ui.label(t(f"setup.{step}")).classes("text-sm font-semibold")
                    ui.label(t(f"setup.{step}_about")).classes("text-xs muted")
        with ui.expansion(t("setup.real"), icon="psychology_alt").classes("surface w-full"):
            ui.label(t("setup.real_about")).classes("text-sm whitespace-pre-line")


def _demo() -> tuple[Scenario, Settings]:
    scenario = make_scenario(t("setup.demo_topic"), default_participants())
    return scenario, Settings(model=OFFLINE, max_messages=12)
