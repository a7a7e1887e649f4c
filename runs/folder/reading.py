"""Reads the folder of a run: its log, whole and checked, live or past.

Damage is an error that names the file and the event, except in the run's accounts, whose damaged events are left out
with a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Final

from pydantic import ValidationError

from ...models.ledger import Ledger
from ...models.recording import Record as Answers
from ...models.recording import Row, from_record
from ...state.errors import InputError
from ...state.poll import Guide
from ...state.settings import PART, Settings
from ..events import Analysed, Event, Happened, Judged, MindRecord, Silenced, Started, Stopped, Uttered
from ..kinds import ACCOUNTS, CONVERSATION, KINDS, SAID_OF, MemoryTold
from ..log import DAMAGED, Log
from .answers import A, InterviewAnswer, Key, Labels, PollAnswer, RecordedJudgement, RecordedThemes, fresh
from .lines import STANDING, RecordedIntervention
from .manifest import Begun, Ended, Manifest, Resumed, most_utterances
from .parts import UNKNOWN, WHOLE_ONLY, GuideTold, Usage, totals
from .run_folder import RUN
from .validation import checked

_turn: Final = attrgetter("turn")
_NO_RUN: Final = "Give the folder of a run, its id, or latest."


@dataclass(frozen=True)
class Record:
    """A run as read from its folder.

    Attributes:
        path: the folder.
        manifest: what is known about it.
        utterances: in order of turns.
        minds: in their order; empty if the run had no minds.
        judge_minds: of a persona judge.
        verdicts: of a debate's judge, in order of turns.
        scores: of the analysis, in order of turns.
        silences: of agents whose models failed and of people who passed, in order of turns.
        interventions: by people, in order of turns.
        notes: what was left out or is missing, one sentence each.
        happenings: of a story, in their order.
        told: whether its requests are told; false for what a participant has seen.
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
    notes: list[str]
    happenings: list[Happened] = field(default_factory=list)
    told: bool = True

    @cached_property
    def polls(self) -> list[PollAnswer]:
        """The answers to polls that were held afterwards, without stale ones; raises as `read_polls`."""
        return read_polls(self.path)

    @cached_property
    def guide(self) -> Guide | None:
        """The guide that it followed; None if it had none.

        Raises:
            InputError: the guide cannot be read.
        """
        given = self.manifest.scenario.given.get("guide")
        return None if given is None else checked(Guide, given, f"{self.path / RUN}, field scenario.guide")

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


@contextmanager
def opened(folder: Path) -> Iterator[Log]:
    """The log of a run, to be read.

    Raises:
        InputError: this is not a run's folder, or the log cannot be opened.
    """
    _check_folder(folder)
    path = folder / RUN
    if not path.is_file():
        if (folder / "run.json").is_file():
            raise InputError(
                f"the run was made before runs were kept in {RUN}",
                where=str(folder),
                remedy="Read it with the version of PerSimChat that made it, or run its scenario again.",
            )
        raise InputError(f"this is not a run's folder: it has no {RUN}", where=str(folder), remedy=_NO_RUN)
    with Log(path, KINDS, read_only=True) as log:
        yield log


def read_run(path: Path, *, whole: bool = False) -> Record:
    """Read the folder of a run.

    Args:
        path: the folder.
        whole: whether to read minds with their recalled memories and reasons of feelings, which are most of a run.

    Raises:
        InputError: it is not a run's folder, its log is damaged, or another version wrote it.
    """
    found: dict[type[Any], list[Any]] = {kind: [] for kind in (Uttered, Judged, Analysed, Silenced, Happened)}
    minds: dict[str, list[MindRecord]] = {"mind": [], "judge_mind": []}
    interventions: list[RecordedIntervention] = []
    notes: list[str] = []
    with opened(path) as log:
        if damaged := log.check(leave_out=ACCOUNTS):
            what = "1 request is" if len(damaged) == 1 else f"{len(damaged)} requests are"
            notes.append(f"{RUN} is damaged: {what} left out, the first is event {damaged[0]}.")
        manifest = _manifest(log)
        kinds = ("utterance", "verdict", "analysis", "silenced", "happening", "intervention")
        for event in log.read(*kinds):
            if isinstance(event, RecordedIntervention):
                interventions.append(event)
            else:
                found[type(event)].append(event)
        for event in minds_in(log, whole=whole):
            minds[event.event].append(event.record)
    scored = [score for score in found[Analysed] if score.is_scored]
    if len(scored) < len(found[Analysed]):
        notes.append(f"{len(found[Analysed]) - len(scored)} of {len(found[Analysed])} utterances have no score.")
    return Record(
        path,
        manifest,
        sorted(found[Uttered], key=_turn),
        minds["mind"],
        minds["judge_mind"],
        sorted(found[Judged], key=_turn),
        sorted(scored, key=_turn),
        sorted(found[Silenced], key=_turn),
        sorted(interventions, key=_turn),
        notes,
        found[Happened],
    )


