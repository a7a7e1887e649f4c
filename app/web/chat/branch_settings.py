"""What a branch has otherwise: settings of its run, in the fields in which they were set up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import setting_field
from persimchat.app.web.words import t
from persimchat.runs.reading import read_manifest
from persimchat.state.configuration import load_settings

CHANGEABLE: Final = (
    "pattern",
    "selection",
    "temperature",
    "allow_repetition",
    "window_size",
    "judge_every",
    "planning_and_reflection",
    "memory_filtering",
    "emotional_retrieval",
    "stm_retrieval",
    "relationships",
    "speech_register",
    "utterance_words",
    "closing",
    "closing_need",
    "human_turns",
    "analysis",
    "model_temperature",
    "seed",
    "budget_calls",
    "budget_tokens",
    "budget_usd",
)
"""Settings that are offered: of those on which the shared past does not rest."""


def settings_form(folder: Path) -> Form:
    """A form that shows the settings of a run, and holds those that are filled in otherwise; blocks.

    Raises:
        InputError: the folder is no run's, or is damaged.
    """
    manifest = read_manifest(folder)
    base = load_settings(environment={}, scenario=manifest.settings.model_dump(mode="json"))
    draft = Draft.of_run(manifest, base)
    draft.settings = {}
    return Form(draft, base)


class BranchSettings:
    """The fields, folded away, drawn where the page is being drawn."""

    def __init__(self, form: Form) -> None:
        self._form = form
        with ui.expansion(t("chat.branch_settings"), icon="tune").classes("surface w-full") as self._part:
            self._part.props('dense header-class="text-sm px-3 rounded-xl"').mark("branch-settings")
            with ui.column().classes("setup w-full gap-2 pb-2"):
                for name in CHANGEABLE:
                    setting_field(form, name)
        form.changed()

    def changes(self) -> dict[str, Any] | None:
        """The settings that are to be others; None where one is wrong, which is marked."""
        self._form.changed()
        if set(CHANGEABLE) & self._form.wrong.keys():
            self._part.open()
            return None
        return dict(self._form.draft.settings)
