"""The form of a draft: every field writes into the draft, and is marked if its value is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from persimchat.app.web.setup.checking import TOPIC, problems
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.specs import usual
from persimchat.app.web.words import t
from persimchat.state.settings import Settings

Mark = Callable[[str | None], None]


class Form:
    """A draft and the fields that show it.

    Attributes:
        draft: the draft; `take` replaces it.
        base: the settings of the server.
        revision: grows with every change.
        wrong: errors by field.
        unread: typed texts that cannot be read as a value, by setting, with the reason.
        insisting: whether the user has tried to start, so that missing values are marked, too.
    """

    def __init__(self, draft: Draft, base: Settings) -> None:
        self.draft = draft
        self.base = base
        self.revision = 0
        self.wrong: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self._marks: dict[str, Mark] = {}
        self._texts: dict[str, ui.input | ui.textarea] = {}
        self._redraws: list[Callable[[], object]] = []
        self._follows: list[Callable[[], object]] = []
        self._usual: tuple[tuple[Any, Any], dict[str, Any]] | None = None
        self.insisting = False

    def mark(self, field: str, mark: Mark) -> None:
        """Register how a field is marked; `mark` gets the error, or None."""
        self._marks[field] = mark

    def text(self, name: str, field: ui.input | ui.textarea) -> None:
        """Register a text field, whose text the browser sends along when the user starts."""
        field.props["data-typed"] = name
        self._texts[name] = field

    def typed(self, texts: Mapping[str, object]) -> None:
        """Take over what stands in the browser's text fields, if the server has not heard of it yet."""
        for name, text in texts.items():
            field = self._texts.get(name)
            if field is not None and isinstance(text, str) and text != (field.value or ""):
                field.set_value(text)

    def redraw(self, draw: Callable[[], object]) -> None:
        """Register a callback that redraws after `take`."""
        self._redraws.append(draw)

    def follow(self, look: Callable[[], object]) -> None:
        """Register a callback for every change of the draft."""
        self._follows.append(look)

    def usual(self) -> dict[str, Any]:
        """The values of settings that are not filled in."""
        on = (self.draft.settings.get("mode"), self.draft.settings.get("cognition"))
        if self._usual is None or self._usual[0] != on:  # every field asks for them at every change
            self._usual = on, usual(self.base, *on)
        return self._usual[1]

    def value(self, name: str) -> Any:
        """The current value of a setting."""
        return self.draft.settings.get(name, self.usual()[name])

    def set(self, name: str, value: Any) -> None:
        """Fill in a setting; a value that equals the default is not kept."""
        if value == self.usual()[name]:
            self.draft.settings.pop(name, None)
        else:
            self.draft.settings[name] = value
        if name == "mode":
            held = self.usual()
            self.draft.settings = {k: v for k, v in self.draft.settings.items() if k == "mode" or v != held[k]}
        self.changed()

    def take(self, draft: Draft) -> None:
        """Show another draft."""
        self.draft = draft
        self.unread.clear()
        self.insisting = False
        for draw in self._redraws:
            draw()
        self.changed()

    def changed(self) -> None:
        """Check the draft and mark the errors."""
        self.revision += 1
        self.wrong = {name: _worded(name, told) for name, told in problems(self.draft).items()} | self.unread
        for field, mark in self._marks.items():
            # an empty topic is no error until the user tries to start
            mark(self.wrong.get(field) if field != TOPIC or self.insisting else None)
        for look in self._follows:
            look()

    def insist(self) -> bool:
        """Mark missing values, too; returns whether the draft is valid."""
        self.insisting = True
        self.changed()
        return not self.wrong

    def complain(self, field: str, told: str) -> bool:
        """Mark a field until the next change; returns whether there is such a field."""
        if field not in self._marks:
            return False
        self.wrong[field] = told
        self._marks[field](told)
        for look in self._follows:
            look()
        return True


def _worded(name: str, told: str) -> str:
    if name == TOPIC and told == "empty":
        return t("setup.topic_missing")
    if name == "choices" and told == "none":
        return t("setup.choices_missing")
    return told
