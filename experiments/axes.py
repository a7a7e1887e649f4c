"""The axes of an experiment: from what the file says to levels, each with a label and what it changes."""

from __future__ import annotations

import json
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..state.errors import InputError, suggestion
from ..state.packages import patterns
from ..state.settings import BASELINES, Settings
from .file import PATCHED, Experiment
from .labels import look

Label = str | int | float | bool | None
"""How a level is called in tables: a plain value."""

_OWN: Final = ("variant", "method", "model", "seed", "wording", "order")
MOST_LEVELS: Final = 100_000
"""Of one axis."""
PARTICIPANT: Final = "{participant}"
"""In an axis with a level a participant, the text in whose place the name comes."""
OTHERS: Final = "{others}"
"""In such an axis, a key that stands for the name of every other participant."""
_PEOPLE: Final = "participants"
BEGINS: Final = {"say": '"NAME: TEXT"', "choose": '"HOST=PARTNER"'}
"""How a branch may begin, and how it is written."""


@dataclass(frozen=True)
class Level:
    """One value of an axis.

    Attributes:
        label: how it is called.
        settings: what it sets, dotted names inside of groups; None unsets.
        scenario: fields of the scenario that it replaces.
        wording: the topic in place of the task's; `{topic}` in it stands for that. None leaves it as it is.
        order: "listed", "reversed", or what the participants are shuffled by.
        say: the utterance with which a branch begins, as NAME: TEXT; empty for none, None leaves it as it is.
        choose: in a story, whom a host talks to in a branch, as HOST=PARTNER; empty and None as above.
    """

    label: Label
    settings: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    wording: str | None = None
    order: str = "listed"
    say: str | None = None
    choose: str | None = None


@dataclass(frozen=True)
class Axis:
    """What is varied.

    Attributes:
        name: of the axis.
        levels: in order of the file.
    """

    name: str
    levels: tuple[Level, ...]


def axes_of(experiment: Experiment, people: Sequence[str]) -> list[Axis]:
    """The axes of an experiment in the order of its file.

    Args:
        experiment: its file.
        people: the names of the base's participants, for axes with a level each.

    Raises:
        InputError: an axis, a setting or a level is not known or is given twice.
    """
    axes = [_axis(experiment, name, given, people) for name, given in experiment.grid.items()]
    for axis in axes:
        labels, seen = [level.label for level in axis.levels], dict[Hashable, Label]()
        for number, label in enumerate(labels):
            one = json.dumps(seen.setdefault(look(label, labels), label))
            if len(seen) <= number:
                two = json.dumps(label)
                twice = f"the level {one} twice" if one == two else f"the levels {one} and {two}, which are or look one"
                where = experiment.where("grid", axis.name)
                raise InputError(f"axis {axis.name} has {twice}", where=where, remedy="Keep one of the two.")
    return axes


def _axis(experiment: Experiment, name: str, given: Any, people: Sequence[str]) -> Axis:
    where = experiment.where("grid", name)
    match name:
        case _ if isinstance(given, Mapping) and "each" in given and name not in (*_OWN, *Settings.model_fields):
            levels = _each(experiment, name, given, people)
        case "variant":
            levels = [
                _variant(experiment, label, value, ("variant", label))
                for label, value in _mapping(given, name, where).items()
            ]
        case "method":
            levels = [_method(value, where) for value in _list(given, name, where)]
        case "seed":
            levels = [Level(value, {"seed": value}) for value in _seeds(given, where)]
        case "wording":
            levels = [_wording(label, text, where) for label, text in _mapping(given, name, where).items()]
        case "order":
            levels = [level for value in _list(given, name, where) for level in _orders(value, where)]
        case _:
            _known(name.partition(".")[0], where, (*_OWN, *Settings.model_fields), "axis or setting")
            values = _list(given, name, where)
            levels = [Level(_label(value), {name: value}) for value in values]
    return Axis(name, tuple(levels))


def _variant(experiment: Experiment, label: str, value: Any, place: tuple[str, ...]) -> Level:
    """A level that bundles settings, a patch of the scenario, and the utterance or choice with which a branch begins.

    Args:
        experiment: its file.
        label: of the level.
        value: the bundle.
        place: where in the grid it stands.
    """
    where = experiment.where("grid", *place)
    bundle = dict(_mapping(value or {}, " ".join(place), where))
    patch = _mapping(bundle.pop("scenario", None) or {}, f"the scenario of {' '.join(place)}", where)
    for name in patch:
        _known(name, experiment.where("grid", *place, "scenario", str(name)), PATCHED, "field of a scenario")
    begins = {name: bundle.pop(name, None) for name in BEGINS}
    for name, text in begins.items():
        if text is not None and not isinstance(text, str):
            raise InputError(f"{name} is not a text", where=where, remedy=f'Write {BEGINS[name]}; "" leaves it out.')
    for name in bundle:
        known = (*Settings.model_fields, "scenario", *BEGINS)
        _known(str(name).partition(".")[0], experiment.where("grid", *place, str(name)), known, "setting")
    return Level(label, bundle, patch, **begins)


