"""The published results of a paper: what its file may say, and how to look a number up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...state import document
from ...state.wording import all_of, localised, said, t

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Deviation = Annotated[float, Field(ge=0)]

Which = tuple[str, str | None]
"""A system: its method and variant."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Preset(_Row):
    """The settings with which a paper held its conversations, and what differs here all the same."""

    settings: dict[str, str | bool | int | float]
    differs: tuple[Name, ...]


class System(_Row):
    """What a row of the tables is here; a closed one needs data or a model that nobody else has."""

    title: Name
    method: Name
    variant: Name | None = None
    model: Name | None = None
    closed: bool = False


class Conditions(_Row):
    """Under which a table's conversations were held: tasks a round, rounds, messages a conversation."""

    tasks: Annotated[int, Field(ge=1)]
    rounds: Annotated[int, Field(ge=1)]
    messages: Annotated[int, Field(ge=1)]
    note: str = ""


class Part(_Row):
    """A table that prints some measures of another one."""

    table: Name
    measures: tuple[Name, ...]


class Scores(_Row):
    """Means and sample standard deviations, in the order of the table's measures."""

    mean: tuple[float, ...]
    sd: tuple[Deviation, ...]


class DimensionTable(Conditions):
    """Scores of a judge, by system."""

    table: Name
    part: Part | None = None
    measures: tuple[Name, ...]
    scores: dict[str, Scores]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        for system, scores in self.scores.items():
            if not len(scores.mean) == len(scores.sd) == len(self.measures):
                raise ValueError(f"{system} has not one mean and SD for each of the {len(self.measures)} measures")
        return self


class Pair(_Row):
    """How often the first system won, tied and lost against the second: published in percent, inferred in pairs."""

    first: Name
    second: Name
    percent: tuple[Percent, Percent, Percent]
    counts: tuple[Count, Count, Count]
    p: Share


class PairTable(Conditions):
    """Pairwise comparisons of a judge."""

    table: Name
    rows: tuple[Pair, ...]


class Accuracy(_Row):
    """Percent of right answers, mean and sample standard deviation over rounds; `right` is inferred where it can be."""

    mean: Percent
    sd: Deviation
    right: Count | None = None
    rounded: bool = False


class AccuracyTable(_Row):
    """Accuracy on benchmarks, by method."""

    table: Name
    items: Annotated[int, Field(ge=1)]
    rounds: Annotated[int, Field(ge=1)]
    model: Name
    scores: dict[str, dict[str, Accuracy]]


class Tested(_Row):
    """A test of one system against another, of which p and the level that was asked for are published."""

    first: Name
    second: Name
    p: Share
    level: Share


class Preference(_Row):
    """How many people said the same."""

    count: Count
    percent: Percent


class People(_Row):
    """What people who rated excerpts said."""

    section: Name
    raters: Count
    topics: Count
    systems: tuple[Name, ...]
    messages: Count
    scale: tuple[int, int]
    minutes: Count
    krippendorff_alpha: Annotated[float, Field(le=1)]
    wilcoxon: Tested
    prefer_short: Preference
    words_a_message: dict[str, Count]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The conditions under which something published was found.

    Attributes:
        table: of the paper.
        model: of the agents; None where it is not public, or those that are compared had different ones.
        judge: the model that scored; None where answers were compared.
        tasks: tasks or items of a round.
        rounds: each with other tasks.
        messages: of a conversation; None where that is not stated.
        note: what was special.
    """

    table: str
    model: str | None
    judge: str | None
    tasks: int
    rounds: int
    messages: int | None
    note: str


@dataclass(frozen=True, kw_only=True)
class Published(Found):
    """One published number.

    Attributes:
        measure: a dimension's key, or a benchmark's name.
        method: as it is called here.
        variant: of the method; None where it has none.
        value: a mean; of accuracy in percent.
        sd: its sample standard deviation, over conversations; of accuracy over rounds.
    """

    measure: str
    method: str
    variant: str | None
    value: float
    sd: float

    @property
    def words(self) -> str:
        """The value with its spread: "8.53 ± 0.94"."""
        return localised(f"{self.value:.2f} ± {self.sd:.2f}")


@dataclass(frozen=True, kw_only=True)
class PublishedPair(Found):
    """How one system did against another, in percent of the pairs.

    Attributes:
        win: pairs that the first won.
        tie: pairs that were tied.
        loss: pairs that the first lost.
    """

    win: float
    tie: float
    loss: float

    @property
    def words(self) -> str:
        """The shares won, tied and lost."""
        return f"{self.win:.0f} / {self.tie:.0f} / {self.loss:.0f} %"


class Paper(_Row):
    """All results of a paper."""

    paper: Name
    source: Name
    judge: Name
    preset: Preset
    systems: dict[str, System]
    dimensions: tuple[DimensionTable, ...]
    pairs: tuple[PairTable, ...]
    accuracy: AccuracyTable
    people: People

    @model_validator(mode="after")
    def _names_its_systems(self) -> Self:
        named = {name for table in self.dimensions for name in table.scores}
        named |= {name for table in self.pairs for row in table.rows for name in (row.first, row.second)}
        named |= {*self.people.systems, *self.people.words_a_message}
        if unknown := sorted(named - self.systems.keys()):
            raise ValueError(f"no such system: {', '.join(unknown)}")
        return self

    def values(self) -> Iterator[Published]:
        """Every mean of the paper's tables."""
        for table in self.dimensions:
            held = self._conditions(table)
            for name, scores in table.scores.items():
                of = self.systems[name].model_dump(include={"method", "variant", "model"})
                for measure, mean, sd in zip(table.measures, scores.mean, scores.sd, strict=True):
                    yield Published(measure=measure, value=mean, sd=sd, **of, **held)
        answered = self.accuracy
        held = {"judge": None, "tasks": answered.items, "messages": None, "note": "", "variant": None}
        held |= answered.model_dump(include={"table", "rounds", "model"})
        for method, benchmarks in answered.scores.items():
            for measure, one in benchmarks.items():
                yield Published(measure=measure, method=method, value=one.mean, sd=one.sd, **held)

    def _conditions(self, table: DimensionTable | PairTable) -> dict[str, Any]:
        return {**table.model_dump(include={"table", "tasks", "rounds", "messages", "note"}), "judge": self.judge}

    def find(self, measure: str, method: str, variant: str | None = None) -> list[Published]:
        """The published values of a measure for a method and variant, one a table that has it.

        Args:
            measure: a dimension's key, or a benchmark's name.
            method: as it is called here.
            variant: ignored for methods that have none in the paper.
        """
        rows = (row for row in self.values() if (row.measure, row.method) == (measure, method))
        return [row for row in rows if row.variant in (None, variant)]

    def find_pair(self, first: Which, second: Which) -> list[PublishedPair]:
        """The published comparisons of two systems, one a table that has it, whichever of them it names first.

        Args:
            first: method and variant; a variant is ignored for methods that have none in the paper.
            second: of the other one.
        """
        found = []
        for table in self.pairs:
            for row in table.rows:
                sides, counted = (row.first, row.second), row.percent
                if self._is(sides[1], first) and self._is(sides[0], second):
                    sides, counted = (row.second, row.first), (row.percent[2], row.percent[1], row.percent[0])
                if self._is(sides[0], first) and self._is(sides[1], second):
                    models = {self.systems[name].model for name in sides}
                    model, held = models.pop() if len(models) == 1 else None, self._conditions(table)
                    found.append(PublishedPair(win=counted[0], tie=counted[1], loss=counted[2], model=model, **held))
        return found

    def _is(self, name: str, which: Which) -> bool:
        system = self.systems[name]
        return system.method == which[0] and system.variant in (None, which[1])


