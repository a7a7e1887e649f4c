"""Who speaks next, and when the conversation ends."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.graph import phases
from persimchat.graph.ending import closing_reason, ending, judge_is_due, leave_takers, quiet_turns
from persimchat.graph.kinds import GRAPHS
from persimchat.graph.routing import candidates, choose_speaker, draw, softmax
from persimchat.graph.stories.story import build_story
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


@pytest.mark.proof
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


# When a conversation closes and ends, and who says so


def conversation(turn: int, *last_spoke: int, **given: Any) -> Any:
    agents = {f"P{n}": {"last_spoke": last, "need_to_talk": 5} for n, last in enumerate(last_spoke)}
    return {"turn": turn, "agents": agents, "verdicts": [], "closing": "", "closing_since": 0, **given}


def test_the_message_limit_ends_a_conversation_and_says_so() -> None:
    settings = Settings(max_messages=10)
    assert ending(conversation(9, 9, 8), settings) is None
    assert ending(conversation(10, 10, 9), settings) == (
        "message_limit", "message_limit", "The limit of 10 utterances was reached."
    )  # fmt: skip


def test_it_is_closed_when_everybody_has_taken_leave() -> None:
    settings = Settings(max_messages=20, closing="on")
    state = conversation(8, 7, 8, 6, closing="low_needs", closing_since=6)
    assert ending(state, settings) is None
    state["agents"]["P2"]["last_spoke"] = 9
    assert ending({**state, "turn": 9}, settings) == (
        "closed", "closing", "Everybody took leave, as no need to talk was above 2."
    )  # fmt: skip


def test_at_the_limit_it_counts_who_has_taken_leave() -> None:
    state = conversation(10, 9, 10, 8, 7, closing="near_limit", closing_since=8)
    found = ending(state, Settings(max_messages=10))
    assert found == ("closed", "closing", "2 of 4 participants took leave, near the limit of 10 utterances.")


def test_consensus_goes_before_the_rules_and_only_the_last_verdict_counts() -> None:
    settings = Settings(mode="debate", max_messages=10)
    yes, no = {"turn": 10, "consensus": True}, {"turn": 10, "consensus": False}
    found = ending(conversation(10, 9, 10, verdicts=[yes]), settings)
    assert found == ("consensus", "judge", "The sliding-window judge found consensus after 10 utterances.")
    assert ending(conversation(10, 9, 10, verdicts=[no]), settings) is not None
    assert ending(conversation(9, 9, 8, verdicts=[{"turn": 8, "consensus": True}]), settings) is None


@pytest.mark.parametrize(
    ("participants", "limit", "takers"), [(4, 10, 2), (4, 3, 0), (4, 16, 4), (2, 100, 2), (10, 12, 3)]
)
def test_leave_is_taken_in_a_quarter_of_all_utterances_at_most(participants: int, limit: int, takers: int) -> None:
    assert leave_takers(participants, limit) == takers


@given(st.integers(2, 20), st.integers(1, 200), st.sampled_from(["near_limit", "on"]))
def test_near_the_limit_leave_is_taken_to_the_end_and_not_before(participants: int, limit: int, closing: str) -> None:
    settings = Settings.model_validate({"max_messages": limit, "closing": closing})
    due = [turn for turn in range(limit) if closing_reason(turn, 0, participants, settings)]
    assert len(due) == leave_takers(participants, limit)
    assert due == list(range(limit - len(due), limit))


def test_when_nobody_needs_to_talk_it_closes_only_where_that_is_wanted() -> None:
    on, near = Settings(closing="on", max_messages=50), Settings(closing="near_limit", max_messages=50)
    assert [closing_reason(5, quiet, 3, on) for quiet in (0, 1, 2, 3)] == ["", "", "low_needs", "low_needs"]
    assert closing_reason(5, 9, 3, near) == closing_reason(0, 9, 3, on) == ""
    assert closing_reason(49, 9, 3, Settings(closing="off", max_messages=50)) == ""


def test_quiet_turns_run_without_a_gap() -> None:
    settings = Settings(closing_need=2)
    low, high = (
        {"A": {"need_to_talk": 2}, "B": {"need_to_talk": 0}},
        {"A": {"need_to_talk": 3}, "B": {"need_to_talk": 0}},
    )
    assert [quiet_turns(0, low, settings), quiet_turns(1, low, settings), quiet_turns(2, high, settings)] == [1, 2, 0]


@pytest.mark.parametrize(
    ("every", "asked"), [(1, [3, 4, 5, 6, 7, 8, 9]), (2, [3, 5, 7, 9]), (4, [3, 7])]
)  # fmt: skip
def test_the_judge_is_asked_once_everybody_could_have_spoken(every: int, asked: list[int]) -> None:
    settings = Settings(mode="debate", judge_every=every)
    assert [turn for turn in range(10) if judge_is_due(turn, 3, settings)] == asked
    assert not any(judge_is_due(turn, 3, Settings(mode="discussion")) for turn in range(10))


def test_the_judge_is_asked_at_the_limit_before_it_is_said_that_there_is_no_consensus() -> None:
    settings = Settings(mode="debate", judge_every=5, max_messages=10)
    assert [turn for turn in range(11) if judge_is_due(turn, 3, settings)] == [3, 8, 10]
    assert judge_is_due(2, 3, Settings(mode="debate", max_messages=2))


# The names of nodes, and what they say about how far a turn is


NAMED = {value for name, value in vars(phases).items() if name.isupper() and isinstance(value, str)}
assert set(phases.ALL) == NAMED


@pytest.mark.parametrize("build", [*GRAPHS.values()])
def test_every_node_has_its_name_from_there(build: Any) -> None:
    nodes = set(build(None).nodes) - {"__start__"}
    assert nodes <= NAMED
    assert phases.ASSEMBLE in nodes
    assert phases.turn_end("story" if build is build_story else "discussion") in nodes


def test_no_name_is_left_over() -> None:
    used = set().union(*(build(None).nodes for build in GRAPHS.values()))
    assert used >= NAMED


@pytest.mark.parametrize(
    ("nodes", "awakening", "hearing", "between"),
    [
        ((), False, False, True),
        (("awaken",), True, False, False),
        (("speak", "think"), False, False, True),
        (("publish",), False, False, False),
        (("hear", "analyse"), False, True, False),
        (("analyse",), False, True, False),
        (("answer", "analyse"), False, False, True),
        (("end_check",), False, True, False),
        (("count_votes",), False, False, False),
        (("agenda",), False, True, False),
        (("stocktake",), False, False, True),
        (("address", "address"), False, False, True),
    ],
)
def test_how_far_a_turn_is(nodes: tuple[str, ...], awakening: bool, hearing: bool, between: bool) -> None:
    found = (phases.awakening(nodes), phases.hearing(nodes), phases.between_utterances(nodes))
    assert found == (awakening, hearing, between)
