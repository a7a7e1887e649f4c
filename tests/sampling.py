"""Of a long table of cases, those that `make proof` tries; `make long` tries them all."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest


def sampled(cases: Iterable[Any], most: int, seed: int = 0) -> list[Any]:
    """All cases for `parametrize`; those that are not drawn are marked `long`.

    Args:
        cases: a table; a case that is a tuple has several arguments.
        most: how many are drawn, one from each of so many equal parts of the table: no kind is left out.
        seed: of the draw.
    """
    given, draw = list(cases), Random(seed)
    parts = min(most, len(given))
    drawn = {draw.randrange(part * len(given) // parts, (part + 1) * len(given) // parts) for part in range(parts)}
    every = (case if isinstance(case, tuple) else (case,) for case in given)
    return [pytest.param(*case, marks=() if number in drawn else pytest.mark.long) for number, case in enumerate(every)]
