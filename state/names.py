"""Finding people by the names that others use for them: in full, in part, whatever the case and the diacritics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from persimchat.state.folding import folded

_AROUND: Final = " \t\n.,:;!?\"'“”„*_`()[]"


def matching(wanted: str, names: Sequence[str]) -> list[str]:
    """The names that `wanted` may mean.

    Those written exactly so; else those equal but for case and diacritics; else those of which it is one word, or
    several in a row (a first name, a surname).
    """
    key = folded(wanted)
    if not key:
        return []
    exact = [name for name in names if name == wanted] or [name for name in names if folded(name) == key]
    return exact or [name for name in names if f" {key} " in f" {folded(name)} "]


def full_names(names: Sequence[str]) -> Callable[[Any], Any]:
    """A validator's first step: what a model wrote for one of these names, as the name in full where it is clear.

    Models write first names, other spellings, and marks around them; anything else is left as it is.
    """

    def full(value: Any) -> Any:
        found = matching(value.strip(_AROUND), names) if isinstance(value, str) else []
        return found[0] if len(found) == 1 else value

    return full
