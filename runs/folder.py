"""A run on disk: `run.json`, `transcript.jsonl`, `minds.jsonl`, `transcript.md`; flushed as it happens.

Debates also leave `verdicts.jsonl`, the persona judge `judge_mind.jsonl`, the analysis `analysis.jsonl`, agents whose
model failed `silences.jsonl`, and people who took part `control.jsonl`. What stands in them says `runs/lines.py`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self, TextIO

from persimchat.runs.events import Analysed, Judged, MindRecord, Silenced, Uttered
from persimchat.runs.lines import (
    Asides,
    conclusion,
    control_line,
    data_line,
    head,
    last_words,
    spoken,
)
from persimchat.state.errors import InputError
from persimchat.state.folding import without_marks
from persimchat.state.plain_text import clean

RUN_FORMAT: Final = 2
"""Version of the run folder's files."""

MANIFEST = "run.json"
TRANSCRIPT, MINDS, READABLE = "transcript.jsonl", "minds.jsonl", "transcript.md"
VERDICTS, JUDGE_MIND, ANALYSIS = "verdicts.jsonl", "judge_mind.jsonl", "analysis.jsonl"
SILENCES, CONTROL = "silences.jsonl", "control.jsonl"
"""The files of a run beside run.json."""

MEMORIES = "memory"
"""The folder of a run's memories, where they are kept with it (store=run)."""

_FILES: Final = (TRANSCRIPT, MINDS, READABLE)
"""Those that every run has."""


def new_run_id(topic: str, now: datetime) -> str:
    """A readable, unique name for a run: time (UTC), a few words of the topic, four random hexadecimal digits."""
    words = "-".join(re.findall(r"[a-z0-9]+", without_marks(clean(topic)))[:6])[:40].strip("-")
    return "-".join(part for part in (now.strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(2)) if part)


class RunFolder:
    """Writes what a run leaves behind.

    Args:
        out: the folder that holds runs; made where it is missing.
        run: the run's id, the name of its own folder.

    Raises:
        InputError: the folder cannot be made or written.
    """

    def __init__(self, out: Path, run: str) -> None:
        self.path = out / run
        try:
            self.path.mkdir(parents=True)
            self._begin()
        except FileExistsError as error:
            what = "a run of this name exists" if self.path.is_dir() else "there is a file where the folder should be"
            raise InputError(what, where=str(self.path), remedy="Choose another run id or folder.") from error
        except OSError as error:
            raise InputError(
                f"cannot write there: {error.strerror}", where=str(self.path), remedy="Choose a folder with --out."
            ) from error

    @classmethod
    def reopened(cls, path: Path, asides: Asides | None = None) -> Self:
        """The folder of a run that goes on; its files have been put right (`runs/rebuild.py`).

        Args:
            path: the run's own folder.
            asides: what still has to be written to transcript.md, as rebuilding gives it back.

        Raises:
            InputError: the files cannot be written.
        """
        folder = cls.__new__(cls)
        folder.path = path
        try:
            folder._begin(asides)
        except OSError as error:
            raise InputError(
                f"the run cannot be written: {error.strerror}",
                where=str(error.filename or path),
                remedy="Check the folder's permissions.",
            ) from error
        return folder

    def _begin(self, asides: Asides | None = None) -> None:
        self._asides = asides or Asides()
        self._files = {name: self._open(name) for name in _FILES}

    def _open(self, name: str) -> TextIO:
        return (self.path / name).open("a", encoding="utf-8", newline="\n")

    def _write(self, name: str, text: str) -> None:
        """Write to one of the run's files; one that not every run has is made with its first line."""
        if name not in self._files:
            self._files[name] = self._open(name)
        self._files[name].write(text)
        self._files[name].flush()

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Write run.json as far as it is known, and the head of the readable transcript."""
        self.manifest(manifest)
        self._write(READABLE, head_of(manifest))

    def manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write run.json, whole or not at all."""
        text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
        write_whole(self.path / MANIFEST, text.encode())

    def utterance(self, uttered: Uttered) -> None:
        """Write one utterance, and to the readable transcript what happened since the one before."""
        self._write(TRANSCRIPT, data_line(uttered))
        self._write(READABLE, "".join([*self._asides.before(uttered.turn), spoken(uttered)]))

    def mind(self, record: MindRecord) -> None:
        """Write one mind of one turn."""
        self._write(MINDS, data_line(record))

    def judge_mind(self, record: MindRecord) -> None:
        """Write the persona judge's mind of one turn."""
        self._write(JUDGE_MIND, data_line(record))

    def verdict(self, judged: Judged) -> None:
        """Write one verdict of the judge."""
        self._write(VERDICTS, data_line(judged))

    def score(self, analysed: Analysed) -> None:
        """Write one utterance's scores."""
        self._write(ANALYSIS, data_line(analysed))

    def silence(self, silenced: Silenced) -> None:
        """Write that somebody is silent; the readable transcript says so before the next utterance."""
        self._write(SILENCES, data_line(silenced))
        self._asides.silence(silenced)

    def control(self, record: Mapping[str, Any]) -> None:
        """Write what somebody did to the conversation.

        Args:
            record: `turn` (utterances made when it took effect), `do`, and what belongs to it (state/intervention.py).
        """
        self._write(CONTROL, control_line(record))
        self._asides.control(record)

    def end(self, manifest: Mapping[str, Any], why: str) -> None:
        """Write run.json for good, what a debate came to, and why the conversation ended; closes the files."""
        came_to = manifest.get("conclusion")
        self._write(READABLE, "".join([*self._asides.rest(), conclusion(came_to) if came_to else "", last_words(why)]))
        self.manifest(manifest)
        self.close()

    def close(self) -> None:
        """Close the files; a folder that was ended is closed."""
        for file in self._files.values():
            file.close()


def head_of(manifest: Mapping[str, Any]) -> str:
    """What a run's transcript.md begins with."""
    scenario = manifest["scenario"]
    return head(str(scenario["topic"]), [p["name"] for p in scenario["participants"]])


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: whoever reads it, also after a kill, finds the old bytes or the new ones."""
    temporary = path.with_name(f"{path.name}.partial")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def now() -> datetime:
    """The time, for people only: nothing in a simulation depends on it."""
    return datetime.now(UTC)
