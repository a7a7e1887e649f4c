"""A run's set-up as a scenario file, as the command line reads it."""

from __future__ import annotations

from pathlib import Path

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.scenario_text import scenario_text
from persimchat.runs.reading import read_manifest
from persimchat.state.settings import Settings


def setup_of(folder: Path) -> str:
    """A run's scenario, and under `settings` what is not as it is by default, as YAML. Blocks.

    Raises:
        InputError: this is no run's folder, or run.json is damaged or does not fit this version.
    """
    return scenario_text(Draft.of_run(read_manifest(folder), Settings()))
