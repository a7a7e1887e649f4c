"""The persona model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state.persona import (
    RELATIONSHIP_TYPES,
    Persona,
    Relationship,
    derived_level,
    field_levels,
    knowledge_level,
)
from persimchat.state.scenario import Scenario


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


# Relationships: types, and the side that somebody is on


def tie(kind: str, first: str = "Anna", second: str = "Ben", note: str = "") -> Relationship:
    return Relationship.model_validate({"from": first, "to": second, "type": kind, "note": note})


@pytest.mark.parametrize("kind", RELATIONSHIP_TYPES)
def test_each_side_has_its_own_view(kind: str):
    relationship = tie(kind, note="since May")
    assert relationship.seen_by("Anna") == {"to": "Ben", "type": kind, "side": "from", "note": "since May"}
    assert relationship.seen_by("Ben") == {"to": "Anna", "type": kind, "side": "to", "note": "since May"}
    assert relationship.seen_by("Cyril") is None


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("Parent–child", "parent_child"),
        ("parent-child", "parent_child"),
        ("Close Friend", "close_friend"),
        ("aunt/uncle niece/nephew", "aunt_uncle_niece_nephew"),
        ("known by name", "known_by_name"),
    ],
)
def test_types_as_people_write_them(written: str, kind: str):
    assert tie(written).type == kind


def test_all_groups_are_there_and_direction_is_known():
    assert {group for group, _ in RELATIONSHIP_TYPES.values()} == {
        "neutral",
        "positive",
        "negative",
        "hierarchical",
        "family",
    }
    directed = {kind for kind, (_, direction) in RELATIONSHIP_TYPES.items() if direction}
    assert {"parent_child", "mentor_mentee", "betrayed", "admirer"} <= directed
    assert not {"friend", "siblings", "spouses", "rival"} & directed


def test_refused_of_relationship():
    with pytest.raises(ValidationError, match="unknown relationship type 'frend'. Did you mean 'friend'"):
        tie("frend")
    with pytest.raises(ValidationError):
        tie("friend", first="")
    with pytest.raises(ValidationError):
        Relationship.model_validate({"from": "A", "to": "B", "type": "friend", "since": 1})


def test_written_back_as_read():
    assert tie("friend").model_dump(by_alias=True) == {"from": "Anna", "to": "Ben", "type": "friend", "note": ""}


# Knowledge levels: stated or derived


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


# The scenario model's own checks, for those who build one in code


PEOPLE = [{"name": name, "description": "x", "social_goals": ["win"]} for name in ("Anna", "Ben", "Cyril")]


def scenario(**more: Any) -> Scenario:
    return Scenario.model_validate({"topic": "Tea?", "participants": PEOPLE, **more})


def test_goals_are_those_of_the_persona_and_of_the_scenario():
    made = scenario(social_goals={"Ben": ["leave early"]})
    assert made.goals_of(made.participants[1]) == ["win", "leave early"]
    assert made.goals_of(made.participants[0]) == ["win"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"topic": " "}, "at least 1 character"),
        ({"participants": PEOPLE[:1]}, "at least 2"),
        ({"participants": [*PEOPLE, {"name": "anna", "description": "x"}]}, "two participants are called 'anna'"),
        ({"relationships": [{"from": "Anna", "to": "Bob", "type": "friend"}]}, "'Bob', who does not take part"),
        ({"relationships": [{"from": "Ben", "to": "Ben", "type": "friend"}]}, "with itself"),
        (
            {"relationships": [{"from": a, "to": b, "type": "friend"} for a, b in (("Anna", "Ben"), ("Ben", "Anna"))]},
            "two relationships between",
        ),
        ({"social_goals": {"Bob": ["win"]}}, "'Bob', who does not take part"),
        ({"rules": [""]}, "at least 1 character"),
        ({"other": 1}, "Extra inputs"),
    ],
)
def test_refused_of_scenario_model(wrong: dict[str, Any], words: str):
    with pytest.raises(ValidationError, match=words):
        scenario(**wrong)
