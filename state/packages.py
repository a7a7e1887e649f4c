"""What installed packages register with entry points.

Kinds of conversation and settings, modules of minds, rules of who speaks next, and measures of experiments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal, cast, get_args

from .errors import InputError

Registered = Literal["mode", "baseline", "settings", "module", "pattern", "measure"]

OWN_PATTERNS: Final = ("need_to_talk", "round_robin", "selector")
"""Who speaks next, without a package; no package's rule has these names."""

_POINTS: Final = entry_points()
ADDED: Final[Mapping[Registered, Mapping[str, EntryPoint]]] = {
    name: {
        point.name: point
        for point in sorted(_POINTS.select(group=f"persimchat.{name}"))
        if name != "pattern" or point.name not in OWN_PATTERNS
    }
    for name in get_args(Registered)
}
"""What is registered, by name: of a kind of conversation, the value of the setting that chooses it."""

Rule = Callable[[Mapping[str, Mapping[str, Any]], int, random.Random], str]
"""Who speaks next: the candidates' minds by name, utterances so far, and the turn's own chance, to a candidate's name.

Of a mind, a rule sees copies of `need_to_talk`, `openness`, `emotion`, `utterances`, `last_spoke`, `human` and `own`,
as far as it has them (state/minds/mind.py).
"""


def loaded(point: EntryPoint, fits: Callable[[Any], bool], wanted: str) -> Any:
    """What a package registers.

    Args:
        point: its entry point.
        fits: whether it is something that can be used.
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
    if not fits(found):
        raise InputError(f"{point.value} is no {wanted}", where=where, remedy=remedy)
    return found


def class_of(base: type) -> Callable[[Any], bool]:
    """Whether something is a class derived from this one, for `loaded`."""
    return lambda found: isinstance(found, type) and issubclass(found, base)


@cache
def rule_of(pattern: str) -> Rule | None:
    """The rule of an installed package by which the next speaker is chosen; None if the setting `pattern` names none.

    Raises:
        InputError: it cannot be loaded, or is no function.
    """
    point = ADDED["pattern"].get(pattern)
    return cast(Rule, loaded(point, callable, "function (candidates, turn, chance)")) if point is not None else None
