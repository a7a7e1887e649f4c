"""Starts a run from the page, only once even if the button is clicked repeatedly; and the welcome with its demo."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.checking import field_of, in_words
from persimchat.app.web.setup.form import Form
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.widgets import card, notify_error
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

_STEPS = (("edit", "step_topic"), ("groups", "step_people"), ("play_arrow", "step_start"))


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
            live = await self._web.runs.start(*self._simulation())
        except PerSimChatError as error:
            self._complain(error)
        else:
            ui.navigate.to(page_of(live.run))
        finally:
            self._starting = False
            self._button.props(remove="loading").enable()

    def _complain(self, error: PerSimChatError) -> None:
        field = field_of(error) if isinstance(error, InputError) else None
        if self._form is not None and field is not None:
            self._form.complain(field, in_words(error))
        notify_error(error)


def welcome(web: WebContext) -> None:
    """Draw the welcome."""
    with ui.column().classes("scroll w-full grow"), ui.column().classes("m-auto items-center gap-4 p-6 max-w-2xl"):
        ui.icon("forum", size="64px", color="primary").classes("opacity-80").props("aria-hidden=true")
        ui.label(t("setup.welcome")).classes("text-2xl font-semibold text-center").props("role=heading aria-level=1")
        ui.label(t("setup.what")).classes("muted text-center")
        button = (
            ui.button(t("setup.demo"), icon="play_circle").props('unelevated no-caps padding="10px 22px"').mark("demo")
        )
        button.on_click(Starter(web, button, _demo).start)
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
