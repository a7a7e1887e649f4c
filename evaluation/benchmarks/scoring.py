"""Answers to questions with a reference: asking a model alone, right or not, and how methods differ.

`zero_shot` asks a model for the answer, `cot` for reasons and then the answer: one call each. An answer is read in the
form of the debates (`state/debates/answers.py`); one of no use is asked for once more, and is then `unparseable`. A
wrong answer, one that cannot be read and a refusal count as not right, each counted apart. A technical failure is no
answer: it is left out of the accuracy, and its item out of both sides of a comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, Literal, get_args

from pydantic import Field

from ...models.naming import default_model_name
from ...prompts.blocks import Block
from ...prompts.blocks import Item as Piece
from ...runs.folder.answers import Answered, Key
from ...state.assessment import solution_schema
from ...state.debates.answers import parse_answer, same_answer
from ...state.debates.verdict import answer_description
from ...state.settings import Settings
from ..asking import MODULE, AnswerFile, Asked, Judge, Question, Questions
from ..statistics.claims import Claim, family
from ..statistics.intervals import UNIT, Estimate, mean_over_tasks, proportion
from ..statistics.significance import mcnemar
from .formats import Item

ALONE: Final = ("zero_shot", "cot")
"""Methods without a conversation: the answer alone; reasons, then the answer."""
_MEASURE: Final = "solution"


class Solved(Answered):
    """A model's answer to an item, or why there is none."""

    method: str
    item: str
    answer: str = Field(default="", description="in the item's form; empty if it is missing")

    @property
    def key(self) -> Key:
        """Method, item, model, request, round and seed."""
        return (_MEASURE, self.method, self.item, self.judge, self.request, self.repeat, self.seed or 0)


def solver_of(settings: Settings) -> Judge:
    """The model that answers alone: that of the conversations, unless `module_models.evaluation` names another.

    Raises:
        InputError: a budget in US dollars is set, and its price is not known.
    """
    written = settings.module_models.get(MODULE) or default_model_name(settings.model)[0]
    named = settings.model_copy(update={"module_models": {**settings.module_models, MODULE: written}})
    return Judge(named, offline=True)


def asked_alone(
    file: Path, solver: Judge, methods: Sequence[str], rounds: Sequence[Sequence[Item]]
) -> Questions[Solved]:
    """The questions to a model alone.

    Args:
        file: where the answers are kept.
        solver: who is asked.
        methods: of `ALONE`.
        rounds: the items of each round; an answer's `repeat` is its round.
    """
    units = []
    for method in methods:
        for number, items in enumerate(rounds, start=1):
            for item in items:
                seeded = (_MEASURE, method, item.id, number)
                fields = {"method": method, "item": item.id, "seed": solver.seed(*seeded)}
                units.append(Question(_asked(item, method), Solved, fields, item.id, seeded, number))
    return Questions(AnswerFile(file, "solution", Solved), Solved, units)


def _asked(item: Item, method: str) -> Asked:
    reasoned = method == "cot"
    values = {
        "scene": Block("scene", (Piece("topic", {"text": item.question}, prunable=False),)),
        "form": answer_description(item.form, item.choices),
        "format": item.form,
        "choices": item.choices,
        "reasoned": reasoned,
    }
    return Asked("solving", solution_schema(item.form, item.choices, reasoned=reasoned), values)


State = Literal["right", "wrong", "unparseable", "refused", "failed"]
STATES: Final[tuple[State, ...]] = get_args(State)
_NOT_RIGHT: Final[dict[str, State]] = {"unparseable": "unparseable", "refused": "refused"}


@dataclass(frozen=True)
class Scored:
    """One method's answer to one item of a round.

    Attributes:
        round: the draw, from 1.
        item: what was asked.
        method: that answered.
        answer: in the item's form; empty if there is none.
        state: right, wrong, unparseable, refused, or failed: no answer for a technical reason.
        why: there is no answer; else empty.
        consensus: whether a debate came to one; None where there was no debate, or no answer.
        calls: requests made.
        cost_usd: None if a price is not known.
    """

    round: int
    item: Item
    method: str
    answer: str = ""
    state: State = "failed"
    why: str = ""
    consensus: bool | None = None
    calls: int = 0
    cost_usd: float | None = 0.0

    @property
    def counts(self) -> bool:
        """Whether it is an answer, right or not."""
        return self.state != "failed"


def state_of(answer: str, item: Item) -> State:
    """Whether an answer is the reference."""
    try:
        given = parse_answer(answer, item.form, item.choices)
    except ValueError:
        return "unparseable"
    return "right" if same_answer(given, item.answer, item.form) else "wrong"


def scored_alone(row: Solved | None, item: Item, method: str, number: int) -> Scored:
    """The score of an answer that a model gave alone.

    Args:
        row: its line; None if it was not asked for.
        item: the question.
        method: that asked.
        number: the round.
    """
    if row is None:
        return Scored(number, item, method, why="not asked")
    state = _NOT_RIGHT.get(row.missing, "failed") if row.missing else state_of(row.answer, item)
    return Scored(number, item, method, row.answer, state, row.missing, None, row.calls, row.cost_usd)


