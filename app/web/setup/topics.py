"""Examples of topics, by category; they stand in the catalogue of texts."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.setup.checking import RULES, TOPIC
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import error_of
from persimchat.app.web.widgets import FIELD, explained, named, title
from persimchat.app.web.words import catalogue, t

_PREFIX = "setup.topics."


def categories() -> dict[str, list[str]]:
    """Keys of the examples by the key of their category, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for key in catalogue():
        if key.startswith(_PREFIX):
            category, _, number = key.removeprefix(_PREFIX).partition(".")
            found.setdefault(_PREFIX + category, [])
            if number:
                found[_PREFIX + category].append(key)
    return found


def topic_part(form: Form) -> None:
    """Draw the topic and its examples."""
    with ui.column().classes("w-full gap-2"):
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            title(t("setup.topic"))
            with ui.row().classes("items-center gap-1 no-wrap"):
                examples = ui.button(t("setup.examples"), icon="lightbulb").props("flat dense no-caps size=sm")
                explained(t("setup.topic_help"))
        field = ui.textarea(value=form.draft.topic, placeholder=t("setup.topic_placeholder"))
        field.props(f"{FIELD} rows=3 maxlength=8000").classes("w-full grows").mark("topic")
        named(field, t("setup.topic"))

    def typed() -> None:
        if field.value != form.draft.topic:
            form.draft.topic = field.value or ""
            form.changed()

    field.on_value_change(typed)
    with examples:
        _examples(field)
    form.mark(TOPIC, error_of(field))
    form.redraw(lambda: field.set_value(form.draft.topic))


def rules_field(form: Form) -> None:
    """Draw the rules that everybody knows, one a line."""
    with ui.row().classes("w-full items-start gap-1 no-wrap"):
        field = ui.textarea(t("setup.rules"), value="\n".join(form.draft.rules))
        field.props(f"{FIELD} rows=3 input-class=text-sm").classes("grow min-w-0 grows").mark("rules")
        explained(t("setup.rules_help"))

    def typed() -> None:
        rules = [line.strip() for line in (field.value or "").splitlines() if line.strip()]
        if rules != form.draft.rules:
            form.draft.rules = rules
            form.changed()

    field.on_value_change(typed)
    form.mark(RULES, error_of(field))
    form.redraw(lambda: field.set_value("\n".join(form.draft.rules)))


def _examples(field: ui.textarea) -> None:
    """The menu that puts an example into the field."""
    with ui.menu().props("auto-close max-width=360px max-height=70vh"):
        for category, keys in categories().items():
            ui.label(t(category)).classes("panel-title px-4 pt-3 pb-1")
            for key in keys:
                ui.menu_item(t(key), lambda key=key: field.set_value(t(key))).classes("text-sm")
