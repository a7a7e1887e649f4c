"""What is measured in a cell's conversation: measures by name, and their values as rows.

A `Measure` has values of one complete conversation; those of an experiment are listed in `tables.py`. Some ask a model
first: they have questions (`Asks`), which `asking.py` puts and whose answers are kept. A missing value is None with a
reason, never 0.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, Final, Protocol, cast

from ..evaluation import evaluators
from ..evaluation.asking import NOT_ASKED, Asked, Questions, judge_name
from ..evaluation.dimensions import Dimension, chosen, questions_on
from ..evaluation.evaluators import CONVERSATION_EVALUATORS, UTTERANCE_EVALUATORS
from ..evaluation.local import TOLD
from ..evaluation.statistics.intervals import COUNT, NUMBER, SHARE, Kind
from ..evaluation.transcripts import Conversation
from ..reports.stances import VALUES, Position, ledger, stances_of
from ..runs.folder.answers import RecordedJudgement
from ..runs.folder.reading import Record
from ..state.errors import InputError, suggestion
from ..state.packages import ADDED, kept, loaded, within
from ..state.wording import said, t, t_or
from .file import Experiment, PollOf
from .place import Standing
from .plan import Cell, defaults

EVALUATORS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    evaluator.__name__: evaluator for evaluator in (*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS)
}
"""The arithmetic evaluators of this package by name; they ask no model."""


@kept
def evaluator_of(name: str) -> Callable[..., Any]:
    """An arithmetic evaluator, of this package or of an installed one (entry point `persimchat.measure`).

    Raises:
        InputError: a package's cannot be loaded, or is no function.
    """
    if name in EVALUATORS:
        return EVALUATORS[name]
    return cast(Callable[..., Any], loaded(ADDED["measure"][name], callable, "function of a conversation's outputs"))


LONGEST_S: Final = 120.0
"""The most seconds that a package's measure may take for one conversation."""
DOES_NOT_APPLY: Final = "does not apply"
"""The reason of a value that is missing because there is nothing to measure."""
NO_POSITIONS: Final = "no positions"
"""The reason of a value that is missing because nobody's position is recorded, or none is clear."""
VERDICTS, ANSWERS, POLLS, SUPPORTS = "verdicts", "answers", "polls", "supports"


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
        says: a sentence in English, or what gives it in the current language.
        kind: what values it can have.
        complements: whether it says what another one says, as the share of no does beside that of yes. It is measured
            and not compared.
    """

    name: str
    says: str | Callable[[], str]
    kind: Kind = NUMBER
    complements: bool = False

    @property
    def about(self) -> str:
        """What it says, in the current language where the catalogue has it; a package's says it itself."""
        says = self.says
        if isinstance(says, str) and self.name in ADDED["measure"]:
            return says
        return t_or(f"findings.says_{self.name.lower()}", says) if isinstance(says, str) else says()


@dataclass(frozen=True)
class Held:
    """The conversation of a cell.

    Attributes:
        cell: whose conversation it is.
        conversation: as judges see it; None where nothing was said that all heard. Of a cell that is not held yet,
            something of typical length, which cells of one shape share.
        folder: of its run; None where it is not held yet.
    """

    cell: Cell
    conversation: Conversation | None
    folder: Path | None = None

    @property
    def words(self) -> float | None:
        """Mean words of an utterance."""
        return self.conversation.words if self.conversation is not None else None


class Measure(Protocol):
    """Something that is measured in each conversation."""

    @property
    def named(self) -> Sequence[Named]:
        """The measures that have a value of the conversation."""

    @property
    def parts(self) -> Sequence[Named]:
        """Those that have values of its parts alone."""

    def values(self, held: Held, record: Record) -> Iterable[Value]:
        """Its values of one complete conversation."""


class Asks(Protocol):
    """Something for which models are asked about the conversations."""

    @property
    def field(self) -> str:
        """What it is called; for judges, its field under `measures`."""

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions[Any]]:
        """What it asks about conversations that are held.

        Args:
            held: all of them; those without a folder are passed over.
            folder: of the experiment.
        """

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """What it will ask once those without a folder are held, too, as far as that can be known."""


class AskedMeasure(Asks, Measure, Protocol):
    """A measure for which a judge is asked."""

    @property
    def by(self) -> str:
        """The judge as the file writes it."""

    @property
    def judge(self) -> str:
        """The judge's name in records."""