@dataclass(frozen=True)
class Share:
    """Right answers of those given.

    Attributes:
        right: how many.
        n: of how many.
    """

    right: int
    n: int

    @classmethod
    def of(cls, answers: Sequence[Scored]) -> Share:
        """The share among answers; technical failures are left out."""
        return cls(sum(one.state == "right" for one in answers), sum(one.counts for one in answers))

    @property
    def value(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.right / self.n if self.n else None


@dataclass(frozen=True, kw_only=True)
class Against(Claim):
    """A method compared with another one, on the items that both answered.

    The difference is in accuracy, over items (+1, 0, −1); the test is McNemar's, adjusted for all methods compared.

    Attributes:
        reference: the other method.
        only_first: items that only the method answered rightly.
        only_second: items that only the other one did.
        left_out: items without an answer on one side.
    """

    reference: str
    only_first: int
    only_second: int
    left_out: int


@dataclass(frozen=True)
class MethodResult:
    """What one method's answers come to.

    Attributes:
        method: its name.
        states: how many answers are right, wrong, …
        accuracy: right answers of all answers, with Clopper and Pearson's interval.
        rounds: the accuracy of each round that has an answer.
        consensus: how many debates came to one; None where there were none.
        agreed: right answers of the debates that did.
        not_agreed: of those that did not.
        calls: of all items, failures included.
        cost_usd: of all items; None if a price is not known.
        against: compared with the reference; None for the reference itself.
    """

    method: str
    states: Mapping[State, int]
    accuracy: Estimate
    rounds: Sequence[float]
    consensus: Estimate | None
    agreed: Share
    not_agreed: Share
    calls: int
    cost_usd: float | None
    against: Against | None = None

    @property
    def mean(self) -> float | None:
        """The mean accuracy of the rounds."""
        return fmean(self.rounds) if self.rounds else None

    @property
    def sd(self) -> float | None:
        """The sample standard deviation (n − 1) over rounds; None for one round."""
        return stdev(self.rounds) if len(self.rounds) > 1 else None

    @property
    def calls_a_right(self) -> float | None:
        """Calls for each right answer."""
        right = self.states["right"]
        return self.calls / right if right else None

    @property
    def usd_a_right(self) -> float | None:
        """US dollars for each right answer; None if a price is not known."""
        right = self.states["right"]
        return self.cost_usd / right if right and self.cost_usd is not None else None


def results(scored: Sequence[Scored], methods: Sequence[str], reference: str) -> list[MethodResult]:
    """The result of each method, in their order.

    Args:
        scored: all answers.
        methods: their names.
        reference: the method with which the others are compared.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    by_method = {method: [one for one in scored if one.method == method] for method in methods}
    found = [_result(method, answers) for method, answers in by_method.items()]
    others = [method for method in methods if method != reference]
    (adjusted,) = family([compared(by_method[method], by_method[reference], reference) for method in others])
    against: dict[str, Against] = dict(zip(others, adjusted, strict=True))
    return [replace(one, against=against.get(one.method)) for one in found]


def _result(method: str, answers: Sequence[Scored]) -> MethodResult:
    counted, states = Share.of(answers), Counter(one.state for one in answers)
    debates = [one for one in answers if one.counts and one.consensus is not None]
    agreed = [one for one in debates if one.consensus]
    shares = [Share.of([one for one in answers if one.round == n]) for n in sorted({one.round for one in answers})]
    costs = [one.cost_usd for one in answers]
    return MethodResult(
        method=method,
        states={state: states[state] for state in STATES},
        accuracy=proportion(counted.right, counted.n),
        rounds=[share.value for share in shares if share.value is not None],
        consensus=proportion(len(agreed), len(debates)) if debates else None,
        agreed=Share.of(agreed),
        not_agreed=Share.of([one for one in debates if not one.consensus]),
        calls=sum(one.calls for one in answers),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def compared(first: Sequence[Scored], second: Sequence[Scored], reference: str) -> Against:
    """Two methods on the items of the same rounds.

    Args:
        first: the answers of one.
        second: those of the reference.
        reference: its name.
    """
    sides = [{(one.round, one.item.id): one.state == "right" for one in side if one.counts} for side in (first, second)]
    asked = {(one.round, one.item.id) for one in (*first, *second)}
    both = sorted(sides[0].keys() & sides[1].keys())
    differences = [float(sides[0][key]) - float(sides[1][key]) for key in both]
    gained, lost = differences.count(1.0), differences.count(-1.0)
    return Against(
        difference=mean_over_tasks(differences, UNIT.of_differences),
        test=mcnemar(gained, lost),
        reference=reference,
        only_first=gained,
        only_second=lost,
        left_out=len(asked) - len(both),
    )
