"""Quotas: read with errors that name the place, and dealt out exactly."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persimchat.personas.generation.quota_sampling import counts, persons
from persimchat.personas.generation.quotas import Ages, Cell, Quotas, ages_in, load_quotas

Write = Callable[..., Path]
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/quotas.yaml"


@st.composite
def whole_shares(draw: st.DrawFn) -> list[Fraction]:
    """Shares that sum to one, zero ones among them."""
    weights = draw(st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@given(whole_shares(), st.integers(1, 200), st.integers(0, 2**32))
def test_counts_are_exact(shares: list[Fraction], number: int, seed: int):
    found = counts(shares, number, random.Random(seed))
    assert sum(found) == number
    assert all(abs(count - share * number) < 1 for count, share in zip(found, shares, strict=True))
    assert found == counts(shares, number, random.Random(seed))


@given(whole_shares(), whole_shares(), st.integers(1, 100), st.integers(0, 1000))
@settings(max_examples=60)
def test_every_division_is_exact_at_once(first: list[Fraction], second: list[Fraction], number: int, seed: int):
    quotas = Quotas(
        {
            "colour": tuple(Cell(share, {"colour": str(n)}) for n, share in enumerate(first)),
            "cells": tuple(
                Cell(share, {"work": str(n)}, Ages(10 * n + 10, 10 * n + 19)) for n, share in enumerate(second)
            ),
        }
    )
    people = persons(quotas, number, seed)
    assert people == persons(quotas, number, seed)
    for key, shares in (("colour", first), ("work", second)):
        found = Counter(int(person[key]) for person in people)
        assert all(abs(found[n] - share * number) < 1 for n, share in enumerate(shares))
    assert all(int(person["age"]) // 10 - 1 == int(person["work"]) for person in people)


def test_ties_fall_by_the_seed():
    half = [Fraction(1, 2), Fraction(1, 2)]
    assert {tuple(counts(half, 1, random.Random(seed))) for seed in range(20)} == {(1, 0), (0, 1)}


def test_divisions_are_not_tied_to_each_other():
    """Listed in the same order, the first values must not all come to the same people."""
    halves = Fraction(1, 2)
    quotas = Quotas({key: (Cell(halves, {key: "a"}), Cell(halves, {key: "b"})) for key in ("one", "two")})
    both = Counter((person["one"], person["two"]) for seed in range(20) for person in persons(quotas, 10, seed))
    assert set(both) == {("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")}
    assert min(both.values()) > 25


def test_ages_are_drawn_within_their_band():
    drawn = ages_in("18-22", "").drawn(12, random.Random(1))
    assert set(drawn) == {18, 19, 20, 21, 22}
    assert len(set(drawn[:5])) == 5  # nobody is as old as another before every age was drawn
    assert (ages_in("34", ""), ages_in("65+", ""), ages_in("7 – 9", "")) == (Ages(34, 34), Ages(65, 95), Ages(7, 9))
    assert ages_in("100+", "") == Ages(100, 100)


def test_what_is_left_open_is_not_fixed(write: Write):
    quotas = load_quotas(write("q.yaml", "quotas:\n  Gender: {woman: 1/3, any: 2/3}\n  age: {30: 50%, ANY: 0.5}\n"))
    people = persons(quotas, 6, 0)
    assert Counter("gender" in person for person in people) == {True: 2, False: 4}
    assert Counter(person.get("age") for person in people) == {"30": 3, None: 3}


def test_without_quotas_nothing_is_fixed():
    assert persons(None, 3, 0) == [{}, {}, {}]


def test_cells_keep_together_what_belongs_together(write: Write):
    text = """
cells:
  - {share: 1/4, age: 18-20, occupation: student}
  - {share: 3/4, age: 40, occupation: any}
