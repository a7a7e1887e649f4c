"""Published results of a paper that compares no methods: tables of plain figures, each row with a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from .paper import Count, Name, as_json


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Plain = str | bool | int | float


class Figure(_Part):
    """A row of a table.

    Attributes:
        name: the model, or what was changed.
        of: whom it is about; empty where it is about nobody.
        settings: those that stand for it here, one alternative each; none where it cannot be set.
        comparable: whether they do to a prompt here what was done there.
        values: in the order of the table's measures.
    """

    name: Name
    of: str = ""
    settings: tuple[dict[str, Plain], ...] = ()
    comparable: bool = True
    values: tuple[float, ...]


class FigureTable(_Part):
    """A table of figures.

    Attributes:
        table: its number in the paper.
        about: what it is about.
        measures: as they are called here.
        n: on how many observations each value of a measure rests.
        differs: what differs from the same measures here.
        rows: in order of the paper.
    """

    table: Name
    about: Name
    measures: tuple[Name, ...]
    n: tuple[Count, ...]
    differs: tuple[Name, ...]
    rows: tuple[Figure, ...]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        for row in self.rows:
            if not len(row.values) == len(self.n) == len(self.measures):
                raise ValueError(f"{row.name} has not one value for each of the {len(self.measures)} measures")
        return self

    @property
    def names(self) -> list[str]:
        """The rows' names, each once."""
        return list(dict.fromkeys(row.name for row in self.rows))

    def values(self, name: str, measure: str) -> list[float]:
        """What was published of a measure under a name, in order of the rows.

        Raises:
            ValueError: the table has no such measure.
        """
        place = self.measures.index(measure)
        return [row.values[place] for row in self.rows if row.name == name]


class Direction(_Part):
    """What a paper says in words or in a picture: which way measures go when a setting is raised or switched on.

    Attributes:
        table: the picture or section.
        about: what is changed.
        setting: its dotted name here.
        within: further settings without which nothing can be compared, by dotted names.
        measures: as they are called here, each with the sign of its change.
        before: those that change within a conversation, each with the measure from which it does.
    """

    table: Name
    about: Name
    setting: Name
    within: dict[str, Plain] = {}
    measures: dict[Name, Literal[-1, 1]]
    before: dict[Name, Name] = {}


class FigurePaper(_Part):
    """All results of such a paper.

    Attributes:
        paper: its file's name.
        source: who published it, and where.
        settings: what all rows share that do not say otherwise, by dotted names.
        others: further settings as the paper has them, by dotted names; another value is a difference to be told.
        differs: what differs from every measure here.
        directions: what is published without numbers.
        tables: its tables.
    """

    paper: Name
    source: Name
    settings: dict[str, Plain] = {}
    others: dict[str, Plain] = {}
    differs: tuple[Name, ...]
    directions: tuple[Direction, ...] = ()
    tables: tuple[FigureTable, ...]

    @model_validator(mode="after")
    def _settings_are_known(self) -> Self:
        for row in (row for table in self.tables for row in table.rows):
            for name in (name for alternative in row.settings for name in alternative):
                if name not in self.settings:
                    raise ValueError(f"{row.name} sets {name}, of which the paper's settings say nothing")
        return self

    def table_of(self, measure: str) -> FigureTable | None:
        """The table that has a measure; None if none has."""
        return next((table for table in self.tables if measure in table.measures), None)

    def rows_for(self, given: Mapping[str, Plain]) -> list[tuple[FigureTable, Figure]]:
        """The rows that stand for settings, each with its table.

        Args:
            given: by dotted name; what is missing is as the paper has it.
        """
        own = {**self.settings, **given}
        return [
            (table, row)
            for table in self.tables
            for row in table.rows
            if any({**self.settings, **alternative} == own for alternative in row.settings)
        ]


@cache
def figures(paper: str) -> FigurePaper:
    """The figures of a paper, read once: `figures("agentgroupchat")`.

    Raises:
        FileNotFoundError: there is no file of that name.
    """
    return FigurePaper.model_validate_json(as_json(paper))
