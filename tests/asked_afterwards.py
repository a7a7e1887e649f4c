"""Runs whose participants are asked something when the conversation is over, and what may not change in them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from run_folders import PEOPLE, given, utterance, write_run

from persimchat.runs.folder.reading import opened

RUNS = Path("conversations")
BASELINE = {"baseline": "group_chat", "max_messages": 9, "pattern": "need_to_talk", "model": "offline"}


def baseline(out: Path = RUNS, name: str = "tea", *, more: str = "", **about: Any) -> Path:
    """The folder of a baseline, whose participants have no minds; Bo hears a whisper, and Li is a person."""
    eva, bo, li = PEOPLE
    said = [
        utterance(1, eva, "Tea it is."),
        given(2, "Moderator", "Bo, argue for coffee.", heard_by=[bo]),
        utterance(3, bo, "Coffee keeps one awake."),
        utterance(4, eva, f"So does the cold. {more}"),
    ]
    people = [{"name": eva, "description": "A baker."}, {"name": bo, "description": "A nurse."}]
    person = {"name": li, "description": "A person.", "human": True}
    scenario = {"topic": "Tea or coffee?", "participants": [*people, person]}
    about = {"settings": {**BASELINE, **about.pop("settings", {})}, "scenario": scenario, **about}
    return write_run(out, said, [], run=name, turn=4, **about)


def besides(folder: Path, kind: str) -> tuple[list[tuple[Any, ...]], dict[str, str]]:
    """All events of a run but those of one kind, and what is in its folder besides the log and the lock."""
    with opened(folder) as log:
        events = log.rows("SELECT kind, turn, agent, checkpoint, body FROM events WHERE kind != ?", kind)
    files = (
        path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ("run.sqlite", "run.lock")
    )
    return events, {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
