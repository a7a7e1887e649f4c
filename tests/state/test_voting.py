"""Votes: majority, weights, ties, and how many rounds there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings
from persimchat.state.voting import Tally, Vote, calibrated, in_words, rounds_of, tallied

WEIGHTS = [0.1, 0.3, 0.5, 0.8, 1.0]
ANSWERS = st.sampled_from(["1", "2", "3"])
VOTES = st.lists(st.tuples(ANSWERS, st.sampled_from(WEIGHTS)), min_size=1, max_size=12).map(
    lambda given: [Vote(f"A{index}", answer, weight) for index, (answer, weight) in enumerate(given)]
)


def votes(*answers: str) -> list[Vote]:
    return [Vote(f"A{index}", answer) for index, answer in enumerate(answers)]


def test_the_most_frequent_answer_wins():
    assert tallied(votes("20", "18", "18.0"), "number") == [Tally("18", ["A1", "A2"], 2), Tally("20", ["A0"], 1)]


def test_a_tie_goes_to_the_answer_that_was_listed_first():
    assert [t.answer for t in tallied(votes("b", "a", "a", "b", "c"), "free")] == ["b", "a", "c"]


def test_confident_few_outweigh_unsure_many():
    given = [Vote("A", "18", calibrated(1.0)), Vote("B", "20", calibrated(0.7)), Vote("C", "20", calibrated(0.75))]
    assert tallied(given, "number")[0] == Tally("18", ["A"], 1.0)
    assert tallied(given, "number")[1].weight == 0.6


def test_equal_weights_tie_however_they_are_made_up():
    """In binary 0.5 + 0.3 is a little more or less than 0.8, and 0.1 three times is not 0.3."""
    for parts, whole in (([0.5, 0.3], 0.8), ([0.1, 0.1, 0.1], 0.3), ([0.3, 0.3, 0.1, 0.1], 0.8)):
        alone = [Vote("A", "x", whole)]
        several = [Vote(f"B{n}", "y", part) for n, part in enumerate(parts)]
        assert tallied([*alone, *several], "free")[0].answer == "x"
        assert tallied([*several, *alone], "free")[0].answer == "y"


@pytest.mark.parametrize(
    ("one", "other", "form", "same"),
    [
        ("18", "18.0", "number", True),
        ("1e3", "1000", "number", True),
        ("yes", "no", "yesno", False),
        ("Trams, for all.", "trams for ALL", "free", True),
        ("Trams", "Buses", "free", False),
        ("-30", "+30", "choice", False),
        ("7(√3 – 1)", "7(√3 + 1)", "choice", False),
    ],
)
def test_which_answers_are_the_same(one: str, other: str, form: AnswerFormat, same: bool):
    assert (len(tallied(votes(one, other), form)) == 1) is same


def test_no_two_choices_of_a_real_question_are_counted_as_one(shared: Path):
    lines = (shared / "data/benchmarks/aqua_test.json").read_text(encoding="utf-8").splitlines()
    for options in (json.loads(line)["options"] for line in lines):
        for choices in (options, [option.split(")", 1)[1].strip() for option in options]):
            assert len(tallied(votes(*choices), "choice")) == len(set(choices))


@given(VOTES)
def test_everybody_is_counted_once_and_the_first_has_the_greatest_weight(given: list[Vote]):
    found = tallied(given, "number")
    assert sorted(name for tally in found for name in tally.supporters) == sorted(vote.agent for vote in given)
    assert sum(tally.weight for tally in found) == pytest.approx(sum(vote.weight for vote in given))
    assert [tally.weight for tally in found] == sorted((tally.weight for tally in found), reverse=True)
    order = [vote.agent for vote in given]
    for tally in found:
        assert tally.supporters == [name for name in order if name in tally.supporters]
        assert {vote.answer for vote in given if vote.agent in tally.supporters} == {tally.answer}


@given(VOTES)
def test_among_equal_weights_the_first_listed_wins(given: list[Vote]):
    found = tallied(given, "number")
    firsts = [next(n for n, vote in enumerate(given) if vote.answer == tally.answer) for tally in found]
    for (one, first), (other, second) in zip(
        zip(found, firsts, strict=True), list(zip(found, firsts, strict=True))[1:], strict=False
    ):
        assert one.weight > other.weight or first < second


@given(VOTES, st.permutations(range(12)))
def test_weights_do_not_depend_on_the_order(given: list[Vote], order: list[int]):
    shuffled = [given[place] for place in order if place < len(given)]
    weights = {tally.answer: tally.weight for tally in tallied(given, "number")}
    assert {tally.answer: tally.weight for tally in tallied(shuffled, "number")} == weights


@given(st.lists(ANSWERS, min_size=1, max_size=12))
def test_one_more_for_the_winner_leaves_it_the_winner(answers: list[str]):
    winner = tallied(votes(*answers), "number")[0].answer
    assert tallied(votes(*answers, winner), "number")[0].answer == winner


@pytest.mark.parametrize(
    ("confidence", "weight"),
    [(0, 0.1), (0.6, 0.1), (0.61, 0.3), (0.79, 0.3), (0.8, 0.5), (0.89, 0.5), (0.9, 0.8), (0.999, 0.8), (1, 1.0)],
)
def test_confidences_become_weights_as_in_the_paper(confidence: float, weight: float):
    assert calibrated(confidence) == weight


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_confidence_never_weighs_less(one: float, other: float):
    low, high = sorted((one, other))
    assert calibrated(low) <= calibrated(high)
    assert calibrated(low) in WEIGHTS


@pytest.mark.parametrize("confidence", [-0.1, 1.01, float("nan"), float("inf")])
def test_what_is_no_confidence_has_no_weight(confidence: float):
    with pytest.raises(ValueError, match="0 to 1"):
        calibrated(confidence)


def test_a_count_in_words():
    found = tallied([Vote("Ada", "18", 0.8), Vote("Bo", "20", 0.5), Vote("Cy", "18", 0.5)], "number")
    assert in_words(found) == "18: Ada, Cy; 20: Bo"
    assert in_words(found, weights=True) == "18: Ada, Cy (weight 1.3); 20: Bo (weight 0.5)"
    assert len(in_words([Tally("word " * 100, ["Ada"], 1)])) < 100


@pytest.mark.parametrize(
    ("participants", "given", "rounds"),
    [(3, {}, 3), (3, {"max_messages": 8}, 2), (3, {"max_messages": 3}, 1), (4, {"rounds": 100}, 15)],
)
def test_rounds_fit_the_message_limit(participants: int, given: dict[str, Any], rounds: int):
    assert rounds_of(participants, Settings(mode="debate", baseline="mad", **given)) == rounds


def test_less_than_a_round_is_refused(refused: Any):
    settings = Settings(mode="debate", baseline="reconcile", max_messages=2)
    refused(lambda: rounds_of(3, settings), "max_messages=2", "3 answers", "reconcile", "3 or more")
    with pytest.raises(InputError):
        rounds_of(100, Settings(mode="debate", baseline="mad"))
