"""What the judge may answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state.verdict import majority_schema, verdict_schema

NAMES = ("Ada Lind", "Bo Říha", "李雷")


def verdict(*agree: bool, **changed: Any) -> dict[str, Any]:
    positions = [{"agent": n, "position": "Tea.", "agrees": a} for n, a in zip(NAMES, agree, strict=False)]
    base = {"reasoning": "They said so.", "consensus": False, "answer": None, "positions": positions}
    return {**base, "progress": "circling", **changed}


def test_a_verdict_and_its_consensus() -> None:
    schema = verdict_schema(NAMES, "yesno")
    assert schema.model_validate(verdict(True, False, True)).answer is None
    agreed = schema.model_validate(verdict(True, True, True, consensus=True, answer="Yes."))
    assert (agreed.consensus, agreed.answer) == (True, "yes")
    assert list(schema.model_fields) == ["reasoning", "consensus", "answer", "conditional", "positions", "progress"]


def test_names_are_understood_and_given_back_in_full() -> None:
    given = verdict()
    given["positions"] = [{"agent": a, "position": "Tea.", "agrees": True} for a in ("ada", "**Bo**", "李雷")]
    assert [p.agent for p in verdict_schema(NAMES, "free").model_validate(given).positions] == list(NAMES)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (verdict(True, True, True, consensus=True), "there is no answer"),
        (verdict(True, True, True, consensus=True, answer="none"), "there is no answer"),
        (verdict(True, False, True, consensus=True, answer="yes"), "Bo Říha do not agree"),
        (verdict(True, True, consensus=True, answer="yes"), "no position is given for 李雷"),
        (verdict(True, True, True, consensus=True, answer="perhaps"), "neither yes nor no"),
        (verdict(True, True, True, progress="well"), "progressing"),
    ],
)
def test_what_does_not_fit_together_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        verdict_schema(NAMES, "yesno").model_validate(given)


def test_a_choice_that_is_called_none_can_win() -> None:
    schema = verdict_schema(NAMES, "choice", ("None", "One"))
    assert schema.model_validate(verdict(True, True, True, consensus=True, answer="none")).answer == "None"
    assert schema.model_validate(verdict(True, True, False, answer="null")).answer is None


def test_nobody_is_named_who_does_not_take_part() -> None:
    given = verdict(True, True, True)
    given["positions"][0]["agent"] = "Eve"
    with pytest.raises(ValidationError, match="Ada Lind"):
        verdict_schema(NAMES, "free").model_validate(given)
    with pytest.raises(ValidationError, match="Ada Lind"):
        majority_schema(NAMES, "free").model_validate({"reasoning": "r", "answer": "Tea", "supporters": ["Eve"]})


def test_the_schema_tells_a_model_what_it_may_answer() -> None:
    choice = majority_schema(NAMES, "choice", ("Brno", "Lviv")).model_json_schema()
    assert choice["properties"]["answer"]["enum"] == ["Brno", "Lviv"]
    assert majority_schema(NAMES, "number").model_json_schema()["properties"]["answer"]["type"] == "number"
    number = majority_schema(NAMES, "number").model_validate({"reasoning": "r", "answer": 3.0, "supporters": ["Bo"]})
    assert (number.answer, number.supporters) == ("3", ["Bo Říha"])
