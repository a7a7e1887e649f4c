"""Questions put to a model alone: `zero_shot` asks for the answer, `cot` for reasons and then the answer.

One call each, through the same machinery as a judge's questions. An answer is read in the form of the debates
(`state/answer_format.py`); one of no use is asked for once more, and is then `unparseable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from persimchat.evaluation.benchmarks.formats import Item
from persimchat.evaluation.judging import MODULE, Asked, Asking, Judge, together
from persimchat.evaluation.record import is_answered, opened
from persimchat.models.naming import default_model_name
from persimchat.prompts.blocks import Block
from persimchat.prompts.blocks import Item as Piece
from persimchat.runs.folder.judgements import Answered, Key, answers_in
from persimchat.state.assessment import ReasonedSolution, solution_schema
from persimchat.state.settings import Settings
from persimchat.state.verdict import answer_description

ALONE: Final = ("zero_shot", "cot")
"""Methods without a conversation: the answer alone; reasons, then the answer."""
ANSWERS: Final = "answers.jsonl"
_MEASURE: Final = "solution"


class Solved(Answered):
    """A line of answers.jsonl: a model's answer to an item, or why there is none."""

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


@dataclass(frozen=True)
class Unit:
    """One question: an item of a round, put by a method.

    Attributes:
        item: what is asked.
        method: one of `ALONE`.
        round: the draw to which the item belongs, from 1.
        seed: of the request.
    """

    item: Item
    method: str
    round: int
    seed: int

    @cached_property
    def asked(self) -> Asked:
        """The question."""
        item, reasoned = self.item, self.method == "cot"
        values = {
            "scene": Block("scene", (Piece("topic", {"text": item.question}, prunable=False),)),
            "form": answer_description(item.form, item.choices),
            "format": item.form,
            "choices": item.choices,
            "reasoned": reasoned,
        }
        return Asked("solving", solution_schema(item.form, item.choices, reasoned=reasoned), values)

    def key(self, solver: str) -> Key:
        """Its key in the record."""
        return (_MEASURE, self.method, self.item.id, solver, self.asked.request, self.round, self.seed)


@dataclass(frozen=True)
class Solving:
    """The questions to a model alone; their answers go to one folder.

    Attributes:
        folder: where answers.jsonl is.
        solver: who is asked.
        methods: of `ALONE`.
        rounds: the items of each round.
    """

    folder: Path
    solver: Judge
    methods: Sequence[str]
    rounds: Sequence[Sequence[Item]]

    @property
    def path(self) -> Path:
        """The file of the answers."""
        return self.folder / ANSWERS

    @cached_property
    def units(self) -> list[Unit]:
        """All questions."""
        return [
            Unit(item, method, number, self.solver.seed(_MEASURE, method, item.id, number))
            for method in self.methods
            for number, items in enumerate(self.rounds, start=1)
            for item in items
        ]

    def rows(self) -> dict[Key, Solved]:
        """The answers in the folder. Raises as `answers_in`."""
        return answers_in(self.path, Solved)

    def left(self, rows: dict[Key, Solved]) -> list[Unit]:
        """The questions that have no answer."""
        return [unit for unit in self.units if not is_answered(rows, unit.key(self.solver.name))]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        if not self.left(self.rows()):
            return
        with opened(self.path, Solved) as answers:

            async def one(unit: Unit) -> None:
                row = await _solved(unit, asking)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left(answers.rows))


async def _solved(unit: Unit, asking: Asking) -> Solved | None:
    """The answer to a question; None if a budget is exhausted. Raises as `Judge.ask`."""
    reply = await asking.put(unit.asked, about=unit.item.id, seed=unit.seed)
    if reply is None:
        return None
    answer: Any = reply.value
    return Solved(
        method=unit.method,
        item=unit.item.id,
        judge=asking.judge.name,
        request=unit.asked.request,
        repeat=unit.round,
        seed=unit.seed,
        answer=answer.answer if answer else "",
        reasoning=answer.reasoning if isinstance(answer, ReasonedSolution) else "",
        missing=reply.missing,
        **reply.used,
    )
