"""Who takes part: personas (thesis, 4.1.3), how much they know, and how two of them stand to each other."""

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
    field_validator,
    model_validator,
)

from .document import table
from .errors import suggestion
from .minds.emotion import Level
from .plain_text import name_as_written, seen

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
    called: list[Name] = Field(
        default_factory=list,
        max_length=20,
        exclude_if=lambda value: not value,
        description="other forms of the name by which others address this persona, for example Evo",
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


_TABLES: Final[dict[str, Any]] = table(__file__, "persona.yaml")

RELATIONSHIP_TYPES: Final[dict[str, tuple[str, bool]]] = {
    name: (found["group"], found.get("directed", False)) for name, found in _TABLES["relationships"].items()
}
"""Every relationship type, with its group, and whether direction matters.

Then `from_` is the first-named side: the admirer, the annoyed, the betrayed, the leader, the parent …
"""


ONE_SIDED: Final = frozenset({"admirer", "annoyed", "betrayed"})
"""Types that describe the feelings of one side; two participants may have one in each direction."""


def known_type(value: object) -> str:
    """A validator that returns a relationship type in its own spelling: "mentor_mentee" for "Mentee, mentor".

    Raises:
        ValueError: there is no such type; the nearest is suggested.
    """
    words = re.findall(r"[^\W_]+", str(value).casefold())
    key = next((known for known in RELATIONSHIP_TYPES if sorted(known.split("_")) == sorted(words)), "_".join(words))
    if key not in RELATIONSHIP_TYPES:
        raise ValueError(f"unknown relationship type {value!r}. {suggestion(key, RELATIONSHIP_TYPES)}")
    return key


class Relationship(BaseModel):
    """How two participants stand to each other.

    In a file it is written `{from: Anna, to: Ben, type: parent_child, note: ...}`: Anna is the parent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_: str = Field(alias="from", min_length=1, description="the first-named side")
    to: str = Field(min_length=1, description="the second-named side")
    type: str = Field(description="one of the relationship types")
    note: str = Field(default="", max_length=500, description="anything more about it, in words")

    @field_validator("type", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        return known_type(value)

    def seen_by(self, name: str) -> dict[str, str] | None:
        """The relationship from the view of `name` (`to`, `type`, `side`, `note`), or None if it is between others."""
        if name == self.from_:
            return {"to": self.to, "type": self.type, "side": "from", "note": self.note}
        if name == self.to:
            return {"to": self.from_, "type": self.type, "side": "to", "note": self.note}
        return None


def derived_level(persona: Persona) -> int:
    """The general knowledge level 0–5 of a persona that states none.

    Education sets the level, an occupation in research raises it by one, and age limits it (thesis, Listing 5.1 gives
    the levels' typical ages: under 4 none, to 7 basic, to 14 elementary, to 17 intermediate). An adult without further
    data is at 3, intermediate.
    """
    education = (persona.characteristic("education") or persona.characteristic("education level") or "").casefold()
    occupation = (persona.characteristic("occupation") or "").casefold()
    level = next((one["level"] for one in _TABLES["education"] if any(word in education for word in one["words"])), 3)
    if any(word in occupation for word in _TABLES["expert_occupations"]):
        level = min(5, level + 1)
    age = persona.age
    if age is not None:
        cap = 0 if age < 4 else 1 if age < 8 else 2 if age < 15 else 3 if age < 18 else 5
        level = min(level, cap)
    return level


def knowledge_level(persona: Persona) -> int:
    """The persona's overall knowledge level: as stated, else derived."""
    if isinstance(persona.knowledge, int):
        return persona.knowledge
    if isinstance(persona.knowledge, dict) and "overall" in persona.knowledge:
        return persona.knowledge["overall"]
    return derived_level(persona)


def field_levels(persona: Persona) -> dict[str, int]:
    """The levels that the persona states for single fields, without the overall one."""
    if not isinstance(persona.knowledge, dict):
        return {}
    return {field: level for field, level in persona.knowledge.items() if field != "overall"}
