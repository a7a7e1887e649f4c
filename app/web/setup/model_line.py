"""One line on the language model; the field that chooses it opens on a click."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.models.picker import ModelPicker, model_picker
from persimchat.app.web.setup.form import Form
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE, default_model_name

_MODEL = "model"


def model_line(form: Form) -> None:
    """Draw the line."""
    _ModelLine(form)


class _ModelLine:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._picker: ModelPicker | None = None
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center gap-x-2 gap-y-1"):
                ui.icon("memory", size="20px").classes("muted").props("aria-hidden=true")
                self._line = ui.label().classes("text-sm max-w-[88%] [overflow-wrap:anywhere]").mark("model-line")
                self._change = ui.button(on_click=self._toggle)
                self._change.props("flat dense no-caps padding='2px 8px' aria-expanded=false").mark("model-change")
            self._box = ui.column().classes("surface w-full p-3")
            self._box.set_visibility(False)
        form.mark(_MODEL, self._mark)
        form.redraw(self._show)
        form.follow(self._follow)
        self._follow()

    @property
    def _name(self) -> str:
        return default_model_name(self._form.value(_MODEL))[0]

    def _toggle(self) -> None:
        self._unfold(not self._box.visible)

    def _unfold(self, wanted: bool) -> None:
        if wanted and self._picker is None:
            with self._box:
                self._picker = model_picker(self._name, lambda name: self._form.set(_MODEL, name or None))
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
