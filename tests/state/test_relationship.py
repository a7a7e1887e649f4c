"""Relationships: types, and the side that somebody is on."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from persimchat.state.relationship import RELATIONSHIP_TYPES, Relationship


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


def test_refused():
    with pytest.raises(ValidationError, match="unknown relationship type 'frend'. Did you mean 'friend'"):
        tie("frend")
    with pytest.raises(ValidationError):
        tie("friend", first="")
    with pytest.raises(ValidationError):
        Relationship.model_validate({"from": "A", "to": "B", "type": "friend", "since": 1})


def test_written_back_as_read():
    assert tie("friend").model_dump(by_alias=True) == {"from": "Anna", "to": "Ben", "type": "friend", "note": ""}
