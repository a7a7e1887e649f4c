"""Starting a run from the page: once, however often somebody clicks."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from persimchat.app.web.past.addresses import page_of
from persimchat.app.web.place import Place
from persimchat.app.web.setup.checking import field_of, in_words
from persimchat.app.web.setup.form import Form
from persimchat.app.web.widgets import told
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


class Starter:
    """A button that starts a run and leads to it.

    Args:
        place: in which the run is started.
        button: it shows that the run is being started.
        simulation: what is started; raises PerSimChatError where it is not right.
        form: in which a refusal is marked; None where there is none.
    """

    def __init__(
        self,
        place: Place,
        button: ui.button,
        simulation: Callable[[], tuple[Scenario, Settings]],
        form: Form | None = None,
    ) -> None:
        self._place, self._button, self._simulation, self._form = place, button, simulation, form
        self._starting = False

    async def start(self) -> None:
        """Start the run, and show it; what is wrong is marked or told."""
        if self._starting:
            return
        self._starting = True
        self._button.props(add="loading").disable()
        try:
            live = await self._place.runs.start(*self._simulation())
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
        told(error)
