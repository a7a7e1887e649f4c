"""Reading a run's folder back: every line checked, whatever version of the folder, however the run ended.

A run that was killed may have left its last line torn; such a line is left out, and `notes` says so. Everything else
that is not as it should be is an error that names file, line and field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from persimchat.runs.calls import CALLS
from persimchat.runs.folder import ANALYSIS, CONTROL, JUDGE_MIND, MINDS, RUN_FORMAT, SILENCES, TRANSCRIPT, VERDICTS
from persimchat.runs.recorded import (
    Manifest,
    RecordedCall,
    RecordedIntervention,
    RecordedMind,
    RecordedScore,
    RecordedSilence,
    RecordedUtterance,
    RecordedVerdict,
)
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean, quoted

Line = TypeVar("Line", bound=BaseModel)

_DAMAGED: Final = "The file is damaged; take it from a backup, or run the conversation again."
_MOST_SHOWN: Final = 60
_TORN: Final = "The last line of {} was cut off when it was written, and is left out."
_NO_JSON: Final = (ValueError, RecursionError)
_turn: Final = attrgetter("turn")


@dataclass(frozen=True)
class Record:
    """A run as its folder tells it.

    Attributes:
        path: the folder.
        manifest: run.json.
        utterances: in order of turns.
        minds: in the order in which they were written; empty where the run had no minds.
        judge_minds: of a judge that has a mind of its own.
        verdicts: of a debate's judge, in order of turns.
        scores: of the analysis, in order of turns.
        silences: of agents whose models failed and of people who passed, in order of turns.
        interventions: what people did to the conversation, in order of turns.
        calls: the file of single requests, for `calls_of`; None where there is none (format 1).
        notes: what was left out or is missing, one sentence each.
    """

    path: Path
    manifest: Manifest
    utterances: list[RecordedUtterance]
    minds: Sequence[RecordedMind]
    judge_minds: Sequence[RecordedMind]
    verdicts: list[RecordedVerdict]
    scores: list[RecordedScore]
    silences: list[RecordedSilence]
    interventions: list[RecordedIntervention]
    calls: Path | None
    notes: list[str]


def read_run(path: Path, mind: type[RecordedMind] = RecordedMind) -> Record:
    """Read a run's folder.

    Args:
        path: the folder.
        mind: what is read of a mind; `WholeMind` for what it recalled, too, which is most of a run.

    Raises:
        InputError: it is no run's folder, a file is missing or damaged, or another version wrote it.
    """
    _check_folder(path)
    notes: list[str] = []
    manifest = read_manifest(path)
    utterances = _lines(path / TRANSCRIPT, RecordedUtterance, notes)
    if utterances is None:
        raise InputError(
            "the run's transcript is missing", where=str(path / TRANSCRIPT), remedy="Give a whole run's folder."
        )
    minds = _lines(path / MINDS, mind, notes)
    if minds is None:
        notes.append(f"{MINDS} is missing: nothing is known of emotions, needs and thoughts between utterances.")
    return Record(
        path,
        manifest,
        sorted(utterances, key=_turn),
        minds or [],
        _lines(path / JUDGE_MIND, mind, notes) or [],
        sorted(_lines(path / VERDICTS, RecordedVerdict, notes) or [], key=_turn),
        sorted(_lines(path / ANALYSIS, RecordedScore, notes, unless="failed") or [], key=_turn),
        sorted(_lines(path / SILENCES, RecordedSilence, notes) or [], key=_turn),
        sorted(_lines(path / CONTROL, RecordedIntervention, notes) or [], key=_turn),
        _calls(path / CALLS, notes),
        notes,
    )


def calls_of(record: Record) -> Iterator[RecordedCall]:
    """The requests to models one by one, in the order in which they were written; never all of them in memory.

    Raises:
        InputError: a line is damaged.
    """
    path = record.calls
    if path is None:
        return
    try:
        with path.open("rb") as file:
            for number, row in enumerate(file, start=1):
                where = f"{path}, line {number}"
                try:
                    value = json.loads(row)
                except _NO_JSON as error:
                    if not row.endswith(b"\n"):  # torn, which `notes` says
                        return
                    raise InputError("this is not JSON", where=where, remedy=_DAMAGED) from error
                yield checked(RecordedCall, value, where)
    except OSError as error:
        raise _unreadable(path, error) from error


def _calls(path: Path, notes: list[str]) -> Path | None:
    """The file of single requests, looked through for a torn last line; None where there is no such file."""
    last = b"\n"
    try:
        with path.open("rb") as file:
            for row in file:
                last = row
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    if not last.endswith(b"\n"):
        try:
            json.loads(last)
        except _NO_JSON:
            notes.append(_TORN.format(path.name))
    return path


def _check_folder(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(
            f"there is no folder to read: {error.strerror}",
            where=str(path),
            remedy="Give the folder of a run, its id, or latest.",
        ) from error
    if not S_ISDIR(mode):
        raise InputError("this is a file, not a run's folder", where=str(path), remedy=f"Try: {path.parent}")


def read_manifest(folder: Path) -> Manifest:
    """A run's run.json alone.

    Raises:
        InputError: this is no run's folder, or run.json is damaged or of another version.
    """
    path = folder / "run.json"
    data = _bytes(path)
    if data is None:
        raise InputError(
            "this is not a run's folder: it has no run.json",
            where=str(folder),
            remedy="Give the folder of a run, its id, or latest.",
        )
    try:
        value = json.loads(data)
    except _NO_JSON as error:
        raise InputError("this is not JSON", where=str(path), remedy=_DAMAGED) from error
    form = value.get("format") if isinstance(value, dict) else None
    if isinstance(value, dict) and (type(form) is not int or not 1 <= form <= RUN_FORMAT):
        raise InputError(
            f"format {quoted(form, _MOST_SHOWN)} of a run's folder is not known here, only 1 to {RUN_FORMAT}",
            where=f"{path}, field format",
            remedy="Read it with the version of PerSimChat that wrote it, or a newer one.",
        )
    return checked(Manifest, value, str(path))


def _bytes(path: Path) -> bytes | None:
    """A file's bytes; None where there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot be read: {error.strerror}", where=str(path), remedy="Check the file's kind and permissions."
    )