def _each(experiment: Experiment, name: str, given: Mapping[str, Any], people: Sequence[str]) -> list[Level]:
    """One level a participant, with the name in the patch; and one that changes nothing, if `none` labels it."""
    where = experiment.where("grid", name)
    bundle = {key: value for key, value in given.items() if key not in ("each", "none")}
    if given["each"] != _PEOPLE:
        raise InputError(
            f"each: {given['each']} is nothing that a level can be made of",
            where=where,
            remedy=f"Write each: {_PEOPLE}.",
        )
    if _placed(bundle, "", ()) == bundle:
        raise InputError(
            f"{PARTICIPANT} stands nowhere in axis {name}, so its levels would be the same",
            where=where,
            remedy=f"Write {PARTICIPANT} where the name is to stand, or the key {OTHERS} for all other participants.",
        )
    nobody = given.get("none")
    if nobody is not None and not isinstance(nobody, str):
        raise InputError("none is not a label", where=where, remedy='Write a word, for example none: "nobody".')
    return [
        *([Level(nobody)] if nobody is not None else []),
        *(
            _variant(experiment, person, _placed(bundle, person, [one for one in people if one != person]), (name,))
            for person in people
        ),
    ]


def _placed(value: Any, person: str, others: Sequence[str]) -> Any:
    """Data with a participant's name for `PARTICIPANT`, in keys, too, and the others' names for the key `OTHERS`."""
    if isinstance(value, str):
        return value.replace(PARTICIPANT, person)
    if isinstance(value, Mapping):
        return {
            name: _placed(item, person, others)
            for key, item in value.items()
            for name in (others if key == OTHERS else [_placed(key, person, others)])
        }
    if isinstance(value, list):
        return [_placed(item, person, others) for item in value]
    return value


def _method(value: Any, where: str) -> Level:
    _known(value, where, methods(), "method")
    return Level(value, {"pattern": value, "baseline": None} if value in patterns() else {"baseline": value})


def methods() -> tuple[str, ...]:
    """Who speaks next in a conversation of minds, and baselines, by their own names."""
    return (*patterns(), *BASELINES)


def _check_number(levels: int, where: str) -> None:
    """Refuse more levels than anybody can hold before a list is made of them."""
    if levels > MOST_LEVELS:
        raise InputError(f"{levels:,} levels are too many", where=where, remedy=f"Give at most {MOST_LEVELS:,}.")


def _seeds(given: Any, where: str) -> list[int]:
    if isinstance(given, Mapping):
        if set(given) != {"from", "count"} or not all(_is_whole(value) for value in given.values()):
            raise InputError("seeds are not given as from and count", where=where, remedy="Write {from: 0, count: 3}.")
        _check_number(given["count"], where)
        given = list(range(given["from"], given["from"] + given["count"]))
    if not given or not all(_is_whole(value) for value in given):
        raise InputError("seeds are not whole numbers", where=where, remedy="Write [0, 1, 2] or {from: 0, count: 3}.")
    return list(given)


def _wording(label: str, text: Any, where: str) -> Level:
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"wording {label} is not a text", where=where, remedy='Write it in quotes; "" changes nothing.'
        )
    return Level(label, wording=text or None)


def _orders(value: Any, where: str) -> list[Level]:
    if isinstance(value, Mapping) and set(value) == {"shuffled"} and _is_whole(value["shuffled"]):
        _check_number(value["shuffled"], where)
        labels = [f"shuffled-{number}" for number in range(1, value["shuffled"] + 1)]
        if labels:
            return [Level(label, order=label) for label in labels]
    if value in ("listed", "reversed"):
        return [Level(value, order=value)]
    raise InputError(
        f"{value!r} is no order of participants", where=where, remedy="Write listed, reversed or {shuffled: 3}."
    )


def in_order(people: list[Any], order: str, name: str) -> list[Any]:
    """Participants in another order.

    Args:
        people: as they are listed.
        order: of a level.
        name: the experiment's, of which the shuffles are drawn.
    """
    if order == "listed":
        return list(people)
    if order == "reversed":
        return people[::-1]
    return random.Random(f"{name}/{order}").sample(people, len(people))


def _label(value: Any) -> Label:
    return value if isinstance(value, Label) else json.dumps(value, ensure_ascii=False)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _known(name: Any, where: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        raise InputError(
            f"there is no {what} {name!r}",
            where=where,
            remedy=suggestion(str(name), known, otherwise="See docs/experiments.md and docs/settings.md."),
        )


def _mapping(given: Any, name: str, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{name} is not a mapping", where=where, remedy="Write lines 'label: …' under it.")
    return given


def _list(given: Any, name: str, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise InputError(f"axis {name} is not a list", where=where, remedy="Write its values as [a, b].")
    return given
