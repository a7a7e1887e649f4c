"""The forms of a debate's answer."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.answer_format import AnswerFormat, parse_answer, same_answer

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
