"""A command for the terminal, to be copied. The page starts no experiment: that may cost money."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.watching import Watched, stamp_of
from persimchat.app.web.widgets import COPYING_S, icon_button
from persimchat.app.web.words import t
from persimchat.experiments.file import Experiment
from persimchat.experiments.place import FILE
from persimchat.personas.files import is_path
from persimchat.state.errors import PerSimChatError
from persimchat.state.folders import RESULTS

EXAMPLE: Final = "examples/experiments/tea.yaml"


# Browsers allow the clipboard only on pages of this machine and of https.
_COPY: Final = "try {{ await navigator.clipboard.writeText({text}); return true; }} catch {{ return false; }}"


def command_of(verb: str, target: Path | str, results: Path) -> str:
    """The command that does something to an experiment.

    Args:
        verb: run or report.
        target: the experiment's file or folder.
        results: the folder of results; named only where it is not the default, and only to `run`.
    """
    out = ["--out", str(results)] if verb == "run" and results != RESULTS else []
    return shlex.join(["persimchat", "experiment", verb, str(target), *out])


def file_of(watched: Watched) -> Path | None:
    """The copy of the experiment's file, if the experiment can go on with it: it names no other files. Blocks."""
    path = watched.place.path / FILE
    if stamp_of(path) is None:
        return None
    try:
        given = Experiment.load(path)
    except PerSimChatError:
        return None
    people = given.base.participants or []
    alone = given.base.scenario is None and (given.tasks is None or given.tasks.file is None)
    alone = alone and not any(isinstance(one, str) and is_path(one) for one in people)
    return path if alone and given.name == watched.name else None


def command(text: str) -> None:
    """Draw a command with a button that copies it."""

    async def copy() -> None:
        copied = await ui.run_javascript(_COPY.format(text=json.dumps(text)), timeout=COPYING_S)
        ui.notify(
            t("experiments.copied" if copied else "experiments.not_copied"), type="positive" if copied else "info"
        )

    with ui.row().classes("command w-full items-center gap-1 no-wrap pl-3 pr-1 py-1"):
        ui.label(text).classes("font-mono text-sm grow min-w-0 [overflow-wrap:anywhere]")
        icon_button("content_copy", t("experiments.copy"), copy)
