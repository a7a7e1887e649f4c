"""Where runs part: the first different utterance and its likely cause, the first different mind, words, other lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..runs.events import Uttered
from ..runs.folder.lines import RecordedIntervention
from ..runs.folder.listing import ListedRun, family
from ..runs.folder.parts import MindRecord
from ..runs.folder.reading import Record, read_utterances
from ..state.errors import InputError

Why = Literal["end", "again", "given", "chosen", "intervention", "speaker", "audience", "words"]
"""Why two runs differ, as far as it is known."""


class Part(BaseModel):
    """Base of all parts of a comparison."""

    model_config = ConfigDict(frozen=True)


class Said(Part):
    """The utterance of one run at the turn where they first differ."""

    speaker: str
    text: str
    heard_by: list[str] | None = Field(description="a whisper: who heard it; null if all did")
    given: bool = Field(description="whether a person wrote the words")
    edited_by: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="what replaced the speaker's own words: branch or moderator; left out if nothing did",
    )


class Need(Part):
    """A participant's need to talk when the speaker was chosen; null if it is not known."""

    agent: str
    a: int | None
    b: int | None


class Recall(Part):
    """What the speaker recalled: themes of memories that it recalled in one run only, best first."""

    same: bool
    only_a: list[str]
    only_b: list[str]


class Parting(Part):
    """The first utterance that is not the same in both.

    `why` is `end` (one run was over), `again` (one run is a branch in which this utterance was worded again), `given`
    (one run is a branch in which the words were replaced), `chosen` (one run is a branch that chose whom a story's host
    talks to), `intervention` (a person intervened), `speaker` (another speaker was chosen), `audience` (others heard
    the same words) or `words`.
    """

    turn: int
    why: Why
    a: Said | None = Field(description="null if the run has no such utterance")
    b: Said | None
    needs: list[Need] = Field(description="another speaker: all participants' need to talk in both runs")
    recall: Recall | None = Field(description="other words of the same speaker; null if its mind is not known")
    interventions_a: list[dict[str, Any]] = Field(description="interventions at that place, if they differ")
    interventions_b: list[dict[str, Any]]


class MindDifference(Part):
    """A mind that differs, at the first turn at which any does."""

    turn: int
    agent: str
    only_in: Literal["", "a", "b"] = Field(description="the only run that has this mind; empty if both do")
    fields: list[str] = Field(description="the fields of the table minds that differ")


def shared(a: Record, b: Record) -> int:
    """How many utterances the runs share from their start: equal speakers, words and hearers."""
    pairs = zip(a.utterances, b.utterances, strict=False)
    count = 0
    for one, other in pairs:
        if not same_line(one, other):
            break
        count += 1
    return count


def same_line(one: Uttered, other: Uttered) -> bool:
    """Whether the same speaker said the same words to the same hearers at the same turn."""
    return (one.turn, one.speaker, one.text, one.heard_by) == (other.turn, other.speaker, other.text, other.heard_by)


def parting(a: Record, b: Record) -> Parting | None:
    """Where the runs first differ, and why; None if all utterances are the same."""
    place = shared(a, b)
    one, other = _at(a, place), _at(b, place)
    if one is None and other is None:
        return None
    done_a, done_b = _done(a, place), _done(b, place)
    intervened = done_a != done_b or any(_is_given(said) for said in (one, other))
    why: Why
    if one is None or other is None:
        why = "end"
    elif branched := _branched(a, place) or _branched(b, place):
        why = branched
    elif intervened:
        why = "intervention"
    elif one.speaker != other.speaker:
        why = "speaker"
    else:
        why = "words" if one.text != other.text else "audience"
    turn = next(said.turn for said in (one, other) if said is not None)
    return Parting(
        turn=turn,
        why=why,
        a=_said(one),
        b=_said(other),
        needs=_needs(a, b, one, other) if one and other and one.speaker != other.speaker else [],
        recall=_recall(a, b, turn - 1, one.speaker) if one and other and one.speaker == other.speaker else None,
        interventions_a=done_a if done_a != done_b else [],
        interventions_b=done_b if done_a != done_b else [],
    )


def _branched(record: Record, place: int) -> Literal["again", "given", "chosen"] | None:
    """Whether the utterance is the first own one of a branch, and what the branch made another there."""
    branch = record.manifest.branch
    if branch is None or branch.turn != place:
        return None
    if branch.why == "regenerate":
        return "again"
    changed = branch.changed if isinstance(branch.changed, dict) else {}
    return "given" if "say" in changed else "chosen" if "choose" in changed else None


def _at(record: Record, place: int) -> Uttered | None:
    return record.utterances[place] if place < len(record.utterances) else None


def _said(said: Uttered | None) -> Said | None:
    if said is None:
        return None
    return Said(
        speaker=said.speaker, text=said.text, heard_by=said.heard_by, given=said.is_given, edited_by=said.edited_by
    )


