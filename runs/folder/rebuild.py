"""Repairs the files of a run before it is resumed: restores torn or missing lines from the run's state.

The state is the truth: LangGraph keeps it in one transaction, while a file may end in the middle of a line, or be one
utterance ahead or behind. A rebuilt file equals that of an uninterrupted run byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeVar

from persimchat.graph.edges import nobody_took_part
from persimchat.runs.events import Analysed, Happened, Judged, MindRecord, Silenced, Uttered
from persimchat.runs.folder.jsonl import Line, checked, checked_rows, json_lines
from persimchat.runs.folder.lines import Asides, control_line, data_line, spoken
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.runs.folder.run_folder import (
    ANALYSIS,
    CONTROL,
    JUDGE_MIND,
    MINDS,
    READABLE,
    SILENCES,
    STORY,
    TRANSCRIPT,
    VERDICTS,
    head_of,
    write_whole,
)
from persimchat.runs.folder.story_turns import minds_hear, turns_with_minds
from persimchat.state.conversation import judge_mind, participants, utterances
from persimchat.state.errors import InputError
from persimchat.state.mind import is_awake

T = TypeVar("T")

_LOST: Final = "transcript.lost.jsonl"
"""The file for a transcript that has more utterances than the checkpoints."""
_ALWAYS: Final = (TRANSCRIPT, READABLE, MINDS)
"""Files that exist even if they are empty."""


@dataclass(frozen=True)
class Rebuilt:
    """What remains to do after the repair of a run's files.

    Attributes:
        minds: turns that minds.jsonl lacks, from 0; `add_minds` writes them from the states of these turns.
        judge_minds: turns that judge_mind.jsonl lacks.
        asides: for `RunFolder.reopened`.
        silences: number of silences so far.
        lost: the message to the user about utterances that no checkpoint has; empty if there are none.
    """

    minds: list[int]
    judge_minds: list[int]
    asides: Asides
    silences: int
    lost: str


def rebuild(
    folder: Path, manifest: Manifest, state: Mapping[str, Any], complete: int, *, earlier: bool = False
) -> Rebuilt:
    """Make the files of a run agree with its state; files that already agree are not touched. Blocks.

    Args:
        folder: the run's.
        manifest: its run.json.
        state: the channels of the last checkpoint.
        complete: the last turn that all agents have heard; -1 before they have awoken (`history.complete_turn`).
        earlier: whether the state is of an earlier version and so continues from its last whole turn: then no utterance
            of the file may be ahead of the state, and an utterance that is made again is set aside.

    Raises:
        InputError: a file cannot be read or written.
    """
    try:
        return _rebuilt(folder, manifest, state, complete, earlier)
    except OSError as error:
        raise InputError(
            f"the run's files cannot be repaired: {error.strerror}",
            where=str(error.filename or folder),
            remedy="Check free space and permissions.",
        ) from error


def _rebuilt(folder: Path, manifest: Manifest, state: Mapping[str, Any], complete: int, earlier: bool) -> Rebuilt:
    said = [Uttered.model_validate(utterance) for utterance in utterances(state.get("messages", []))]
    written = _whole(folder / SILENCES, lambda line: checked(Silenced, line.value, line.where))
    silences = _silences(written, state, len(said))
    control = state.get("carried_out", [])
    asides = Asides()
    for silenced in silences:
        asides.silence(silenced)
    for record in control:
        asides.control(record)
    happened = [Happened.model_validate(one) for one in state.get("happenings") or []]
    for one in happened:
        asides.happening(one)
    readable = [head_of(manifest)]
    for uttered in said:
        readable += [*asides.before(uttered.turn), spoken(uttered)]
    own = judge_mind(state)
    hear = minds_hear(manifest.settings.given)
    expected: Sequence[int] = range(complete + 1)
    if "story" in state:
        expected = turns_with_minds(said, happened, manifest.names, complete, hear=hear)
    minds, lacking = _minds(folder / MINDS, participants(state), expected)
    judges, judges_lacking = _minds(folder / JUDGE_MIND, {own["name"]: own} if own else {}, expected)
    files = {
        TRANSCRIPT: [data_line(uttered) for uttered in said],
        READABLE: readable,
        VERDICTS: [data_line(Judged.model_validate(verdict)) for verdict in state.get("verdicts", [])],
        ANALYSIS: [data_line(Analysed.model_validate(score)) for score in state.get("scores", [])],
        SILENCES: [data_line(silenced) for silenced in silences],
        CONTROL: [control_line(record) for record in control],
        STORY: [data_line(one) for one in happened],
        MINDS: _lines_of(minds),
        JUDGE_MIND: _lines_of(judges),
    }
    one_by_one = manifest.settings.baseline in (None, "group_chat") and "story" not in state
    at_once = 1 - earlier if one_by_one else len(manifest.names)
    lost = _put(folder / TRANSCRIPT, "".join(files.pop(TRANSCRIPT)), ahead=at_once)
    for name, content in files.items():
        _put(folder / name, "".join(content))
    return Rebuilt(lacking, judges_lacking, asides, len(silences), lost)


def add_minds(folder: Path, records: Sequence[MindRecord], *, judge: bool = False) -> None:
    """Write the records of turns that `rebuild` found missing, each in its place. Blocks.

    Args:
        folder: the run's.
        records: those of whole turns, in the order of the participants.
        judge: whether they are of the judge's mind.

    Raises:
        InputError: the file cannot be read or written.
    """
    path = folder / (JUDGE_MIND if judge else MINDS)
    turns: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        turns.setdefault(record.turn, []).append(record.model_dump())
    made = set(turns)
    try:
        for mind, value in _minds_of(path):
            if mind.turn not in made:
                turns.setdefault(mind.turn, []).append(value)
        _put(path, "".join(_lines_of(turns)))
    except OSError as error:
        raise InputError(
            f"the run's minds cannot be repaired: {error.strerror}",
            where=str(path),
            remedy="Check free space and permissions.",
        ) from error


def _put(path: Path, text: str, *, ahead: int | None = None) -> str:
    """Write a file; an empty one is removed unless every run has it.

    Args:
        path: the file.
        text: its new contents.
        ahead: of a transcript: the number of additional utterances that a kill can explain. A transcript that has more
            is set aside first.

    Returns:
        The message about utterances that are made again; empty if there are none.
    """
    data, told = text.encode(), ""
    old = path.read_bytes() if path.is_file() else None
    path.with_name(f"{path.name}.partial").unlink(missing_ok=True)
    if ahead is not None and old is not None and old != data:
        told = _set_aside(path, old, data.count(b"\n"), ahead)
    if not data and path.name not in _ALWAYS:
        path.unlink(missing_ok=True)
    elif old != data:
        write_whole(path, data)
    return told


def _set_aside(path: Path, old: bytes, said: int, ahead: int) -> str:
    """Keep a copy of a transcript whose last utterances no checkpoint has, as after a power failure."""

    def turn(line: Line) -> int:
        return checked(Uttered, line.value, line.where).turn

    lost = sum(number > said for number in checked_rows(BytesIO(old), path, turn, lenient=True))
    if lost <= ahead:
        return ""
    aside = path.with_name(_LOST)
    write_whole(aside, old)
    what = f"{lost} utterance{'s' if lost > 1 else ''}"
    return f"The checkpoints end after utterance {said}: {what} after it will be made again. {aside} keeps the old."


def _whole(path: Path, check: Callable[[Line], T]) -> Iterator[T]:
    """The valid lines of a file; empty if it is not a file."""
    return json_lines(path, check, lenient=True) if path.is_file() else iter(())


def _minds_of(path: Path) -> Iterator[tuple[MindRecord, dict[str, Any]]]:
    """The minds of a file, each with the fields of newer versions."""
    lines = MindLines()

    def mind(line: Line) -> tuple[MindRecord, dict[str, Any]]:
        line = lines.read(line)
        record = checked(MindRecord, line.value, line.where)
        return record, {**line.value, "recalled": [memory.model_dump() for memory in record.recalled]}

    return _whole(path, mind)


def _lines_of(turns: Mapping[int, Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """The lines of minds, in order of turns."""
    lines = MindLines()
    return (lines.written(mind) for turn in sorted(turns) for mind in turns[turn])


def _minds(
    path: Path, minds: Mapping[str, Mapping[str, Any]], due: Sequence[int]
) -> tuple[dict[int, list[dict[str, Any]]], list[int]]:
    """The minds of whole turns by turn, of those that are due, and the turns that are missing."""
    names = [name for name, mind in minds.items() if is_awake(mind)]
    turns: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for mind, value in _minds_of(path) if names else ():
        if mind.turn in due:
            turns.setdefault(mind.turn, []).append((mind.agent, value))
    whole: dict[int, list[dict[str, Any]]] = {}
    for turn in sorted(turns):
        first = turns[turn][: len(names)]
        if [agent for agent, _ in first] == names:
            whole[turn] = [value for _, value in first]
    return whole, [turn for turn in due if turn not in whole] if names else []


def _silences(written: Iterable[Silenced], state: Mapping[str, Any], said: int) -> list[Silenced]:
    """The silences: those on file, up to the state's turn, and the last silence that each mind holds.

    If no mind could awaken or hear the last utterance, all try again, and there is no silence.
    """
    deaf = nobody_took_part(dict(state))
    known = [
        Silenced(agent=name, **{key: mind["silent"][key] for key in ("turn", "step", "why")})
        for name, mind in state.get("agents", {}).items()
        if mind.get("silent") and not (deaf and mind["silent"]["step"] in ("awaken", "hear"))
    ]
    kept = [s for s in written if s.turn <= said or s in known]
    return sorted([*kept, *(s for s in known if s not in kept)], key=lambda silenced: silenced.turn)
