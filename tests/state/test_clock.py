"""The memory clock, times in words, and the formats of clients."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.clock import ago, for_clients, in_words, moved, time_in
from persimchat.state.errors import InputError

NOON = "2025-03-03T12:00:00"
TIMES = st.datetimes(datetime(2, 1, 1), datetime(9000, 12, 31, 23, 59, 59))


def before(**span: float) -> str:
    return (datetime.fromisoformat(NOON) - timedelta(**span)).isoformat()


@pytest.mark.parametrize(
    ("last", "ticks"),
    [
        ("", 0),
        (NOON, 0),
        (before(minutes=59), 0),
        (before(hours=1), 1),
        (before(hours=49.5), 49),
        (before(hours=-5), 0),
    ],
)
def test_the_memory_clock_moves_by_full_hours_and_never_back(last: str, ticks: int) -> None:
    assert moved(7, last, NOON) == 7 + ticks


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (before(seconds=59), "just now"),
        (before(hours=-1), "just now"),
        (before(seconds=60), "1 minute ago"),
        (before(minutes=12.9), "12 minutes ago"),
        (before(hours=1), "1 hour ago"),
        (before(hours=23.9), "23 hours ago"),
        (before(days=1), "1 day ago"),
        (before(days=3), "3 days ago"),
        (before(days=14), "2 weeks ago"),
        (before(days=61), "2 months ago"),
        (before(days=800), "2 years ago"),
    ],
)
def test_the_past_in_words(then: str, words: str) -> None:
    assert ago(then, NOON) == words


def test_a_time_in_words() -> None:
    assert in_words("2025-03-03T11:40:05") == ("Monday, 3 March 2025", "11:40")


@pytest.mark.parametrize(
    "text",
    [
        "March 03, 2025, 11:40:00",
        "march 3, 2025, 11:40",
        " Mar 3,2025,11:40:00 ",
        "2025-03-03T11:40:00",
        "2025-03-03 11:40",
        "2025-03-03T11:40:00.5+02:00",
        "20250303T114000",
    ],
)
def test_times_of_clients_are_read(text: str) -> None:
    assert time_in(text, where="field curr_time") == "2025-03-03T11:40:00"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noon",
        "February 30, 2025, 11:40:00",
        "Mart 3, 2025, 11:40:00",
        "9001-01-01",
        "0001-01-01",
        "2025-03-03 25:00",
    ],
)
def test_what_is_no_time_is_refused_with_field_and_remedy(text: str) -> None:
    with pytest.raises(InputError, match="is not a time") as refused:
        time_in(text, where="field curr_time")
    assert refused.value.where == "field curr_time"
    assert "2025-03-03 11:40" in refused.value.remedy


@given(st.text())
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(InputError):
        assert datetime.fromisoformat(time_in(text, where="field at"))


@given(TIMES)
def test_both_formats_read_back_equal(at: datetime) -> None:
    iso = at.replace(microsecond=0).isoformat()
    assert time_in(for_clients(iso), where="") == iso == time_in(iso, where="")


@given(TIMES, TIMES)
def test_words_never_fail(one: datetime, other: datetime) -> None:
    assert ago(one.isoformat(), other.isoformat())
    assert all(in_words(one.isoformat()))
