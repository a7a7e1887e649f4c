"""What is asked about conversations that are over: judges and polls, at which cost, within the budgets of all.

The answers are kept where `evaluation/` keeps them: those about one conversation in its run's folder, those about pairs
in the experiment's log, which also has all these requests: it is the account of what they have spent.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evaluation.asking import MODULE, Asked, Cost, Judge, Questions, Respondent, judge_all
from ..evaluation.statistics.intervals import stats
from ..evaluation.transcripts import Conversation, NothingSaid, read_conversation
from ..models.ledger import Ledger
from ..models.usage import Amount
from ..reports.estimate import Estimate
from ..reports.estimate_sizes import Typical, lengths
from ..runs.events import Totals
from ..runs.folder.parts import totals
from ..runs.folder.reading import requests
from ..runs.log import Log
from ..runs.run.resources import Requests
from ..state.configuration import load_settings
from ..state.errors import InputError, ModelError
from ..state.settings import ABOUT, BUDGETS, Settings
from .axes import Label
from .contests import PairVerdicts
from .estimate import ESTIMATED_AS_ONE, amounts
from .file import Experiment
from .measuring import AskedMeasure, Asks, DimensionScores, Held
from .place import ACCOUNT, LOG, Standing
from .plan import Cell, Plan, Planned, canonical
from .polling import pollings

JUDGING, POLLS = "judging", "polls"


def asked_of(experiment: Experiment, axes: Mapping[str, Sequence[Label]]) -> list[AskedMeasure]:
    """The measures of an experiment for which a model is asked.

    Args:
        experiment: its file.
        axes: the levels of every axis.

    Raises:
        InputError: a measure is wrong.
    """
    found: list[AskedMeasure | None] = [DimensionScores.of(experiment), PairVerdicts.of(experiment, axes)]
    return [measure for measure in found if measure is not None]


@dataclass(frozen=True)
class Asker:
    """A measure with those who are asked for it."""

    measure: Asks
    judge: Respondent

    @property
    def what(self) -> str:
        """What is done, in words."""
        return f"judging, {self.measure.field}" if isinstance(self.judge, Judge) else self.measure.field


def askers_of(plan: Plan) -> list[Asker]:
    """All measures for which models are asked, each with its judge or with the agents themselves; asks nothing.

    Raises:
        InputError: a measure is wrong, or a judge cannot be used: it is the offline model, or its price is not known
            and the budget is in US dollars.
        MissingExtraError: scipy is not installed, without which nothing could be said of the answers.
    """
    experiment = plan.experiment
    found = asked_of(experiment, {axis.name: [level.label for level in axis.levels] for axis in plan.axes})
    if found:
        stats()
    for measure in found:
        if isinstance(measure, PairVerdicts):
            measure.check(plan)
    judged = [Asker(measure, _judge(plan, measure)) for measure in found]
    if not experiment.measures.polls:
        return judged
    settings = _settings(plan)
    return [*judged, *(Asker(one, one.everybody(settings)) for one in pollings(plan))]


def _judge(plan: Plan, measure: AskedMeasure) -> Judge:
    experiment = plan.experiment
    where = experiment.where("measures", measure.field, "by")
    try:
        return Judge(_settings(plan, **{f"module_models.{MODULE}": measure.by}))
    except InputError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from None


def _settings(plan: Plan, **more: Any) -> Settings:
    """The settings of these requests: those of the cells that shape no conversation, and the file's own."""
    experiment, first = plan.experiment, plan.cells[0].settings
    own = experiment.measures.settings
    taken = [name for name in BUDGETS if name in own]
    if taken:
        raise InputError(
            f"{taken[0]} would limit judging by itself",
            remedy=f"Write it under limits, for conversations and judging together: limits: {{{taken[0]}: …}}.",
        )
    shared = {name: getattr(first, name) for name, about in ABOUT.items() if not about.shapes}
    budgets = {name: getattr(experiment.limits, name) for name in BUDGETS}
    return load_settings(**{**shared, **own, **budgets, **more})


async def check_askers(askers: Sequence[Asker]) -> None:
    """Refuse a judge whose client cannot be made, because a key or a library is missing; asks nothing.

    Raises:
        InputError: a judge cannot be asked.
    """
    for asker in askers:
        await asker.judge.ready()


def judges_of(askers: Sequence[Asker]) -> list[str]:
    """The models of all that are asked, as users write them."""
    return [model for asker in askers for model in asker.judge.models]


@dataclass(frozen=True)
class Work:
    """What is left to ask for one measure.

    Attributes:
        asker: the measure, and who is asked.
        already: questions that have an answer.
        left: questions about conversations that are held, without an answer.
        later: questions about conversations that are not held yet, as far as that can be known.
        total: cost of what is left and of what comes later.
    """

    asker: Asker
    already: int
    left: int
    later: int
    total: Cost


def works(askers: Sequence[Asker], held: Sequence[Held], folder: Path) -> list[Work]:
    """What is left to ask, measure by measure.

    Args:
        askers: the measures.
        held: the conversations of all cells.
        folder: of the experiment.

    Raises:
        InputError: a file of answers is damaged.
    """
    found = []
    for asker in askers:
        counted: Counter[str] = Counter()
        cost = asker.judge.cost_of(_questions(asker, held, folder, counted))
        found.append(Work(asker, counted["already"], counted["left"], counted["later"], cost))
    return found


def _questions(asker: Asker, held: Sequence[Held], folder: Path, counted: Counter[str]) -> Iterator[Asked]:
    """The questions without an answer, one after another, for none of them is kept; they are counted."""
    name = asker.judge.name
    for part in asker.measure.questions(held, folder):
        left = part.left(name, part.rows())
        counted["already"] += len(part.units) - len(left)
        counted["left"] += len(left)
        yield from (unit.asked for unit in left)
    for asked in asker.measure.expected(held):
        counted["later"] += 1
        yield asked


