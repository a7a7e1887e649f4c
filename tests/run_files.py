"""What a run has written, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def run_json(folder: str | Path) -> dict[str, Any]:
    """The run.json of a run's folder."""
    found: dict[str, Any] = json.loads(Path(folder, "run.json").read_text(encoding="utf-8"))
    return found


def read_words(folder: str | Path) -> list[tuple[str, str]]:
    """Who said what in a run, in order."""
    return [(line["speaker"], line["text"]) for line in read_records(Path(folder, "transcript.jsonl"))]
