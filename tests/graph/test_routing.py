"""Who speaks next, and when the conversation ends."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.graph.routing import candidates, choose_speaker, draw, softmax
from persimchat.state.settings import Settings


def minds(**needs: int | tuple[int, int, int]) -> dict[str, dict[str, int]]:
    """Minds by name: a need, or (need, utterances, last_spoke)."""
    rows = {name: value if isinstance(value, tuple) else (value, 0, 0) for name, value in needs.items()}
    return {n: {"need_to_talk": need, "utterances": u, "last_spoke": last} for n, (need, u, last) in rows.items()}


def test_the_greatest_need_speaks() -> None:
    assert choose_speaker(minds(A=3, B=9, C=5), 0, Settings()) == "B"


def test_nobody_speaks_twice_in_a_row_unless_allowed() -> None:
    group = minds(A=(9, 1, 1), B=(2, 0, 0))
    assert choose_speaker(group, 1, Settings()) == "B"
    assert choose_speaker(group, 1, Settings(allow_repeated_speaker=True)) == "A"


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (minds(A=(5, 2, 1), B=(5, 1, 4)), "B"),  # fewest utterances so far
        (minds(A=(5, 1, 3), B=(5, 1, 2)), "B"),  # then longest silent
        (minds(A=(5, 0, 0), B=(5, 0, 0)), "A"),  # then order of listing
    ],
)
def test_ties(group: dict[str, dict[str, int]], expected: str) -> None:
    assert choose_speaker(group, 9, Settings()) == expected


def test_round_robin_follows_the_listing() -> None:
    group = minds(C=0, A=10, B=5)
    spoke = [choose_speaker(group, turn, Settings(pattern="round_robin")) for turn in range(6)]
    assert spoke == ["C", "A", "B", "C", "A", "B"]


@given(st.lists(st.integers(0, 10), min_size=1, max_size=20), st.floats(0.01, 100))
def test_softmax_is_a_distribution_in_the_order_of_the_scores(scores: list[int], temperature: float) -> None:
    probabilities = softmax(scores, temperature)
    assert math.isclose(sum(probabilities), 1)
    ordered = sorted(zip(scores, probabilities, strict=True))
    assert all(a[1] <= b[1] + 1e-12 for a, b in zip(ordered, ordered[1:], strict=False))


def test_softmax_follows_its_formula() -> None:
    weights = [math.exp(s / 2.0) for s in (3, 7, 5)]
    assert softmax([3, 7, 5], 2.0) == pytest.approx([w / sum(weights) for w in weights])


def test_softmax_selection_draws_with_those_probabilities() -> None:
    group = minds(A=4, B=6, C=5)
    draws = Counter(
        choose_speaker(group, turn, Settings(selection="softmax", selection_temperature=1.0, seed=3))
        for turn in range(4000)
    )
    expected = dict(zip("ABC", softmax([4, 6, 5], 1.0), strict=True))
    assert {name: draws[name] / 4000 for name in "ABC"} == pytest.approx(expected, abs=0.03)


def test_softmax_respects_allow_repeated_speaker() -> None:
    group = minds(A=(10, 1, 7), B=(0, 0, 0))
    settings = Settings(selection="softmax", selection_temperature=0.1)
    assert choose_speaker(group, 7, settings) == "B"


def test_randomness_depends_on_seed_turn_and_purpose_alone() -> None:
    assert draw(1, 2, "speaker").random() == draw(1, 2, "speaker").random()
    assert len({draw(s, t, p).random() for s in (1, 2) for t in (1, 2) for p in ("speaker", "other")}) == 8


def test_who_takes_leave_speaks_once() -> None:
    group = minds(A=(9, 2, 9), B=(1, 1, 5), C=(0, 1, 7))
    assert candidates(group, 9, Settings(), leaving_since=7) == ["B", "C"]
    assert choose_speaker(group, 9, Settings(), leaving_since=7) == "B"
    in_turn = Settings(pattern="round_robin")
    assert choose_speaker(group, 9, in_turn, leaving_since=5) == "B"
    assert choose_speaker(minds(A=(0, 1, 7), B=(0, 1, 8), C=(0, 1, 6)), 9, in_turn, leaving_since=6) == "C"


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=6),
    st.integers(0, 12),
    st.none() | st.integers(0, 12),
    st.booleans(),
    st.sampled_from(["need_to_talk", "round_robin", "selector"]),
)
def test_there_is_always_somebody_who_may_speak(
    last: list[int], turn: int, since: int | None, again: bool, pattern: str
) -> None:
    group = {f"P{n}": {"need_to_talk": n, "utterances": 0, "last_spoke": spoke} for n, spoke in enumerate(last)}
    settings = Settings.model_validate({"pattern": pattern, "allow_repeated_speaker": again})
    able = candidates(group, turn, settings, leaving_since=since)
    assert able and set(able) <= set(group)
    assert choose_speaker(group, turn, settings, leaving_since=since) in able