def held_of(
    plan: Plan, standings: Mapping[str, Standing], estimates: Mapping[str, Estimate] | None = None
) -> list[Held]:
    """The conversations of an experiment's cells.

    Args:
        plan: of the experiment.
        standings: how far each cell is, by its id.
        estimates: of each cell; if given, cells that are not complete have a conversation of typical length.

    Raises:
        InputError: a run's folder is damaged.
    """
    typical: dict[bytes, Conversation] = {}
    found = []
    for planned in plan.cells:
        cell = planned.cell
        held = held_in(cell, standings[cell.id])
        if held is None and estimates is not None:
            settings = {name: value for name, value in cell.settings.items() if name not in ESTIMATED_AS_ONE}
            key = canonical([settings, planned.scenario.model_dump(mode="json", by_alias=True)])
            if key not in typical:
                typical[key] = _typical(planned, estimates[cell.id])
            held = Held(cell, typical[key])
        found += [held] if held is not None else []
    return found


def held_in(cell: Cell, standing: Standing) -> Held | None:
    """The conversation of a cell; None if it is not complete, cannot be read, or nothing was said that all heard."""
    if standing.status != "done" or standing.folder is None:
        return None
    with contextlib.suppress(NothingSaid, InputError):
        return Held(cell, read_conversation(standing.folder), standing.folder)
    return None


def _typical(planned: Planned, estimate: Estimate) -> Conversation:
    """A conversation of the length that a cell is expected to have."""
    settings, content = planned.settings, Typical(planned.scenario, planned.settings, lengths())
    said = [content.utterance(turn) for turn in range(1, estimate.utterances + 1)]
    return Conversation(
        run=planned.cell.id,
        scenario=planned.scenario,
        lines=tuple((one["speaker"], one["text"]) for one in said),
        seed=settings.seed,
        ending="message_limit",
        with_goals=settings.social_goals,
        with_ties=settings.relationships,
    )


@dataclass(frozen=True)
class Judging:
    """How far judging is.

    Attributes:
        asked: questions that have an answer.
        of: all questions about conversations that are held.
        spent: what judging has used so far, now and before.
        what: what it is, in words.
    """

    asked: int
    of: int
    spent: Totals
    what: str = JUDGING


@dataclass
class Judged:
    """How judging ended.

    Attributes:
        answered: questions that were answered this time.
        left: questions without an answer.
        made: calls made this time.
        spent: what judging has used, now and before.
        exhausted: the budget that ended it; empty where none did.
        failed: why a judge could not be asked on; empty where it could.
        what: what it is, in words.
    """

    answered: int = 0
    left: int = 0
    made: int = 0
    spent: Totals = field(default_factory=Totals)
    exhausted: str = ""
    failed: str = ""
    what: str = JUDGING


def spent_on_judging(folder: Path) -> Totals:
    """What judging has used so far, from the experiment's log.

    Raises:
        InputError: the file is damaged.
    """
    if not (folder / LOG).is_file():
        return totals([])
    with Log(folder / LOG, ACCOUNT, read_only=True) as log:
        return totals(Ledger(earlier=requests(log)).rows())


async def ask(
    askers: Sequence[Asker],
    held: Sequence[Held],
    folder: Path,
    spent: Totals,
    tell: Callable[[Judging], None] = lambda _: None,
) -> Judged:
    """Ask everything that has no answer yet about conversations that are held; each answer is kept at once.

    Args:
        askers: the measures, and who is asked.
        held: the conversations.
        folder: of the experiment.
        spent: what conversations have used: the budgets are for both together.
        tell: is told how far it is, after every answer.

    Raises:
        InputError: a model cannot be asked, or a file is damaged.
        MachineError: an answer cannot be written.
    """
    kinds = {JUDGING if isinstance(asker.judge, Judge) else POLLS for asker in askers}
    outcome = Judged(what=" and ".join(sorted(kinds)))
    with _account(folder, spent) as ledger:
        before = totals(ledger.rows())
        todo: list[tuple[Asker, list[Questions[Any]]]] = []
        of = 0
        for asker in askers:
            parts = asker.measure.questions(held, folder)
            left = [len(part.left(asker.judge.name, part.rows())) for part in parts]
            todo.append((asker, [part for part, number in zip(parts, left, strict=True) if number]))
            of += sum(left)

        def count_one() -> None:
            outcome.answered += 1
            tell(Judging(outcome.answered, of, totals(ledger.rows()), outcome.what))

        if of:
            tell(Judging(0, of, before, outcome.what))
        for asker, listed in todo:
            if not listed or outcome.failed:
                continue
            try:
                asking = await judge_all(asker.judge, listed, ledger=ledger, told=count_one)
            except ModelError as error:
                outcome.failed = str(error)
            else:
                outcome.exhausted = outcome.exhausted or asking.exhausted
        outcome.spent = totals(ledger.rows())
        outcome.made, outcome.left = outcome.spent.calls - before.calls, max(0, of - outcome.answered)
    return outcome


@contextlib.contextmanager
def _account(folder: Path, spent: Totals) -> Iterator[Ledger]:
    """The ledger of all these requests, with what conversations have used counted as spent."""
    with Log(folder / LOG, ACCOUNT) as log:
        ledger = Ledger(sink=Requests(log), earlier=requests(log))
        used = amounts(spent)
        ledger.spending.add(Amount(int(used["budget_tokens"]), used["budget_usd"]), int(used["budget_calls"]))
        yield ledger
