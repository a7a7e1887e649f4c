"""All further settings in three groups, drawn when somebody first opens them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

from nicegui import ui

from persimchat.app.web.setup.checking import RULES
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import EMBEDDINGS, error_of, is_seen, setting_field
from persimchat.app.web.shared.paces import ONE, SECONDS, Pace, pace_words
from persimchat.app.web.widgets import FIELD, hint
from persimchat.app.web.words import t
from persimchat.state.setting import Group
from persimchat.state.settings import ABOUT

ELSEWHERE: Final = ("agent_models", "companion", "mode", "max_messages", "model", "answer_format", "choices")
"""Filled in elsewhere on the page; of no use to conversations."""
GROUPS: Final[dict[str, tuple[Group, ...]]] = {
    "talk": ("conversation", "judge"),
    "minds": ("agents", "speaking"),
    "models": ("model", "limits", "advanced"),
}
"""The groups of the page, and the settings' own groups in each."""
MORE: Final = "more"
"""The part that holds the groups."""
_ICONS: Final = {"talk": "forum", "minds": "psychology", "models": "tune"}
QUIET: Final = "flat dense no-caps color=grey-7 padding='2px 8px'"
"""Properties of a button for what is seldom wanted."""
_SUGGESTED: Final = {"embedding": EMBEDDINGS, "listeners": ("all", "4")}


def listed(*groups: Group) -> list[str]:
    """The settings of some groups, in the model's order."""
    return [name for name, about in ABOUT.items() if about.group in groups and name not in ELSEWHERE]


class MoreSettings:
    """The part of the page that holds them.

    Args:
        form: into which they write.
        unfolded: the parts that are open at first: `MORE`, and keys of `GROUPS`.
        keep: called with the parts that are open, whenever they change.

    Attributes:
        beside: a place on the right of the button that opens them.
    """

    def __init__(self, form: Form, unfolded: Sequence[str], keep: Callable[[list[str]], None]) -> None:
        self._form, self._keep = form, keep
        self._parts: dict[str, ui.expansion] = {}
        self._at_first = frozenset(unfolded)
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center gap-1"):
                self._button = ui.button(t("setup.more_settings"), icon="expand_more", on_click=self._toggle)
                self._button.props(f"{QUIET} aria-expanded=false").mark("more-settings")
                ui.space()
                self.beside = ui.row().classes("gap-1 items-center")
            self._box = ui.column().classes("w-full gap-2")
        self._box.set_visibility(False)
        if MORE in unfolded:
            self._show(True)

    def fold(self) -> None:
        """Close all."""
        for part in self._parts.values():
            part.close()
        self._show(False)

    def open_at(self, wrong: set[str]) -> None:
        """Open the groups that hold one of these fields, if any does."""
        names = {name for groups in GROUPS.values() for name in listed(*groups)} | {RULES}
        if wrong & names:
            self._show(True)

    def _toggle(self) -> None:
        self._show(not self._box.visible)

    def _show(self, wanted: bool) -> None:
        if wanted:
            self._draw()
        self._box.set_visibility(wanted)
        state = "true" if wanted else "false"
        self._button.props(f"aria-expanded={state} icon={'expand_less' if wanted else 'expand_more'}")
        self._tell()

    def _tell(self) -> None:
        """Tell which parts are open."""
        self._keep([*([MORE] if self._box.visible else []), *(key for key, part in self._parts.items() if part.value)])

    def _draw(self) -> None:
        if self._parts:
            return
        with self._box:
            for key, groups in GROUPS.items():
                self._part(key, groups)
        self._form.changed()

    def _part(self, key: str, groups: tuple[Group, ...]) -> None:
        names = [*listed(*groups), *([RULES] if key == "talk" else [])]
        part = ui.expansion(
            t(f"setup.group_{key}"),
            caption=t(f"setup.group_{key}_about"),
            icon=_ICONS[key],
            value=key in self._at_first,
        )
        self._parts[key] = part
        part.props["toggle-aria-label"] = ""  # its name is what stands in it; Quasar's own would not have the caption
        part.classes("surface w-full").props('header-class="px-3 rounded-xl"').mark(f"part-{key}")
        with part, ui.column().classes("setup w-full gap-4 px-1 pb-3"):
            for number, group in enumerate(groups):
                if number:
                    self._heading(group)
                if group == "conversation":
                    _pace(self._form)
                for name in listed(group):
                    setting_field(self._form, name, _SUGGESTED.get(name, ()))
                if group == "conversation":
                    _rules(self._form)
        part.on_value_change(self._tell)
        self._form.follow(lambda: part.open() if any(name in self._form.wrong for name in names) else None)

    def _heading(self, group: Group) -> None:
        """The heading of a group's settings, while there are any."""
        heading = ui.label(t(f"setup.sub_{group}")).classes("panel-title pt-2").props("role=heading aria-level=3")
        names = listed(group)
        self._form.follow(lambda: heading.set_visibility(any(is_seen(self._form, name) for name in names)))


def _pace(form: Form) -> None:
    """How fast the conversation goes at first; the page of the run has a button that changes it."""
    with ui.column().classes("w-full gap-1") as box:
        options = {pace: pace_words(pace) for pace in (*SECONDS, ONE)}
        field = ui.select(options, label=t("setup.pace"), value=form.draft.pace)
        field.props(f"{FIELD} hide-bottom-space options-dense").classes("w-full").mark("pace")
        hint(t("setup.pace_help"), field)

    def chosen() -> None:
        if field.value != form.draft.pace:
            form.draft.chosen_pace = cast(Pace, field.value)
            form.changed()

    def follow() -> None:
        field.set_value(form.draft.pace)
        box.set_visibility(form.value("baseline") is None)

    field.on_value_change(chosen)
    form.follow(follow)


def _rules(form: Form) -> None:
    """The rules that all participants know, one per line."""
    with ui.column().classes("w-full gap-1"):
        field = ui.textarea(t("setup.rules"), value="\n".join(form.draft.rules))
        field.props(f"{FIELD} hide-bottom-space rows=2 input-class=text-sm").classes("w-full grows").mark("rules")
        hint(t("setup.rules_help"), field)

    def typed() -> None:
        rules = [line.strip() for line in (field.value or "").splitlines() if line.strip()]
        if rules != form.draft.rules:
            form.draft.rules = rules
            form.changed()

    field.on_value_change(typed)
    form.mark(RULES, error_of(field))
    form.redraw(lambda: field.set_value("\n".join(form.draft.rules)))