"""
    people = persons(load_quotas(write("q.yaml", text)), 8, 3)
    students = [person for person in people if person.get("occupation") == "student"]
    assert len(students) == 2
    assert all(18 <= int(person["age"]) <= 20 for person in students)
    assert [person for person in people if "occupation" not in person] == [{"age": "40"}] * 6


@pytest.mark.parametrize("written", ["0.5", "50%", "1/2", "'0.5'", "2/4", "50.0 %"])
def test_shares_may_be_written_in_three_ways(written: str, write: Write):
    (cells,) = load_quotas(write("q.yaml", f"quotas: {{gender: {{a: {written}, b: 1/2}}}}")).divisions.values()
    assert [cell.share for cell in cells] == [Fraction(1, 2)] * 2


def test_thirds_are_thirds(write: Write):
    assert load_quotas(write("q.yaml", "quotas: {gender: {a: 1/3, b: 1/3, c: 1/3}}"))


WRONG = {
    "more than one": ("quotas:\n  gender:\n    woman: 0.7\n    man: 0.6\n", ":2", "sum to 1.3, more than", "Take 0.3"),
    "less than one": ("quotas:\n  age:\n    30: 0.5\n    40: 0.25\n", ":2", "sum to 0.75, less than", "any: 0.25"),
    "ninths": ("quotas: {gender: {a: 1/9, b: 8/9, c: 1/9}}", "gender", "10/9", "Take 1/9"),
    "cells": ("cells:\n- {share: 0.4, age: 30}\n", ":1", "the cells sum to 0.4", "Add 0.6"),
    "negative": ("quotas:\n  gender:\n    woman: -0.5\n    man: 1.5\n", ":3", "not -0.5", "0.25"),
    "percent": ("quotas: {gender: {a: 50, b: 50}}", "gender.a", "not 50", "25%"),
    "word": ("quotas: {gender: {a: half}}", "gender.a", "not 'half'", "1/4"),
    "truth": ("quotas: {gender: {a: true}}", "gender.a", "not True", "1/4"),
    "by zero": ("quotas: {gender: {a: 1/0}}", "gender.a", "'1/0'", "1/4"),
    "endless": ("quotas: {gender: {a: 1e999999999}}", "gender.a", "number from 0 to 1", "1/4"),
    "nothing": ("# only a comment\n", "q.yaml", "holds nothing", "Write"),
    "empty": ("quotas: {}\n", "quotas", "empty", "gender"),
    "no shares": ("quotas: {gender: woman}\n", "quotas.gender", "no shares", "gender: {"),
    "list": ("quotas: [gender]\n", "quotas", "not a mapping", "Write"),
    "field": ("quota: {gender: {a: 1}}\n", "quota", "unknown field 'quota'", "'quotas'"),
    "no YAML": ("quotas: [a\n", "q.yaml:2", "not well-formed YAML", "Check"),
    "overlap": ("quotas:\n  age:\n    18-30: 1/2\n    30-40: 1/2\n", ":4", "overlap", "18-29"),
    "backwards": ("quotas: {age: {40-30: 1}}", "age.40-30", "younger age must come first", "18-29"),
    "baby": ("quotas: {age: {2: 1}}", "age.2", "from 4 to 110", "18-29"),
    "age": ("quotas: {age: {old: 1}}", "age.old", "'old' is not an age", "65+"),
    "twice": ("quotas: {gender: {Woman: 1/2, woman: 1/2}}", "gender.woman", "given twice", "Add up"),
    "name twice": ("quotas: {gender: {a: 1}, Gender: {b: 1}}", "Gender", "given twice", "Keep one"),
    "both": ("quotas: {gender: {a: 1}}\ncells: [{share: 1, Gender: b}]", "cells[0].Gender", "as well", "one place"),
    "name": ("quotas: {name: {Bo: 1}}", "quotas.name", "not a characteristic", "occupation"),
    "no share": ("cells: [{age: 30}]", "cells[0]", "no share", "share: 1/2"),
    "bare share": ("cells: [{share: 1}]", "cells[0]", "no characteristic", "share: 1/2"),
    "value": ("cells: [{share: 1, age: [3]}]", "cells[0].age", "no usable value", "any"),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_line_with_place_and_remedy(name: str, write: Write, refused: Callable[..., str]):
    text, *words = WRONG[name]
    path = write("q.yaml", text)
    refused(lambda: load_quotas(path), str(path), *words)


def test_the_example_holds():
    people = persons(load_quotas(EXAMPLE), 20, 0)
    assert Counter(person["gender"] for person in people) == {"woman": 10, "man": 10}
    assert Counter(person.get("occupation") for person in people) == {"student": 4, "retired": 4, None: 12}
    assert all(int(person["age"]) < 25 for person in people if person.get("occupation") == "student")
