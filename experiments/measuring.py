"""What is measured in a cell's conversation: measures by name, and their values as rows.

A measure is a function from a recorded run to values. Those of an experiment are resolved in `measures_of`; a missing
value is None with a reason, never 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from persimchat.evaluation import utterances
from persimchat.evaluation.conversations import CONVERSATION_EVALUATORS
from persimchat.evaluation.target import TOLD
from persimchat.evaluation.utterances import UTTERANCE_EVALUATORS
from persimchat.experiments.file import Experiment
from persimchat.experiments.plan import Cell
from persimchat.runs.folder.reading import Record
from persimchat.state.errors import InputError, suggestion

EVALUATORS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    evaluator.__name__: evaluator for evaluator in (*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS)
}
"""The arithmetic evaluators by name; they ask no model."""


@dataclass(frozen=True)
class Value:
    """One value of one measure.

    Attributes:
        measure: its name.
        value: None where it is missing.
        missing: why; empty where it is not.
        unit: what it is a value of: the run, an agent, an utterance.
        who: which agent or utterance; empty for the run.
    """

    measure: str
    value: float | None
    missing: str = ""
    unit: str = "run"
    who: str = ""


@dataclass(frozen=True)
class Measure:
    """A measure by its name.

    Attributes:
        name: of the measure.
        about: what it says, a sentence.
        of: gives its values of one conversation.
    """

    name: str
    about: str
    of: Callable[[Record, Cell], Iterable[Value]]


def measures_of(experiment: Experiment) -> list[Measure]:
    """The measures that an experiment names.

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
        return [Value(name, score, missing=str(found.get("comment") or "does not apply") if score is None else "")]

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
