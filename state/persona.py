"""A persona: the description of a character (thesis, 4.1.3)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from persimchat.state.emotion import Level
from persimchat.state.normalise import name_as_written, seen

KnowledgeLevel = Annotated[int, Field(ge=0, le=5)]
"""0 none, 1 basic awareness, 2 elementary, 3 intermediate, 4 advanced, 5 expert (thesis, 5.2.1)."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000), AfterValidator(seen)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


def _plain_values(value: Any) -> Any:
    """Turn the numbers, booleans and lists of a file into text; a missing value stays an error."""
    if not isinstance(value, dict):
        return value
    return {str(key): _plain(item) for key, item in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list) and value and not any(x is None or isinstance(x, dict | list) for x in value):
        return ", ".join(_plain(x) for x in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, dict | list) else str(value)


Characteristics = Annotated[
    dict[Name, Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]],
    BeforeValidator(_plain_values),
]
"""Characteristics as name: value; a list in a file becomes one text with commas."""


_YES_OR_NO: Final = TypeAdapter(bool)


def _is_no(value: Any) -> bool:
    """Whether the field `human` reads a value as false; not for an invalid value, which the field itself reports."""
    try:
        return not _YES_OR_NO.validate_python(value)
    except ValidationError:
        return False


class GivenMemory(BaseModel):
    """What a persona remembers from before the conversation; a text alone has the usual importance and no keywords."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Text = Field(description="what is remembered, one sentence")
    importance: Level = Field(default=5, description="how important it is to this persona, 0–10")
    keywords: list[Name] = Field(default_factory=list, max_length=20, description="keywords and standout words")

    @model_validator(mode="before")
    @classmethod
    def _text_alone(cls, data: Any) -> Any:
        return {"text": data} if isinstance(data, str) else data


_TEXT_SCHEMA: Final = {"type": "string", "minLength": 1, "maxLength": 4000}
_MEMORY_SCHEMA: Final = {
    **{key: value for key, value in GivenMemory.model_json_schema().items() if key != "title"},
    "description": "with importance and keywords",
}
Memories = Annotated[
    list[GivenMemory],
    WithJsonSchema({"type": "array", "items": {"anyOf": [_TEXT_SCHEMA, _MEMORY_SCHEMA]}}),
]
"""Memories as texts or mappings. Their schema has no references, so that it can be part of another one."""


class Persona(BaseModel):
    """A persona's profile; the texts are data and are never interpreted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[Name, AfterValidator(name_as_written)] = Field(description="name and surname")
    description: Text = Field(description="one paragraph: who this is")
    characteristics: Characteristics = Field(
        default_factory=dict, description="age, gender, residence, occupation, education, … as name: value"
    )
    traits: list[Text] = Field(default_factory=list, description="traits of character")
    knowledge: KnowledgeLevel | dict[str, KnowledgeLevel] | None = Field(
        default=None,
        description="knowledge level 0–5, overall or per field ({overall: 3, cooking: 5}); derived where not given",
    )
    speaking_style: Text | None = Field(default=None, description="how this persona talks")
    social_goals: list[Text] = Field(default_factory=list, description="what this persona wants from the others")
    memories: Memories = Field(
        default_factory=list,
        exclude_if=lambda value: not value,
        description="what this persona remembers from before the conversation: texts, or text, importance and keywords",
    )
    human: bool = Field(default=False, description="whether a person takes this part, whom the program asks for words")

    @model_validator(mode="before")
    @classmethod
    def _people_need_no_description(cls, data: Any) -> Any:
        """Give a person without a description a general one."""
        if isinstance(data, dict) and "description" not in data and not _is_no(data.get("human", False)):
            return {**data, "description": "A person who takes part in the conversation."}
        return data

    def characteristic(self, name: str) -> str | None:
        """The value of a characteristic, found regardless of case; None if the persona has none of that name."""
        return next((v for k, v in self.characteristics.items() if k.casefold() == name.casefold()), None)

    @property
    def age(self) -> int | None:
        """The age in years; None if it is not given as a number."""
        found = re.search(r"(?<!\d)\d{1,3}(?!\d)", self.characteristic("age") or "")
        return int(found.group()) if found else None
