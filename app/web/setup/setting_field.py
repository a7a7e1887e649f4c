"""The field of a setting: drawn by its kind, bound to the form, with explanation, suggestions and error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from persimchat.app.web.setup.checking import offered
from persimchat.app.web.setup.form import Form, Mark
from persimchat.app.web.setup.pruning_field import NAME as PRUNING
from persimchat.app.web.setup.pruning_field import pruning_field
from persimchat.app.web.setup.rows_field import NAMES as ROWS
from persimchat.app.web.setup.rows_field import rows_field
from persimchat.app.web.setup.specs import NOT_OF_STORIES, Spec, specs
from persimchat.app.web.widgets import FIELD, SEGMENTS, hint, named
from persimchat.app.web.words import catalogue, t
from persimchat.runs.reports.words import spaced
from persimchat.state.settings import ABOUT

EMBEDDINGS: Final = ("lexical", "minilm", "openai:text-embedding-3-small", "bge-m3@http://localhost:8000/v1")
"""Embeddings."""


_FIELD: Final = f"{FIELD} hide-bottom-space"
_SIDE_BY_SIDE: Final = 2
"""The most options shown side by side; more become a list."""


class Bound:
    """A setting and its field.

    Args:
        form: the form of the setting.
        spec: the setting's description.
        element: the field.
        mark: marks the field with an error.
        read: turns the field's content into a value; raises ValueError if that is impossible.
        write: turns a value into the field's content.
        offer: brings the options up to date; None if they never change.
    """

    def __init__(
        self,
        form: Form,
        spec: Spec,
        element: ValueElement[Any],
        mark: Mark,
        *,
        read: Callable[[Any], Any],
        write: Callable[[Any], Any],
        offer: Callable[[], None] | None = None,
    ) -> None:
        self._form, self._name, self._element = form, spec.name, element
        self._read, self._write, self._offer = read, write, offer
        self._showing = self._in_use = False
        form.mark(spec.name, mark)
        form.redraw(self.show)
        form.follow(self._follow)
        self.show()
        element.on_value_change(self._given)
        element.on("focus", lambda: self._use(True))
        element.on("blur", lambda: self._use(False))

    def show(self) -> None:
        """Show the setting's value."""
        self._showing = True
        try:
            if self._offer is not None:
                self._offer()
            self._element.set_value(self._write(self._form.value(self._name)))
        finally:
            self._showing = False

    def _given(self) -> None:
        if self._showing:
            return
        self._form.unread.pop(self._name, None)
        try:
            value = self._read(self._element.value)
        except ValueError as error:
            self._form.unread[self._name] = str(error)
            self._form.changed()
        else:
            self._form.set(self._name, value)

    def _use(self, used: bool) -> None:
        self._in_use = used
        self._follow()

    def _follow(self) -> None:
        """Offer what the draft can have; show the value in a field that is not in use and says another."""
        if self._offer is not None:
            self.show()
        if self._in_use or self._name in self._form.unread:
            return
        if not self._says(self._form.value(self._name)):
            self.show()

    def _says(self, value: Any) -> bool:
        try:
            return bool(self._read(self._element.value) == value) and self._element.value not in ("", None)
        except ValueError:
            return False


def label_of(name: str) -> str:
    """The label of a setting; its name if the catalogue has none yet."""
    return _text(name, spaced(name).capitalize())


def explanation_of(name: str) -> str:
    """The help of a setting; the description in `Settings` if the catalogue has none yet."""
    return _text(f"{name}.help", specs()[name].description)


def option_of(name: str, value: str) -> str:
    """The label of one of a setting's options."""
    return _text(f"{name}.{value}", spaced(value))


def setting_field(form: Form, name: str, suggestions: Sequence[str] = (), *, hinted: bool = True) -> None:
    """Draw a setting.

    Args:
        form: into which it writes.
        name: the setting's.
        suggestions: values that are suggested beside a text field.
        hinted: whether a line under it explains it.
    """
    spec = specs()[name]
    if name == PRUNING:
        pruning_field(form)
        return
    with ui.column().classes("w-full gap-1 min-w-0") as row:
        if spec.kind == "switch":
            field = _switch(form, spec)
        elif spec.kind == "choice":
            field = _choice(form, spec)
        elif name in ROWS:
            field = rows_field(form, spec, label_of(name))
        else:
            field = _text_field(form, spec, suggestions)
        if hinted:
            hint(explanation_of(name), field)
    if ABOUT[name].conditions or name in NOT_OF_STORIES:
        form.follow(lambda: row.set_visibility(is_seen(form, name)))