def minds_in(
    log: Log, *others: str, whole: bool = True, agent: str | None = None, where: str = "1", values: Sequence[Any] = ()
) -> Iterator[Any]:
    """The events `mind` and `judge_mind` in their order, with the words of the memories that they recalled.

    Args:
        log: of a run.
        others: kinds of events that are told among them.
        whole: whether with recalled memories, reasons of feelings and the like.
        agent: whose minds; None for all.
        where: an SQL condition on `events`, for fewer.
        values: of its parameters.
    """
    known: dict[tuple[str, str], dict[str, Any]] = {}

    def change(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        if kind not in ("mind", "judge_mind"):
            return body
        if not whole:
            return {name: value for name, value in body.items() if name not in WHOLE_ONLY}
        if "recalled" not in body:
            return body
        rows = [{**row, **known.get((body["agent"], row["id"]), {})} for row in body["recalled"]]
        return {**body, "recalled": rows}

    kinds = ("mind", "judge_mind", *others, *(["memory"] if whole else []))
    own = "1" if agent is None else "agent = ?"
    given = [*([] if agent is None else [agent]), *values]
    for event in log.read(*kinds, where=f"{own} AND (kind = 'memory' OR ({where}))", values=given, change=change):
        if isinstance(event, MemoryTold):
            known[event.agent, event.id] = {name: getattr(event, name) for name in SAID_OF}
        else:
            yield event


def read_utterances(path: Path) -> list[Uttered]:
    """Read only the utterances of a run, in order of turns.

    Raises:
        InputError: as `read_run`.
    """
    with opened(path) as log:
        return sorted(log.read("utterance"), key=_turn)


def read_manifest(folder: Path) -> Manifest:
    """Read only what is known about a run.

    Raises:
        InputError: as `read_run`.
    """
    with opened(folder) as log:
        return _manifest(log)


def _manifest(log: Log, *, parts: bool = True) -> Manifest:
    begun: Begun | None = None
    resumed: list[Resumed] = []
    ended: Ended | None = None
    for event in log.read("begun", "resumed", "ended"):
        if isinstance(event, Begun):
            begun = event
        elif isinstance(event, Resumed):
            resumed, ended = [*resumed, event], None
        else:
            ended = event
    if begun is None:
        raise InputError(
            "the run was stopped before it had begun", where=str(log.path), remedy="Delete its folder, and begin anew."
        )
    ((turn, silences),) = log.rows(
        "SELECT coalesce(max(turn) FILTER (WHERE kind = 'utterance'), 0), count(*) FILTER (WHERE kind = 'silenced') "
        "FROM events WHERE kind IN ('utterance', 'silenced')"
    )
    newest = "SELECT body ->> '$.judgements' FROM events WHERE kind = 'turn_ended' ORDER BY number DESC LIMIT 1"
    judged = [] if ended is not None else log.rows(newest)
    counts = json.loads(judged[0][0]) if judged and judged[0][0] else {}
    rows = ended.usage if ended is not None else Ledger(earlier=requests(log, [])).rows()
    used = Usage.of(rows) if parts or not rows else Usage(total=totals(rows))
    known = {"turn": turn, "silences": silences, "judgements": counts, "usage": used}
    return Manifest.of(begun, resumed, ended, **known)


def requests(log: Log, lost: list[str] | None = None) -> Iterator[Row]:
    """The requests to models one by one, in the order in which they ended.

    Args:
        log: of a run.
        lost: receives a note on damaged requests, which are left out; None: they are refused.

    Raises:
        InputError: without `lost`: a request is damaged.
    """
    return _accounts(log, "asked_model", lost)


def _accounts(log: Log, kind: str, lost: list[str] | None) -> Iterator[Any]:
    if lost is None:
        yield from log.read(kind)
        return
    rows, damaged = log.read_whole(kind)
    if damaged:
        lost.append(f"{damaged} of the run's {_NAMES[kind]} are damaged.")
    yield from rows


_NAMES: Final = {"asked_model": "requests", "embedded": "embedded texts"}


def calls_of(record: Record) -> Iterator[Row]:
    """The requests of a run one by one, in the order in which they ended; damaged ones are left out.

    Raises:
        InputError: the log cannot be read.
    """
    if record.told:
        with opened(record.path) as log:
            yield from requests(log, [])


def calls_in(folder: Path, lost: list[str] | None = None) -> list[Row]:
    """The requests of a run in the order in which they ended; see `requests`."""
    with opened(folder) as log:
        return list(requests(log, lost))


def read_vectors(folder: Path, lost: list[str] | None = None) -> dict[str, str]:
    """The texts that a server embedded for a run: digest → vector, as recorded; see `requests`."""
    with opened(folder) as log:
        return {one.text: one.vector for one in _accounts(log, "embedded", lost)}


def read_answers(folder: Path) -> Answers:
    """The answers of a run, for a `Ledger` that replays it. Blocks.

    Raises:
        InputError: its log is damaged, or an answer cannot be repeated.
    """
    rows = calls_in(folder)
    for row in rows:
        try:
            _ = row.answer and from_record(row.answer)
        except (TypeError, ValueError) as error:
            where = f"{folder / RUN}, request of {row.agent} at turn {row.turn}"
            raise InputError("an answer is not a message", where=where, remedy=DAMAGED) from error
    return Answers(rows, read_vectors(folder))


def answers_of(folder: Path, kind: type[A]) -> dict[Key, A]:
    """The answers of one kind about a run, by their keys; the last of several to one question.

    Raises:
        InputError: this is not a run's folder, or its log is damaged.
    """
    with opened(folder) as log:
        return {row.key: row for row in log.read(_NAME_OF[kind])}


_NAME_OF: Final = {kind.model: name for name, kind in KINDS.items()}


def read_polls(folder: Path) -> list[PollAnswer]:
    """The answers to polls that count, in the order of polls, turns, agents and repeats; raises as `answers_of`.

    Answers to a poll that has been asked since with other words, of another model, or with another prompt, are stale.
    """
    return fresh(answers_of(folder, PollAnswer).values())


def read_interviews(folder: Path) -> list[InterviewAnswer]:
    """All answers in interviews, in the order of interviews and questions; raises as `answers_of`."""
    return sorted(answers_of(folder, InterviewAnswer).values(), key=lambda row: (row.interview, row.number))


def read_themes(folder: Path) -> list[RecordedThemes]:
    """What models found in a run, in the order in which they did; raises as `answers_of`."""
    return list(answers_of(folder, RecordedThemes).values())


def read_judgements(folder: Path) -> list[RecordedJudgement]:
    """The judgements on a run's conversation; raises as `answers_of`."""
    return list(answers_of(folder, RecordedJudgement).values())


def manifest_and_labels(folder: Path, unread: list[str], *, parts: bool = True) -> tuple[Manifest, Labels]:
    """What is known about a run, and what its user calls it; damaged labels are told in `unread`, and are none.

    Args:
        folder: of the run.
        unread: is told of damaged labels.
        parts: whether its usage is also summed by module, agent and model.
    """
    with opened(folder) as log:
        manifest = _manifest(log, parts=parts)
        try:
            return manifest, _labels(log)
        except InputError as error:
            unread.append(str(error))
            return manifest, Labels()


def read_labels(folder: Path) -> Labels:
    """What the run's user calls it; nothing where they call it nothing.

    Raises:
        InputError: this is not a run's folder, or its log is damaged.
    """
    with opened(folder) as log:
        return _labels(log)


def _labels(log: Log) -> Labels:
    found: list[Labels] = list(log.read("labels"))
    return found[-1] if found else Labels()


def _check_folder(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"there is no folder to read: {error.strerror}", where=str(path), remedy=_NO_RUN) from error
    if not S_ISDIR(mode):
        raise InputError("this is a file, not a run's folder", where=str(path), remedy=f"Try: {path.parent}")


_TOLD: Final = [kind for kind in CONVERSATION if kind not in ("memory", "mind", "judge_mind", "intervention")]
"""The kinds of events that are told again, besides the minds."""


def past_events(record: Record, *, upto: int | None = None) -> Iterator[Event]:
    """The events of a run on disk, with any ending, without those that a log does not keep (`speaking`, `token` …).

    They equal the events of the running conversation, but for `started` (`turn` is the number of utterances that
    follow, `notice` is empty), the totals of `turn_ended` (`UNKNOWN`), and the folder of `stopped`.

    Reading blocks: in an event loop, read in a thread (`await asyncio.to_thread(list, past_events(record))`).

    Args:
        record: the run, from `read_run`.
        upto: only the events up to the end of this turn, without `stopped`; None: all events, with `stopped` if the run
            has ended. After the last turn, silences of agents that failed to speak next may follow.

    Raises:
        InputError: during iteration: the log is damaged.
    """
    with opened(record.path) as log:
        yield from past_in(log, upto=upto)
    if upto is None and record.manifest.stop_reason is not None:
        yield stopped_event(record.path)


def past_in(log: Log, *, upto: int | None = None, notice: str = "") -> Iterator[Event]:
    """`past_events` of a log that is open, without `stopped`.

    Args:
        log: of the run.
        upto: the last turn; None for all.
        notice: of `started`, for people.
    """
    last = 2**62 if upto is None else upto
    ((said,),) = log.rows("SELECT count(*) FROM events WHERE kind = 'utterance' AND turn <= ?", last)
    yield started(_manifest(log), said, notice=notice)
    for event in minds_in(log, *_TOLD):
        if isinstance(event, Uttered) and event.turn > last:
            return
        yield event


def started(about: Manifest, said: int, *, notice: str = "") -> Started:
    """The first event of a run that begins or goes on.

    Args:
        about: what is known about it.
        said: how many utterances come first.
        notice: for people.

    Raises:
        InputError: what its log holds does not fit.
    """
    settings = about.settings
    models = {name: of.get("natural_language") for name, of in about.models.items() if name not in about.people}
    given = {
        **{name: getattr(settings, name) for name in ("mode", "baseline")},
        "run": about.run,
        "topic": about.scenario.topic,
        "participants": about.names,
        "models": {name: model for name, model in models.items() if model is not None},
        "max_messages": _limit(about, said),
        "people": about.people,
        "turn": said,
        "notice": notice,
        "guide": GuideTold.of(about.guide),
    }
    return checked(Started, given, f"run {about.run}")


def _limit(about: Manifest, said: int) -> int:
    """The message limit; of a story, the utterances that its stages add up to."""
    story, settings = about.scenario.given.get("story"), about.settings
    if story and settings.mode == "story":
        with suppress(ValidationError):
            return most_utterances(Settings.model_validate(settings.given, context=PART), story)
    return settings.max_messages if settings.max_messages is not None else said


def stopped_event(folder: Path) -> Stopped:
    """The last event of an ended run, from its folder.

    Raises:
        InputError: this is not a run's folder, it is damaged, or its run has not ended.
    """
    about = read_manifest(folder)
    given = {
        **{name: getattr(about, name) for name in ("run", "detail", "conclusion", "outcome", "turn")},
        "reason": about.stop_reason,
        "source": about.stop_source,
        "totals": about.usage.total or UNKNOWN,
        "usage": [row.model_dump() for row in about.usage.rows],
        "folder": str(folder),
    }
    return checked(Stopped, given, str(folder / RUN))
