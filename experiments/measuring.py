"""What is measured in a cell's conversation: measures by name, and their values as rows.

An arithmetic `Measure` is a function from a recorded run to values; those of an experiment are resolved in
`measures_of`. An `AskedMeasure` has questions to a judge, whose answers are kept in files; those of an experiment are
resolved in `asked_of`, and `judging.py` puts the questions. A `RecordedMeasure` reads what polls and the ledger of
positions have (`polling.py`, `positions.py`). A missing value is None with a reason, never 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from persimchat.evaluation import utterances
from persimchat.evaluation.conversations import CONVERSATION_EVALUATORS
from persimchat.evaluation.dimensions import Dimension, Judged, Unit, chosen
from persimchat.evaluation.judging import Asked, Questions, judge_name
from persimchat.evaluation.scores import NOT_ASKED
from persimchat.evaluation.target import TOLD
from persimchat.evaluation.transcripts import Conversation
from persimchat.evaluation.utterances import UTTERANCE_EVALUATORS
from persimchat.experiments.file import Experiment
from persimchat.experiments.plan import Cell
from persimchat.runs.folder.reading import Record
from persimchat.state.errors import InputError, suggestion

EVALUATORS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    evaluator.__name__: evaluator for evaluator in (*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS)
}
"""The arithmetic evaluators by name; they ask no model."""

DOES_NOT_APPLY: Final = "does not apply"
"""The reason of a value that is missing because there is nothing to measure."""


@dataclass(frozen=True)
class Value:
    """One value of one measure.

    Attributes:
        measure: its name.
        value: None where it is missing.
        missing: why; empty where it is not.
        unit: what it is a value of: the run, an agent, an utterance.
        who: which agent or utterance; empty for the run.
        judge: the model that was asked; empty where it is arithmetic.
        repeat: the number of the judge's answer; None where it is arithmetic.
    """

    measure: str
    value: float | None
    missing: str = ""
    unit: str = "run"
    who: str = ""
    judge: str = ""
    repeat: int | None = None


@dataclass(frozen=True)
class Named:
    """A measure by its name.

    Attributes:
        name: of the measure.
        about: what it says, a sentence.
    """

    name: str
    about: str


@dataclass(frozen=True)
class Measure(Named):
    """An arithmetic measure.

    Attributes:
        of: gives its values of one conversation.
    """

    of: Callable[[Record, Cell], Iterable[Value]]


@dataclass(frozen=True)
class Held:
    """The conversation of a cell, as measures that ask see it.

    Attributes:
        cell: whose conversation it is.
        conversation: what was said; of a cell that is not held yet, something of typical length, which cells of one
            shape share.
        folder: of its run; None where it is not held yet.
    """

    cell: Cell
    conversation: Conversation
    folder: Path | None = None


class Asks(Protocol):
    """Something for which models are asked about the conversations."""

    @property
    def field(self) -> str:
        """What it is called; for judges, its field under `measures`."""

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions]:
        """What it asks about conversations that are held.

        Args:
            held: all of them; those without a folder are passed over.
            folder: of the experiment.
        """

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """What it will ask once those without a folder are held, too, as far as that can be known."""


class AskedMeasure(Asks, Protocol):
    """A measure for which a judge is asked."""

    @property
    def by(self) -> str:
        """The judge as the file writes it."""

    @property
    def judge(self) -> str:
        """The judge's name in records."""

    @property
    def named(self) -> Sequence[Named]:
        """The measures of single conversations that it gives; none if its values are of something else."""

    def values(self, held: Held) -> list[Value]:
        """Its values of one conversation that is held, as far as the judge has answered."""


class RecordedMeasure(Protocol):
    """A measure of what is recorded in a run's folder; it asks nothing."""

    @property
    def named(self) -> Sequence[Named]:
        """The measures that it gives."""

    def values(self, record: Record) -> list[Value]:
        """Its values of one complete conversation."""


def measures_of(experiment: Experiment) -> list[Measure]:
    """The arithmetic measures that an experiment names.

    Raises:
        InputError: a measure is not known or named twice.
    """
    names = experiment.measures.evaluators
    for number, name in enumerate(names):
        where = experiment.where("measures", "evaluators", number)
        if name not in EVALUATORS:
            raise InputError(f"there is no evaluator {name!r}", where=where, remedy=suggestion(name, EVALUATORS))
        if name in names[:number]:
            raise InputError(f"evaluator {name!r} is named twice", where=where, remedy="Leave one of them out.")
    return [_arithmetic(name) for name in names]