def _done(record: Record, place: int) -> list[dict[str, Any]]:
    """The interventions between the last shared utterance and the next one."""
    return [_plain(done) for done in record.interventions if done.turn == place]


def _plain(done: RecordedIntervention) -> dict[str, Any]:
    return {key: value for key, value in done.model_dump().items() if value is not None}


def _needs(a: Record, b: Record, one: Uttered, other: Uttered) -> list[Need]:
    needs_a, needs_b = _known_needs(a, one), _known_needs(b, other)
    return [Need(agent=name, a=needs_a.get(name), b=needs_b.get(name)) for name in dict.fromkeys([*needs_a, *needs_b])]


def _known_needs(record: Record, said: Uttered) -> Mapping[str, int]:
    """All participants' need to talk before an utterance: as recorded with it, else from the minds."""
    if said.need_to_talk:
        return said.need_to_talk
    before = [mind for mind in record.minds if mind.turn == said.turn - 1]
    return {mind.agent: mind.need_to_talk for mind in before if mind.need_to_talk is not None}


def _recall(a: Record, b: Record, turn: int, agent: str) -> Recall | None:
    """What the speaker recalled after the last shared utterance."""
    one, other = _mind(a, turn, agent), _mind(b, turn, agent)
    if one is None or other is None:
        return None
    themes_a = {memory.id: memory.theme for memory in one.recalled}
    themes_b = {memory.id: memory.theme for memory in other.recalled}
    return Recall(
        same=list(themes_a) == list(themes_b),
        only_a=[theme for key, theme in themes_a.items() if key not in themes_b],
        only_b=[theme for key, theme in themes_b.items() if key not in themes_a],
    )


def _mind(record: Record, turn: int, agent: str) -> MindRecord | None:
    return next((mind for mind in record.minds if mind.turn == turn and mind.agent == agent), None)


def first_other_minds(a: Record, b: Record) -> list[MindDifference]:
    """The minds that differ at the first turn at which any does; none if all are equal.

    Turns that only one run has reached do not count.
    """
    minds_a = {(mind.turn, mind.agent): mind for mind in [*a.minds, *a.judge_minds]}
    minds_b = {(mind.turn, mind.agent): mind for mind in [*b.minds, *b.judge_minds]}
    last = min(max((turn for turn, _ in minds), default=-1) for minds in (minds_a, minds_b))
    found: list[MindDifference] = []
    for turn, agent in sorted(dict.fromkeys([*minds_a, *minds_b]), key=lambda key: key[0]):
        if turn > last or found and turn > found[0].turn:
            break
        one, other = minds_a.get((turn, agent)), minds_b.get((turn, agent))
        if one is None or other is None:
            found.append(MindDifference(turn=turn, agent=agent, only_in="b" if one is None else "a", fields=[]))
            continue
        was, now = one.model_dump(), other.model_dump()
        fields = [name for name in was if was[name] != now[name]]
        if fields:
            found.append(MindDifference(turn=turn, agent=agent, only_in="", fields=fields))
    return found


def _is_given(said: Uttered | None) -> bool:
    """Whether somebody put the words in; a guide's question is the guide's."""
    return said is not None and said.is_given and said.question is None


_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST_ALIKE: Final = 0.4
"""The share of words in common below which texts are taken for different ones."""
_MOST_WORDS: Final = 800
"""Of each text; comparing takes time with the square."""


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Attributes:
        text: its characters, with the spaces between words.
        differs: whether the other text does not have it there.
    """

    text: str
    differs: bool


def word_changes(a: str, b: str) -> tuple[list[Piece], list[Piece]] | None:
    """Both texts in pieces that are alike or not; None if they are the same, too different, or too long."""
    if a == b:
        return None
    words_a, words_b = _WORD.findall(a), _WORD.findall(b)
    if max(len(words_a), len(words_b)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    alike = [block for block in matcher.get_matching_blocks() if block.size]
    common = sum(_count(words_a[block.a : block.a + block.size]) for block in alike)
    if 2 * common < _LEAST_ALIKE * (_count(words_a) + _count(words_b)):
        return None
    same_a, same_b = set[int](), set[int]()
    for block in alike:
        same_a.update(range(block.a, block.a + block.size))
        same_b.update(range(block.b, block.b + block.size))
    return list(_pieces(words_a, same_a)), list(_pieces(words_b, same_b))


def _count(words: Sequence[str]) -> int:
    return sum(not word.isspace() for word in words)


def _pieces(words: Sequence[str], same: set[int]) -> Iterator[Piece]:
    """The words joined to pieces; a space between two words that differ belongs to them."""
    differs = [
        at not in same or (word.isspace() and 0 < at < len(words) - 1 and not {at - 1, at + 1} & same)
        for at, word in enumerate(words)
    ]
    begin = 0
    for at in range(1, len(words) + 1):
        if at == len(words) or differs[at] != differs[begin]:
            yield Piece("".join(words[begin:at]), differs[begin])
            begin = at


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
