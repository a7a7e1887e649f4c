"""Polls as measures of an experiment: a question to everybody in every conversation that is complete.

`evaluation/polls.py` asks, and keeps the answers in each run's folder. An answer counts as long as the conversation,
the poll and its form are the same; answers to an earlier wording are kept and not shown. Reading the answers, counting
what is left and estimating it open no checkpoints and ask no model.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ..evaluation.asking import AGAIN, NOT_ASKED, Asked, Asking, Question, Questions, Respondent, everybody
from ..evaluation.polls import END, START, answering, in_run, question_to
from ..evaluation.statistics.intervals import NUMBER, SHARE, Kind
from ..evaluation.tables import reasons
from ..memory.chroma_client import EPHEMERAL
from ..personas.names import full_name
from ..reports.estimate_sizes import Typical, lengths
from ..runs.folder.answers import Key, PollAnswer, fresh
from ..runs.folder.manifest import Manifest
from ..runs.folder.reading import Record, answers_of, read_manifest, read_run
from ..runs.run.at_turn import Standpoint, listening, minded
from ..state.errors import InputError
from ..state.minds.mind import in_step
from ..state.persona import Persona
from ..state.settings import ABOUT, BUDGETS, Settings
from ..state.wording import t
from .estimate import ESTIMATED_AS_ONE
from .file import PollOf
from .measuring import Held, Named, Value
from .plan import Plan, Planned, canonical

NO_SUCH_TURN: Final = "no such turn"
"""The reason of a value at a point that the conversation does not have."""
CHANGE: Final = "change"

_LOST: Final = {"checkpoints": "memory", "store": EPHEMERAL}
"""Settings with which a conversation leaves no minds."""


def turns_of(asked: PollOf, first: int, last: int) -> dict[str, int | None]:
    """The turn of each of a poll's points, by the point's name; None where the conversation does not have it.

    Args:
        asked: the poll.
        first: where the conversation begins: 0, or where a branch left its run.
        last: its last utterance.
    """
    turns = {START: first, END: last}
    meant = {str(point): turns[point] if isinstance(point, str) else point for point in asked.at}
    return {name: turn if first <= turn <= last else None for name, turn in meant.items()}


def _turns_in(asked: PollOf, manifest: Manifest) -> dict[str, int | None]:
    return turns_of(asked, manifest.branch.turn if manifest.branch else 0, manifest.turn)


def answers_to(asked: PollOf, folder: Path, turns: Iterable[int | None]) -> list[PollAnswer]:
    """The answers in a run's folder that count, by turn and agent.

    Args:
        asked: the poll.
        folder: the run's.
        turns: at which it is put.

    Raises:
        InputError: the file of answers is damaged.
    """
    every, wanted = answers_of(folder, PollAnswer).values(), {*turns}
    own = fresh(row for row in every if row.question == asked.poll)
    return [row for row in own if row.turn in wanted and row.repeat <= asked.repeats]


# ── asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class InCell(Questions[PollAnswer]):
    """The questions of a poll in one complete conversation.

    They are known by typical minds, by which they are counted and estimated before anybody's mind is read; an answer
    belongs to one by agent, turn and repeat.
    """

    polling: Polling
    planned: Planned
    turns: Sequence[int]

    def rows(self) -> dict[Key, PollAnswer]:
        """The answers that count."""
        assert isinstance(self.place, Path)
        found = answers_to(self.polling.asked, self.place, self.turns)
        return {(row.agent, row.turn, row.repeat): row for row in found if row.missing not in AGAIN}

    def left(self, judge: str, rows: Mapping[Key, PollAnswer]) -> list[Question[PollAnswer]]:
        """The questions without an answer; each names its own model, whoever `judge` is."""
        return [one for one in self.units if (one.fields["agent"], one.fields["turn"], one.repeat) not in rows]

    async def judged(self, asking: Asking) -> None:
        """Read everybody's mind of then, and ask what has no answer yet."""
        polling = self.polling
        assert isinstance(self.place, Path)
        async with polling.places:
            polled = await in_run(
                await asyncio.to_thread(read_run, self.place),
                [polling.asked.poll],
                self.turns,
                repeats=polling.asked.repeats,
                asks=polling.asked.asks,
                changes={n: getattr(self.planned.settings, n) for n, about in ABOUT.items() if not about.shapes},
                budgets=polling.budgets,
                # A run's id has a part by chance; the cell's has none, so that an experiment can be repeated.
                seeded=self.planned.cell.id,
            )
        await polled.judged(asking)


