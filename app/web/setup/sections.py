"""The settings in the panel, group by group."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import EMBEDDINGS, MODELS, setting_field
from persimchat.app.web.setup.topics import rules_field
from persimchat.app.web.widgets import explained, title
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE, default_model_name
from persimchat.state.setting import Group
from persimchat.state.settings import ABOUT

ELSEWHERE: Final = ("agent_models",)
"""Filled in with the participants."""

SUGGESTED: Final = {"model": MODELS, "embedding": EMBEDDINGS, "listeners": ("all", "4")}


def listed(*groups: Group) -> list[str]:
    """The settings of some groups, in the model's order."""
    return [name for name, about in ABOUT.items() if about.group in groups and name not in ELSEWHERE]


def settings_parts(form: Form) -> None:
    """Draw all settings."""
    with ui.column().classes("w-full gap-2"):
        title(t("setup.conversation"))
        _fields(form, listed("conversation", "judge"))
    with ui.column().classes("w-full gap-2"):
        title(t("setup.model"))
        for name in listed("model"):
            _fields(form, [name])
            if name == "model":
                _offline_note(form)
    with ui.column().classes("w-full gap-2"):
        _folded(form, "psychology", "agents")
        with _folded(form, "record_voice_over", "speaking"):
            rules_field(form)
        _folded(form, "savings", "limits")
        _folded(form, "tune", "advanced")


def _folded(form: Form, icon: str, part: Group) -> ui.column:
    """A group that opens on a click, and by itself where something in it is wrong."""
    names = listed(part)
    expansion = ui.expansion(t(f"setup.{part}"), icon=icon).classes("surface w-full").mark(f"part-{part}")
    expansion.props('dense header-class="text-sm px-3 rounded-xl"')
    with expansion, ui.column().classes("w-full gap-2 pb-2") as inside:
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.label(t(f"setup.{part}_about")).classes("text-xs muted grow")
            explained(t(f"setup.{part}_help"))
        _fields(form, names)
    form.follow(lambda: expansion.open() if any(name in form.wrong for name in names) else None)
    return inside


def _fields(form: Form, names: list[str]) -> None:
    for name in names:
        setting_field(form, name, SUGGESTED.get(name, ()))


def _offline_note(form: Form) -> None:
    """What the offline model is, wherever it is chosen."""
    with ui.row().classes("w-full items-start gap-2 no-wrap tint") as note:
        note.style("padding:8px 12px; border-radius:12px")
        ui.icon("info", size="18px", color="primary").props("aria-hidden=true")
        ui.label(t("setup.offline_note")).classes("text-xs")
    form.follow(lambda: note.set_visibility(default_model_name(form.value("model"))[0] == OFFLINE))
