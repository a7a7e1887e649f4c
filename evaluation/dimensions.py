"""Ten dimensions on which a model judges a conversation as a whole, one at a time (thesis, chapter 6).

One integer a conversation and dimension; the first four dimensions go back to SOTOPIA-EVAL (Zhou et al. 2024). The
words that the judge reads are in `dimensions.yaml` and in the template `dimension`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from persimchat.evaluation.judging import Asked, Asking, together
from persimchat.evaluation.record import is_answered, opened
from persimchat.evaluation.transcripts import Conversation, of_run
from persimchat.runs.events import OWN_ENDS
from persimchat.runs.folder.judgements import JUDGEMENTS, Key, RecordedJudgement, answers_in
from persimchat.runs.folder.reading import Record
from persimchat.state.assessment import ChangeScore, DimensionScore
from persimchat.state.errors import InputError, suggestion

MEASURE: Final = "dimension"
_SCHEMAS: Final[dict[tuple[int, int], type[DimensionScore] | type[ChangeScore]]] = {
    (0, 10): DimensionScore,
    (-5, 5): ChangeScore,
}


class Dimension(BaseModel):
    """A dimension.

    Attributes:
        key: its short name.
        name: in words.
        source: who proposed it.
        applies: to which conversations.
        rated: what is rated, as the judge reads it.
        low: the lowest score.
        high: the highest.
        least: what the lowest means.
        most: what the highest means.
        middle: what the score between them means; empty if that is not said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    name: str
    source: Literal["SOTOPIA-EVAL", "thesis"]
    applies: Literal["always", "goals", "relationships", "ended"]
    rated: str
    low: int = 0
    high: int = 10
    least: str
    most: str
    middle: str = ""

    def fits(self, conversation: Conversation) -> bool:
        """Whether it applies to a conversation."""
        match self.applies:
            case "always":
                return True
            case "goals":
                return bool(conversation.goals().items)
            case "relationships":
                return bool(conversation.ties().items)
            case "ended":
                return conversation.ending in OWN_ENDS

    def asked(self, conversation: Conversation) -> Asked:
        """The question about a conversation. Goals and relationships are shown only to the dimension about them."""
        goals, ties = conversation.goals(), conversation.ties()
        values = {
            "scene": conversation.scene(),
            "profiles": conversation.profiles(),
            "goals": goals if self.applies == "goals" else replace(goals, items=()),
            "ties": ties if self.applies == "relationships" else replace(ties, items=()),
            "transcript": conversation.transcript(),
            "dimension": self.model_dump(),
        }
        return Asked("dimension", _SCHEMAS[self.low, self.high], values)


def _read() -> dict[str, Dimension]:
    text = (files("persimchat.evaluation") / "dimensions.yaml").read_text(encoding="utf-8")
    every = TypeAdapter(list[Dimension]).validate_python(yaml.safe_load(text)["dimensions"])
    return {dimension.key: dimension for dimension in every}


DIMENSIONS: Final = _read()
"""All dimensions by key, in the thesis's order. Read once at import: no file is read in an event loop."""


def chosen(only: Iterable[str] | None = None, *, where: str = "--only") -> list[Dimension]:
    """The dimensions of these keys, in the order of `DIMENSIONS`; all of them by default.

    Args:
        only: the keys.
        where: they are given, for errors.

    Raises:
        InputError: there is no dimension of a key, or none is named.
    """
    if only is None:
        return list(DIMENSIONS.values())
    wanted = [key.strip().upper() for key in only if key.strip()]
    if not wanted:
        raise InputError("no dimension is named", where=where, remedy=f"Known: {', '.join(DIMENSIONS)}.")
    for key in wanted:
        if key not in DIMENSIONS:
            raise InputError(f"there is no dimension {key!r}", where=where, remedy=suggestion(key, list(DIMENSIONS)))
    return [dimension for key, dimension in DIMENSIONS.items() if key in wanted]


@dataclass(frozen=True)
class Unit:
    """One question: a dimension of a conversation, for one of several independent scores.

    Attributes:
        dimension: what is judged.
        asked: the question.
        repeat: the number of the score, from 1.
    """

    dimension: Dimension
    asked: Asked
    repeat: int

    def key(self, judge: str) -> Key:
        """Its key in the record."""
        return (MEASURE, self.dimension.key, judge, self.asked.request, self.repeat)


@dataclass(frozen=True)
class Judged:
    """The questions about one run's conversation; their answers go to its folder.

    Attributes:
        folder: the run's.
        conversation: the run's.
        dimensions: what is judged.
        repeats: independent scores for each of them.
    """

    folder: Path
    conversation: Conversation
    dimensions: Sequence[Dimension]
    repeats: int = 1

    @cached_property
    def units(self) -> list[Unit]:
        """The questions that apply to the conversation."""
        asked = [(one, one.asked(self.conversation)) for one in self.dimensions if one.fits(self.conversation)]
        return [Unit(one, question, n) for one, question in asked for n in range(1, self.repeats + 1)]

    def rows(self) -> dict[Key, RecordedJudgement]:
        """The answers in the folder. Raises as `answers_in`."""
        return answers_in(self.folder / JUDGEMENTS, RecordedJudgement)

    def left(self, judge: str, rows: dict[Key, RecordedJudgement]) -> list[Unit]:
        """The questions that have no answer."""
        return [unit for unit in self.units if not is_answered(rows, unit.key(judge))]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        judge = asking.judge
        if not self.left(judge.name, self.rows()):
            return
        with opened(self.folder / JUDGEMENTS, RecordedJudgement) as answers:

            async def one(unit: Unit) -> None:
                row = await judged(unit, asking, self.conversation.run)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left(judge.name, answers.rows))


async def judged(unit: Unit, asking: Asking, run: str) -> RecordedJudgement | None:
    """The judge's answer to a question; None if a budget is exhausted. Raises as `Judge.ask`."""
    judge = asking.judge
    seed = judge.seed(MEASURE, run, unit.dimension.key, unit.repeat)
    reply = await asking.put(unit.asked, about=run, seed=seed)
    if reply is None:
        return None
    answer: Any = reply.value
    return RecordedJudgement(
        dimension=unit.dimension.key,
        judge=judge.name,
        request=unit.asked.request,
        repeat=unit.repeat,
        seed=seed,
        score=answer.score if answer else None,
        reasoning=answer.reasoning if answer else "",
        missing=reply.missing,
        **reply.used,
    )


def current(record: Record, rows: Iterable[RecordedJudgement]) -> list[RecordedJudgement]:
    """The judgements that answer the question as it would be asked today, in the order of dimensions and repeats.

    Others are stale: the conversation has gone on, or the words of the question are others.
    """
    found = [row for row in rows if row.measure == MEASURE and row.dimension in DIMENSIONS]
    if not found:
        return []
    conversation = of_run(record)
    requests = {key: DIMENSIONS[key].asked(conversation).request for key in {row.dimension for row in found}}
    order = list(DIMENSIONS)
    fresh = [row for row in found if row.request == requests[row.dimension]]
    return sorted(fresh, key=lambda row: (order.index(row.dimension), row.judge, row.repeat))
