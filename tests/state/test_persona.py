"""The persona model."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from persimchat.state.persona import Persona


def test_text_is_tidied_and_kept():
    persona = Persona.model_validate(
        {"name": " Eva \n Malá ", "description": " {{ x }} ", "characteristics": {"Age": 30, 5: [1, True], "a": False}}
    )
    assert persona.name == "Eva Malá"
    assert persona.description == "{{ x }}", "never interpreted"
    assert persona.characteristics == {"Age": "30", "5": "1, yes", "a": "no"}
    assert persona.characteristic("age") == "30"
    assert persona.characteristic("gender") is None
    assert Persona.model_validate(persona.model_dump()) == persona


@pytest.mark.parametrize(
    ("text", "age"),
    [("30", 30), ("in her 40s", 40), ("about 7 years", 7), ("born 1990", None), ("old", None), ("", None)],
)
def test_age(text: str, age: int | None):
    characteristics = {"age": text} if text else {}
    assert Persona(name="A", description="x", characteristics=characteristics).age == age


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "\u200b\u0301"},
        {"name": "x" * 301},
        {"description": " "},
        {"description": "x" * 4001},
        {"characteristics": {"a": None}},
        {"characteristics": {"a": ""}},
        {"characteristics": {"": "a"}},
        {"characteristics": {"a": {}}},
        {"characteristics": {"a": []}},
        {"characteristics": {"a": [None]}},
        {"traits": [""]},
        {"knowledge": 6},
        {"knowledge": {"tea": -1}},
        {"other": 1},
    ],
)
def test_refused(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        Persona.model_validate({"name": "A", "description": "x", **wrong})


@pytest.mark.parametrize("yes", [True, "yes", "true", 1])
def test_a_person_needs_no_description(yes: object):
    persona = Persona.model_validate({"name": "Petr", "human": yes})
    assert persona.human
    assert Persona.model_validate(persona.model_dump()) == persona
    assert Persona.model_validate({"name": "A", "description": "x", "human": yes}).description == "x"


@pytest.mark.parametrize(
    "wrong", [{"human": False}, {"human": "no"}, {"human": "maybe"}, {"human": None}, {"human": 2}, {"human": []}, {}]
)
def test_nobody_else_goes_without(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        Persona.model_validate({"name": "Petr", **wrong})
