"""What an export takes from a run's folder beyond `runs/reading.py`: recalled memories, reasons, rows of usage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from persimchat.runs.events import RecalledMemory
from persimchat.runs.folder import JUDGE_MIND, MINDS
from persimchat.runs.reading import Record, checked
from persimchat.runs.recorded import Count, RecordedMind
from persimchat.state.emotion import Level
from persimchat.state.errors import InputError

_DAMAGED: Final = "The file is damaged; take it from a backup, or leave this run out."


class RecordedPercept(BaseModel):
    """What an agent took from an utterance."""

    theme: str = ""
    keywords: list[str] = []
    importance: Level | None = None


class WholeMind(RecordedMind):
    """One line of minds.jsonl, with what was recalled and why it felt so."""

    action: str = ""
    need_reasoning: str = ""
    openness_reasoning: str = ""
    percept: RecordedPercept | None = None
    focal_points: list[str] = []
    recalled: list[RecalledMemory] = []


class UsageRow(BaseModel):
    """One row of usage in run.json."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent: str
    module: str
    model: str
    calls: Count
    input_tokens: Count
    output_tokens: Count
    estimated: bool
    cost_usd: float | None = None


def whole_minds(record: Record) -> list[tuple[str, WholeMind]]:
    """Role ("participant" or "judge") and mind, in the order in which they were written.

    Raises:
        InputError: a line is damaged.
    """
    sources = (("participant", MINDS, len(record.minds)), ("judge", JUDGE_MIND, len(record.judge_minds)))
    return [(role, mind) for role, name, count in sources for mind in _minds(record.path / name, count)]


def _minds(path: Path, count: int) -> list[WholeMind]:
    """The first `count` lines: those that were read as whole lines before; a run that goes on may have added more."""
    if not count:
        return []
    rows = _bytes(path).split(b"\n")[:count]
    return [checked(WholeMind, _json(row, path, n), f"{path}, line {n}") for n, row in enumerate(rows, start=1)]


def usage_rows(record: Record) -> list[UsageRow]:
    """What the run used, a row a module, agent and model; none while it goes on, and where it was killed.

    Raises:
        InputError: run.json is damaged.
    """
    path = record.path / "run.json"
    usage = _json(_bytes(path), path).get("usage") or {}
    rows = usage.get("rows") or [] if isinstance(usage, dict) else []
    if not isinstance(rows, list):
        raise InputError("this is no list", where=f"{path}, field usage.rows", remedy=_DAMAGED)
    return [checked(UsageRow, row, f"{path}, field usage.rows.{n}") for n, row in enumerate(rows)]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="Check the file's kind and permissions."
        ) from error


def _json(data: bytes, path: Path, line: int = 0) -> dict[str, Any]:
    where = f"{path}, line {line}" if line else str(path)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("this is not JSON", where=where, remedy=_DAMAGED) from error
    if not isinstance(value, dict):
        raise InputError("this is not a JSON object", where=where, remedy=_DAMAGED)
    return value
