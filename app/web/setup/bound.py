"""A field of the page and the setting that it shows, kept alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui.elements.mixins.value_element import ValueElement

from persimchat.app.web.setup.form import Form, Mark
from persimchat.app.web.setup.specs import Spec


class Bound:
    """A setting and its field.

    Args:
        form: in which the setting stands.
        spec: of the setting.
        element: the field.
        mark: how it is marked.
        read: from what the field holds to a value; raises ValueError where it cannot be read.
        write: from a value to what the field shows.
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
    ) -> None:
        self._form, self._name, self._element = form, spec.name, element
        self._read, self._write = read, write
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
        """Where nothing is filled in, show what holds; not while somebody is writing."""
        if self._in_use or self._name in self._form.unread or self._name in self._form.draft.settings:
            return
        if not self._says(self._form.value(self._name)):
            self.show()

    def _says(self, value: Any) -> bool:
        try:
            return bool(self._read(self._element.value) == value) and self._element.value not in ("", None)
        except ValueError:
            return False