def _arithmetic(name: str) -> Measure:
    evaluator = EVALUATORS[name]
    given = inspect.signature(evaluator).parameters

    def values(record: Record, cell: Cell) -> list[Value]:
        reference = {"answer": cell.answer} if cell.answer is not None else {}
        more = {"reference_outputs": reference} if "reference_outputs" in given else {}
        found = evaluator(outputs_of(record), **more)
        score = found["score"]
        return [Value(name, score, missing=str(found.get("comment") or DOES_NOT_APPLY) if score is None else "")]

    told = getattr(utterances, f"{name}_of", evaluator)  # of an evaluator of utterances, what it is the mean of
    about = " ".join((inspect.getdoc(told) or "").partition("\n\n")[0].split())
    return Measure(name, about, values)


def outputs_of(record: Record) -> dict[str, Any]:
    """A recorded run in the form that evaluators take (`evaluation/target.py`)."""
    manifest = record.manifest
    settings = manifest.settings.model_dump(mode="json")
    return {
        "transcript": "\n".join(f"{said.speaker}: {said.text}" for said in record.utterances),
        "utterances": [said.model_dump(mode="json", exclude={"version", "event"}) for said in record.utterances],
        "participants": [participant.name for participant in manifest.scenario.participants],
        "settings": {name: settings.get(name) for name in TOLD},
        "stop_reason": manifest.stop_reason,
        "conclusion": manifest.conclusion.model_dump(mode="json") if manifest.conclusion else None,
        "totals": manifest.usage.total.model_dump(mode="json") if manifest.usage.total else None,
        "run": manifest.run,
    }


@dataclass(frozen=True)
class DimensionScores:
    """A judge's scores of each conversation by itself (`evaluation/dimensions.py`).

    Attributes:
        by: the judge as the file writes it.
        dimensions: what is judged.
        repeats: independent scores for each of them.
    """

    by: str
    dimensions: Sequence[Dimension]
    repeats: int
    field: str = "dimensions"

    @classmethod
    def of(cls, experiment: Experiment) -> DimensionScores | None:
        """As the experiment's file says; None where it asks for none.

        Raises:
            InputError: a dimension is not known, or the judge's name is wrong.
        """
        wanted = experiment.measures.dimensions
        if wanted is None:
            return None
        only = chosen(wanted.only, where=experiment.where("measures", "dimensions", "only"))
        return cls(wanted.by, only, wanted.repeats)

    @property
    def judge(self) -> str:
        """The judge's name in records."""
        return judge_name(self.by)

    @property
    def named(self) -> list[Named]:
        """One measure a dimension."""
        return [Named(one.key, f"{one.name}, {one.low} to {one.high}: {one.rated}") for one in self.dimensions]

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions]:
        """All dimensions of every conversation that is held; the answers go into its run's folder."""
        return [self._judged(one.folder, one.conversation) for one in held if one.folder is not None]

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """All dimensions of every conversation that is not held yet."""
        known: dict[int, Sequence[Unit]] = {}
        for one in held:
            if one.folder is None:
                key = id(one.conversation)
                if key not in known:
                    known[key] = self._judged(Path(), one.conversation).units
                yield from (unit.asked for unit in known[key])

    def values(self, held: Held) -> list[Value]:
        """One value a dimension and repeat."""
        assert held.folder is not None
        judged, judge = self._judged(held.folder, held.conversation), self.judge
        rows, found = judged.rows(), []
        for unit in judged.units:
            row = rows.get(unit.key(judge))
            score, missing = (row.score, row.missing) if row is not None else (None, NOT_ASKED)
            found.append(Value(unit.dimension.key, score, missing, judge=judge, repeat=unit.repeat))
        apart = [one for one in self.dimensions if not one.fits(held.conversation)]
        return found + [Value(one.key, None, DOES_NOT_APPLY, judge=judge) for one in apart]

    def _judged(self, folder: Path, conversation: Conversation) -> Judged:
        return Judged(folder, conversation, self.dimensions, self.repeats)
