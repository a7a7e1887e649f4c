"""One test over a listing: its failure names every entry that is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def check_each(cases: Iterable[Any], check: Callable[..., object]) -> None:
    """Check every case, and fail with all those that did not pass and why.

    Args:
        cases: what is checked; a tuple holds several arguments.
        check: raises an error where a case is not as it should be.
    """
    wrong: list[str] = []
    listed = list(cases)
    assert listed, "there is nothing to check"
    for case in listed:
        try:
            check(*case) if isinstance(case, tuple) else check(case)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # they are all told below
            reason = str(error).strip().splitlines()
            wrong.append(f"{case!r}: {type(error).__name__} {reason[0] if reason else ''}".rstrip())
    assert not wrong, f"{len(wrong)} of {len(listed)} are not as they should be:\n" + "\n".join(wrong)
