"""The answer of a model that generates a persona: all fields except the fixed ones.

The schema has no field for a fixed characteristic, so there is no room to change it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints, create_model

from persimchat.personas.quota_ages import OLDEST, YOUNGEST
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line

MOST_NAME: Final = 80
LEAST_TRAITS: Final = 3
MOST_TRAITS: Final = 5

_NAME: Final = re.compile(r"[^\W\d_][\w.'’ʼ‘·-]*(?: [^\W\d_][\w.'’ʼ‘·-]*)*", re.UNICODE)
_JOINED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")


def _flat(value: Any) -> Any:
    """Text on one line; some models list what they were asked to write with commas."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return one_line(value) if isinstance(value, str) else value


def _is_name(value: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFD", value) if not unicodedata.category(c).startswith("M"))
    if not _NAME.fullmatch(bare) or any(c.isdigit() for c in bare):
        raise ValueError("a name has letters, spaces, hyphens and apostrophes and nothing else")
    if " " not in bare and not _JOINED.fullmatch(bare):
        raise ValueError("give name and surname")
    return value


def _all_different(values: list[str]) -> list[str]:
    if len({folded(value) for value in values}) < len(values):
        raise ValueError("a trait is given twice")
    return values


def _text(least: int, most: int) -> Any:
    return Annotated[str, StringConstraints(min_length=least, max_length=most), BeforeValidator(_flat)]


_Value = _text(1, 300)
_Years = Annotated[int, Field(ge=YOUNGEST, le=OLDEST, description="in years")]
_Trait = Annotated[str, StringConstraints(min_length=1, max_length=120), BeforeValidator(_flat)]
_Traits = Annotated[
    list[_Trait], Field(min_length=LEAST_TRAITS, max_length=MOST_TRAITS), AfterValidator(_all_different)
]

CHARACTERISTICS: Final[Mapping[str, tuple[Any, str]]] = {
    "age": (_Years, "in years"),
    "gender": (_Value, "for example woman, man, non-binary, girl, boy"),
    "residence": (_Value, "town and country"),
    "occupation": (_Value, "what this person does; retired and from what, or pupil of which school"),
    "education": (_Value, "the highest finished, or the class a pupil is in"),
    "family": (_Value, "with whom this person lives, and the nearest relatives"),
    "hobbies": (_Value, "two or three, with commas in between"),
    "lifestyle": (_Value, "what an ordinary day or week looks like"),
    "financial status": (_Value, "what this person lives on"),
}
"""Characteristics that every persona gets: name → type and what it should hold."""

_FIRST: Final = {"name": (Annotated[_text(1, MOST_NAME), AfterValidator(_is_name)], "name and surname")}
_LAST: Final = {
    "traits": (_Traits, "traits of character, each in a few words; not only good ones"),
    "speaking_style": (_text(10, 400), "how this person talks, one sentence"),
    "description": (_text(80, 2000), "who this is: one paragraph of two to five sentences"),
}


@lru_cache(maxsize=64)
def answer_schema(fixed: frozenset[str]) -> type[BaseModel]:
    """The schema of an answer.

    Args:
        fixed: names of the fixed characteristics, in lower case; the answer has no fields for them.
    """
    asked = {field(name): about for name, about in CHARACTERISTICS.items() if name not in fixed}
    fields: dict[str, Any] = {
        name: (kind, Field(description=what)) for name, (kind, what) in {**_FIRST, **asked, **_LAST}.items()
    }
    return create_model("GeneratedPersona", __doc__="An invented person.", **fields)


def field(characteristic: str) -> str:
    """The name of a characteristic's field in the answer."""
    return characteristic.replace(" ", "_")


def persona_of(answer: BaseModel, fixed: Mapping[str, str]) -> Persona:
    """The persona that an answer and the fixed characteristics make together."""
    given = answer.model_dump()
    usual = {name: fixed.get(name, given.get(field(name))) for name in CHARACTERISTICS}
    return Persona(
        name=given["name"],
        description=given["description"],
        characteristics=usual | {name: value for name, value in fixed.items() if name not in usual},
        traits=given["traits"],
        speaking_style=given["speaking_style"],
    )
