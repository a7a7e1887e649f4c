"""What installed packages register with entry points, and scripts and notebooks with `register`.

Kinds of conversation and settings, modules of minds, rules of who speaks next, and measures of experiments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from threading import Thread
from typing import Any, Final, Literal, ParamSpec, TypeVar, cast, get_args

from pydantic import WrapValidator

from .errors import InputError

Registered = Literal["mode", "baseline", "settings", "module", "pattern", "measure"]

OWN_PATTERNS: Final = ("need_to_talk", "round_robin", "selector")
"""Who speaks next, without a package; no package's rule has these names."""

P = ParamSpec("P")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Given:
    """What a script or a notebook registers, as an entry point has it."""

    group: str
    name: str
    made: Any

    @property
    def value(self) -> str:
        """What it is called where it was made."""
        named = hasattr(self.made, "__qualname__") and hasattr(self.made, "__module__")
        return f"{self.made.__module__}:{self.made.__qualname__}" if named else repr(self.made)

    def load(self) -> Any:
        """What was registered."""
        return self.made


_POINTS: Final = entry_points()
ADDED: Final[Mapping[Registered, dict[str, EntryPoint | Given]]] = {
    name: {
        point.name: point
        for point in sorted(_POINTS.select(group=f"persimchat.{name}"))
        if name != "pattern" or point.name not in OWN_PATTERNS
    }
    for name in get_args(Registered)
}
"""What is registered, by name: of a kind of conversation, the value of the setting that chooses it."""


def patterns() -> tuple[str, ...]:
    """Who speaks next: all values of the setting `pattern`, the rules of others last."""
    return (*OWN_PATTERNS, *ADDED["pattern"])


_KEPT: Final[list[Any]] = []


def kept(function: Callable[P, Made]) -> Callable[P, Made]:
    """As `functools.cache`, until something is registered."""
    cached = cache(function)
    _KEPT.append(cached)
    return cast(Callable[P, Made], cached)


def register(kind: Literal["module", "pattern", "measure"], name: str, made: Any) -> None:
    """Register something of one's own in this process, in place of an installed package: for scripts and notebooks.

    Registered again by the same name, it takes the place of what was. An experiment holds conversations anew whose
    modules ask something else; those held by another rule it keeps. Other processes do not know it: whoever resumes or
    replays such a run there registers it first, or installs a package that has it.

    Args:
        kind: "module": a class of `OwnModule`. "pattern": a rule of who speaks next, `Rule`. "measure": a function of a
            conversation's outputs.
        name: by which settings and experiments name it.
        made: the class or the function.

    Raises:
        InputError: there is no such kind, or an installed package has something by this name.
    """
    if kind not in ("module", "pattern", "measure"):
        remedy = "Register a module, a pattern or a measure; a kind of conversation needs a package."
        raise InputError(f"{kind!r} cannot be registered", where="register()", remedy=remedy)
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"{name!r} is no name", where="register()", remedy="Name it by letters, digits and _.")
    if isinstance(ADDED[kind].get(name), EntryPoint) or (kind == "pattern" and name in OWN_PATTERNS):
        what = f"there is a {kind} {name} already"
        raise InputError(what, where="register()", remedy="Give yours another name.")
    ADDED[kind][name] = Given(f"persimchat.{kind}", name, made)
    for one in _KEPT:
        one.cache_clear()


def or_registered(kind: Registered) -> WrapValidator:
    """A validator of a literal of names: it takes those that were registered since, too."""
    return WrapValidator(lambda value, of: value if isinstance(value, str) and value in ADDED[kind] else of(value))


Rule = Callable[[Mapping[str, Mapping[str, Any]], int, random.Random], str]
"""Who speaks next: the candidates' minds by name, utterances so far, and the turn's own chance, to a candidate's name.

Of a mind, a rule sees copies of `need_to_talk`, `openness`, `emotion`, `utterances`, `last_spoke`, `human` and `own`,
as far as it has them (state/minds/mind.py).
"""


def loaded(point: EntryPoint | Given, fits: Callable[[Any], bool], wanted: str) -> Any:
    """What a package registers, or a script.

    Args:
        point: its entry point, or what was given.
        fits: whether it is something that can be used.
        wanted: what it has to be, in words.

    Raises:
        InputError: it cannot be loaded, or does not fit; or two packages register different things by one name.
    """
    where, remedy = f"entry point {point.group} {point.name}", "Mend or uninstall the package that has it."
    if isinstance(point, Given):
        where, remedy = f"register({point.group.split('.')[1]!r}, {point.name!r})", f"Register a {wanted}."
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


def within(seconds: float, function: Callable[P, Made], *args: P.args, **options: P.kwargs) -> Made:
    """What a function of others returns, in a time limit.

    Raises:
        TimeoutError: it takes longer. What it does then goes on beside this process's work, and ends with it.
    """
    done: Future[Made] = Future()

    def run() -> None:
        try:
            done.set_result(function(*args, **options))
        except BaseException as error:  # noqa: BLE001  # told where it is waited for
            done.set_exception(error)

    Thread(target=run, name=f"persimchat-{getattr(function, '__name__', 'own')}", daemon=True).start()
    if not wait([done], seconds).done:
        raise TimeoutError(f"it took longer than {seconds:g} s")
    return done.result()


def class_of(base: type) -> Callable[[Any], bool]:
    """Whether something is a class derived from this one, for `loaded`."""
    return lambda found: isinstance(found, type) and issubclass(found, base)


@kept
def rule_of(pattern: str) -> Rule | None:
    """The rule of an installed package by which the next speaker is chosen; None if the setting `pattern` names none.

    Raises:
        InputError: it cannot be loaded, or is no function.
    """
    point = ADDED["pattern"].get(pattern)
    return cast(Rule, loaded(point, callable, "function (candidates, turn, chance)")) if point is not None else None
