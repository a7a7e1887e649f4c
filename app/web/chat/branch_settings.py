"""What a branch has otherwise: settings of its run, in the fields in which they were set up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import setting_field
from persimchat.app.web.words import t
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.configuration import load_settings
from persimchat.state.settings import ABOUT

_IN_THE_DIALOG: Final = ("max_messages", "model")
"""Settings that have fields of their own there."""


def changeable() -> list[str]:
    """The settings that are offered: of those that a branch may change, all but the advanced ones."""
    return [
        name
        for name, about in ABOUT.items()
        if about.changes != "never" and about.group != "advanced" and name not in _IN_THE_DIALOG
    ]


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
                for name in changeable():
                    setting_field(form, name)
        form.changed()

    def changes(self) -> dict[str, Any] | None:
        """The settings that are to be others; None where one is wrong, which is marked."""
        self._form.changed()
        if set(changeable()) & self._form.wrong.keys():
            self._part.open()
            return None
        return dict(self._form.draft.settings)
