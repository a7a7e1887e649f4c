"""What raters are asked: one item on a scale with anchors, and open questions (`scale.yaml`)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Anchor(_Part):
    """What ratings from one number to another mean."""

    from_: int = Field(alias="from")
    to: int
    title: str
    text: str


class OpenQuestion(_Part):
    """A question that is answered in words; its id stands in the column `item` of the answers."""

    id: str
    text: str


class Scale(_Part):
    """The item and the open questions, in the words that raters read."""

    asked: str
    hint: str
    anchors: tuple[Anchor, ...]
    open: tuple[OpenQuestion, ...]

    @property
    def least(self) -> int:
        """The lowest rating."""
        return self.anchors[0].from_

    @property
    def most(self) -> int:
        """The highest rating."""
        return self.anchors[-1].to


@cache
def scale() -> Scale:
    """The scale, read once."""
    text = (files("persimchat.evaluation.survey") / "scale.yaml").read_text(encoding="utf-8")
    return Scale.model_validate(yaml.safe_load(text))
