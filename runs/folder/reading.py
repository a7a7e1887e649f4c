"""Reads the folder of a run and checks every line, for any version of the folder and any ending.

A killed run may leave a torn last line, which is left out with a note. Any other invalid line is an error that names
file, line and field, except in the file of requests, whose damaged lines are left out (`runs/folder/jsonl.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR
from typing import Final, TypeVar

from pydantic import BaseModel

from persimchat.models.recording import Row
from persimchat.runs.events import Analysed, Happened, Judged, Silenced, Uttered
from persimchat.runs.folder.calls import CALLS
from persimchat.runs.folder.interviews import InterviewAnswer, read_interviews
from persimchat.runs.folder.jsonl import Line as JsonLine
from persimchat.runs.folder.jsonl import checked, json_lines, parsed, unreadable
from persimchat.runs.folder.lines import STANDING, RecordedIntervention
from persimchat.runs.folder.manifest import RUN_FORMAT, Manifest
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.runs.folder.mind_record import WHOLE_ONLY, MindRecord
from persimchat.runs.folder.polls import PollAnswer, read_polls
from persimchat.runs.folder.run_folder import (
    ANALYSIS,
    CONTROL,
    JUDGE_MIND,
    MANIFEST,
    MINDS,
    SILENCES,
    STORY,
    TRANSCRIPT,
    VERDICTS,
)
from persimchat.state.errors import InputError
from persimchat.state.guide import Guide
from persimchat.state.plain_text import quoted

Line = TypeVar("Line", bound=BaseModel)

_MOST_SHOWN: Final = 60
_turn: Final = attrgetter("turn")


@dataclass(frozen=True)
class Record:
    """A run as read from its folder.

    Attributes:
        path: the folder.
        manifest: run.json.
        utterances: in order of turns.
        minds: in the order of the file; empty if the run had no minds.
        judge_minds: of a persona judge.
        verdicts: of a debate's judge, in order of turns.
        scores: of the analysis, in order of turns.
        silences: of agents whose models failed and of people who passed, in order of turns.
        interventions: by people, in order of turns.
        calls: the file of single requests, for `calls_of`; None if there is none (format 1).
        notes: what was left out or is missing, one sentence each.
        happenings: of a story, in their order.
    """

    path: Path
    manifest: Manifest
    utterances: list[Uttered]
    minds: Sequence[MindRecord]
    judge_minds: Sequence[MindRecord]
    verdicts: list[Judged]
    scores: list[Analysed]
    silences: list[Silenced]
    interventions: list[RecordedIntervention]
    calls: Path | None
    notes: list[str]
    happenings: list[Happened] = field(default_factory=list)

    @cached_property
    def polls(self) -> list[PollAnswer]:
        """The answers to polls that were held afterwards, without stale ones; raises as `read_polls`."""
        return read_polls(self.path)

    @cached_property
    def guide(self) -> Guide | None:
        """The guide that it followed; None if it had none.

        Raises:
            InputError: run.json has a guide that cannot be read.
        """
        given = self.manifest.scenario.given.get("guide")
        return None if given is None else checked(Guide, given, f"{self.path / MANIFEST}, field scenario.guide")

    @cached_property
    def interviews(self) -> list[InterviewAnswer]:
        """The answers of interviews that were held afterwards; raises as `read_interviews`."""
        return read_interviews(self.path)

    @property
    def standings(self) -> dict[int, dict[str, Happened]]:
        """Of a story, by round and character: where it stood after the round's update."""
        found: dict[int, dict[str, Happened]] = {}
        for one in self.happenings:
            if one.do == STANDING:
                found.setdefault(one.round, {})[one.speaker] = one
        return found

    @property
    def last_standings(self) -> dict[str, Happened]:
        """Of a story, by character: where it stands after its newest update."""
        return {one.speaker: one for one in self.happenings if one.do == STANDING}


def read_run(path: Path, *, whole: bool = False) -> Record:
    """Read the folder of a run.

    Args:
        path: the folder.
        whole: whether to read minds with their recalled memories and reasons of feelings, which are most of a run.

    Raises:
        InputError: it is not a run's folder, a file is missing or damaged, or an unknown version wrote it.
    """
    _check_folder(path)
    notes: list[str] = []
    manifest = read_manifest(path)
    utterances = read_utterances(path, notes)
    minds = _lines(path / MINDS, MindRecord, notes, _minds(whole))
    if minds is None:
        notes.append(f"{MINDS} is missing: emotions, needs and thoughts between utterances are unknown.")
    return Record(
        path,
        manifest,
        utterances,
        minds or [],
        _lines(path / JUDGE_MIND, MindRecord, notes, _minds(whole)) or [],
        sorted(_lines(path / VERDICTS, Judged, notes) or [], key=_turn),
        sorted(_scores(path / ANALYSIS, notes), key=_turn),
        sorted(_lines(path / SILENCES, Silenced, notes) or [], key=_turn),
        sorted(_lines(path / CONTROL, RecordedIntervention, notes) or [], key=_turn),
        _calls(path / CALLS, notes),
        notes,
        _lines(path / STORY, Happened, notes) or [],
    )


