"""The scenario model's own checks, for those who build one in code."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state.scenario import Scenario

PEOPLE = [{"name": name, "description": "x", "social_goals": ["win"]} for name in ("Anna", "Ben", "Cyril")]


def scenario(**more: Any) -> Scenario:
    return Scenario.model_validate({"topic": "Tea?", "participants": PEOPLE, **more})


def test_views():
    made = scenario(
        relationships=[{"from": "Anna", "to": "Ben", "type": "parent_child"}], social_goals={"Ben": ["leave early"]}
    )
    (tie,) = made.relationships
    assert tie.seen_by("Ben") == {"to": "Anna", "type": "parent_child", "side": "to", "note": ""}
    assert tie.seen_by("Cyril") is None
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
def test_refused(wrong: dict[str, Any], words: str):
    with pytest.raises(ValidationError, match=words):
        scenario(**wrong)
