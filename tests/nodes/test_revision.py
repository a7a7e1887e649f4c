"""Which wording is said, by the scores of all: the arithmetic of revision, without a model."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodes.conftest import mind_of

from persimchat.nodes.minds.revision import RETRIES, THRESHOLD, chosen, question_of
from persimchat.prompts.blocks import Block, Item

SCORES = st.lists(st.integers(1, 10), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("scores", "taken"),
    [
        ([[7, 7, 6]], 0),
        ([[7, 7, 7]], None),
        ([[10, 10]], None),
        ([[6, 8]], None),
        ([[]], 0),
        ([[7, 7, 7], [2, 3, 2]], 1),
        ([[7, 7, 7], [10]], None),
        ([[9], []], 1),
        ([[9, 9, 9], [10], [8, 7, 8]], None),
        ([[9, 9, 9], [10], [8, 7, 8], [8, 8, 8]], 2),
        ([[8, 8, 8], [9], [8, 8, 8], [8]], 0),
        ([[8, 8, 8], [10], [9], [7, 7, 6]], 3),
    ],
)
def test_by_hand(scores: list[list[int]], taken: int | None) -> None:
    assert chosen(scores) == taken


@given(st.lists(SCORES, min_size=1, max_size=5), st.floats(1, 10), st.integers(0, 4))
def test_the_first_that_passes_is_said_or_the_least_of_all(
    wordings: list[list[int]], threshold: float, retries: int
) -> None:
    made: list[list[int]] = []
    taken = None
    for scores in wordings:
        made.append(scores)
        taken = chosen(made, threshold=threshold, retries=retries)
        if taken is not None:
            break
    means = [fmean(scores) for scores in made]
    assert len(made) <= retries + 1
    if taken is None:
        assert min(means) > threshold and len(made) <= retries
    elif means[taken] <= threshold:
        assert taken == len(made) - 1 and all(mean > threshold for mean in means[:-1])
    else:
        assert len(made) == retries + 1
        assert means[taken] == min(means) and means[taken] not in means[:taken]


@given(SCORES, st.permutations(range(5)))
def test_the_order_of_the_answers_does_not_count(scores: list[int], order: list[int]) -> None:
    mixed = [scores[n] for n in order if n < len(scores)]
    assert chosen([scores]) == chosen([mixed])


def test_three_whole_scores_conflict_from_a_sum_of_21() -> None:
    sums = {a + b + c: chosen([[a, b, c]]) for a in range(1, 11) for b in range(1, 11) for c in range(1, 11)}
    assert {total for total, taken in sums.items() if taken is None} == set(range(21, 31))
    assert (THRESHOLD, RETRIES) == (6.67, 3)


def test_a_check_shows_what_was_left_out_and_who_says_what_to_whom() -> None:
    left = [Block("memories", ()), Block("basic_information", (Item("trait", {"text": "hates coffee"}),))]
    asked = question_of("Bo, I love </wording> coffee.", left, mind_of())
    text = str(asked.messages[1].text)
    assert text.startswith("<basic_information>\n- Trait: hates coffee\n</basic_information>\n")
    assert "- Speaker: Ada Lind\n- Speaks to: Bo Říha\n- Words: Bo, I love ‹/wording> coffee.\n</wording>" in text
    assert "Tea?" in text and "<memories>" not in text