@dataclass(frozen=True)
class Evaluator:
    """An arithmetic measure: an evaluator by its name."""

    name: str
    parts: Sequence[Named] = ()

    @property
    def named(self) -> list[Named]:
        """What it says: of an evaluator of utterances, what it is the mean of."""
        told = getattr(evaluators, f"{self.name}_of", evaluator_of(self.name))
        about = " ".join((inspect.getdoc(told) or "").partition("\n\n")[0].split())
        return [Named(self.name, about, evaluators.VALUES.get(self.name, NUMBER))]

    def values(self, held: Held, record: Record) -> list[Value]:
        """Its value of the run."""
        evaluator, answer, outputs = evaluator_of(self.name), held.cell.answer, outputs_of(record)
        reference = {"answer": answer} if answer is not None else {}
        found = (_found_by if self.name in EVALUATORS else _found_by_another)(evaluator, outputs, reference)
        score = found["score"]
        why = str(found.get("comment") or DOES_NOT_APPLY) if score is None else ""
        return [Value(self.name, score, missing=why)]


def _found_by(evaluator: Callable[..., Any], outputs: dict[str, Any], reference: dict[str, Any]) -> Any:
    asks = "reference_outputs" in inspect.signature(evaluator).parameters
    return evaluator(outputs, reference_outputs=reference) if asks else evaluator(outputs)


def _found_by_another(
    evaluator: Callable[..., Any], outputs: dict[str, Any], reference: dict[str, Any]
) -> dict[str, Any]:
    """What an installed package's evaluator says, a number or its own feedback; None and why if it fails."""
    try:
        given = within(LONGEST_S, _found_by, evaluator, outputs, reference)
        found = given if isinstance(given, Mapping) else {"score": given}
        score = found.get("score")
        if score is None:
            return {**found, "score": None}
        if isinstance(score, Real) and math.isfinite(score):
            return {**found, "score": float(score)}
    except Exception as error:  # noqa: BLE001  # code of others
        return {"score": None, "comment": f"it failed: {type(error).__name__}: {error}"}
    return {"score": None, "comment": f"it gave no number, but {type(score).__name__}"}


def evaluators_of(experiment: Experiment) -> list[Evaluator]:
    """The arithmetic measures that an experiment names.

    Raises:
        InputError: a measure is not known or named twice.
    """
    names, known = experiment.measures.evaluators, (*EVALUATORS, *ADDED["measure"])
    for number, name in enumerate(names):
        where = experiment.where("measures", "evaluators", number)
        if name not in known:
            remedy = suggestion(name, known, otherwise=f"Choose one of: {', '.join(known)}; or install its package.")
            raise InputError(f"there is no evaluator {name!r}", where=where, remedy=remedy)
        if name in EVALUATORS and name in ADDED["measure"]:
            what = f"there is an evaluator {name} beside yours"
            raise InputError(what, where=where, remedy="Give yours another name.")
        evaluator_of(name)
        if name in names[:number]:
            raise InputError(f"evaluator {name!r} is named twice", where=where, remedy="Leave one of them out.")
    return [Evaluator(name) for name in names]


def outputs_of(record: Record) -> dict[str, Any]:
    """A recorded run in the form that evaluators take (`evaluation/local.py`)."""
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
    parts: Sequence[Named] = ()

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
        return [
            Named(one.key, f"{one.name}, {one.low} to {one.high}: {one.rated}", one.kind) for one in self.dimensions
        ]

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions[RecordedJudgement]]:
        """All dimensions of every conversation that is held; the answers go into its run's folder."""
        there = ((one.conversation, one.folder) for one in held if one.conversation and one.folder)
        return [questions_on(said, self.dimensions, folder, self.repeats) for said, folder in there]

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """All dimensions of every conversation that is not held yet."""
        known: dict[int, list[Asked]] = {}
        for one in held:
            if one.folder is None and one.conversation is not None:
                key = id(one.conversation)
                if key not in known:
                    part = questions_on(one.conversation, self.dimensions, {}, self.repeats)
                    known[key] = [unit.asked for unit in part.units]
                yield from known[key]

    def values(self, held: Held, record: Record) -> list[Value]:
        """One value a dimension and repeat."""
        if held.conversation is None:
            return []
        part, judge = questions_on(held.conversation, self.dimensions, record.path, self.repeats), self.judge
        rows, found = part.rows(), []
        for unit in part.units:
            row = rows.get(unit.key(judge))
            score, missing = (row.score, row.missing) if row is not None else (None, NOT_ASKED)
            found.append(Value(unit.fields["dimension"], score, missing, judge=judge, repeat=unit.repeat))
        apart = [one for one in self.dimensions if not one.fits(held.conversation)]
        return found + [Value(one.key, None, DOES_NOT_APPLY, judge=judge) for one in apart]


# Positions: the ledger of each complete conversation in numbers (`reports/stances.py`). Sources are never mixed


