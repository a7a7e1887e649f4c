"""How a replay differs from its run: file by file, and where prompts and versions are others now."""

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
    TRANSCRIPT,
    VERDICTS,
)
from persimchat.state.errors import InputError

_COMPARED: Final = (TRANSCRIPT, MINDS, VERDICTS, JUDGE_MIND, ANALYSIS, SILENCES, CONTROL, READABLE)


@dataclass(frozen=True)
class Comparison:
    """What a replay has shown.

    Attributes:
        whole: whether the run had come to its end; of one that had not, what there is of it is compared.
        utterances: that the run has.
        minds: records of minds that the run has.
        calls: recorded answers that stood for calls.
        parts: where files part, one sentence a file; none where they are the same, byte for byte.
        prompts: questions that are others now than those that were answered: turn, agent, module.
        versions: of packages that are others now: name → (then, now).
        other_prompts: whether the templates of prompts are others now.
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
        """Whether the replay is the run, byte for byte."""
        return not self.parts


def compared(run: Path, replay: Path, manifest: Manifest, prompts: Iterable[tuple[int, str, str]]) -> Comparison:
    """Compare a replay's folder with the run's. Blocks.

    Args:
        run: the run's folder.
        replay: the replay's.
        manifest: the run's run.json.
        prompts: questions that were others than those that were answered.

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
    """A file's whole lines; none where there is no file."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


def _minds(path: Path) -> list[bytes]:
    """The lines of a file of minds, each with all that it says of what was recalled, whatever version wrote it."""
    told, found = MindLines(), []
    for row in _lines(path):
        try:
            mind = told.read(Line(str(path), row, parsed(row, str(path)))).value
            found.append(MindLines().written(mind).encode())
        except (InputError, KeyError, TypeError):
            found.append(row)  # damaged
    return found


def _part(then: Path, now: Path, whole: bool) -> str:
    """Where two files part, in a sentence; empty where they do not.

    Of a run that had not come to its end, the replay may be ahead or behind by what was under way.
    """
    content = _minds if then.name in (MINDS, JUDGE_MIND) else _lines
    old, new = content(then), content(now)
    if not whole:
        if then.name == READABLE:
            return ""  # the same words as in transcript.jsonl, and an end of its own
        shorter = min(len(old), len(new))
        old, new = old[:shorter], new[:shorter]
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        if one != other:
            return f"{then.name}, line {number}{_what(one, other)}."
    if len(old) != len(new):
        return f"{then.name} has {len(new)} lines in place of {len(old)}."
    return ""


def _what(one: bytes, other: bytes) -> str:
    """Turn, agent and fields of two lines that differ, as far as they tell."""
    try:
        then, now = parsed(one, ""), parsed(other, "")
    except InputError:
        return " is another one"
    if not (isinstance(then, dict) and isinstance(now, dict)):
        return " is another one"
    fields = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    fields = [name for name in fields if name != "memories"] or ["recalled"]
    who = f" of {then.get('agent') or then.get('speaker')}" if then.get("agent") or then.get("speaker") else ""
    return f" (turn {then.get('turn')}{who}): {', '.join(fields)}"
