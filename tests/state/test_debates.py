"""The forms of a debate's answer."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.state.baselines.rounds import answering_schema, decision_schema
from persimchat.state.debates.answers import AnswerFormat, condition_beside, joined, parse_answer, same_answer, stands
from persimchat.state.debates.verdict import majority_schema, verdict_schema

CITIES = ["Brno", "Lviv", "Porto", "New Porto", "-30", "+30"]


@pytest.mark.parametrize(
    ("text", "form", "answer"),
    [
        ("  Trams,\nfor all. ", "free", "Trams,\nfor all."),
        ("Yes", "yesno", "yes"),
        ("**Yes.**", "yesno", "yes"),
        ("No, because it rains", "yesno", "no"),
        ("TRUE", "yesno", "yes"),
        ("brno", "choice", "Brno"),
        ("b) Lviv", "choice", "Lviv"),
        ("(C)", "choice", "Porto"),
        ("The group settles on Porto.", "choice", "Porto"),
        ("New Porto", "choice", "New Porto"),
        ("it should be new porto", "choice", "New Porto"),
        ("+30", "choice", "+30"),
        ("-30", "choice", "-30"),
        ("42", "number", "42"),
        ("$1,200", "number", "1200"),
        ("about 3.50 euros", "number", "3.5"),
        ("-7", "number", "-7"),
        ("1 200 000", "number", "1200000"),
        ("2e3", "number", "2000"),
        ("12345678901234567890", "number", "12345678901234567890"),
    ],
)
def test_small_departures_are_understood(text: str, form: AnswerFormat, answer: str) -> None:
    assert parse_answer(text, form, CITIES) == answer


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("", "free", "empty"),
        ("  \n", "yesno", "empty"),
        ("maybe", "yesno", "neither yes nor no"),
        ("Yes and no", "yesno", "neither yes nor no"),
        ("Brno or Lviv", "choice", "not one of the choices: Brno, Lviv"),
        ("Prague", "choice", "not one of the choices"),
        ("Z", "choice", "not one of the choices"),
        ("between 3 and 5", "number", "not one number"),
        ("many", "number", "not one number"),
        ("1e999", "number", "not one number"),
        ("not Brno", "choice", "not one of the choices"),
        ("I don't want Lviv", "choice", "not one of the choices"),
    ],
)
def test_whatever_leaves_two_answers_possible_is_refused(text: str, form: AnswerFormat, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_answer(text, form, CITIES)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_a_number_keeps_its_value(value: float) -> None:
    assert math.isclose(float(parse_answer(repr(value), "number")), value)


@given(st.text(max_size=80), st.sampled_from(["free", "yesno", "choice", "number"]))
def test_an_answer_once_parsed_stays_as_it_is(text: str, form: AnswerFormat) -> None:
    try:
        answer = parse_answer(text, form, CITIES)
    except ValueError:
        return
    assert answer and parse_answer(answer, form, CITIES) == answer


def test_the_same_answer() -> None:
    assert same_answer("1.50", "1.5", "number") and not same_answer("1.5", "15", "number")
    assert same_answer("Yes, trams!", "yes trams", "free") and not same_answer("trams", "buses", "free")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("48 - 36 = 12\n#### 12", "12"),
        ("First 3, then 4.\nAnswer: 7 apples", "7"),
        ("**Answer:** $1,200.", "1200"),
        ("She has 18, that is 18.0.", "18"),
        ("0.1000000000000000000001", "0.1000000000000000000001"),
        ("25 %", "25"),
        ("5 apples.\nAnswer: see above", "5"),
        ("1.200 €", "1200"),
        ("€ 1.200", "1200"),
        ("1,200 €", "1200"),
        ("1.234.567,89", "1234567.89"),
        ("25.000 Kč", "25000"),
        ("1 200,50 Kč", "1200.5"),
        ("12,50 €", "12.5"),
        ("1.5 €", "1.5"),
        ("0.500 €", "0.5"),
        ("1.200", "1.2"),
    ],
)
def test_numbers_that_are_marked_or_the_same(text: str, answer: str) -> None:
    assert parse_answer(text, "number") == answer


@pytest.mark.parametrize("text", ["3/4", "7/7", "Answer: 1 / 2", "#### 3 or 4", "0.5 or .50001"])
def test_fractions_and_numbers_that_differ_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not one number"):
        parse_answer(text, "number")


@given(
    st.decimals(-(10**9), 10**9, places=4), st.sampled_from(["{}", "${}", "{} %", "#### {}", "1 + 1\nAnswer: {} km"])
)
def test_numbers_are_compared_exactly(value: Decimal, form: str) -> None:
    parsed = parse_answer(form.format(f"{value:f}"), "number")
    assert same_answer(parsed, f"{value:f}", "number")
    assert not same_answer(parsed, f"{value + Decimal('0.00001'):f}", "number")
    assert parse_answer(form.format(f"{value:,f}"), "number") == parsed


@pytest.mark.parametrize("text", ["2.5", "12,5", "10:5", "1,205"])
def test_a_choice_is_not_found_inside_of_a_number(text: str) -> None:
    with pytest.raises(ValueError, match="not one of the choices"):
        parse_answer(text, "choice", ["5", "205", "7"])


# What an answer hangs on is kept beside it, where its form has no place for it


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


# What the judge may answer


NAMES = ("Ada Lind", "Bo Říha", "李雷")


def verdict_given(*agree: bool, **changed: Any) -> dict[str, Any]:
    positions = [{"agent": n, "position": "Tea.", "agrees": a} for n, a in zip(NAMES, agree, strict=False)]
    base = {"reasoning": "They said so.", "consensus": False, "answer": None, "positions": positions}
    return {**base, "progress": "circling", **changed}


def test_a_verdict_and_its_consensus() -> None:
    schema = verdict_schema(NAMES, "yesno")
    assert schema.model_validate(verdict_given(True, False, True)).answer is None
    agreed = schema.model_validate(verdict_given(True, True, True, consensus=True, answer="Yes."))
    assert (agreed.consensus, agreed.answer) == (True, "yes")
    assert list(schema.model_fields) == ["reasoning", "consensus", "answer", "conditional", "positions", "progress"]


def test_names_are_understood_and_given_back_in_full() -> None:
    given = verdict_given()
    given["positions"] = [{"agent": a, "position": "Tea.", "agrees": True} for a in ("ada", "**Bo**", "李雷")]
    assert [p.agent for p in verdict_schema(NAMES, "free").model_validate(given).positions] == list(NAMES)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (verdict_given(True, True, True, consensus=True), "there is no answer"),
        (verdict_given(True, True, True, consensus=True, answer="none"), "there is no answer"),
        (verdict_given(True, False, True, consensus=True, answer="yes"), "Bo Říha do not agree"),
        (verdict_given(True, True, consensus=True, answer="yes"), "no position is given for 李雷"),
        (verdict_given(True, True, True, consensus=True, answer="perhaps"), "neither yes nor no"),
        (verdict_given(True, True, True, progress="well"), "progressing"),
    ],
)
def test_what_does_not_fit_together_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        verdict_schema(NAMES, "yesno").model_validate(given)


def test_a_choice_that_is_called_none_can_win() -> None:
    schema = verdict_schema(NAMES, "choice", ("None", "One"))
    assert schema.model_validate(verdict_given(True, True, True, consensus=True, answer="none")).answer == "None"
    assert schema.model_validate(verdict_given(True, True, False, answer="null")).answer is None


def test_nobody_is_named_who_does_not_take_part() -> None:
    given = verdict_given(True, True, True)
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
