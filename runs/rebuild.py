"""Putting a run's files right before it goes on: what a kill tore or left out is made again from the run's state.

The state is the truth: LangGraph keeps it in one transaction, while a file may end in the middle of a line, or be one
utterance ahead or behind. A rebuilt file is equal to the byte to that of a run nobody interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persimchat.graph.edges import heard_by_nobody
from persimchat.runs.events import Analysed, Judged, MindRecord, Silenced, Uttered
from persimchat.runs.folder import (
    ANALYSIS,
    CONTROL,
    JUDGE_MIND,
    MINDS,
    READABLE,
    SILENCES,
    TRANSCRIPT,
    VERDICTS,
    head_of,
    write_whole,
)
from persimchat.runs.lines import Asides, control_line, data_line, spoken
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError

_ALWAYS = (TRANSCRIPT, READABLE, MINDS)
"""Files that are there even where nothing stands in them."""


@dataclass(frozen=True)
class Rebuilt:
    """What is still to be done after a run's files have been put right.

    Attributes:
        minds: turns that minds.jsonl lacks, from 0; whoever knows the states of then gives them to `add_minds`.
        judge_minds: the same of judge_mind.jsonl.
        asides: for `RunFolder.reopened`.
        silences: how often somebody was silent so far.
    """

    minds: list[int]
    judge_minds: list[int]
    asides: Asides
    silences: int


def rebuild(folder: Path, manifest: Mapping[str, Any], state: Mapping[str, Any], complete: int) -> Rebuilt:
    """Make a run's files say what its state says; those that do already are left as they are. Blocks.

    Args:
        folder: the run's.
        manifest: its run.json.
        state: the conversation's channels, as its last checkpoint has them.
        complete: its last turn that everybody has heard, -1 where nobody has awoken (`history.complete_turn`).

    Raises:
        InputError: a file cannot be read or written.
    """
    try:
        return _rebuilt(folder, manifest, state, complete)
    except OSError as error:
        raise InputError(
            f"the run's files cannot be put right: {error.strerror}",
            where=str(error.filename or folder),
            remedy="Check free space and permissions.",
        ) from error


def _rebuilt(folder: Path, manifest: Mapping[str, Any], state: Mapping[str, Any], complete: int) -> Rebuilt:
    said = [Uttered.model_validate(utterance) for utterance in utterances(state.get("messages", []))]
    silences = _silences(records(folder / SILENCES), state, len(said))
    control = state.get("carried_out", [])
    asides = Asides()
    for silenced in silences:
        asides.silence(silenced)
    for record in control:
        asides.control(record)
    readable = [head_of(manifest)]
    for uttered in said:
        readable += [*asides.before(uttered.turn), spoken(uttered)]
    minds, lacking = _minds(folder / MINDS, state.get("agents", {}), complete)
    judges, judges_lacking = _minds(folder / JUDGE_MIND, state.get("judge_mind", {}), complete)
    files = {
        TRANSCRIPT: [data_line(uttered) for uttered in said],
        READABLE: readable,
        VERDICTS: [data_line(Judged.model_validate(verdict)) for verdict in state.get("verdicts", [])],
        ANALYSIS: [data_line(Analysed.model_validate(score)) for score in state.get("scores", [])],
        SILENCES: [data_line(silenced) for silenced in silences],
        CONTROL: [control_line(record) for record in control],
        MINDS: minds.values(),
        JUDGE_MIND: judges.values(),
    }
    for name, content in files.items():
        _put(folder / name, "".join(content))
    return Rebuilt(lacking, judges_lacking, asides, len(silences))


def add_minds(folder: Path, records: Sequence[MindRecord], *, judge: bool = False) -> None:
    """Write the records of turns that `rebuild` found lacking, each in its place. Blocks.

    Args:
        folder: the run's.
        records: those of whole turns, in order of listing.
        judge: whether they are of the judge's mind.

    Raises:
        InputError: the file cannot be read or written.
    """
    path = folder / (JUDGE_MIND if judge else MINDS)
    turns = {record.turn: "" for record in records}
    for record in records:
        turns[record.turn] += data_line(record)
    try:
        for line in _whole_lines(path):
            turn = _turn(line)
            if turn is not None and not any(turn == record.turn for record in records):
                turns[turn] = turns.get(turn, "") + line
        _put(path, "".join(turns[turn] for turn in sorted(turns)))
    except OSError as error:
        raise InputError(
            f"the run's minds cannot be put right: {error.strerror}",
            where=str(path),
            remedy="Check free space and permissions.",
        ) from error


def _put(path: Path, text: str) -> None:
    """Have a file say this; no file where it would be empty and not every run has it."""
    data = text.encode()
    path.with_name(f"{path.name}.partial").unlink(missing_ok=True)
    if not data and path.name not in _ALWAYS:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_bytes() != data:
        write_whole(path, data)


def _whole_lines(path: Path) -> Iterator[str]:
    """The lines of a file that have an end, without those that are no text; none where it is missing."""
    if path.is_file():
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                yield line.decode() + "\n"
            except UnicodeDecodeError:
                continue


def _record(line: str) -> dict[str, Any] | None:
    """What a line holds; None where it is damaged."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and type(value.get("turn")) is int else None


def _turn(line: str) -> int | None:
    record = _record(line)
    return None if record is None else record["turn"]


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a file of lines that are whole; damaged ones are left out, and there are none without a file."""
    return [record for line in _whole_lines(path) if (record := _record(line)) is not None]


def _minds(path: Path, minds: Mapping[str, Mapping[str, Any]], complete: int) -> tuple[dict[int, str], list[int]]:
    """The lines of whole turns by turn, as far as the state goes, and the turns that are lacking."""
    names = [name for name, mind in minds.items() if mind.get("emotion")]
    turns: dict[int, list[tuple[str, str]]] = {}
    for line in _whole_lines(path) if names else ():
        record = _record(line)
        if record is not None and record["turn"] <= complete:
            turns.setdefault(record["turn"], []).append((str(record.get("agent")), line))
    whole: dict[int, str] = {}
    for turn in sorted(turns):
        first = turns[turn][: len(names)]
        if [agent for agent, _ in first] == names:
            whole[turn] = "".join(line for _, line in first)
    expected = range(complete + 1) if names else range(0)
    return whole, [turn for turn in expected if turn not in whole]


def _silences(written: list[dict[str, Any]], state: Mapping[str, Any], said: int) -> list[Silenced]:
    """Who was silent: what was written, as far as the state goes, and what the minds say of their last silence.

    Where nobody could hear the last utterance, everybody hears it again, and nobody was silent.
    """
    deaf = heard_by_nobody(dict(state))
    known = [
        Silenced(agent=name, **{key: mind["silent"][key] for key in ("turn", "step", "why")})
        for name, mind in state.get("agents", {}).items()
        if mind.get("silent") and not (deaf and mind["silent"]["step"] == "hear")
    ]
    kept = [s for s in map(Silenced.model_validate, written) if s.turn <= said or s in known]
    return sorted([*kept, *(s for s in known if s not in kept)], key=lambda silenced: silenced.turn)
