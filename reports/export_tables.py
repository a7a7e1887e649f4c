"""The tables of an export: one model of rows a table, made from `export_tables.yaml`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator

from ..runs.folder.parts import Count, Points, Seconds, Share, Spoken, Turn
from ..state.document import table
from ..state.minds.emotion import Level
from ..state.settings import Settings
from .tables import column

Finite = Annotated[float, Field(allow_inf_nan=False)]


def _is_json(value: dict[str, Any]) -> dict[str, Any]:
    json.dumps(value, allow_nan=False)
    return value


_KINDS: Final[dict[str, Any]] = {
    "text": str,
    "texts": list[str],
    "flag": bool,
    "whole": int,
    "wholes": list[int],
    "count": Count,
    "turn": Turn,
    "turns": list[Turn],
    "spoken": Spoken,
    "number": Finite,
    "seconds": Seconds,
    "points": Points,
    "share": Share,
    "shares": dict[str, Share],
    "level": Level,
    "levels": dict[str, Level],
    "object": Annotated[dict[str, Any], AfterValidator(_is_json)],
}


def _column(kind: str, unit: str | None, about: str, alias: str | None = None) -> tuple[Any, Any]:
    values = _KINDS[kind.removesuffix("?")]
    return values | None if kind.endswith("?") else values, column(about, unit or "", alias=alias)


_DATA: Final[dict[str, Any]] = table(__file__, "export_tables.yaml")
SETTINGS: Final[dict[str, str]] = _DATA["settings"]
"""The settings that every row has."""


class Row(BaseModel):
    """A row of any table: its run and the run's main settings. Empty text becomes None."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str = Field(description="the run's id; with it, rows of all tables are joined")
    topic: str | None = column("what was talked about")

    @model_validator(mode="before")
    @classmethod
    def _empty_is_none(cls, value: Any) -> Any:
        return {key: None if item == "" else item for key, item in value.items()} if isinstance(value, dict) else value


def _table(name: str, about: str, columns: dict[str, Any]) -> type[Row]:
    described = {
        setting: (kind, None, f"setting: {Settings.model_fields[setting].description}")
        for setting, kind in SETTINGS.items()
    }
    fields: Any = {field: _column(*about) for field, about in {**described, **columns}.items()}
    return create_model(name, __base__=Row, __doc__=about, **fields)


TABLES: Final = {name: _table(name, table["about"], table["columns"]) for name, table in _DATA["tables"].items()}
"""All tables by name, in the order in which they are explained."""
SHARED: Final = _table("shared", "What all tables have.", {})
"""The columns of every table: the run and its main settings."""
RARE: Final = tuple(name for name, table in _DATA["tables"].items() if table.get("rare"))
"""Tables that are written only if they have rows; most runs have none."""
SEEN: Final = tuple(name for name, table in _DATA["tables"].items() if table.get("seen"))
"""Tables that may hold something that a participant has seen."""