def is_seen(form: Form, name: str) -> bool:
    """Whether a setting counts for the draft, or is wrong."""
    if name in form.wrong:
        return True
    if form.draft.story is not None and name in NOT_OF_STORIES:
        return False
    conditions = ABOUT[name].conditions
    ways = (all(form.value(other) in values for other, values in way.items()) for way in conditions)
    return not conditions or any(ways)


def suggesting(field: ui.input, suggestions: Sequence[str]) -> None:
    """Suggest values beside a text field, which takes any other value, too."""
    with field.add_slot("append"):
        button = ui.button(icon="arrow_drop_down").props("flat round dense size=sm color=grey-7")
        named(button, t("setup.suggestions"))
        with button, ui.menu().props("auto-close"):
            for suggestion in suggestions:
                ui.menu_item(suggestion, lambda suggestion=suggestion: field.set_value(suggestion))


def _text(key: str, otherwise: str) -> str:
    return t(f"settings.{key}") if f"settings.{key}" in catalogue() else otherwise


def _switch(form: Form, spec: Spec) -> ui.element:
    switch = ui.switch(label_of(spec.name), value=bool(form.value(spec.name))).props("dense").classes("py-1 text-sm")
    switch.mark(f"setting-{spec.name}")
    Bound(form, spec, switch, _fault(), read=lambda value: value is True, write=bool)
    return switch


def _choice(form: Form, spec: Spec) -> ui.element:
    label = label_of(spec.name)

    def named_options(values: Sequence[str]) -> dict[str, str]:
        none = {"": option_of(spec.name, "none")} if spec.optional else {}
        return none | {value: option_of(spec.name, value) for value in values}

    options = named_options(spec.options)
    element: ui.toggle | ui.select
    if len(options) <= _SIDE_BY_SIDE:
        ui.label(label).classes("text-xs muted").props("aria-hidden=true")
        element = ui.toggle(options).props(f"{SEGMENTS} spread role=group size=12px").classes("seg surface w-full")
        named(element, label)
        mark = _fault()
    else:
        element = ui.select(options, label=label).props(f"{_FIELD} options-dense").classes("w-full")
        mark = error_of(element)
    element.mark(f"setting-{spec.name}")

    def written(value: Any) -> Any:
        return (value or "") if (value or "") in element.options else None

    def offer() -> None:
        now = named_options(offered(form.draft, spec))
        if now != element.options:
            element.set_options(now)

    Bound(form, spec, element, mark, read=lambda value: value or None, write=written, offer=offer)
    return element


def _text_field(form: Form, spec: Spec, suggestions: Sequence[str]) -> ui.element:
    field: ui.input | ui.textarea
    if spec.kind in ("lines", "yaml"):
        field = ui.textarea(label_of(spec.name)).props(f"{_FIELD} rows=3 input-class=text-sm").classes("grows")
    else:
        field = ui.input(label_of(spec.name)).props(_FIELD)
        if spec.kind in ("integer", "number") and not suggestions:
            field.props("inputmode=decimal" if spec.kind == "number" else "inputmode=numeric")
        if suggestions:
            suggesting(field, suggestions)
    if spec.optional:
        field.props["placeholder"] = t("setup.none")
    field.classes("w-full").mark(f"setting-{spec.name}")
    form.text(spec.name, field)

    def read(text: Any) -> Any:
        if str(text or "").strip():
            return spec.read(str(text))
        return None if spec.optional else [] if spec.kind == "lines" else form.usual()[spec.name]

    Bound(form, spec, field, error_of(field), read=read, write=spec.written)
    return field


def error_of(element: ui.input | ui.textarea | ui.select) -> Mark:
    """Marks a field that shows its error itself; the mark stays until the value is valid."""
    element.without_auto_validation()

    def mark(told: str | None) -> None:
        element.error = told

    return mark


def _fault() -> Mark:
    """Adds an error line below an element that has none."""
    label = ui.label().classes("text-xs text-negative").props("role=alert")
    label.set_visibility(False)

    def mark(told: str | None) -> None:
        label.set_text(told or "")
        label.set_visibility(bool(told))

    return mark
