"""The mad_judge baseline's sides, its judge's schema, and what a debate comes to by a decision."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state.answering import answering_schema, reasons_of, worded
from persimchat.state.decision import Decision, conclusion_of, decision_schema, sides, verdict_of
from persimchat.state.mind import Utterance

NAMES = ["Ada", "Bo", "Cy"]


def answers(*given: str) -> list[Utterance]:
    base: Any = {"turn": 1, "text": "", "addressees": [], "emotion": {}, "need_to_talk": {}}
    return [{**base, "speaker": name, "answer": answer} for name, answer in zip(NAMES, given, strict=True)]


def decided(answer: str, side: str = "affirmative", form: Any = "number") -> Decision:
    given = {"reasoning": "r", "decided": True, "side": side, "answer": answer}
    return decision_schema(form).model_validate(given)


def test_sides_alternate_in_order_of_listing():
    assert sides(["A", "B", "C", "D", "E"]) == {
        "A": "affirmative", "B": "negative", "C": "affirmative", "D": "negative", "E": "affirmative"
    }  # fmt: skip
    assert set(sides(["A", "B"]).values()) == {"affirmative", "negative"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"decided": True, "side": "affirmative", "answer": None}, "there is no answer"),
        ({"decided": True, "side": None, "answer": "18"}, "there is no side"),
        ({"decided": True, "side": "left", "answer": "18"}, "affirmative"),
        ({"decided": True, "side": "negative", "answer": "many"}, "not one number"),
        ({"side": "negative", "answer": "18"}, "decided"),
    ],
)
def test_a_decision_without_its_parts_is_refused(given: dict[str, Any], said: str):
    with pytest.raises(ValidationError, match=said):
        decision_schema("number").model_validate({"reasoning": "r", **given})


@pytest.mark.parametrize("nothing", [None, "", "null", "None", "n/a"])
def test_no_decision_needs_no_answer(nothing: Any):
    found = decision_schema("number").model_validate(
        {"reasoning": "r", "decided": False, "side": nothing, "answer": nothing}
    )
    assert (found.decided, found.side, found.answer) == (False, None, None)


@pytest.mark.parametrize(
    "given", [{"decided": False, "side": None, "answer": None}, {"decided": True, "side": None, "answer": "18"}]
)
def test_after_the_last_round_there_has_to_be_a_decision(given: dict[str, Any]):
    with pytest.raises(ValidationError):
        decision_schema("number", last=True).model_validate({"reasoning": "r", **given})
    whole = {"reasoning": "r", "decided": True, "side": "negative", "answer": "$18"}
    assert decision_schema("number", last=True).model_validate(whole).answer == "18"


def test_a_decision_is_a_consensus_only_where_everybody_holds_it():
    one = conclusion_of(decided("18"), answers("18", "20", "18.0"), NAMES, "number")
    assert one == {
        "answer": "18", "consensus": False, "reasoning": "r", "supporters": ["Ada", "Cy"], "by": "mad_judge"
    }  # fmt: skip
    assert conclusion_of(decided("18"), answers("18", "18", "18"), NAMES, "number")["consensus"]
    nobody = conclusion_of(decided("7"), answers("18", "18", "18"), NAMES, "number")
    assert (nobody["consensus"], nobody["supporters"]) == (False, [])


def test_in_free_text_the_side_that_won_holds_what_the_judge_words():
    given = answers("Trams for all.", "Buses", "Trams, and free ones")
    found = conclusion_of(decided("Free trams", form="free"), given, NAMES, "free")
    assert (found["supporters"], found["consensus"]) == (["Ada", "Cy"], False)
    found = conclusion_of(decided("Buses.", "negative", "free"), given, NAMES, "free")
    assert found["supporters"] == ["Bo"]


def test_the_verdict_says_who_agrees_and_whether_anything_moves():
    going_on = decision_schema("number").model_validate(
        {"reasoning": "r", "decided": False, "side": None, "answer": None}
    )
    given = answers("18", "20", "18")
    first = verdict_of(going_on, given, {}, NAMES, 3, "number")
    assert (first["turn"], first["consensus"], first["answer"], first["progress"]) == (3, False, "", "progressing")
    assert [(p["agent"], p["position"], p["agrees"]) for p in first["positions"]] == [
        ("Ada", "18", True), ("Bo", "20", False), ("Cy", "18", True)
    ]  # fmt: skip
    same = dict(zip(NAMES, ["18", "20", "18.0"], strict=True))
    assert verdict_of(going_on, given, same, NAMES, 6, "number")["progress"] == "circling"
    assert verdict_of(going_on, given, {**same, "Bo": "18"}, NAMES, 6, "number")["progress"] == "progressing"
    won = verdict_of(decided("20", "negative"), given, same, NAMES, 6, "number")
    assert ([p["agrees"] for p in won["positions"]], won["consensus"], won["answer"]) == (
        [False, True, False],
        False,
        "",
    )
    agreed = verdict_of(decided("18"), answers("18", "18", "18"), {}, NAMES, 3, "number")
    assert (agreed["consensus"], agreed["answer"]) == (True, "18")


@pytest.mark.parametrize("confidence", [-0.1, 1.1, "sure", None])
def test_a_confidence_is_from_0_to_1(confidence: Any):
    given = {"reasoning": "r", "answer": "18", "confidence": confidence}
    with pytest.raises(ValidationError, match="confidence"):
        answering_schema("number", confident=True).model_validate(given)
    assert answering_schema("number").model_json_schema()["properties"].keys() == {"reasoning", "answer", "conditional"}


def test_reasons_and_answer_make_an_utterance_and_come_apart_again():
    for reasoning, answer in (("Because.", "18"), ("It says\nAnswer: 18", "18"), ("x", "Trams,\nfor all")):
        utterance: Any = {"text": worded(reasoning, answer), "answer": answer}
        assert reasons_of(utterance) == reasoning
