"""The base of the records in a run's files: ranges of figures, and how older files are read."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_serializer,
    model_validator,
)

from persimchat.state.emotion import Level

Count = Annotated[int, Field(ge=0)]
Turn = Annotated[int, Field(ge=0, le=10_000_000)]
Spoken = Annotated[int, Field(ge=1, le=10_000_000)]
"""The number of an utterance."""
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _known(value: Any) -> Any:
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


Levels = Annotated[dict[str, Level], BeforeValidator(_known)]
"""Levels by name; null ones are left out."""
Counts = Annotated[dict[str, Count], BeforeValidator(_known)]
"""Figures by name; null ones are left out."""


def is_empty(value: object) -> bool:
    """For `exclude_if`: leaves an empty field out."""
    return not value


def is_none(value: object) -> bool:
    """For `exclude_if`: leaves a null field out."""
    return value is None


class Stored(BaseModel):
    """Base of the records in a run's files: a field that is null or missing, as in older files, has its default.

    Fields of newer versions are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        return _known(value)


class Kept(Stored):
    """A record that also keeps the mapping from which it was made, with fields of newer versions."""

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        value = cls.up_to_date(value)
        found = handler(value)
        if isinstance(value, dict):
            found._given = value
        return found

    @classmethod
    def up_to_date(cls, value: Any) -> Any:
        """Migrate the value of an earlier version; anything else stays unchanged."""
        return value

    @property
    def given(self) -> dict[str, Any]:
        """The mapping, in its own order; do not change it."""
        return self._given


class AsGiven(Kept):
    """A record that reads its known fields, and is written as it was given."""

    @model_serializer(mode="plain")
    def _written(self) -> dict[str, Any]:
        return self._given
