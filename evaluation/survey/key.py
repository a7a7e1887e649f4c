"""What raters are asked, and the key of a survey: the only file of it that says which system each excerpt is of."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...state.document import table
from ...state.errors import InputError

KEY: Final = "key.json"
"""The key's file."""
FORMAT: Final = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeySystem(_Part):
    """What is compared, and the models that worded its excerpts."""

    name: str
    models: tuple[str, ...]


class KeyTopic(_Part):
    """A topic, with the task from which its excerpts are."""

    topic: int
    about: str
    task: str


class KeyItem(_Part):
    """An excerpt: where it stands in the survey, whose it is, and how long."""

    item: str
    topic: int
    label: str
    order: int
    system: str
    run: str
    utterances: Annotated[int, Field(ge=1)]
    words: Annotated[int, Field(ge=0)]


class Key(_Part):
    """The key of a survey.

    Attributes:
        format: version of this file.
        survey: the survey's id.
        source: the experiment from which the excerpts are; empty for single runs.
        by: what is compared: the axis of the experiment, or "system".
        seed: of all that was drawn.
        first: utterances of an excerpt, at most.
        systems: that are compared.
        topics: in order.
        items: in order.
    """

    format: Literal[1]
    survey: str
    source: str
    by: str
    seed: int
    first: int
    systems: tuple[KeySystem, ...]
    topics: tuple[KeyTopic, ...]
    items: tuple[KeyItem, ...]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len({item.item for item in self.items}) != len(self.items):
            raise ValueError("an item is there twice")
        if not {item.system for item in self.items} <= {system.name for system in self.systems}:
            raise ValueError("an item is of an unknown system")
        if not {item.topic for item in self.items} <= {topic.topic for topic in self.topics}:
            raise ValueError("an item is of an unknown topic")
        return self


def read_key(folder: Path) -> Key:
    """The key in a survey's folder.

    Raises:
        InputError: there is none, or it is damaged.
    """
    path = folder / KEY
    try:
        return Key.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"the survey's key cannot be read: {error.strerror}",
            where=str(path),
            remedy="Give the folder that `persimchat survey make` has written.",
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise InputError(
            f"the survey's key is damaged: {first['msg']}",
            where=f"{path}, {field}",
            remedy="Take it from a backup: nothing else says which system an excerpt is of.",
        ) from None


# The item and the open questions


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
    return Scale.model_validate(table(__file__, "scale.yaml"))
