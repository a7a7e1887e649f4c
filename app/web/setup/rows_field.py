"""The field of a setting that gives names a value each: a row for each, checked when its field is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from nicegui import ui

from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.specs import Spec
from persimchat.app.web.shared.formats import module_name
from persimchat.app.web.widgets import FIELD, icon_button, named
from persimchat.app.web.words import t
from persimchat.state.setting_values import MODULES, RetrievalWeights

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "weights": tuple(RetrievalWeights.model_fields),
    "module_models": MODULES,
    "module_temperatures": MODULES,
}
"""The settings of this kind, and the names that can have a value."""
_WHOLE: Final = ("weights",)
"""Those in which every name has a value, so that no row comes or goes."""
_TEXTS: Final = ("module_models",)
"""Those whose values are texts; the others are numbers."""
_FIELD: Final = f"{FIELD} hide-bottom-space"


@dataclass(eq=False)
class _Row:
    name: str
    box: ui.element
    value: ui.input
    names: ui.select | None = None


def rows_field(form: Form, spec: Spec, label: str) -> ui.element:
    """Draw the field; returns the group of its rows.

    Args:
        form: into which it writes.
        spec: the setting's description.
        label: the setting's.
    """
    return _Rows(form, spec, label).group


class _Rows:
    def __init__(self, form: Form, spec: Spec, label: str) -> None:
        self._form, self._setting = form, spec.name
        self._rows: list[_Row] = []
        ui.label(label).classes("text-xs muted").props("aria-hidden=true")
        self.group = ui.element("div").classes("value-rows w-full").props("role=group").mark(f"setting-{spec.name}")
        named(self.group, label)
        self._fault = ui.label().classes("text-xs text-negative break-words").props("role=alert")
        self._fault.mark(f"fault-{spec.name}")
        self._fault.set_visibility(False)
        if spec.name not in _WHOLE:
            add = ui.button(t("setup.row_add"), icon="add", on_click=lambda: self._add()).mark(f"add-{spec.name}")
            named(
                add.props("flat dense no-caps padding='2px 8px'").classes("self-start"),
                f"{t('setup.row_add')}: {label}",
            )
        form.mark(spec.name, self._mark)
        form.redraw(self._show)
        form.follow(self._follow)
        self._show()

    def _show(self) -> None:
        """Show the setting's values."""
        self.group.clear()
        self._rows = []
        given = self._form.value(self._setting)
        for name, value in (given if isinstance(given, dict) else {}).items():
            self._add(str(name), value)

    def _follow(self) -> None:
        if self._read() != self._form.value(self._setting):
            self._show()

    def _add(self, name: str = "", value: Any = None) -> None:
        """Add a row; without a name, one in which it is chosen."""
        whole = self._setting in _WHOLE
        with self.group, ui.element("div").classes("value-row") as box:
            names = None
            if not whole:
                names = ui.select({}, label=t("setup.row_name")).props(f"{_FIELD} options-dense").classes("min-w-0")
                names.mark(f"name-{self._setting}-{len(self._rows)}")
            field = ui.input(
                _called(self._setting, name) if whole else t("setup.row_value"), value=_written(value)
            ).props(_FIELD)
            field.classes("min-w-0").mark(f"value-{self._setting}-{name if whole else len(self._rows)}")
            if self._setting not in _TEXTS:
                field.props("inputmode=decimal")
            row = _Row(name, box, field, names)
            if not whole:
                icon_button("close", t("setup.row_remove"), lambda: self._remove(row)).props("size=sm")
        self._rows.append(row)
        self._offer()
        if names is not None:
            names.on_value_change(lambda event: self._named(row, str(event.value or "")))
        field.on("blur", lambda: self._left(row))
        field.on("keydown.enter", lambda: self._left(row))

    def _offer(self) -> None:
        """Offer each row the names that no other row has."""
        taken = {row.name for row in self._rows}
        for row in self._rows:
            if row.names is not None:
                free = [name for name in NAMES[self._setting] if name == row.name or name not in taken]
                row.names.set_options({name: _called(self._setting, name) for name in free}, value=row.name or None)

    def _named(self, row: _Row, name: str) -> None:
        if name != row.name:
            row.name = name
            self._offer()
            self._give()

    def _remove(self, row: _Row) -> None:
        self._rows.remove(row)
        row.box.delete()
        self._offer()
        self._give()

    def _left(self, row: _Row) -> None:
        """Take the value of a field that was left."""
        self._give()
        if row.name and not (row.value.value or "").strip():
            self._say(row, t("setup.row_missing"))

    def _read(self) -> dict[str, Any]:
        """The values of the rows that are whole."""
        return {row.name: self._value(row) for row in self._rows if row.name and (row.value.value or "").strip()}

    def _value(self, row: _Row) -> Any:
        text = cast(str, row.value.value).strip()
        if self._setting in _TEXTS:
            return text
        try:
            return float(text.replace(",", "."))
        except ValueError:
            return text

    def _give(self) -> None:
        if self._read() != self._form.value(self._setting):
            self._form.set(self._setting, self._read())

    def _mark(self, told: str | None) -> None:
        """Mark the row that an error names, and say it below the rows."""
        wrong = next((row for row in self._rows if told and f"{self._setting}.{row.name} " in told), None)
        if told and wrong is not None:
            told = told.replace(f"{self._setting}.{wrong.name} ", f"{_called(self._setting, wrong.name)}: ")
        self._say(wrong, told or "")

    def _say(self, wrong: _Row | None, told: str) -> None:
        for row in self._rows:
            row.value.props["error"] = row is wrong
            row.value.update()
        self._fault.set_text(told)
        self._fault.set_visibility(bool(told))


def _called(setting: str, name: str) -> str:
    """A name in words."""
    text = t(f"minds.part_{name}") if setting in _WHOLE else module_name(name)
    return text[:1].upper() + text[1:]


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value or "")