def read_utterances(path: Path, notes: list[str] | None = None) -> list[Uttered]:
    """Read only the utterances of a run, in order of turns; `notes` receives a torn last line.

    Raises:
        InputError: the transcript is missing or damaged.
    """
    found = _lines(path / TRANSCRIPT, Uttered, [] if notes is None else notes)
    if found is None:
        raise InputError(
            "the run's transcript is missing", where=str(path / TRANSCRIPT), remedy="Give a whole run's folder."
        )
    return sorted(found, key=_turn)


def calls_of(record: Record) -> Iterator[Row]:
    """The requests to models one by one, in the order of the file; never holds all of them in memory.

    A damaged line is left out, with a note in the record: accounts matter less than the conversation.

    Raises:
        InputError: the file cannot be read.
    """
    if record.calls is not None:
        yield from calls_in_file(record.calls)


def calls_in_file(path: Path, notes: list[str] | None = None) -> Iterator[Row]:
    """The requests of a file of calls, as in `calls_of`; `notes` receives at the end what was left out.

    Raises:
        InputError: it cannot be read.
    """
    return json_lines(path, lambda line: checked(Row, line.value, line.where), notes=notes, lenient=True)


def _calls(path: Path, notes: list[str]) -> Path | None:
    """The file of single requests, checked for damaged lines; None if there is no such file."""
    if not os.path.lexists(path):
        return None
    for _ in calls_in_file(path, notes):
        pass
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
    """Read only run.json of a run.

    Raises:
        InputError: this is not a run's folder, or run.json is damaged or of an unknown version.
    """
    path = folder / MANIFEST
    data = _bytes(path)
    if data is None:
        raise InputError(
            "this is not a run's folder: it has no run.json",
            where=str(folder),
            remedy="Give the folder of a run, its id, or latest.",
        )
    value = parsed(data, str(path))
    form = value.get("format") if isinstance(value, dict) else None
    if isinstance(value, dict) and (type(form) is not int or not 1 <= form <= RUN_FORMAT):
        made = value.get("versions")
        by = made.get("persimchat") if isinstance(made, dict) else None
        raise InputError(
            f"format {quoted(form, _MOST_SHOWN)} of a run's folder is unknown; this PerSimChat reads 1 to {RUN_FORMAT}",
            where=f"{path}, field format",
            remedy=f"Read it with the version of PerSimChat that wrote it{f' ({quoted(by, 20)})' if by else ''}.",
        )
    return checked(Manifest, value, str(path))


def _bytes(path: Path) -> bytes | None:
    """The bytes of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error


def _scores(path: Path, notes: list[str]) -> list[Analysed]:
    """The lines with a score; `notes` receives the number of lines without."""
    every = _lines(path, Analysed, notes) or []
    scored = [score for score in every if score.is_scored]
    if len(scored) < len(every):
        notes.append(f"{len(every) - len(scored)} of {len(every)} lines of {path.name} have no score.")
    return scored


def _minds(whole: bool) -> Callable[[JsonLine], JsonLine]:
    """The reader of the lines of a file of minds."""

    def short(line: JsonLine) -> JsonLine:
        if not isinstance(line.value, dict):
            return line
        return replace(line, value={key: item for key, item in line.value.items() if key not in WHOLE_ONLY})

    return MindLines().read if whole else short


def _lines(
    path: Path, kind: type[Line], notes: list[str], read: Callable[[JsonLine], JsonLine] | None = None
) -> list[Line] | None:
    """The lines of a JSON Lines file; None if there is no such file. `notes` receives a torn last line.

    Args:
        path: the file.
        kind: the type of a line.
        notes: receives remarks for the reader.
        read: converts a line before validation; None: no conversion.
    """
    if not os.path.lexists(path):
        return None

    def record(line: JsonLine) -> Line:
        line = read(line) if read is not None else line
        return checked(kind, line.value, line.where)

    return list(json_lines(path, record, notes=notes))