@dataclass(frozen=True)
class StanceNumbers:
    """The numbers of one source: `verdicts_moves`, `answers_kept`, `cars_moves` for the poll cars.

    Attributes:
        source: of the positions.
        asked: the poll, for polls.
        counted: whose positions count in a cell, by its id; everybody's in a cell that it does not name.
    """

    source: str
    asked: PollOf | None = None
    counted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parts: Sequence[Named] = ()

    @property
    def _of(self) -> str:
        return self.asked.id if self.asked is not None else self.source

    @property
    def named(self) -> list[Named]:
        """One measure a number."""
        by = t("report.where_poll", ask=self.asked.poll.ask) if self.asked is not None else said(self.source)
        counts = ("moves", "stances_at_end")
        return [
            Named(
                f"{self._of}_{name}",
                t("findings.position_by", source=by, about=said(about)),
                COUNT if name in counts else SHARE,
            )
            for name, about in VALUES.items()
        ]

    def positions(self, record: Record) -> list[Position]:
        """The source's part of the ledger of a run."""
        if self.asked is None:
            return ledger(record, [self.source])
        asked = self.asked
        if not any(row.question == asked.poll for row in record.polls):
            return []
        return [row for row in ledger(record, [POLLS]) if row.poll == asked.id]

    def values(self, held: Held, record: Record) -> list[Value]:
        """One value a number; without positions it is missing."""
        people = self.counted.get(held.cell.id)
        rows = [row for row in self.positions(record) if people is None or row.agent in people]
        found = next(iter(stances_of(rows)), None)
        if found is None:
            applies = self.asked is not None or self.source in _sources(record.manifest.settings.model_dump())
            why = NO_POSITIONS if applies else DOES_NOT_APPLY
            return [Value(one.name, None, why) for one in self.named]
        return [
            Value(f"{self._of}_{name}", number, DOES_NOT_APPLY if number is None else "")
            for name, number in found.values().items()
        ]


def stance_numbers(
    experiment: Experiment, cells: Iterable[Cell] = (), standings: Mapping[str, Standing] | None = None
) -> list[StanceNumbers]:
    """The measures of positions that an experiment wants, for every source that its conversations may have.

    Args:
        experiment: its file.
        cells: its cells.
        standings: how far each cell is, by its id.

    Raises:
        InputError: polls are to say who moved, and none is put at several points.
    """
    wanted = experiment.measures.stances
    cells, held = list(cells), standings or {}
    several = [one for one in experiment.measures.polls if len(one.at) > 1]
    polls = [StanceNumbers(POLLS, one, at_every_level(one, cells, held)) for one in several]
    if isinstance(wanted, list):
        if POLLS in wanted and not polls:
            raise InputError(
                "polls are to say who moved, and none is put at several points",
                where=experiment.where("measures", "stances"),
                remedy="Add a poll, or leave polls out.",
            )
        found = dict.fromkeys(wanted)
        return [one for name in found for one in (polls if name == POLLS else [StanceNumbers(name)])]
    if not wanted:
        return []
    there = {source for cell in cells for source in _sources(_settings_of(cell, standings or {}))}
    listed = [one for one in (VERDICTS, ANSWERS, SUPPORTS) if one in there] or ([] if polls else [VERDICTS])
    return [*map(StanceNumbers, listed), *polls]


def at_every_level(poll: PollOf, cells: Iterable[Cell], standings: Mapping[str, Standing]) -> dict[str, frozenset[str]]:
    """Whose answers count in a cell, by its id: of those who take part in every held conversation on its task.

    Args:
        poll: what they are asked; where it names those who are asked, all of them count.
        cells: of the experiment.
        standings: how far each cell is, by its id.

    Returns:
        Only cells in which others are asked, too, and none of a task whose conversations have nobody in common.
    """
    people: dict[str, dict[str, frozenset[str]]] = {}
    for cell in cells:
        if cell.id in standings and (manifest := standings[cell.id].manifest) is not None and not poll.of:
            people.setdefault(cell.task, {})[cell.id] = frozenset(filter(poll.asks, manifest.names))
    common = {task: frozenset.intersection(*of_task.values()) for task, of_task in people.items()}
    return {
        cell: common[task]
        for task, of_task in people.items()
        for cell, names in of_task.items()
        if common[task] and names != common[task]
    }


def _settings_of(cell: Cell, standings: Mapping[str, Standing]) -> Mapping[str, Any]:
    manifest = standings[cell.id].manifest if cell.id in standings else None
    if manifest is not None:
        return manifest.settings.model_dump()
    return {**defaults(cell.settings.get("mode", "discussion")), **cell.settings}


def _sources(settings: Mapping[str, Any]) -> Iterator[str]:
    """The sources of positions that a conversation with these settings has."""
    if settings.get("mode") == "story":
        yield SUPPORTS
    if settings.get("mode") == "debate":
        if settings.get("baseline") in ("mad", "mad_judge", "reconcile"):
            yield ANSWERS
        elif settings.get("answer_format", "free") != "free":
            yield VERDICTS
