"""Finding people by the names that others use for them: in full, in part, whatever the case and the diacritics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from persimchat.state.normalise import folded, visible_form

_AROUND: Final = " \t\n.,:;!?\"'“”„*_`()[]"


def matching(wanted: str, names: Sequence[str]) -> list[str]:
    """The names that `wanted` may mean.

    Those written exactly so; else those that look the same; else those equal but for case and diacritics; else those
    of which it is one word, or several in a row (a first name, a surname).
    """
    form, key = visible_form(wanted), folded(wanted)
    if not form:
        return []
    exact = [name for name in names if name == wanted] or [name for name in names if visible_form(name) == form]
    if exact or not key:
        return exact
    exact = [name for name in names if folded(name) == key]
    return exact or [name for name in names if f" {key} " in f" {folded(name)} "]


def as_listed(wanted: str, names: Sequence[str]) -> str:
    """The name among these that looks the same as `wanted`, as it is written there; `wanted` itself where none does."""
    if wanted in names:
        return wanted
    form = visible_form(wanted)
    return next((name for name in names if visible_form(name) == form), wanted)


def full_names(names: Sequence[str]) -> Callable[[Any], Any]:
    """A validator's first step: what a model wrote for one of these names, as the name in full where it is clear.

    Models write first names, other spellings, and marks around them; anything else is left as it is.
    """

    def full(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = matching(value, names) or matching(value.strip(_AROUND), names)  # a name may be such marks alone
        return found[0] if len(found) == 1 else value

    return full
