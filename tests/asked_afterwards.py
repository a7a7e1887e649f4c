"""Runs whose participants are asked something when the conversation is over, and what may not change in them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from run_folders import PEOPLE, given, utterance, write_run

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
    scenario = {"topic": "Tea or coffee?", "participants": [*people, {"name": li, "human": True}]}
    about = {"settings": {**BASELINE, **about.pop("settings", {})}, "scenario": scenario, "format": 2, **about}
    return write_run(out, said, [], run=name, turn=4, **about)


def bytes_of(folder: Path, besides: str) -> dict[str, str]:
    """What is in a folder, without the file of the answers and the lock."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.name not in (besides, "run.lock")
    }
