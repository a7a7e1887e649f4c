"""Published results of a paper that compares no methods: tables of plain figures, each row with a name."""

from __future__ import annotations

from functools import cache
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from persimchat.evaluation.published.paper import Count, Name, as_json


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Figure(_Part):
    """A row of a table.

    Attributes:
        name: the model, or what was changed.
        of: whom it is about; empty where it is about nobody.
        values: in the order of the table's measures.
    """

    name: Name
    of: str = ""
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


class FigurePaper(_Part):
    """All results of such a paper.

    Attributes:
        paper: its file's name.
        source: who published it, and where.
        differs: what differs from every measure here.
        tables: its tables.
    """

    paper: Name
    source: Name
    differs: tuple[Name, ...]
    tables: tuple[FigureTable, ...]

    def table_of(self, measure: str) -> FigureTable | None:
        """The table that has a measure; None if none has."""
        return next((table for table in self.tables if measure in table.measures), None)


@cache
def figures(paper: str) -> FigurePaper:
    """The figures of a paper, read once: `figures("agentgroupchat")`.

    Raises:
        FileNotFoundError: there is no file of that name.
    """
    return FigurePaper.model_validate_json(as_json(paper))
