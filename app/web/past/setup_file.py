"""A run's set-up as a scenario file, as the command line reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from persimchat.runs.going_on import scenario_of
from persimchat.runs.reading import read_manifest
from persimchat.state.settings import Settings


def setup_of(folder: Path) -> str:
    """A run's scenario, and under `settings` what is not as it is by default, as YAML. Blocks.

    Raises:
        InputError: this is no run's folder, or run.json is damaged or does not fit this version.
    """
    read_manifest(folder)  # says what is wrong with it
    manifest: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    scenario = scenario_of(manifest, folder)
    document = scenario.model_dump(mode="json", by_alias=True, exclude={"settings"}, exclude_defaults=True)
    usual = Settings().model_dump(mode="json")
    settings = {name: value for name, value in manifest["settings"].items() if name in usual and value != usual[name]}
    if settings:
        document["settings"] = settings
    return str(yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=100))
