"""What a run has written, read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from persimchat.runs.folder.reading import minds_in, opened, read_manifest
from persimchat.runs.kinds import CONVERSATION


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def read_table(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV table."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def logged(folder: str | Path, kind: str) -> list[dict[str, Any]]:
    """What the log of a run holds of one kind of event; of minds with the words of what they recalled."""
    with opened(Path(folder)) as log:
        if kind in ("mind", "judge_mind"):
            found = minds_in(log, where="kind = ?", values=[kind])
            return [one.record.model_dump(mode="json") for one in found if one.event == kind]
        return [
            json.loads(body) for (body,) in log.rows("SELECT body FROM events WHERE kind = ? ORDER BY number", kind)
        ]


def conversation(folder: str | Path) -> list[tuple[str, str]]:
    """All that a log holds of a run's conversation: kinds and contents, in order."""
    with opened(Path(folder)) as log:
        rows = log.rows("SELECT kind, body FROM events ORDER BY number")
    return [(kind, body) for kind, body in rows if kind in CONVERSATION]


def read_whole(folder: str | Path) -> tuple[list[tuple[str, str]], bytes]:
    """All of a run's conversation, and what there is to read of it."""
    return conversation(folder), Path(folder, "transcript.md").read_bytes()


def run_json(folder: str | Path) -> dict[str, Any]:
    """What is known about a run."""
    return read_manifest(Path(folder)).model_dump()


def read_words(folder: str | Path) -> list[tuple[str, str]]:
    """Who said what in a run, in order."""
    return [(line["speaker"], line["text"]) for line in logged(folder, "utterance")]


def add(folder: str | Path, *events: BaseModel) -> None:
    """Add events to the log of a run, as nothing of the product does afterwards."""
    from persimchat.runs.kinds import KINDS
    from persimchat.runs.log import Log

    with Log(Path(folder) / "run.sqlite", KINDS) as log:
        log.append(events)


def drop(folder: str | Path, where: str, *values: Any) -> None:
    """Take events from the log of a run."""
    from persimchat.runs.kinds import KINDS
    from persimchat.runs.log import Log

    with Log(Path(folder) / "run.sqlite", KINDS) as log:
        log.delete(where, *values)
