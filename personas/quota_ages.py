"""Ages in quotas: exact ("34"), a band ("18-29") or without an upper end ("65+")."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Final

from persimchat.state.errors import InputError
from persimchat.state.plain_text import quoted

YOUNGEST: Final = 4
"""Years; a younger child takes no part in a conversation."""
OLDEST: Final = 110
OPEN_END: Final = 95
"""Where "65+" ends, unless it begins later."""

_AGES: Final = re.compile(r"(\d{1,3})(?:\s*(?:-|–|to)\s*(\d{1,3})|\s*(\+))?")


@dataclass(frozen=True)
class Ages:
    """A band of ages, in years, both ends included."""

    youngest: int
    oldest: int

    def drawn(self, number: int, rng: random.Random) -> list[int]:
        """Draw this many ages from the band, without repeats as long as possible."""
        found: list[int] = []
        years = range(self.youngest, self.oldest + 1)
        while len(found) < number:
            found += rng.sample(years, min(number - len(found), len(years)))
        return found


def ages_in(text: str, where: str) -> Ages:
    """The ages that a text names.

    Args:
        text: "34", "18-29" or "65+".
        where: the place in words, for the error.

    Raises:
        InputError: it names no ages, or ages that are not possible.
    """
    found = _AGES.fullmatch(text)
    if not found:
        raise InputError(f"{quoted(text, 40)} is not an age", where=where, remedy="Write 34, 18-29 or 65+.")
    youngest = int(found[1])
    oldest = max(OPEN_END, youngest) if found[3] else int(found[2] or youngest)
    if not YOUNGEST <= youngest <= oldest <= OLDEST:
        what = "the younger age must come first" if oldest < youngest else f"ages must be from {YOUNGEST} to {OLDEST}"
        raise InputError(f"{what}, not {text}", where=where, remedy="Write 34, 18-29 or 65+.")
    return Ages(youngest, oldest)
