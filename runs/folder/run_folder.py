"""Writes a run to disk: `run.json`, `transcript.jsonl`, `minds.jsonl`, `transcript.md`; flushes every line.

Debates also leave `verdicts.jsonl`, the persona judge `judge_mind.jsonl`, the analysis `analysis.jsonl`, agents whose
model failed `silences.jsonl`, people who took part `control.jsonl`, and stories `story.jsonl`. `lines.py` makes their
lines.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, Self, TextIO

from persimchat.runs.events import Analysed, Happened, Judged, MindRecord, Silenced, Uttered
from persimchat.runs.folder.lines import (
    Asides,
    conclusion,
    control_line,
    data_line,
    head,
    last_words,
    spoken,
)
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.state.errors import InputError, MachineError
from persimchat.state.normalise import without_marks
from persimchat.state.plain_text import clean

MANIFEST = "run.json"
TRANSCRIPT, MINDS, READABLE = "transcript.jsonl", "minds.jsonl", "transcript.md"
VERDICTS, JUDGE_MIND, ANALYSIS = "verdicts.jsonl", "judge_mind.jsonl", "analysis.jsonl"
SILENCES, CONTROL, STORY = "silences.jsonl", "control.jsonl", "story.jsonl"
"""The files of a run besides run.json."""

MEMORIES = "memory"
"""The folder of a run's memories with store=run."""

_FILES: Final = (TRANSCRIPT, MINDS, READABLE)
"""The files that every run has."""


def new_run_id(topic: str, now: datetime) -> str:
    """A readable, unique name for a run: time (UTC), a few words of the topic, four random hexadecimal digits."""
    words = "-".join(re.findall(r"[a-z0-9]+", without_marks(clean(topic)))[:6])[:40].strip("-")
    return "-".join(part for part in (now.strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(2)) if part)


class RunFolder:
    """Writes the files of a run. Every method raises `MachineError` if a file cannot be written any more.

    Args:
        out: the folder of runs; made if it is missing.
        run: the run's id, the name of its own folder.

    Raises:
        InputError: the folder cannot be made or written.
    """

    def __init__(self, out: Path, run: str) -> None:
        self.path = out / run
        try:
            self.path.mkdir(parents=True)
        except FileExistsError as error:
            what = "a run of this name exists" if self.path.is_dir() else "there is a file where the folder should be"
            raise InputError(what, where=str(self.path), remedy="Choose another run id or folder.") from error
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._begin()
        except OSError as error:
            self.discard()
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> InputError:
        return InputError(
            f"cannot write there: {error.strerror}", where=str(self.path), remedy="Choose a folder with --out."
        )

    @classmethod
    def reopened(cls, path: Path, asides: Asides | None = None) -> Self:
        """Reopen the folder of a run that continues, after its repair (`runs/folder/rebuild.py`).

        Args:
            path: the run's own folder.
            asides: lines that transcript.md still lacks, as `rebuild` returns them.

        Raises:
            MachineError: the files cannot be written.
        """
        folder = cls.__new__(cls)
        folder.path = path
        with _writing(path):
            folder._begin(asides)
        return folder

    def _begin(self, asides: Asides | None = None) -> None:
        self._asides, self._ended = asides or Asides(), False
        self._minds = {name: MindLines.after(self.path / name) for name in (MINDS, JUDGE_MIND)}
        self._files: dict[str, TextIO] = {}
        for name in _FILES:
            self._files[name] = self._open(name)

    def _open(self, name: str) -> TextIO:
        return (self.path / name).open("a", encoding="utf-8", newline="\n")

    def _write(self, name: str, text: str) -> None:
        """Write to one of the run's files; the first line makes a file that not every run has."""
        with _writing(self.path / name):
            if name not in self._files:
                self._files[name] = self._open(name)
            self._files[name].write(text)
            self._files[name].flush()

    def begin(self, manifest: Manifest) -> None:
        """Write the first run.json and the head of the readable transcript.

        Raises:
            InputError: they cannot be written.
        """
        try:
            self.manifest(manifest)
            self._write(READABLE, head_of(manifest))
        except MachineError as error:
            raise error.before_the_start() from error

    def manifest(self, manifest: Manifest) -> None:
        """Write run.json, whole or not at all."""
        data = manifest.written()
        with _writing(self.path / MANIFEST):
            write_whole(self.path / MANIFEST, data)

    def utterance(self, uttered: Uttered) -> None:
        """Write one utterance; in the readable transcript, also the events since the one before."""
        self._write(TRANSCRIPT, data_line(uttered))
        self._write(READABLE, "".join([*self._asides.before(uttered.turn), spoken(uttered)]))

    def mind(self, record: MindRecord) -> None:
        """Write one mind of one turn."""
        self._write(MINDS, self._minds[MINDS].written(record.model_dump()))

    def judge_mind(self, record: MindRecord) -> None:
        """Write the persona judge's mind of one turn."""
        self._write(JUDGE_MIND, self._minds[JUDGE_MIND].written(record.model_dump()))

    def verdict(self, judged: Judged) -> None:
        """Write one verdict of the judge."""
        self._write(VERDICTS, data_line(judged))

    def score(self, analysed: Analysed) -> None:
        """Write one utterance's scores."""
        self._write(ANALYSIS, data_line(analysed))

    def silence(self, silenced: Silenced) -> None:
        """Write a silence; the readable transcript has it before the next utterance."""
        self._write(SILENCES, data_line(silenced))
        self._asides.silence(silenced)

    def happening(self, happened: Happened) -> None:
        """Write what happened in a story; the readable transcript has it before the next utterance."""
        self._write(STORY, data_line(happened))
        self._asides.happening(happened)

    def control(self, record: Mapping[str, Any]) -> None:
        """Write an intervention.

        Args:
            record: `turn` (utterances before it took effect), `do`, and its details (state/intervention.py).
        """
        self._write(CONTROL, control_line(record))
        self._asides.control(record)

    def end(self, manifest: Manifest, why: str) -> None:
        """Write the last run.json, the conclusion of a debate and the reason of the end; close the files."""
        came_to = manifest.conclusion
        end = [*self._asides.rest(), conclusion(came_to) if came_to else "", last_words(why)]
        try:
            if not self._ended:  # else the first run.json could not be written
                self._write(READABLE, "".join(end))
            self._ended = True
            self.manifest(manifest)
        finally:
            self.close()

    def close(self) -> None:
        """Close the files; does nothing after `end`."""
        for file in self._files.values():
            with suppress(OSError):  # a failed write has raised its error already
                file.close()
        self._files.clear()

    def discard(self) -> None:
        """Close the files and delete the folder: a run that has not begun leaves nothing."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)


def check_out(out: Path) -> None:
    """Refuse a folder of runs that cannot be written; leaves nothing behind.

    Raises:
        InputError: something else is in its place, or it cannot be written.
    """
    place = out.absolute()
    while not os.path.lexists(place):
        place = place.parent
    try:
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise InputError(
            f"runs cannot be kept there: {error.strerror}", where=str(out), remedy="Choose a folder with --out."
        ) from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Write to one of a run's files.

    Raises:
        MachineError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise MachineError.caused_by(error, "the run cannot be written", str(path)) from error


def head_of(manifest: Manifest) -> str:
    """The head of a run's transcript.md."""
    return head(manifest.scenario.topic, manifest.names, manifest.guide)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a reader finds the old bytes or the new ones, even after a kill."""
    temporary = path.with_name(f"{path.name}.partial")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def now() -> datetime:
    """The current time, for people only: no simulation depends on it."""
    return datetime.now(UTC)
