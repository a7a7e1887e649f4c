"""Knowledge levels: stated or derived."""

from __future__ import annotations

import pytest

from persimchat.state.knowledge import derived_level, field_levels, knowledge_level
from persimchat.state.persona import Persona


def somebody(knowledge: object = None, **characteristics: object) -> Persona:
    return Persona.model_validate(
        {"name": "A", "description": "x", "characteristics": characteristics, "knowledge": knowledge}
    )


@pytest.mark.parametrize(
    ("characteristics", "level"),
    [
        ({}, 3),
        ({"age": 3}, 0),
        ({"age": 4}, 1),
        ({"age": 7, "education": "university"}, 1),
        ({"age": 8}, 2),
        ({"age": 14}, 2),
        ({"age": 15}, 3),
        ({"age": 17, "education": "university"}, 3),
        ({"age": 18, "education": "university"}, 4),
        ({"age": "about 30 years", "education": "PhD in physics"}, 5),
        ({"age": 40, "education": "master's degree", "occupation": "research scientist"}, 5),
        ({"age": 40, "education": "PhD", "occupation": "professor"}, 5),
        ({"age": 40, "education": "vocational school"}, 3),
        ({"age": 40, "education": "lower secondary school"}, 2),
        ({"age": 40, "education": "upper secondary school"}, 3),
        ({"age": 40, "education": "primary school"}, 2),
        ({"age": 40, "education": "no formal education"}, 1),
        ({"age": 40, "Education Level": "college"}, 4),
        ({"age": "born 1990"}, 3),
    ],
)
def test_derived(characteristics: dict[str, object], level: int):
    assert derived_level(somebody(**characteristics)) == level


def test_stated_goes_before_derived():
    assert knowledge_level(somebody(1, education="PhD")) == 1
    assert knowledge_level(somebody({"overall": 2, "tea": 5}, education="PhD")) == 2
    assert knowledge_level(somebody({"tea": 0}, education="PhD")) == 5
    assert field_levels(somebody({"overall": 2, "tea": 5})) == {"tea": 5}
    assert field_levels(somebody(3)) == {}