@dataclass(frozen=True)
class Polling:
    """A poll of an experiment, with what asking it needs.

    Attributes:
        asked: the poll.
        planned: the cells, by id.
        budgets: of conversations, judges and polls together.
        where: it stands in the file.
        places: so many runs are opened at the same time.
    """

    asked: PollOf
    planned: Mapping[str, Planned]
    budgets: Mapping[str, Any]
    where: str
    places: asyncio.Semaphore
    _known: dict[bytes, dict[tuple[str, int], list[Question[PollAnswer]]]] = field(default_factory=dict)

    @property
    def field(self) -> str:
        """What it is called."""
        return f"poll {self.asked.id}"

    def everybody(self, settings: Settings) -> Respondent:
        """Those who are asked.

        Args:
            settings: with the budgets and limits of requests.

        Raises:
            InputError: a model's name is wrong, or its price is not known and the budget is in US dollars.
        """
        try:
            return everybody(
                settings, (one.asked for each in self.planned.values() for one in self.foreseen(each, [0]))
            )
        except InputError as error:
            raise InputError(error.what, where=self.where, remedy=error.remedy) from None

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions[PollAnswer]]:
        """The questions in every conversation that is held; the answers go into its run's folder."""
        found: list[Questions[PollAnswer]] = []
        for one in held:
            if one.folder is not None:
                turns = _there(_turns_in(self.asked, read_manifest(one.folder)).values())
                planned = self.planned[one.cell.id]
                units = self.foreseen(planned, turns)
                found.append(InCell(one.folder, PollAnswer, units, self, planned, turns))
        return found

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """The questions in every conversation that is not held yet."""
        for one in held:
            if one.folder is None and one.conversation is not None:
                planned = self.planned[one.cell.id]
                first = planned.origin.turn if planned.origin is not None else 0
                turns = turns_of(self.asked, first, first + len(one.conversation.lines)).values()
                yield from (unit.asked for unit in self.foreseen(planned, _there(turns)))

    def foreseen(self, planned: Planned, turns: Iterable[int]) -> list[Question[PollAnswer]]:
        """The questions of a cell at these turns, with minds of typical content; cells of one shape share them."""
        shape = {name: value for name, value in planned.cell.settings.items() if name not in ESTIMATED_AS_ONE}
        key = canonical([shape, planned.scenario.model_dump(mode="json", by_alias=True)])
        known, found = self._known.setdefault(key, {}), list[Question[PollAnswer]]()
        poll, repeats = self.asked.poll, self.asked.repeats
        typical = Typical(planned.scenario, planned.settings, lengths())
        for turn in turns:
            for persona in filter(lambda one: self.asked.asks(one.name), planned.scenario.participants):
                if (persona.name, turn) not in known:
                    one = _typical_of(typical, persona, turn)
                    settings = answering(typical.settings, poll, self.budgets)
                    asked = question_to(poll, one, settings, in_conversation=True, repeats=repeats)
                    known[persona.name, turn] = asked
                found += known[persona.name, turn]
        return found


def _there(turns: Iterable[int | None]) -> list[int]:
    return sorted({turn for turn in turns if turn is not None})


def _typical_of(typical: Typical, persona: Persona, turn: int) -> Standpoint:
    """Somebody as they may be after so many utterances."""
    if typical.settings.baseline is not None:
        said = [typical.utterance(number) for number in range(1, turn + 1)]
        return listening(persona, typical.scenario, typical.settings, said, turn)
    mind = in_step(typical.mind(persona, turn), situation=typical.situation(persona.name, turn))
    return minded(mind, typical.memories(turn, persona), turn)


def pollings(plan: Plan) -> list[Polling]:
    """The polls of an experiment, in order of the file.

    Raises:
        InputError: conversations would not keep the minds that are to be asked, or a poll names nobody, or several.
    """
    experiment, limits = plan.experiment, plan.experiment.limits
    for name, lost in _LOST.items():
        if any(one.settings.baseline is None and getattr(one.settings, name) == lost for one in plan.cells):
            raise InputError(
                f"with {name}={lost}, nobody can be asked after the conversation: minds end with it",
                where=experiment.where("measures", "polls"),
                remedy=f"Leave out {name}, or the polls.",
            )
    people = list(dict.fromkeys(one.name for each in plan.cells for one in each.scenario.participants))
    for number, poll in enumerate(experiment.measures.polls):
        for name in (*poll.of, *poll.without):
            full_name(name, people, what="participant", where=experiment.where("measures", "polls", number))
    budgets = {name: getattr(limits, name) for name in BUDGETS}
    planned = {each.cell.id: each for each in plan.cells}
    return [
        Polling(one, planned, budgets, experiment.where("measures", "polls", number), asyncio.Semaphore(limits.cells))
        for number, one in enumerate(experiment.measures.polls)
    ]


