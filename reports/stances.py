"""The ledger of positions: who held what when, who moved, and after whom. Pure functions of a recorded run.

A *source* says what participants were seen to hold, and when: a judge's verdicts, their own answers in debates in
rounds, polls, whom a story's characters support. Each source has a ledger of its own, because what somebody says in a
debate, answers in a round and admits in private may differ. A new source is a function in `SOURCES`.

Credit says after whom somebody moved, not because of whom.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final

from ..runs.events import MindRecord, Uttered
from ..runs.folder.answers import PollAnswer, answers_by_poll
from ..runs.folder.lines import STANDING
from ..runs.folder.reading import Record
from ..state.baselines.rounds import sides
from ..state.debates.answers import AnswerFormat, same_answer
from ..state.stories.story import NOBODY
from ..state.visibility import is_heard
from ..state.wording import t
from .summary import mean


@dataclass(frozen=True)
class Observation:
    """What a participant was seen to hold.

    Attributes:
        agent: the participant.
        turn: utterances so far: the number of the utterance that shows it, or after which they were asked.
        stance: None if it is not clear.
        spoken: whether an utterance of their own, number `turn`, shows it.
        poll: the poll that it answers; empty for other sources.
    """

    agent: str
    turn: int
    stance: str | None
    spoken: bool = True
    poll: str = ""


@dataclass(frozen=True)
class Position:
    """A row of the ledger: an observation, compared with what the participant held before.

    Attributes:
        source: where it comes from, a name in `SOURCES`.
        poll: the poll that it answers; empty for other sources.
        agent: the participant.
        turn: of the observation.
        stance: None if it is not clear.
        before: the last clear stance before it; None if there is none.
        moved: whether the two differ; None if there are not two.
        candidates: for a move, the numbers of the utterances after which it came: those of others that the participant
            heard since the last clear observation, and whose speakers then held the new stance.
        credit: for a move, 1 shared equally among the candidates, by speaker; empty if there are none.
        recalled: for a move, the candidates among the memories recalled then; None if memories are not known.
        toward_majority: for a move, whether it led to what most of the others held then; None if no stance was held
            by more of them than any other.
        openness: the participant's openness to consensus just before, 0–10; None if it is not known.
    """

    source: str
    poll: str
    agent: str
    turn: int
    stance: str | None
    before: str | None = None
    moved: bool | None = None
    candidates: tuple[int, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)
    recalled: tuple[int, ...] | None = None
    toward_majority: bool | None = None
    openness: int | None = None


Source = Callable[[Record], Iterable[Observation]]


def in_verdicts(record: Record) -> Iterator[Observation]:
    """What a judge's verdicts say of participants' utterances that all heard.

    An utterance takes the first verdict that was given after it and before the participant spoke again.
    """
    for name in _participants(record):
        own = [said.turn for said in record.utterances if said.speaker == name and said.heard_by is None]
        for turn, following in zip(own, [*own, None][1:], strict=True):
            first = bisect_left(record.verdicts, turn, key=attrgetter("turn"))
            verdict = record.verdicts[first] if first < len(record.verdicts) else None
            if verdict is None or (following is not None and verdict.turn >= following):
                continue
            held = next((position for position in verdict.positions if position.agent == name), None)
            yield Observation(name, turn, held.answer if held else None)


def in_answers(record: Record) -> Iterator[Observation]:
    """Participants' own answers, in debates in rounds."""
    return (Observation(u.speaker, u.turn, u.answer) for u in record.utterances if u.answer is not None)


def in_polls(record: Record) -> Iterator[Observation]:
    """Participants' most frequent answer to a poll at a turn; not clear if two are equally frequent."""
    for poll, by_agent in answers_by_poll(record.polls).items():
        for (agent, turn), given in by_agent.items():
            first = Counter(answer for answer in given if answer is not None).most_common(2)
            clear = bool(first) and (len(first) == 1 or first[0][1] > first[1][1])
            yield Observation(agent, turn, first[0][0] if clear else None, spoken=False, poll=poll)


