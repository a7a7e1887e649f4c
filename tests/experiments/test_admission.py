"""Admission under a budget: what runs together cannot pass it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.experiments.admission import Admission

CALLS = {"budget_calls": 40.0}


def test_the_worked_example():
    """A budget of 100 calls and three cells of 40: two start, use 38 and 41, and the third stays planned."""
    account = Admission({"budget_calls": 100}, {})
    assert account.admit("a", CALLS) == {"budget_calls": 50}
    assert account.admit("b", CALLS) == {"budget_calls": 50}
    assert account.admit("c", CALLS) is None
    account.settle("a", {"budget_calls": 38})
    assert account.admit("c", CALLS) is None
    account.settle("b", {"budget_calls": 41})
    assert account.admit("c", CALLS) is None
    assert account.spent == {"budget_calls": 79}


def test_the_last_cell_gets_all_that_is_left():
    account = Admission({"budget_calls": 45}, {})
    assert account.admit("a", CALLS) == {"budget_calls": 45}
    assert account.admit("b", CALLS) is None


def test_without_a_budget_all_start():
    account = Admission({}, {})
    assert [account.admit(name, CALLS) for name in "abc"] == [{}, {}, {}]


def test_a_cell_that_goes_on_counts_what_it_has_used():
    account = Admission({"budget_calls": 100}, {"budget_calls": 30})
    assert account.admit("a", CALLS, {"budget_calls": 30}) == {"budget_calls": 43}


def test_a_short_cell_reserves_a_whole_call():
    """A quarter of three calls is less than one, but an answer may be asked for again."""
    account = Admission({"budget_calls": 100}, {})
    assert account.admit("a", {"budget_calls": 3.0}) == {"budget_calls": 4}
    assert account.admit("b", {"budget_calls": 1.0}, reserve=2.5) == {"budget_calls": 3}


@given(
    limit=st.integers(1, 500),
    cells=st.lists(st.tuples(st.integers(1, 100), st.floats(0, 1)), max_size=20),
)
def test_the_sum_never_passes_the_budget(limit: int, cells: list[tuple[int, float]]):
    """Each cell uses at most its own budget, so all together use at most the whole."""
    account = Admission({"budget_calls": limit}, {})
    running: list[tuple[str, float, float]] = []
    for number, (estimate, share) in enumerate(cells):
        own = account.admit(str(number), {"budget_calls": estimate})
        if own is not None:
            running.append((str(number), own["budget_calls"], share))
        elif running:
            name, most, part = running.pop(0)
            account.settle(name, {"budget_calls": most * part})
    for name, most, part in running:
        account.settle(name, {"budget_calls": most * part})
    assert account.spent["budget_calls"] <= limit