# ── measuring ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PollShares:
    """The answers to a poll in numbers: at each point the share of each option, or the mean; and the changes.

    `cars:yes@end` is the share of yes at the end, `warmth@end` the mean of a scale, `cars:yes:change` and
    `warmth:change` what the end has more than the start.

    Attributes:
        asked: the poll.
        counted: whose answers count in a cell, by its id; everybody's in a cell that it does not name.
    """

    asked: PollOf
    counted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parts: Sequence[Named] = ()

    @property
    def named(self) -> list[Named]:
        """One measure a point and option, and the changes."""
        found = []
        bounds = self.asked.poll.bounds
        mean = Kind(low=bounds[0], high=bounds[1]) if bounds else NUMBER
        for number, option in enumerate(self._options):
            what = t("findings.poll_share", answer=option) if option else t("findings.poll_mean")
            kind = SHARE if option else mean
            complements = len(self._options) == 2 and number == 1
            for point in map(str, self.asked.at):
                about = t("findings.poll_at", what=what, at=_at(point), ask=self._ask)
                found.append(Named(self._name(option, f"@{point}"), about, kind, complements))
            if self._changes:
                about = t("findings.poll_change", what=what, ask=self._ask)
                found.append(Named(self._name(option, f":{CHANGE}"), about, kind.of_differences, complements))
        return found

    @property
    def _ask(self) -> str:
        ask = self.asked.poll.ask
        return t("findings.poll_of_all_levels", ask=ask) if self.counted else ask

    @property
    def _options(self) -> tuple[str, ...]:
        """What has a share; one without a name where answers have a mean."""
        return ("",) if self.asked.poll.is_ordered else self.asked.poll.possible

    @property
    def _changes(self) -> bool:
        return {START, END} <= {*self.asked.at}

    def _name(self, option: str, rest: str) -> str:
        return ":".join(filter(None, [self.asked.id, option])) + rest

    def values(self, held: Held, record: Record) -> list[Value]:
        """One value a measure; without any of the answers it is missing."""
        turns = _turns_in(self.asked, record.manifest)
        rows = answers_to(self.asked, record.path, turns.values())
        people = {name for name in record.manifest.names if self.asked.asks(name)}
        people &= self.counted.get(held.cell.id, people)
        rows = [row for row in rows if row.agent in people]
        judge = ", ".join(dict.fromkeys(row.judge for row in rows))
        wanted = len(people) * self.asked.repeats
        found = []
        for option in self._options:
            at = {
                point: _of(option, [row for row in rows if row.turn == turn], wanted)
                if turn is not None
                else (None, NO_SUCH_TURN)
                for point, turn in turns.items()
            }
            found += [Value(self._name(option, f"@{point}"), *value, judge=judge) for point, value in at.items()]
            if self._changes:
                found.append(Value(self._name(option, f":{CHANGE}"), *_change(at[START], at[END]), judge=judge))
        return found


def _at(point: str) -> str:
    return t(f"findings.at_the_{point}") if point in (START, END) else t("findings.at_turn", turn=point)


def _of(option: str, rows: Sequence[PollAnswer], wanted: int) -> tuple[float | None, str]:
    """The share of an option, or the mean without one; and why it is missing."""
    if len(rows) < wanted:
        return None, NOT_ASKED
    given = [row.answer for row in rows if row.answer is not None]
    if not given:
        return None, reasons(Counter(row.missing for row in rows))
    return fmean(answer == option for answer in given) if option else fmean(map(float, given)), ""


def _change(start: tuple[float | None, str], end: tuple[float | None, str]) -> tuple[float | None, str]:
    if start[0] is None or end[0] is None:
        return None, start[1] or end[1]
    return end[0] - start[0], ""


def given_in(asked: PollOf, record: Record) -> list[tuple[str, PollAnswer]]:
    """The answers that count, each with the names of the points at which it was given."""
    turns = _turns_in(asked, record.manifest)
    points = {turn: ", ".join(name for name, one in turns.items() if one == turn) for turn in turns.values()}
    return [(points[row.turn], row) for row in answers_to(asked, record.path, turns.values())]
