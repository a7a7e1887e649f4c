"""What the columns of all tables have in common: meaning, unit, and the first columns of an export's tables."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from persimchat.runs.folder.stored import Count
from persimchat.state.settings import Settings

UNIT: Final = "unit"
"""The key of a column's unit in its schema."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


def _is_json(value: dict[str, Any]) -> dict[str, Any]:
    json.dumps(value, allow_nan=False)
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_is_json)]


def column(meaning: str, unit: str = "") -> Any:
    """A column of a table: what it means, and its unit."""
    return Field(default=None, description=meaning, json_schema_extra={UNIT: unit})


def _setting(name: str) -> Any:
    return column(f"setting: {Settings.model_fields[name].description}")


class Row(BaseModel):
    """A row of any table: its run and the run's main settings. Empty text becomes None."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str = Field(description="the run's id; with it, rows of all tables are joined")
    topic: str | None = column("what was talked about")
    mode: str | None = _setting("mode")
    baseline: str | None = _setting("baseline")
    pattern: str | None = _setting("pattern")
    model: str | None = _setting("model")
    embedding: str | None = _setting("embedding")
    seed: int | None = _setting("seed")
    max_messages: Count | None = _setting("max_messages")
    judge: str | None = _setting("judge")
    planning_and_reflection: bool | None = _setting("planning_and_reflection")
    memory_filtering: bool | None = _setting("memory_filtering")
    emotional_retrieval: bool | None = _setting("emotional_retrieval")
    stm_retrieval: bool | None = _setting("stm_retrieval")
    relationships: bool | None = _setting("relationships")
    social_goals: bool | None = _setting("social_goals")

    @model_validator(mode="before")
    @classmethod
    def _empty_is_none(cls, value: Any) -> Any:
        return {key: None if item == "" else item for key, item in value.items()} if isinstance(value, dict) else value
