"""When a conversation closes and ends, and who says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.graph.ending import closing_reason, ending, judge_is_due, leave_takers, quiet_turns
from persimchat.state.settings import Settings


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
    assert not any(judge_is_due(turn, 3, Settings(judge_every=every)) for turn in range(10))


def test_the_judge_is_asked_at_the_limit_before_it_is_said_that_there_is_no_consensus() -> None:
    settings = Settings(mode="debate", judge_every=5, max_messages=10)
    assert [turn for turn in range(11) if judge_is_due(turn, 3, settings)] == [3, 8, 10]
    assert judge_is_due(2, 3, Settings(mode="debate", max_messages=2))
