"""In which part of the panel a setting stands; one that is named nowhere stands among the advanced ones."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.models import EMBEDDINGS, MODELS
from persimchat.app.web.setup.setting_field import setting_field
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.setup.topics import rules_field
from persimchat.app.web.widgets import explained, title
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE, default_model_name

CONVERSATION: Final = (
    "mode",
    "max_messages",
    "pattern",
    "selection",
    "temperature",
    "allow_repetition",
    "judge",
    "window_size",
    "judge_every",
    "answer_format",
    "choices",
)
MODEL: Final = ("model", "embedding")
AGENTS: Final = (
    "planning_and_reflection",
    "memory_filtering",
    "emotional_retrieval",
    "stm_retrieval",
    "relationships",
    "social_goals",
)
SPEAKING: Final = ("speech_register", "utterance_words", "closing", "closing_need", "human_turns", "analysis")
LIMITS: Final = ("budget_calls", "budget_tokens", "budget_usd", "seed")
ELSEWHERE: Final = ("agent_models",)
"""Filled in with the participants."""

SUGGESTED: Final = {"model": MODELS, "embedding": EMBEDDINGS}


def advanced() -> list[str]:
    """Every other setting, in the model's order."""
    named = {*CONVERSATION, *MODEL, *AGENTS, *SPEAKING, *LIMITS, *ELSEWHERE}
    return [name for name in specs() if name not in named]


def settings_parts(form: Form) -> None:
    """Draw all settings."""
    with ui.column().classes("w-full gap-2"):
        title(t("setup.conversation"))
        _fields(form, CONVERSATION)
    with ui.column().classes("w-full gap-2"):
        title(t("setup.model"))
        _fields(form, MODEL[:1])
        _offline_note(form)
        _fields(form, MODEL[1:])
    with ui.column().classes("w-full gap-2"):
        _folded(form, "psychology", "agents", AGENTS)
        with _folded(form, "record_voice_over", "speaking", SPEAKING):
            rules_field(form)
        _folded(form, "savings", "limits", LIMITS)
        _folded(form, "tune", "advanced", advanced())


def _folded(form: Form, icon: str, part: str, names: tuple[str, ...] | list[str]) -> ui.column:
    """A part that opens on a click, and by itself where something in it is wrong."""
    expansion = ui.expansion(t(f"setup.{part}"), icon=icon).classes("surface w-full").mark(f"part-{part}")
    expansion.props('dense header-class="text-sm px-3 rounded-xl"')
    with expansion, ui.column().classes("w-full gap-2 pb-2") as inside:
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.label(t(f"setup.{part}_about")).classes("text-xs muted grow")
            explained(t(f"setup.{part}_help"))
        _fields(form, names)
    form.follow(lambda: expansion.open() if any(name in form.wrong for name in names) else None)
    return inside


def _fields(form: Form, names: tuple[str, ...] | list[str]) -> None:
    for name in names:
        setting_field(form, name, SUGGESTED.get(name, ()))


def _offline_note(form: Form) -> None:
    """What the offline model is, wherever it is chosen."""
    with ui.row().classes("w-full items-start gap-2 no-wrap tint") as note:
        note.style("padding:8px 12px; border-radius:12px")
        ui.icon("info", size="18px", color="primary").props("aria-hidden=true")
        ui.label(t("setup.offline_note")).classes("text-xs")
    form.follow(lambda: note.set_visibility(default_model_name(form.value("model"))[0] == OFFLINE))
