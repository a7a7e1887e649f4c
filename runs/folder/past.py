"""The past of a run as events, read from disk, in the order in which they happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final, Generic, TypeVar

from pydantic import ValidationError

from persimchat.runs.events import (
    OWN_ENDS,
    Analysed,
    Event,
    GuideTold,
    Happened,
    Judged,
    JudgeMindChanged,
    MindChanged,
    MindRecord,
    Silenced,
    Started,
    Stopped,
    TopicChanged,
    Totals,
    TurnEnded,
    Uttered,
)
from persimchat.runs.folder.jsonl import checked, json_lines
from persimchat.runs.folder.lines import STANDING
from persimchat.runs.folder.manifest import most_utterances
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.runs.folder.reading import Record, read_manifest
from persimchat.runs.folder.run_folder import ANALYSIS, JUDGE_MIND, MANIFEST, MINDS
from persimchat.runs.folder.story_turns import Turns, minds_hear
from persimchat.state.settings import PART, Settings

Line = TypeVar("Line", Uttered, Silenced, Analysed, Judged, MindRecord, Happened)
Kept = TypeVar("Kept", Analysed, MindRecord)

UNKNOWN: Final = Totals(calls=0, input_tokens=0, output_tokens=0, estimated=True, cost_usd=None)
"""The totals of a past `turn_ended`: a folder does not hold the usage at each turn."""

_LAST_TURNS: Final = OWN_ENDS | {"budget"}
"""Reasons to stop that also ended the last turn."""


def past_events(record: Record, *, upto: int | None = None) -> Iterator[Event]:
    """The events of a run on disk, with any ending, without `speaking` and `token`.

    They equal the events of the running conversation, except for what a folder does not hold:

    - `started`: `turn` is the number of utterances that follow; `notice` is empty.
    - `turn_ended`: `totals` are `UNKNOWN`.
    - `stopped`: `folder` is its current place; credentials in names of models are left out of `usage`.
    - `topic` has the turn of the request, though an earlier request may have delayed it.
    - `asked`, `hand`, `paused` and `continued` are left out.
    - A run that was killed or stopped between two steps may have one `turn_ended` more or less at its end.

    The files are read line by line with the events, so a long run needs little memory. Reading blocks: in an event
    loop, read in a thread (`await asyncio.to_thread(list, past_events(record))`).

    Args:
        record: the run, from `read_run`.
        upto: only the events up to the end of this turn, without `stopped`; None: all events, with `stopped` if the run
            has ended. After the last turn, silences of agents that failed to speak next may follow.

    Raises:
        InputError: during iteration: a file is damaged.
    """
    last = record.utterances[-1].turn if record.utterances else 0
    end = last if upto is None else min(upto, last)
    started = _started(record, end)
    yield started
    if started.mode == "story":
        yield from _story(record, started, end)
    else:
        yield from _rounds(record, started, end) if started.baseline else _turns(record, started, end, last)
    if upto is None and record.manifest.stop_reason is not None:
        yield stopped_event(record.path)


def _started(record: Record, end: int) -> Started:
    about, settings = record.manifest, record.manifest.settings
    models = {name: of.get("natural_language") for name, of in about.models.items() if name not in about.people}
    given = {
        "run": about.run,
        "mode": settings.mode,
        "baseline": settings.baseline,
        "topic": about.scenario.topic,
        "participants": [person.name for person in about.scenario.participants],
        "models": {name: model for name, model in models.items() if model is not None},
        "max_messages": _limit(record),
        "people": about.people,
        "turn": sum(utterance.turn <= end for utterance in record.utterances),
        "guide": GuideTold.of(about.guide),
    }
    return checked(Started, given, str(record.path / MANIFEST))


def _limit(record: Record) -> int:
    """The message limit; of a story, the utterances that its stages add up to."""
    scenario, settings = record.manifest.scenario.given, record.manifest.settings
    if scenario.get("story") and settings.mode == "story":
        with suppress(ValidationError):
            return most_utterances(Settings.model_validate(settings.given, context=PART), scenario["story"])
    return settings.max_messages if settings.max_messages is not None else len(record.utterances)


def stopped_event(folder: Path) -> Stopped:
    """The last event of an ended run, from its folder.

    Raises:
        InputError: this is not a run's folder, it is damaged, or its run has not ended.
    """
    about = read_manifest(folder)
    given = {
        "run": about.run,
        "reason": about.stop_reason,
        "source": about.stop_source,
        "detail": about.detail,
        "conclusion": about.conclusion,
        "outcome": about.outcome,
        "turn": about.turn,
        "totals": about.usage.total or UNKNOWN,
        "usage": [row.model_dump() for row in about.usage.rows],
        "folder": str(folder),
    }
    return checked(Stopped, given, str(folder / MANIFEST))


def _turns(record: Record, started: Started, end: int, last: int) -> Iterator[Event]:
    """The events of a conversation of minds between `started` and `stopped`."""
    path = record.path
    said, silences = _Lines(record.utterances), _Lines(record.silences)
    scores, verdicts = _Lines(_read(path / ANALYSIS, Analysed)), _Lines(record.verdicts)
    minds, judges = _Lines(_read(path / MINDS, MindRecord)), _Lines(_read(path / JUDGE_MIND, MindRecord))
    topics = _topics(record, started.topic)
    awake = judging = 0
    for turn in range(end + 1):
        if turn:
            silent = list(silences.upto(turn))
            # All think while the first speaker is asked. If that one fails, the utterance comes only afterwards.
            before = [one for one in silent if one.step != "hear"] if any(one.step == "speak" for one in silent) else []
            yield from chain(before, said.upto(turn), (one for one in silent if one not in before))
            yield from chain(scores.upto(turn), verdicts.upto(turn))
        else:
            yield from silences.upto(0)
        changed, judged = list(minds.upto(turn)), list(judges.upto(turn))
        yield from (MindChanged(record=mind) for mind in changed)
        yield from (JudgeMindChanged(record=mind) for mind in judged)
        if turn == 0:
            awake, judging, over = len(changed), len(judged), False
        elif awake:  # a kill may have left some of the minds
            over = len(changed) >= awake and len(judged) >= judging
        else:
            over = turn < last or record.manifest.stop_reason in _LAST_TURNS
        if over:
            yield TurnEnded(turn=turn, max_messages=started.max_messages, totals=UNKNOWN)
        yield from topics.get(turn, ())
    if end == last:
        yield from silences.upto(last + 1)


def _story(record: Record, started: Started, end: int) -> Iterator[Event]:
    """The events of a story between `started` and `stopped`.

    A turn ends when its words are out, and if minds hear them, each of them has changed. What happened comes after it,
    and the minds of strategists after the standings of an update.
    """
    hear = minds_hear(record.manifest.settings.given)
    silences, happenings = _Lines(record.silences), _Lines(record.happenings)
    minds, topics = _Lines(_read(record.path / MINDS, MindRecord)), _topics(record, started.topic)
    by_turn = {one.turn: one for one in record.utterances}
    turns = Turns(started.participants, hear=hear)
    for turn in range(end + 1):
        said, fresh = by_turn.get(turn), list(happenings.upto(turn))
        over = True
        if said is not None:
            yield said
            over = turns.over(said, None if fresh else by_turn.get(turn + 1))
        if not over:
            continue
        if hear:
            yield from silences.upto(turn)
            yield from (MindChanged(record=mind) for mind in minds.upto(turn))
        if said is not None:
            yield TurnEnded(turn=turn, max_messages=started.max_messages, totals=UNKNOWN)
        yield from silences.upto(turn)
        last = max((place for place, one in enumerate(fresh) if one.do == STANDING), default=None)
        for place, happened in enumerate(fresh):
            turns.happened(happened)
            yield happened
            if place == last and not hear:
                yield from (MindChanged(record=mind) for mind in minds.upto(turn))
        yield from topics.get(turn, ())
    yield from silences.upto(end + 1)


def _topics(record: Record, first: str) -> dict[int, list[TopicChanged]]:
    """The changes of topic, by the number of utterances that came before."""
    found: dict[int, list[TopicChanged]] = {}
    current = first
    for done in record.interventions:
        topic = done.more.get("topic")
        if done.do == "topic" and isinstance(topic, str) and topic != current:
            found.setdefault(done.turn, []).append(TopicChanged(turn=done.turn, topic=topic))
            current = topic
    return found


def _rounds(record: Record, started: Started, end: int) -> Iterator[Event]:
    """The events of a baseline between `started` and `stopped`. A round is analysed during the start of the next.

    In a group chat, every utterance is a round of its own.
    """
    path = record.path
    said, scores = _Lines(record.utterances), _Lines(_read(path / ANALYSIS, Analysed))
    silences, verdicts = _Lines(record.silences), _Lines(record.verdicts)
    sizes = {"single_agent": max(1, len(record.utterances)), "group_chat": 1}
    size = sizes.get(started.baseline or "", len(started.participants))
    opening = (size + 1) // 2 if started.baseline == "mad_judge" else size
    for first in range(1, end + 1, size):
        final = min(first + size - 1, end)
        yield from said.upto(min(first + opening - 1, end))
        yield from scores.upto(first - 1)
        yield from chain(said.upto(final), silences.upto(final), verdicts.upto(final))
        if final == first + size - 1:
            yield TurnEnded(turn=final, max_messages=started.max_messages, totals=UNKNOWN)
    yield from scores.upto(end)


def _read(path: Path, kind: type[Kept]) -> Iterator[Kept]:
    """The lines of a file, one by one; none if it is missing."""
    told = MindLines()
    if not path.is_file():
        return iter(())
    return json_lines(path, lambda line: checked(kind, told.read(line).value, line.where))


class _Lines(Generic[Line]):
    """Yields records in order of turns, up to one turn at a time."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines: Iterator[Line] = iter(lines)
        self._next: Line | None = None

    def upto(self, turn: int) -> Iterator[Line]:
        """The records up to a turn that were not yielded yet."""
        while True:
            if self._next is None:
                self._next = next(self._lines, None)
            if self._next is None or self._next.turn > turn:
                return
            line, self._next = self._next, None
            yield line
