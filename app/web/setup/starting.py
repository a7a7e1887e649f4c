"""Starts a run from the page: once, with the values that the user saw, and told at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.checking import field_of
from persimchat.app.web.setup.cost_line import CostLine
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import label_of
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.shared.paces import begin_at
from persimchat.app.web.widgets import notify_error
from persimchat.app.web.words import t
from persimchat.runs.control import Control
from persimchat.state.errors import InputError, ModelError, PerSimChatError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

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
            live = await self._web.runs.start(scenario, settings, control)
        except PerSimChatError as error:
            self._complain(error)
        else:
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
            button = ui.button().props("unelevated no-caps padding='8px 20px'").classes("new-start").mark("start")
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
        wrong.set_text(t("setup.to_correct", fields=", ".join(map(_called, form.wrong))))
        wrong.set_visibility(True)
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