@cache
def published(paper: str) -> Paper:
    """The results of a paper, read once: `published("thesis")`.

    Raises:
        FileNotFoundError: there is no file of that name.
    """
    return Paper.model_validate_json(as_json(paper))


def as_json(paper: str) -> str:
    """A paper's file, as JSON.

    Raises:
        FileNotFoundError: there is no file of that name.
    """
    return json.dumps(document.table(__file__, f"{paper}.yaml"))


# Published results beside one's own: how they are printed, and in one sentence what was different


P = TypeVar("P", Published, PublishedPair)


@dataclass(frozen=True, kw_only=True)
class Own:
    """The conditions of a study of one's own.

    Attributes:
        models: of the agents.
        judges: the models that scored.
        tasks: the independent units.
        messages: the message limits of the conversations.
        preset: whether the paper's settings were taken as the base.
        changed: settings of the preset that were then changed, each as it was held: "max_messages 20".
    """

    models: Sequence[str]
    judges: Sequence[str]
    tasks: int
    messages: Sequence[int]
    preset: bool
    changed: Sequence[str] = ()


def nearest(rows: Sequence[P], messages: Sequence[int]) -> P | None:
    """The published row to put beside a number: of conversations as long, and with nothing special, if there is one."""
    return max(rows, key=lambda row: (row.messages in messages, not row.note), default=None)


def in_words(rows: Iterable[Published | PublishedPair]) -> str:
    """Published values with their tables: "8.53 ± 0.94 (Table 6.3)", or shares won, tied and lost; empty for none."""
    tables = ((row.words, t("findings.table", number=row.table), said(row.note)) for row in rows)
    return ", ".join(f"{words} ({table}{f', {note}' if note else ''})" for words, table, note in tables)


def what_differed(paper: Paper, rows: Sequence[Found], own: Own) -> str:
    """One sentence that names the conditions of the published values and of one's own; empty without any.

    Args:
        paper: that has the values.
        rows: that stand beside one's own.
        own: the conditions of one's own.
    """
    if not rows:
        return ""
    sizes = (t("findings.tasks_of_messages", tasks=str(row.tasks * row.rounds), messages=row.messages) for row in rows)
    models, judges = (row.model or t("findings.not_public") for row in rows), (row.judge for row in rows if row.judge)
    lengths = _listed(map(str, own.messages))
    parts = [
        t("findings.other_models", there=_listed(models), here=_listed(own.models)),
        t("findings.other_judges", there=_listed(judges), here=_listed(own.judges)),
        t("findings.other_sizes", there=_listed(sizes), tasks=str(own.tasks), messages=lengths),
    ]
    if not own.preset:
        parts.append(t("findings.no_preset"))
    elif own.changed:
        parts.append(t("findings.changed_settings", settings=_listed(own.changed)))
    return t("findings.differed", source=paper.source, what="; ".join([*parts, *map(said, paper.preset.differs)]))


def _listed(names: Iterable[str]) -> str:
    return all_of(dict.fromkeys(names)) or t("findings.nothing")
