"""The helper that checks a listing in one test."""

from __future__ import annotations

import pytest
from offenders import check_each


def test_a_failure_names_all_offenders_and_why() -> None:
    def check(name: str, number: int) -> None:
        if name == "b":
            raise KeyError(number)
        with pytest.raises(ZeroDivisionError):
            1 / number

    with pytest.raises(AssertionError) as caught:
        check_each([("a", 0), ("b", 1), ("c", 2)], check)
    first, second, third = str(caught.value).splitlines()
    assert first == "2 of 3 are not as they should be:"
    assert second == "('b', 1): KeyError 1"
    assert third.startswith("('c', 2): Failed DID NOT RAISE")


def test_an_empty_listing_is_no_success() -> None:
    with pytest.raises(AssertionError, match="nothing to check"):
        check_each([], print)
