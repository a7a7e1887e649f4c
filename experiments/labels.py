"""Labels as readers of tables take them: which look the same, and which are read as missing or as numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from ..state.plain_text import quoted, visible_form

_MISSING: Final = frozenset(
    {"", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na", "nan",
     "none", "null"}
)  # fmt: skip
"""Texts that pandas or R read as a missing value, in small letters."""
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.I | re.ASCII)
_SHOWN: Final = 40


def look(label: Any, beside: Sequence[Any]) -> Hashable:
    """What labels of one axis have in common if they are one value or look the same.

    Args:
        label: text, a number, true, false or None.
        beside: all labels of the axis; a text is the same as the number that it says, if numbers are among them.
    """
    numbers = any(isinstance(one, int | float) and not isinstance(one, bool) for one in beside)
    if isinstance(label, str):
        return float(label) if numbers and _NUMBER.fullmatch(label) else visible_form(label)
    return json.dumps(label) if label is None or isinstance(label, bool) else label


def misread(what: str, labels: Iterable[Any]) -> list[str]:
    """What to say of labels that programs take for missing or for numbers; a sentence each.

    Args:
        what: the labels are, in the singular: axis model, task, participant.
        labels: all of them.
    """
    given = list(dict.fromkeys(labels))
    missing = [one for one in given if one is None or (isinstance(one, str) and one.strip().casefold() in _MISSING)]
    numbers = [one for one in given if isinstance(one, str) and _NUMBER.fullmatch(one)]
    found = []
    for some, taken in ((missing, "missing"), (numbers, "a number")):
        if some:
            shown = ", ".join("null" if one is None else quoted(one, _SHOWN) for one in some[:5])
            found.append(
                f"{what} {shown} is read as {taken} by pandas or R: choose another label, or read the tables as text "
                "(the codebook says how)."
            )
    return found