def in_supports(record: Record) -> Iterator[Observation]:
    """Whom the characters of a story stand for: after each update, and at last on their open ballots.

    A main character that supports nobody stands for itself, another one for nobody. Ballots on outcomes are no support.
    """
    story = record.manifest.scenario.given.get("story")
    if not story:
        return
    mains = {name for name, one in story["characters"].items() if one.get("main")}
    for one in record.happenings:
        if one.do == STANDING:
            own = one.speaker if one.speaker in mains else NOBODY
            yield Observation(one.speaker, one.turn, one.supports or own, spoken=False)
        elif one.do == "ballot" and one.choice in mains:
            yield Observation(one.speaker, one.turn, one.choice, spoken=False)


SOURCES: Final[Mapping[str, Source]] = {
    "verdicts": in_verdicts,
    "answers": in_answers,
    "polls": in_polls,
    "supports": in_supports,
}
"""The sources by name."""


def ledger(record: Record, sources: Iterable[str] = tuple(SOURCES)) -> list[Position]:
    """The rows of a run, source by source, each in order of turns. A source that shows no clear stance has none.

    Args:
        record: read with whole minds if `recalled` is to be known.
        sources: names in `SOURCES`.

    Raises:
        InputError: the file of polls is damaged.
    """
    course, rows = _Course(record), list[Position]()
    for source in sources:
        by_poll: dict[str, list[Observation]] = {}
        for observation in SOURCES[source](record):
            by_poll.setdefault(observation.poll, []).append(observation)
        for seen in by_poll.values():
            if any(observation.stance is not None for observation in seen):
                rows += _rows(source, _worded_alike(seen, record), course)
    return rows


def _rows(source: str, seen: Iterable[Observation], course: _Course) -> Iterator[Position]:
    """The rows of one source, or of one poll."""
    before: dict[str, list[Observation]] = {}
    for now in sorted(seen, key=lambda one: one.turn):
        row = Position(source, now.poll, now.agent, now.turn, now.stance, openness=course.openness(now))
        if now.stance is not None:
            own = before.setdefault(now.agent, [])
            if own:
                row = replace(row, before=own[-1].stance, moved=own[-1].stance != now.stance)
            if row.moved:
                row = _credited(row, own[-1], now, before, course)
            own.append(now)
        yield row


def _credited(
    row: Position, last: Observation, now: Observation, before: Mapping[str, Sequence[Observation]], course: _Course
) -> Position:
    """The row of a move, with the utterances after which it came."""

    def held(name: str, known: Callable[[Observation], bool]) -> str | None:
        return next((one.stance for one in reversed(before.get(name, ())) if known(one)), None)

    def then(said: Uttered) -> str | None:
        return held(said.speaker, lambda one: one.turn < said.turn or (one.spoken and one.turn == said.turn))

    candidates = [said for said in course.heard_between(last, now) if then(said) == now.stance]
    others = [held(name, lambda one: course.precedes(one, now)) for name in before if name != now.agent]
    most = Counter(stance for stance in others if stance is not None).most_common(2)
    one_leads = bool(most) and (len(most) == 1 or most[0][1] > most[1][1])
    remembered = course.recalled(now)
    credit: Counter[str] = Counter()
    for said in candidates:
        credit[said.speaker] += 1
    return replace(
        row,
        candidates=tuple(said.turn for said in candidates),
        credit={name: number / len(candidates) for name, number in credit.items()},
        recalled=None if remembered is None else tuple(u.turn for u in candidates if u.turn in remembered),
        toward_majority=most[0][0] == now.stance if one_leads else None,
    )


