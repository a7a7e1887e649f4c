"""The dialog for the name and the tags of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from nicegui import ui

from persimchat.app.web.widgets import FIELD, answered, notify_error
from persimchat.app.web.words import t
from persimchat.runs.folder.labels import LONGEST_NAME, Labels, labels, read_labels, write_labels
from persimchat.runs.folder.listing import ListedRun
from persimchat.state.errors import PerSimChatError
from persimchat.state.normalise import folded


def tags_of(runs: Iterable[ListedRun]) -> list[str]:
    """All tags of runs, in alphabetical order; one of several that differ in case only."""
    found: dict[str, str] = {}
    for run in runs:
        for tag in run.tags:
            found.setdefault(folded(tag), tag)
    return [found[key] for key in sorted(found)]


async def ask_labels(folder: Path, topic: str, known: Iterable[str] = ()) -> bool:
    """Let the user name and tag a run; errors are shown.

    Args:
        folder: the run's.
        topic: shown where there is no name.
        known: tags to choose from.

    Returns:
        Whether anything has changed.
    """
    try:
        before = await asyncio.to_thread(read_labels, folder)
    except PerSimChatError as error:
        notify_error(error)
        return False
    with ui.dialog() as dialog, ui.card().classes("surface gap-3 w-[480px] max-w-full"):
        ui.label(t("past.labels_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        name = ui.input(t("past.name"), value=before.name, placeholder=topic).props(f"{FIELD} autofocus counter")
        name.classes("w-full").props["maxlength"] = LONGEST_NAME
        options = list(dict.fromkeys([*before.tags, *known]))
        tags = ui.select(options, label=t("past.tags"), value=before.tags, multiple=True, new_value_mode="add-unique")
        tags.props(f"{FIELD} use-chips use-input hide-dropdown-icon input-debounce=0").classes("w-full")
        ui.label(t("past.labels_why")).classes("text-xs muted")

        async def keep() -> None:
            try:
                given = labels(name.value or "", tags.value)
                await asyncio.to_thread(write_labels, folder, given)
            except PerSimChatError as error:
                notify_error(error)
            else:
                dialog.submit(given)

        name.on("keydown.enter", keep)
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(t("past.keep"), on_click=keep).props("unelevated no-caps")
    after = await answered(dialog)
    return isinstance(after, Labels) and after != before