def _lines(path: Path, kind: type[Line], notes: list[str], *, unless: str = "") -> list[Line] | None:
    """The lines of a JSON Lines file; None where there is no such file. A torn last line goes into `notes`.

    Args:
        path: the file.
        kind: what a line holds.
        notes: what the reader should know; added to.
        unless: a field that says of a line, where it holds something, that there is nothing in it to read.
    """
    data = _bytes(path)
    if data is None:
        return None
    rows = data.split(b"\n")
    last = len(rows) - (0 if rows[-1].strip() else 1)
    found: list[Line] = []
    left_out = 0
    for number, row in enumerate(rows[:last], start=1):
        where = f"{path}, line {number}"
        try:
            value = json.loads(row)
        except _NO_JSON as error:
            if number == last:
                notes.append(_TORN.format(path.name))
                break
            raise InputError("this is not JSON", where=where, remedy=_DAMAGED) from error
        if unless and isinstance(value, dict) and value.get(unless):
            left_out += 1
            continue
        found.append(checked(kind, value, where))
    if left_out:
        notes.append(f"{left_out} of {last} lines of {path.name} say that there is no score.")
    return found


def checked(kind: type[Line], value: Any, where: str) -> Line:
    """A recorded value as what it should be.

    Args:
        kind: what it should be.
        value: as JSON has it.
        where: file and line, for the error.

    Raises:
        InputError: it does not fit; file, line and field are named.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = clean(".".join(str(part) for part in first["loc"]))
        given = "" if first["type"] == "missing" else f": {quoted(first['input'], _MOST_SHOWN)}"
        raise InputError(
            f"{first['msg'][:1].lower()}{first['msg'][1:]}{given}",
            where=f"{where}, field {field}" if field else where,
            remedy=_DAMAGED,
        ) from error
