"""What installed packages register with entry points: kinds of conversation, settings, and modules of minds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal

from .errors import InputError

Registered = Literal["mode", "baseline", "settings", "module"]

_POINTS: Final = entry_points()
ADDED: Final[Mapping[Registered, Mapping[str, EntryPoint]]] = {
    name: {point.name: point for point in sorted(_POINTS.select(group=f"persimchat.{name}"))}
    for name in ("mode", "baseline", "settings", "module")
}
"""What is registered: kinds of conversation, by the setting that chooses them and its value; groups of settings and
modules of minds, by name."""


def loaded(point: EntryPoint, fits: Callable[[Any], bool], wanted: str) -> Any:
    """What a package registers.

    Args:
        point: its entry point.
        fits: whether a class is one that can be used.
        wanted: what it has to be, in words.

    Raises:
        InputError: it cannot be loaded, or does not fit; or two packages register different things by one name.
    """
    where, remedy = f"entry point {point.group} {point.name}", "Mend or uninstall the package that has it."
    values = {one.value for one in _POINTS.select(group=point.group, name=point.name)}
    if len(values) > 1:
        what = f"installed packages register {' and '.join(sorted(values))} by one name"
        raise InputError(what, where=where, remedy="Uninstall all but one of them.")
    try:
        found = point.load()
    except Exception as error:  # code of others
        what = f"{point.value} cannot be loaded: {type(error).__name__}: {error}"
        raise InputError(what, where=where, remedy=remedy) from error
    if not (isinstance(found, type) and fits(found)):
        raise InputError(f"{point.value} is no {wanted}", where=where, remedy=remedy)
    return found
