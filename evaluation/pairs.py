"""Pairs of conversations, judged side by side in both orders (FairEval).

Wang et al., *Large Language Models are not Fair Evaluators*, arXiv:2305.17926: judges favour a position. So a judge
gives its evidence first, then scores from 1 to 10 for both. It is asked k times in one order and k times in the other,
and the mean of all 2k scores of each side decides. As in the thesis, what is scored is realism.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from persimchat.evaluation.judging import Asked, Asking, together
from persimchat.evaluation.record import is_answered, opened
from persimchat.evaluation.transcripts import Conversation
from persimchat.runs.folder.judgements import Answered, Key, answers_in
from persimchat.state.assessment import PairScores
from persimchat.state.errors import InputError

MEASURE: Final = "pair"
PAIRS: Final = "pairs.jsonl"
_MOST_NAMED: Final = 3

Order = Literal[1, 2]
"""1: A is shown first; 2: B is."""
Rating = Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]


class PairAnswer(Answered):
    """A line of pairs.jsonl: one answer about one pair in one order."""

    a: str = Field(description="run of side A")
    b: str = Field(description="run of side B")
    order: Order = Field(description="1: A was shown first; 2: B was")
    score_a: Rating | None = None
    score_b: Rating | None = None

    @property
    def key(self) -> Key:
        """Runs, judge, request, order and repeat."""
        return (MEASURE, self.a, self.b, self.judge, self.request, self.order, self.repeat)


@dataclass(frozen=True)
class Pair:
    """Two conversations about one task.

    Attributes:
        a: of the first side.
        b: of the second side.
    """

    a: Conversation
    b: Conversation

    def asked(self, order: Order) -> Asked:
        """The question, with A or with B shown first."""
        first, second = (self.a, self.b) if order == 1 else (self.b, self.a)
        values = {
            "scene": self.a.scene(),
            "profiles": self.a.profiles(),
            "first": first.transcript("first_conversation"),
            "second": second.transcript("second_conversation"),
        }
        return Asked("pair", PairScores, values)


def matched(a: Sequence[Conversation], b: Sequence[Conversation]) -> list[Pair]:
    """The pairs of two groups of conversations with the same task, in the order of the first group.

    Raises:
        InputError: a side has two conversations of one task, or one that the other side has no partner for.
    """
    sides = {"--a": _by_task(a, "--a"), "--b": _by_task(b, "--b")}
    for side, other in (("--a", "--b"), ("--b", "--a")):
        alone = [found.run for task, found in sides[side].items() if task not in sides[other]]
        if alone:
            more = f" and {len(alone) - _MOST_NAMED} more" if len(alone) > _MOST_NAMED else ""
            raise InputError(
                f"no run of {other} has the topic, participants and seed of {', '.join(alone[:_MOST_NAMED])}{more}",
                where=side,
                remedy="Leave these runs out, or give the runs that belong to them.",
            )
    pairs = [Pair(found, sides["--b"][task]) for task, found in sides["--a"].items()]
    same = [pair.a.run for pair in pairs if pair.a.run == pair.b.run]
    if same:
        raise InputError(f"the run {same[0]} is on both sides", where="--a and --b", remedy="Compare different runs.")
    return pairs


def _by_task(side: Sequence[Conversation], name: str) -> dict[str, Conversation]:
    found: dict[str, Conversation] = {}
    for conversation in side:
        if conversation.task in found:
            raise InputError(
                f"the runs {found[conversation.task].run} and {conversation.run} have the same topic, participants and "
                "seed, so it is not clear which of them makes the pair",
                where=name,
                remedy="Leave one of them out.",
            )
        found[conversation.task] = conversation
    return found


@dataclass(frozen=True)
class Unit:
    """One question: a pair in one order, for one of k answers.

    Attributes:
        pair: what is judged.
        asked: the question.
        order: which side is shown first.
        repeat: the number of the answer, from 1.
    """

    pair: Pair
    asked: Asked
    order: Order
    repeat: int

    def key(self, judge: str) -> Key:
        """Its key in the record."""
        a, b = self.pair.a.run, self.pair.b.run
        return (MEASURE, a, b, judge, self.asked.request, self.order, self.repeat)


@dataclass(frozen=True)
class JudgedPairs:
    """The questions about all pairs; their answers go to one folder.

    Attributes:
        folder: where pairs.jsonl is.
        pairs: what is judged.
        k: answers in each order.
        swap: whether the second order is asked, too.
    """

    folder: Path
    pairs: Sequence[Pair]
    k: int = 3
    swap: bool = True

    @property
    def path(self) -> Path:
        """The file of the answers."""
        return self.folder / PAIRS

    @cached_property
    def units(self) -> list[Unit]:
        """All questions."""
        return [unit for pair in self.pairs for unit in self.units_of(pair)]

    def units_of(self, pair: Pair) -> list[Unit]:
        """The questions about one pair."""
        orders: tuple[Order, ...] = (1, 2) if self.swap else (1,)
        asked = [(order, pair.asked(order)) for order in orders]
        return [Unit(pair, question, order, n) for order, question in asked for n in range(1, self.k + 1)]

    def rows(self) -> dict[Key, PairAnswer]:
        """The answers in the folder, whichever side was called A. Raises as `answers_in`."""
        return _both_ways(answers_in(self.path, PairAnswer))

    def left(self, judge: str, rows: dict[Key, PairAnswer]) -> list[Unit]:
        """The questions that have no answer."""
        return [unit for unit in self.units if not is_answered(rows, unit.key(judge))]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        name = asking.judge.name
        if not self.left(name, self.rows()):
            return
        with opened(self.path, PairAnswer) as answers:

            async def one(unit: Unit) -> None:
                row = await _judged(unit, asking)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left(name, _both_ways(answers.rows)))


def _both_ways(rows: dict[Key, PairAnswer]) -> dict[Key, PairAnswer]:
    """Answers by the keys of (A, B) and of (B, A): what was shown first is the same question in both."""
    mirrored = (
        row.model_copy(
            update={
                "a": row.b,
                "b": row.a,
                "order": 3 - row.order,
                "score_a": row.score_b,
                "score_b": row.score_a,
            }
        )
        for row in rows.values()
    )
    return {row.key: row for row in mirrored} | rows


async def _judged(unit: Unit, asking: Asking) -> PairAnswer | None:
    judge, a, b = asking.judge, unit.pair.a.run, unit.pair.b.run
    seed = judge.seed(MEASURE, a, b, unit.order, unit.repeat)
    reply = await asking.put(unit.asked, about=f"{a} and {b}", seed=seed)
    if reply is None:
        return None
    answer: Any = reply.value
    scores: Iterable[float | None] = (answer.first, answer.second) if answer else (None, None)
    score_a, score_b = scores if unit.order == 1 else reversed(tuple(scores))
    return PairAnswer(
        a=a,
        b=b,
        judge=judge.name,
        request=unit.asked.request,
        order=unit.order,
        repeat=unit.repeat,
        seed=seed,
        score_a=score_a,
        score_b=score_b,
        reasoning=answer.reasoning if answer else "",
        missing=reply.missing,
        **reply.used,
    )
