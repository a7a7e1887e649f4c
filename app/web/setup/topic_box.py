"""The large box for the topic, with examples."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.setup.checking import TOPIC
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.roving import roves, stop
from persimchat.app.web.setup.setting_field import error_of
from persimchat.app.web.widgets import FIELD, named
from persimchat.app.web.words import t
from persimchat.state.scenario import LONGEST_TOPIC

EXAMPLES: Final = ("cars", "week", "essays", "oats", "house", "vote")
"""The examples by their keys in the catalogue."""

_START: Final = "() => document.querySelector('.new-start').click()"


def topic_box(form: Form) -> None:
    """Draw the sentence, the box and the examples."""
    with ui.column().classes("w-full gap-1"):
        ui.label(t("setup.question")).classes("new-title").props("role=heading aria-level=1")
        ui.label(t("setup.what")).classes("muted")
    with ui.column().classes("w-full gap-3"):
        field = ui.textarea(value=form.draft.topic, placeholder=t("setup.topic_placeholder"))
        field.props(f"{FIELD} autofocus hide-bottom-space rows=3 maxlength={LONGEST_TOPIC}")
        form.text(TOPIC, field)
        field.classes("w-full grows topic").mark("topic")
        field.on("keydown.ctrl.enter", js_handler=_START).on("keydown.meta.enter", js_handler=_START)
        named(field, t("setup.topic"))
        with ui.row().classes("w-full gap-2").props("role=toolbar") as row:
            named(row, t("setup.examples"))
            for number, key in enumerate(EXAMPLES):
                button = ui.button(t(f"setup.example_{key}"), on_click=lambda key=key: take(key))
                button.props("outline rounded no-caps dense color=grey-7").classes("example").mark(f"example-{key}")
                stop(button, first=number == 0)
        roves(row)

    def take(key: str) -> None:
        field.set_value(t(f"setup.example_{key}_topic"))

    def typed() -> None:
        if field.value != form.draft.topic:
            form.draft.topic = field.value or ""
            form.changed()

    field.on_value_change(typed)
    form.mark(TOPIC, error_of(field))
    form.redraw(lambda: field.set_value(form.draft.topic))
