"""What an answer hangs on is kept beside it, where its form has no place for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.answering import answering_schema
from persimchat.state.condition import condition_beside, joined, stands
from persimchat.state.decision import decision_schema
from persimchat.state.verdict import majority_schema, verdict_schema

ADA, BO = "Ada Lind", "Bo Říha"
POSITIONS = [{"agent": name, "position": "Yes.", "agrees": True} for name in (ADA, BO)]


@pytest.mark.parametrize(
    ("given_", "answer", "condition"),
    [
        ("Yes, but only if the buses run at night.", "yes", "but only if the buses run at night"),
        ("yes", "yes", ""),
        ("Yes!", "yes", ""),
        ("Yes, with conditions", "yes", "with conditions"),
        ("20, provided it is free", "20", "provided it is free"),
        ("b) Only if free", "Only if free", ""),
        ("trams, unless it rains", "trams", "unless it rains"),
        ("Yes, the iffy notify", "yes", ""),
    ],
)
def test_a_condition_beside_an_answer(given_: str, answer: str, condition: str) -> None:
    assert condition_beside(given_, answer) == condition


@given(st.text(), st.text())
def test_any_words(one: str, answer: str) -> None:
    assert len(condition_beside(one, answer)) <= 1000


def verdict(**more: Any) -> Any:
    data = {"reasoning": "r", "consensus": True, "positions": POSITIONS, "progress": "circling", **more}
    return verdict_schema((ADA, BO), "yesno").model_validate(data)


def test_a_verdict_keeps_what_stands_beside_its_answer() -> None:
    assert verdict(answer="yes").conditional is None
    assert verdict(answer="Yes, if it is free").conditional == "if it is free"
    assert verdict(answer="Yes, if it is free", conditional="only on Sundays").conditional == "only on Sundays"
    assert verdict(answer="yes", conditional="none").conditional is None


def test_so_do_the_others() -> None:
    given_ = {
        "reasoning": "r",
        "answer": "No, unless it rains",
        "supporters": [ADA],
        "decided": True,
        "side": "negative",
    }
    for schema in (majority_schema((ADA, BO), "yesno"), answering_schema("yesno"), decision_schema("yesno")):
        made: Any = schema.model_validate(given_)
        assert (made.answer, made.conditional) == ("no", "unless it rains")


def test_the_condition_comes_behind_the_answer() -> None:
    """A model fills the fields in this order: first the reasons, then the answer, then what it hangs on."""
    names = list(verdict_schema((ADA, BO), "yesno").model_json_schema()["properties"])
    assert names == ["reasoning", "consensus", "answer", "conditional", "positions", "progress"]


def test_conditions_of_several() -> None:
    one: dict[str, Any] = {"speaker": ADA, "answer": "yes", "conditional": "if free"}
    other: dict[str, Any] = {"speaker": BO, "answer": "yes"}
    assert joined([ADA, BO], [one, other]) == f"{ADA}: if free"
    assert joined([ADA, BO], [one, {**one, "speaker": BO}]) == "if free"
    assert joined([BO], [one, other]) == ""


def test_words_are_the_last_public_ones() -> None:
    said = [
        {"speaker": ADA, "text": "Tea."},
        {"speaker": ADA, "text": "Coffee, between us.", "heard_by": [BO]},
        {"speaker": "Moderator", "text": "And you?"},
    ]
    assert stands([ADA, BO], {BO: "Unclear."}, said) == [
        {"agent": ADA, "position": "", "words": "Tea."},
        {"agent": BO, "position": "Unclear.", "words": ""},
    ]
