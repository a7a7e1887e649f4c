"""Compares a replay with its run: file by file, prompts, and versions of packages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.prompts import prompt_hash
from persimchat.runs.folder.calls import calls_in
from persimchat.runs.folder.jsonl import Line, parsed
from persimchat.runs.folder.manifest import Manifest, versions
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
)
from persimchat.state.errors import InputError

_COMPARED: Final = (TRANSCRIPT, MINDS, VERDICTS, JUDGE_MIND, ANALYSIS, SILENCES, CONTROL, STORY, READABLE)


@dataclass(frozen=True)
class Comparison:
    """The result of a replay.

    Attributes:
        whole: whether the run had ended; if not, the comparison covers what the run has.
        utterances: number of utterances of the run.
        minds: number of mind records of the run.
        calls: number of recorded answers that replaced calls.
        parts: where files first differ, one sentence per file; empty if all are equal byte for byte.
        prompts: prompts that differ from the recorded ones: turn, agent, module.
        versions: packages whose version differs: name → (then, now).
        other_prompts: whether the prompt templates differ.
    """

    whole: bool
    utterances: int
    minds: int
    calls: int
    parts: list[str]
    prompts: list[tuple[int, str, str]]
    versions: dict[str, tuple[str, str]]
    other_prompts: bool

    @property
    def same(self) -> bool:
        """Whether the replay equals the run byte for byte."""
        return not self.parts


def compared(run: Path, replay: Path, manifest: Manifest, prompts: Iterable[tuple[int, str, str]]) -> Comparison:
    """Compare the folder of a replay with the folder of its run. Blocks.

    Args:
        run: the folder of the run.
        replay: the folder of the replay.
        manifest: run.json of the run.
        prompts: prompts that differed from the recorded ones.

    Raises:
        InputError: calls.jsonl is damaged.
        OSError: a file cannot be read.
    """
    whole = manifest.stop_reason not in (None, "stopped", "error", "budget")
    parts = [part for name in _COMPARED if (part := _part(run / name, replay / name, whole))]
    then, now = manifest.versions, versions()
    return Comparison(
        whole=whole,
        utterances=len(_lines(run / TRANSCRIPT)),
        minds=len(_lines(run / MINDS)),
        calls=sum(row.answer is not None for row in calls_in(replay)),
        parts=parts,
        prompts=sorted(prompts),
        versions={name: (then.get(name, "none"), now[name]) for name in now if then.get(name) != now[name]},
        other_prompts=manifest.prompt_hash != prompt_hash(),
    )


def _lines(path: Path) -> list[bytes]:
    """The whole lines of a file; empty if there is no file."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


def _minds(path: Path) -> list[bytes]:
    """The lines of a file of minds, each with its whole recalled memories, from any version."""
    told, found = MindLines(), []
    for row in _lines(path):
        try:
            mind = told.read(Line(str(path), row, parsed(row, str(path)))).value
            found.append(MindLines().written(mind).encode())
        except (InputError, KeyError, TypeError):
            found.append(row)  # damaged
    return found


def _part(then: Path, now: Path, whole: bool) -> str:
    """Where two files first differ, in a sentence; empty if they are equal.

    If the run had not ended, its replay may be ahead or behind by the work that was in progress.
    """
    content = _minds if then.name in (MINDS, JUDGE_MIND) else _lines
    old, new = content(then), content(now)
    if not whole:
        if then.name == READABLE:
            return ""  # the words of transcript.jsonl, with another ending
        shorter = min(len(old), len(new))
        old, new = old[:shorter], new[:shorter]
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        if one != other:
            return f"{then.name}, line {number}{_what(one, other)}."
    if len(old) != len(new):
        return f"{then.name} has {len(new)} lines in place of {len(old)}."
    return ""


def _what(one: bytes, other: bytes) -> str:
    """Turn, agent and fields in which two lines differ, if they can be read."""
    try:
        then, now = parsed(one, ""), parsed(other, "")
    except InputError:
        return " differs"
    if not (isinstance(then, dict) and isinstance(now, dict)):
        return " differs"
    fields = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    fields = [name for name in fields if name != "memories"] or ["recalled"]
    who = f" of {then.get('agent') or then.get('speaker')}" if then.get("agent") or then.get("speaker") else ""
    return f" (turn {then.get('turn')}{who}): {', '.join(fields)}"
