"""Each node of a story alone: what it makes of an answer, and of one that is of no use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from nodes.conftest import PEOPLE

from persimchat.nodes import people as person
from persimchat.nodes.stories.acting import choose_partner, review, sum_up, take_stock, vote
from persimchat.nodes.stories.context import AWAKENING, part_of_act, room_of
from persimchat.nodes.stories.playing import person_decides, play_words
from persimchat.state.settings import Settings
from persimchat.state.stories.judgement import Ballot, Choice, Stock, Summary, choice_schema, review_schema
from persimchat.state.stories.support import StorySituation

Alone = Callable[..., Any]
ADA, BO, LI = (person["name"] for person in PEOPLE)


def situation(mind: dict[str, Any], **story: Any) -> dict[str, Any]:
    """The situation of a mind in a story."""
    given: dict[str, Any] = {
        "round": 1, "rounds": 2, "stage": "private", "cast": [], "resources": [], "room": None, "happened": [],
        "candidates": [BO, LI], "exchanges": 1, "change": 10, "decider": "", "ablation": [], **story,
    }  # fmt: skip
    assert given.keys() == StorySituation.__annotations__.keys() - {"heard"}, "strategists have no clock of their own"
    return {**mind, "story": given}


OWN: dict[str, Any] = {
    "main": True, "beliefs": [{"text": "I lead.", "score": 60, "for": ADA}], "closeness": {BO: 10, LI: 10},
    "supports": "", "stock": None, "plan": [], "review": "", "done": 0, "answer": None,
}  # fmt: skip
PLACE: dict[str, Any] = {
    "simulation": "s", "topic": "Tea?", "turn": 1, "max_messages": 9, "present": [ADA, BO, LI], "rules": [],
    "relationships": [], "recent": [], "debate": None, "closing": False,
}  # fmt: skip
CASES: list[tuple[Any, Any, dict[str, Any], dict[str, Any]]] = [
    (take_stock, Stock(summary="Well.", next_steps=["Go."]), {}, {"summary": "Well.", "next_steps": ["Go."]}),
    (
        choose_partner,
        Choice(reasoning="So.", partner=BO, plan=["Tea"]),
        {},
        {"reasoning": "So.", "partner": BO, "plan": ["Tea"]},
    ),
    (
        sum_up,
        Summary(reasoning="So.", theme="We spoke.", keywords=["tea"], importance=4),
        {"room": {"others": [{"name": BO, "known_as": ""}], "public": True}},
        {"reasoning": "So.", "theme": "We spoke.", "keywords": ["tea"], "importance": 4},
    ),
    (
        review,
        review_schema((BO, LI), 1, 10)(reasoning="So.", closeness={BO: 3, LI: -2}, beliefs={"1": 5}),
        {},
        {"reasoning": "So.", "closeness": {BO: 3, LI: -2}, "beliefs": [5]},
    ),
    (
        vote,
        Ballot(reasoning="So.", choice=BO),
        {},
        {"open": {"reasoning": "So.", "choice": BO}, "closed": {"reasoning": "So.", "choice": BO}},
    ),
]


@pytest.mark.parametrize(("node", "answer", "story", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
async def test_a_node_keeps_its_answer_under_the_number_of_the_act(
    node: Any, answer: Any, story: dict[str, Any], expected: dict[str, Any], alone: Alone
) -> None:
    mind = {"story": OWN, "act": 7, "asks": "vote", "situation": situation(PLACE, **story)}
    done = await alone(node, answer, **mind)
    assert done["story"] == {**OWN, "done": 7, "answer": expected}
    assert {one["outcome"] for one in done["outcomes"]} == {"valid"}
    if "arriving" in done:
        assert len(done["arriving"]) == 1
    failed = await alone(node, None, **mind)
    assert failed["story"]["done"] == 7
    assert failed["story"]["answer"] in (None, {"open": None, "closed": None})
    assert failed.get("arriving", []) == []


async def test_a_first_impression_is_no_memory(alone: Alone) -> None:
    made = review_schema((BO, LI), 0, 10)(reasoning="So.", closeness={BO: 3, LI: -2})
    mind = {"story": OWN, "act": 1, "situation": situation(PLACE, round=0, stage=AWAKENING)}
    done = await alone(review, made, **mind)
    assert done["arriving"] == []
    assert done["story"]["answer"]["beliefs"] == []


async def test_a_guess_is_one_ballot_and_outcomes_have_no_closed_one(alone: Alone) -> None:
    ballot = Ballot(reasoning="So.", choice="guilty")
    mind = {"story": OWN, "act": 2, "situation": situation(PLACE, candidates=["guilty", "not guilty"])}
    assert (await alone(vote, ballot, **mind, asks="guess"))["story"]["answer"].keys() == {"guess"}
    assert (await alone(vote, ballot, **mind, asks="vote"))["story"]["answer"].keys() == {"open"}


QUESTION: dict[str, Any] = {
    "act": 7, "round": 1, "rounds": 2, "stage": "private", "ballot": "", "candidates": [BO, LI], "left": 0,
    "room": None, "knows": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("node", "more", "given", "answer"),
    [
        (person_decides, {}, ["nobody here", 2], {"partner": LI, "plan": [], "reasoning": ""}),
        (person_decides, {}, [{"pass": True}], None),
        (person_decides, {"asks": "guess"}, [BO], {"guess": {"choice": BO, "reasoning": ""}}),
        (
            person_decides,
            {"asks": "vote"},
            [{"pass": True}, BO],
            {"open": None, "closed": {"choice": BO, "reasoning": ""}},
        ),
        (play_words, {}, [{"pass": True}], None),
    ],
)
async def test_a_person_decides_or_passes(
    monkeypatch: pytest.MonkeyPatch, node: Any, more: dict[str, Any], given: list[Any], answer: Any
) -> None:
    """Asked again until the answer is right; what is passed leaves nothing, and the person silent."""
    left = list(given)
    monkeypatch.setattr(person, "interrupt", lambda _: left.pop(0))
    mind = {"name": ADA, "story": OWN, "act": 7, "situation": situation(PLACE), "question": QUESTION, **more}
    done = await node(mind, Settings())
    own = done["agents"][ADA]
    assert own["story"] == {**OWN, "done": 7, "answer": answer}
    assert (own["silent"] is None) == (answer is not None)
    assert left == []
    assert {record["what"] for record in done["carried_out"]} <= {"choice", "ballot", "utterance"}
    assert all(record["act"] == 7 and record["agent"] == ADA for record in done["carried_out"])


def test_a_room_has_others_and_a_group_none() -> None:
    room = {"others": [{"name": BO, "known_as": ""}], "public": False}
    assert room_of({"situation": situation(PLACE, room=room)}) == [BO]  # type: ignore[typeddict-item]
    assert room_of({"situation": situation(PLACE)}) is None  # type: ignore[typeddict-item]
    assert room_of({"situation": PLACE}) is None  # type: ignore[typeddict-item]
    assert part_of_act({"story": OWN, "act": 3}, None)["done"] == 3  # type: ignore[typeddict-item]


def test_schemas_understand_first_names_and_refuse_what_is_missing_or_too_much() -> None:
    assert choice_schema((BO, LI)).model_validate({"reasoning": "So.", "partner": "bo", "plan": ["a"]}).partner == BO
    planned = choice_schema((BO, LI), 2)
    assert planned.model_json_schema()["properties"]["plan"]["maxItems"] == 2
    assert planned.model_validate({"reasoning": "So.", "partner": BO, "plan": ["a", "b", "c"]}).plan == ["a", "b"]
    schema = review_schema((BO, LI), 1, 10)
    whole = {"reasoning": "So.", "closeness": {"Bo": "+3", LI: 0}, "beliefs": {"1": -10}}
    assert schema.model_validate(whole).changes() == ({BO: 3, LI: 0}, [-10])
    for wrong in (
        {"closeness": {"Bo": 3}},
        {"closeness": {"Bo": 3, LI: 0, ADA: 1}},
        {"closeness": {"Bo": 3, BO: 1, LI: 0}},
        {"closeness": {"Bo": 11, LI: 0}},
        {"closeness": {"Bo": True, LI: 0}},
        {"closeness": {"Bo": "5 points", LI: 0}},
        {"beliefs": {"1": 1, "2": 1}},
        {"beliefs": {}},
    ):
        with pytest.raises(ValueError, match="validation error"):
            schema.model_validate({**whole, **wrong})