class _Course:
    """Who had heard what when.

    Time is counted in waves: utterances that are made at the same time are of one wave, and whoever makes one has heard
    the waves before. Elsewhere than in debates in rounds, each utterance is a wave of its own.
    """

    def __init__(self, record: Record) -> None:
        names = _participants(record)
        self._said, self._names, self._baseline = record.utterances, names, record.manifest.settings.baseline
        self._sides = sides(names) if self._baseline == "mad_judge" else {}
        self._deaf = {(silence.agent, silence.turn) for silence in record.silences if silence.step == "hear"}
        self._minds: dict[str, list[MindRecord]] = {}
        for mind in record.minds:
            self._minds.setdefault(mind.agent, []).append(mind)
        self._whole = any(mind.recalled for mind in record.minds)

    def _wave(self, turn: int) -> int:
        number, places = turn - 1, max(1, len(self._names))
        if turn and self._baseline in ("mad", "reconcile"):
            return number // places + 1
        if turn and self._baseline == "mad_judge":
            opening = sum(side == "affirmative" for side in self._sides.values())
            return 2 * (number // places) + (1 if number % places < opening else 2)
        return turn

    def _known(self, seen: Observation) -> int:
        """The last wave that a participant had heard at an observation."""
        return self._wave(seen.turn) - seen.spoken

    def precedes(self, one: Observation, other: Observation) -> bool:
        """Whether an observation was made before another."""
        return self._wave(one.turn) <= self._known(other) if other.spoken else one.turn < other.turn

    def heard_between(self, last: Observation, now: Observation) -> list[Uttered]:
        """The utterances of others that a participant heard between two observations."""
        name = now.agent
        return [
            said
            for said in self._said
            if said.speaker != name
            and self._known(last) < self._wave(said.turn) <= self._known(now)
            and is_heard({"speaker": said.speaker, "heard_by": said.heard_by}, name)
            and (name, said.turn) not in self._deaf
            and (not self._sides or self._sides.get(said.speaker) != self._sides.get(name))
        ]

    def openness(self, seen: Observation) -> int | None:
        """A participant's openness just before it spoke, or as it was asked."""
        before = [mind for mind in self._minds.get(seen.agent, ()) if mind.turn <= self._known(seen)]
        return before[-1].openness if before else None

    def recalled(self, seen: Observation) -> set[int] | None:
        """The utterances whose percepts a participant had just recalled; None if that is not known."""
        now = next((mind for mind in self._minds.get(seen.agent, ()) if mind.turn == self._known(seen)), None)
        if now is None or not self._whole:
            return None
        return {memory.turn for memory in now.recalled if memory.kind == "perception"}


def _participants(record: Record) -> list[str]:
    return [participant.name for participant in record.manifest.scenario.participants]


def _worded_alike(seen: Sequence[Observation], record: Record) -> Iterator[Observation]:
    """The observations with the same words for the same answer, those in which it came first."""
    form: AnswerFormat = record.manifest.settings.model_dump().get("answer_format") or "free"
    worded: list[str] = []
    for one in seen:
        if one.stance is not None:
            stance = one.stance
            same = next((words for words in worded if words == stance), None) or next(
                (words for words in worded if not one.poll and same_answer(words, stance, form)), None
            )
            if same is None:
                worded.append(stance)
            yield replace(one, stance=same or stance)
        else:
            yield one


# The ledger of positions in numbers: where each participant began and ended, how often they moved, and after wh


VALUES: Final[Mapping[str, str]] = {
    "moves": "How often participants changed their position.",
    "moves_to_majority": "The share of moves to what most of the others held then.",
    "moves_uncredited": "The share of moves after nobody who held the new position.",
    "kept": "The share of participants whose first clear position was their last.",
    "stances_at_end": "How many different positions were held at the end.",
}
"""What `Stances.values` has, and what it says."""


@dataclass(frozen=True)
class Holder:
    """A participant's positions in a run, as one source shows them.

    Attributes:
        agent: the participant.
        first: the first clear stance; None if there is none.
        last: the last clear one.
        seen: observations.
        unclear: those of them without a clear stance.
        moves: how often the stance changed.
        toward_majority: moves to what most of the others held then.
        credit: the shares in others' moves, summed up.
        openness_moving: mean openness to consensus just before a move; None if it is not known.
        openness_else: mean openness before all other observations.
    """

    agent: str
    first: str | None
    last: str | None
    seen: int
    unclear: int
    moves: int
    toward_majority: int
    credit: float
    openness_moving: float | None
    openness_else: float | None


@dataclass(frozen=True)
class Stances:
    """One source of a run, or one poll.

    Attributes:
        source: where the positions come from.
        poll: the poll; empty for other sources.
        holders: the participants, in the order in which they were first seen.
        uncredited: moves that came after nobody.
        ask: the poll's question; empty for other sources.
    """

    source: str
    poll: str
    holders: tuple[Holder, ...]
    uncredited: int
    ask: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Source and poll, as in the ledger's rows."""
        return self.source, self.poll

    @property
    def where(self) -> str:
        """The source in words: "verdicts", "the poll “Tea?”"."""
        return t("report.where_poll", ask=self.ask or self.poll) if self.poll else t(f"report.where_{self.source}")

    @property
    def moves(self) -> int:
        """All moves."""
        return sum(holder.moves for holder in self.holders)

    @property
    def toward_majority(self) -> int:
        """Moves to what most of the others held then."""
        return sum(holder.toward_majority for holder in self.holders)

    @property
    def kept(self) -> int:
        """How many participants' first clear stance was their last."""
        return sum(holder.first is not None and holder.first == holder.last for holder in self.holders)

    @property
    def held(self) -> int:
        """How many participants had a clear stance."""
        return sum(holder.first is not None for holder in self.holders)

    def values(self) -> dict[str, float | None]:
        """The run in numbers, by the names of `VALUES`, for comparisons of runs; None where one is not defined."""
        return {
            "moves": float(self.moves),
            "moves_to_majority": self.toward_majority / self.moves if self.moves else None,
            "moves_uncredited": self.uncredited / self.moves if self.moves else None,
            "kept": self.kept / self.held if self.held else None,
            "stances_at_end": float(len({holder.last for holder in self.holders} - {None})),
        }


def stances_of(rows: Iterable[Position], polls: Iterable[PollAnswer] = ()) -> list[Stances]:
    """The ledger of a run in numbers, source by source.

    Args:
        rows: of the ledger.
        polls: the run's answers to polls, which have the questions' words.
    """
    asked = {row.poll: row.question.ask for row in polls}
    grouped: dict[tuple[str, str], list[Position]] = {}
    for row in rows:
        grouped.setdefault((row.source, row.poll), []).append(row)
    return [_stances(source, poll, asked.get(poll, ""), own) for (source, poll), own in grouped.items()]


def _stances(source: str, poll: str, ask: str, rows: Sequence[Position]) -> Stances:
    credit: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        for name, share in row.credit.items():
            credit[name] += share
    names = dict.fromkeys([*(row.agent for row in rows), *credit])
    holders = tuple(_holder(name, [row for row in rows if row.agent == name], credit[name]) for name in names)
    return Stances(source, poll, holders, sum(bool(row.moved and not row.candidates) for row in rows), ask)


def _holder(agent: str, rows: Sequence[Position], credit: float) -> Holder:
    clear = [row.stance for row in rows if row.stance is not None]
    moves = [row for row in rows if row.moved]
    return Holder(
        agent=agent,
        first=clear[0] if clear else None,
        last=clear[-1] if clear else None,
        seen=len(rows),
        unclear=len(rows) - len(clear),
        moves=len(moves),
        toward_majority=sum(row.toward_majority is True for row in moves),
        credit=credit,
        openness_moving=mean(row.openness for row in moves if row.openness is not None),
        openness_else=mean(row.openness for row in rows if not row.moved and row.openness is not None),
    )
