"""Finds participants by name: in full or in part, regardless of case and diacritics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from persimchat.state.normalise import folded, visible_form

_AROUND: Final = " \t\n.,:;!?\"'“”„*_`()[]"


def matching(wanted: str, names: Sequence[str]) -> list[str]:
    """The names that `wanted` may mean, by the first rule that finds any.

    The rules: names written exactly so; names that look the same; names equal except for case and diacritics; names
    that contain it as one word or as several in a row (a first name, a surname).
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
    """The first of `names` that looks the same as `wanted`, in its own spelling; `wanted` itself if none does."""
    if wanted in names:
        return wanted
    form = visible_form(wanted)
    return next((name for name in names if visible_form(name) == form), wanted)


def full_names(names: Sequence[str]) -> Callable[[Any], Any]:
    """A validator that turns what a model wrote for one of these names into the full name, if only one matches.

    Models write first names, other spellings, and marks around names. The validator leaves everything else unchanged.
    """

    def full(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = matching(value, names) or matching(value.strip(_AROUND), names)  # a name may be such marks alone
        return found[0] if len(found) == 1 else value

    return full
