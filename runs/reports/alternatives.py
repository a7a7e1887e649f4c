"""The alternatives of a line: what runs of one family said in its place, after the same past."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from persimchat.runs.events import Uttered
from persimchat.runs.folder.family import family
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.folder.reading import read_utterances
from persimchat.runs.reports.diff_parting import same_line
from persimchat.state.errors import InputError


class Alternative(BaseModel):
    """One wording of a line."""

    model_config = ConfigDict(frozen=True)

    run: str = Field(description="the first run in which it was said: the name of its folder")
    speaker: str
    text: str
    edited_by: str | None = Field(default=None, description="what replaced the speaker's own words; null: nothing")


class Alternatives(BaseModel):
    """All wordings of a line, in the order in which their runs were made."""

    model_config = ConfigDict(frozen=True)

    turn: int = Field(description="number of the utterance")
    shown: int = Field(description="which of them this run has, from 0")
    lines: list[Alternative]


def alternatives(folder: Path, runs: Sequence[ListedRun]) -> list[Alternatives]:
    """The lines of a run for which others of its family have another one after the same past. Blocks.

    Args:
        folder: the run's.
        runs: the list in which its family is looked for.

    Raises:
        InputError: the run's transcript is damaged. Others that cannot be read are left out.
    """
    members = family(folder, runs)
    if len(members) < 2:
        return []
    own = read_utterances(folder)
    said = {member.folder: own if Path(member.folder) == folder else _others(member) for member in members}
    found: list[Alternatives] = []
    together = list(said)
    for at, line in enumerate(own):
        there = [member for member in together if len(said[member]) > at]
        if len(there) < 2:
            break
        lines: list[tuple[str, Uttered]] = []
        for member in there:
            if not any(same_line(said[member][at], other) for _, other in lines):
                lines.append((member, said[member][at]))
        if len(lines) > 1:
            shown = next(place for place, (_, other) in enumerate(lines) if same_line(line, other))
            found.append(Alternatives(turn=line.turn, shown=shown, lines=[_alternative(*one) for one in lines]))
        together = [member for member in there if same_line(said[member][at], line)]
    return found


def _others(member: ListedRun) -> list[Uttered]:
    try:
        return read_utterances(Path(member.folder))
    except InputError:
        return []


def _alternative(folder: str, said: Uttered) -> Alternative:
    return Alternative(run=Path(folder).name, speaker=said.speaker, text=said.text, edited_by=said.edited_by)
