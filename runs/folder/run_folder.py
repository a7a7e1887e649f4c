"""Writes a run to disk: its log `run.sqlite`, and `transcript.md` to read."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Self

from pydantic import BaseModel

from ...state.errors import InputError, MachineError
from ...state.plain_text import clean, without_marks
from ...state.wording import in_language
from ..events import JudgeMindChanged, MindChanged, Stopped
from ..kinds import KINDS, MemoryTold
from ..log import Log
from .answers import Labels
from .lines import Transcript, head
from .manifest import Ended, Manifest, Resumed

RUN, READABLE = "run.sqlite", "transcript.md"
"""The files of a run."""

MEMORIES = "memory"
"""The folder of a run's memories with store=run."""


def new_run_id(topic: str, now: datetime) -> str:
    """A readable, unique name for a run: time (UTC), a few words of the topic, four random hexadecimal digits."""
    words = "-".join(re.findall(r"[a-z0-9]+", without_marks(clean(topic)))[:6])[:40].strip("-")
    return "-".join(part for part in (now.strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(2)) if part)


_IN_TRANSCRIPT: Final = ("utterance", "silenced", "happening", "intervention")


class RunFolder:
    """Writes the folder of a run. Every method raises `MachineError` if it cannot be written any more.

    Attributes:
        path: the folder.
        log: of the run.

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
            raise self._unusable(error.strerror) from error
        try:
            self.log = Log(self.path / RUN, KINDS)
        except InputError as error:
            shutil.rmtree(self.path, ignore_errors=True)
            raise self._unusable(error.what) from error
        self._start()

    def _start(self) -> None:
        self._transcript, self._known = Transcript(), set[tuple[str, str]]()
        self._ended = False

    def _unusable(self, why: str | None) -> InputError:
        return InputError(f"cannot write there: {why}", where=str(self.path), remedy="Choose a folder with --out.")

    @classmethod
    def reopened(cls, path: Path, log: Log) -> Self:
        """Go on with the folder of a run. Blocks.

        Args:
            path: the run's own folder.
            log: of the run.
        """
        folder = cls.__new__(cls)
        folder.path, folder.log = path, log
        folder._start()
        folder._known |= set(log.rows("SELECT agent, body ->> '$.id' FROM events WHERE kind = 'memory'"))
        return folder

    def make_readable(self, manifest: Manifest) -> None:
        """Make transcript.md again from the log, if it differs from what it should be. Blocks.

        Args:
            manifest: what is known about the run.
        """
        self._transcript = Transcript(manifest.settings.language)
        text = head_of(manifest) + "".join(map(self._transcript.after, self.log.read(*_IN_TRANSCRIPT)))
        readable, data = self.path / READABLE, text.encode()
        try:
            if not readable.is_file() or readable.read_bytes() != data:
                write_whole(readable, data)
        except OSError as error:
            raise MachineError.caused_by(error, "the run cannot be written", str(readable)) from error

    def begin(self, manifest: Manifest) -> None:
        """Write the first event, and the head of the readable transcript.

        Raises:
            InputError: they cannot be written.
        """
        try:
            self.log.append([manifest.as_begun])
            self._transcript = Transcript(manifest.settings.language)
            self._write(head_of(manifest))
        except MachineError as error:
            raise error.before_the_start() from error

    def resume(self, resumed: Resumed) -> None:
        """Write that the run goes on."""
        self.log.append([resumed])

    def append(self, events: Iterable[BaseModel], checkpoint: str | None) -> None:
        """Write the events of a superstep to the log and the readable transcript.

        Args:
            events: in their order.
            checkpoint: from which they follow.
        """
        kept = self.keep(events, checkpoint)
        if text := "".join(map(self._transcript.after, kept)):
            self._write(text)

    def keep(self, events: Iterable[BaseModel], checkpoint: str | None) -> list[BaseModel]:
        """`append` to the log alone; returns what it holds now."""
        kept = list(self._kept(events))
        self.log.append(kept, checkpoint)
        return kept

    def _kept(self, events: Iterable[BaseModel]) -> Iterator[BaseModel]:
        """The events, with the memories that a mind recalls for the first time before it."""
        for event in events:
            if isinstance(event, MindChanged | JudgeMindChanged):
                for one in event.record.recalled:
                    if (event.record.agent, one.id) not in self._known:
                        self._known.add((event.record.agent, one.id))
                        yield MemoryTold(
                            agent=event.record.agent, id=one.id, kind=one.kind, turn=one.turn, theme=one.theme
                        )
            yield event

    def end(self, stopped: Stopped, judgements: Mapping[str, Mapping[str, int]]) -> None:
        """Write the end of the run, with the conclusion of a debate and the reason.

        Args:
            stopped: its last event.
            judgements: by module, the results of the judgements of minds.
        """
        if not self._ended:  # else the end could not be written
            self._write(self._transcript.end(stopped))
        self._ended = True
        self.log.append([Ended.by(stopped, now().isoformat(timespec="seconds"), judgements)])

    def _write(self, text: str) -> None:
        """Add to the readable transcript."""
        try:
            with (self.path / READABLE).open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise MachineError.caused_by(error, "the run cannot be written", str(self.path / READABLE)) from error

    def discard(self) -> None:
        """Delete the folder: a run that has not begun leaves nothing."""
        self.log.close()
        shutil.rmtree(self.path, ignore_errors=True)


def write_labels(folder: Path, given: Labels) -> None:
    """Keep what a user calls a run, in place of what it was called before.

    Raises:
        InputError: this is not a run's folder, or it cannot be written.
    """
    if not (folder / RUN).is_file():
        raise InputError("this is not a run's folder", where=str(folder), remedy="Give the folder of a run.")
    try:
        with Log(folder / RUN, KINDS) as log:
            log.delete("kind = 'labels'")
            log.append([given] if given != Labels() else [])
    except MachineError as error:
        raise error.before_the_start() from error


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


def head_of(manifest: Manifest) -> str:
    """The head of a run's transcript.md."""
    with in_language(manifest.settings.language):
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
