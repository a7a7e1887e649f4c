"""Quotas: which shares of a group have which characteristics, as written in YAML, and who of the group gets what.

`quotas` has independent characteristics, each with its values and their shares. `cells` is a list of characteristics
that belong together, each entry with the share of those who have them all. `examples/quotas.yaml` shows both.

Shares come out exactly: no count differs from its share by one or more. Every division of the group is dealt out
independently, in its own order that the seed gives. So two characteristics depend on each other only if cells say so.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ..state.document import Document, Location, read_document
from ..state.errors import InputError
from ..state.persona import Persona
from ..state.plain_text import folded, one_line, quoted
from ..state.validation_errors import refuse_unknown
from .names import wrong

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


ANY: Final = "any"
"""The value that leaves a characteristic open: the model decides it."""

_DECIMAL: Final = re.compile(r"(\d{1,9}(?:\.\d{1,12})?)\s*(%?)")
_RATIO: Final = re.compile(r"(\d{1,9})\s*/\s*0*([1-9]\d{0,8})")
_HOW: Final = "Write a part of one (0.25), a percentage (25%) or a fraction (1/4)."


def share_of(value: Any, where: str) -> Fraction:
    """A share as it is written: 0.25, 25% or 1/4.

    Args:
        value: a number or a text.
        where: the place in words, for the error.

    Raises:
        InputError: it is not a number from 0 to 1.
    """
    text = str(value).strip()
    decimal, ratio = _DECIMAL.fullmatch(text), _RATIO.fullmatch(text)
    share = Fraction(-1)
    if isinstance(value, float) or decimal:
        share = Fraction(decimal[1] if decimal else text) / (100 if decimal and decimal[2] else 1)
    elif ratio:
        share = Fraction(int(ratio[1]), int(ratio[2]))
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise InputError(f"a share must be a number from 0 to 1, not {quoted(value, 40)}", where=where, remedy=_HOW)
    return share


def require_whole(shares: Iterable[Fraction], name: str, where: str, *, spare: str) -> None:
    """Refuse shares that do not sum to one.

    Args:
        shares: all shares of one division.
        name: what is divided, for the error.
        where: the place in words, for the error.
        spare: how to leave the rest open, with `{}` in place of the missing share.

    Raises:
        InputError: the sum is more or less than one; it says by how much.
    """
    total = sum(shares, Fraction())
    gap = shown(abs(total - 1))
    if total > 1:
        what, remedy = f"the shares of {name} sum to {shown(total)}, more than one", f"Take {gap} away."
        raise InputError(what, where=where, remedy=remedy)
    if total < 1:
        what = f"the shares of {name} sum to {shown(total)}, less than one"
        raise InputError(what, where=where, remedy=f"Add {gap}, or leave it open: {spare.replace('{}', gap)}.")


def shown(share: Fraction) -> str:
    """A share as a decimal number if that is exact in six digits, else as a fraction."""
    decimal = f"{float(share):.6f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == share else f"{share.numerator}/{share.denominator}"


LONGEST: Final = 300
"""Characters of a characteristic's name or value."""
_SHARE: Final = "share"
_FIELDS: Final = ("quotas", "cells")
_CELLS: Final = "Write a list of {share: 1/2, age: 18-29, occupation: student}."


@dataclass(frozen=True)
class Cell:
    """A share of the group, and the characteristics that all in it have.

    Attributes:
        share: its part of the group, 0 to 1.
        fixed: characteristic (in lower case) → value; without those that are left open.
        ages: the possible ages; None if the age is left open.
    """

    share: Fraction
    fixed: Mapping[str, str]
    ages: Ages | None = None


@dataclass(frozen=True)
class Quotas:
    """Several divisions of the same group, each whole in itself and independent of the others.

    Attributes:
        divisions: what is divided (a characteristic's name, or "cells") → its cells; their shares sum to one.
    """

    divisions: Mapping[str, tuple[Cell, ...]]


def load_quotas(path: Path | str) -> Quotas:
    """Read a file of quotas.

    Raises:
        InputError: naming file, line, field and remedy: the file is not right, shares do not sum to one, ages overlap.
    """
    document = read_document(Path(path))
    refuse_unknown(document, (), document.data, _FIELDS)
    divisions = {**_single(document), **_joint(document)}
    if not divisions:
        remedy = "Write, for example, quotas: {gender: {woman: 1/2, man: 1/2}}."
        raise wrong(document, (), "there are no quotas in it", remedy)
    return Quotas(divisions)


def _single(document: Document) -> dict[str, tuple[Cell, ...]]:
    """The divisions by one characteristic each."""
    found: dict[str, tuple[Cell, ...]] = {}
    given = document.data.get("quotas", {})
    if not isinstance(given, Mapping) or ("quotas" in document.data and not given):
        what = "quotas are empty" if not given else "quotas are not a mapping"
        raise wrong(document, ("quotas",), what, "Write lines 'gender: {woman: 1/2, man: 1/2}' under it.")
    for key, values in given.items():
        at: Location = ("quotas", key)
        name = _name(key, document.where(at))
        if name in found:
            raise wrong(document, at, f"{name} is given twice", "Keep one of the two.")
        if not isinstance(values, Mapping) or not values:
            remedy = f"Write its values and their shares: {name}: {{this: 1/2, that: 1/2}}."
            raise wrong(document, at, f"{name} has no shares", remedy)
        cells = [
            _cell(document, share_of(share, document.where((*at, value))), {name: ((*at, value), value)})
            for value, share in values.items()
        ]
        _refuse_twice(document, at, list(values), cells)
        require_whole((cell.share for cell in cells), name, document.where(at), spare=f"'{ANY}: {{}}'")
        found[name] = tuple(cells)
    return found


def _joint(document: Document) -> dict[str, tuple[Cell, ...]]:
    """The division by characteristics that belong together; none if the file has no cells."""
    if "cells" not in document.data:
        return {}
    given, at = document.data["cells"], ("cells",)
    if not isinstance(given, list) or not given:
        raise wrong(document, at, "cells are not a list" if given else "cells are empty", _CELLS)
    elsewhere = {folded(name) for name in document.data.get("quotas", {})}
    cells = [_joint_cell(document, ("cells", n), entry, elsewhere) for n, entry in enumerate(given)]
    spare = f"a cell {{share: {{}}, age: {ANY}}}"
    require_whole((cell.share for cell in cells), "the cells", document.where(at), spare=spare)
    return {"cells": tuple(cells)}


def _joint_cell(document: Document, at: Location, entry: Any, elsewhere: set[str]) -> Cell:
    if not isinstance(entry, Mapping) or _SHARE not in entry:
        raise wrong(document, at, "a cell has no share", _CELLS)
    values: dict[str, tuple[Location, Any]] = {}
    for key, value in ((key, value) for key, value in entry.items() if key != _SHARE):
        here = (*at, key)
        name = _name(key, document.where(here))
        if name in values or folded(key) in elsewhere:
            what = f"{name} is {'in this cell twice' if name in values else 'in quotas as well'}"
            raise wrong(document, here, what, "Keep it in one place.")
        values[name] = (here, value)
    if not values:
        raise wrong(document, at, "a cell has no characteristic", _CELLS)
    return _cell(document, share_of(entry[_SHARE], document.where((*at, _SHARE))), values)


def _name(key: str, where: str) -> str:
    """A characteristic's name in lower case."""
    name = one_line(key).lower()
    if not 0 < len(name) <= LONGEST:
        remedy = f"Give a name of 1 to {LONGEST} characters."
        raise InputError(f"{quoted(key, 40)} is not a valid name of a characteristic", where=where, remedy=remedy)
    if name.replace(" ", "_") in Persona.model_fields:
        remedy = "Give characteristics, for example age, gender, residence, occupation, education."
        raise InputError(f"{name} is not a characteristic of a persona", where=where, remedy=remedy)
    return name


def _cell(document: Document, share: Fraction, values: Mapping[str, tuple[Location, Any]]) -> Cell:
    """One cell from its characteristics: name → place and value."""
    fixed: dict[str, str] = {}
    ages = None
    for name, (at, value) in values.items():
        text = "" if value is None or isinstance(value, dict | list) else one_line(str(value))
        if not 0 < len(text) <= LONGEST:
            remedy = f"Give a text of 1 to {LONGEST} characters, or {ANY}."
            raise wrong(document, at, f"{name} has no usable value", remedy)
        if folded(text) == ANY:
            continue
        if name == "age":
            ages = ages_in(text, document.where(at))
        else:
            fixed[name] = text
    return Cell(share, fixed, ages)


def _refuse_twice(document: Document, at: Location, values: list[str], cells: list[Cell]) -> None:
    """Refuse a value that is written in two ways, and an age in two bands: it would be unclear which share counts."""
    for n, value in enumerate(values):
        if folded(value) in {folded(other) for other in values[:n]}:
            raise wrong(document, (*at, value), f"{value!r} is given twice", "Add up the shares.")
    known = [(cell.ages, value) for cell, value in zip(cells, values, strict=True) if cell.ages is not None]
    known.sort(key=lambda pair: (pair[0].youngest, pair[0].oldest))
    for (first, one), (second, other) in zip(known, known[1:], strict=False):
        if second.youngest <= first.oldest:
            remedy = "Put every age in one band only, as in 18-29 and 30-44."
            raise wrong(document, (*at, other), f"the ages {one} and {other} overlap", remedy)


def counts(shares: Sequence[Fraction], number: int, rng: random.Random) -> list[int]:
    """How many of `number` personas belong to each share, by the method of the largest remainder.

    Args:
        shares: parts that sum to one.
        number: how many personas there are.
        rng: decides between equal remainders.

    Returns:
        Whole numbers that sum to `number`, each less than 1 away from share × number.
    """
    exact = [share * number for share in shares]
    whole = [math.floor(value) for value in exact]
    lots = rng.sample(range(len(exact)), len(exact))
    by_remainder = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], lots[i]))
    for index in by_remainder[: number - sum(whole)]:
        whole[index] += 1
    return whole


def persons(quotas: Quotas | None, number: int, seed: int) -> list[dict[str, str]]:
    """The fixed characteristics of `number` personas.

    Args:
        quotas: the group's shares; None if nothing is fixed.
        number: how many personas.
        seed: decides which persona gets what, and which age of a band.

    Returns:
        Characteristic → value for each persona; empty if nothing is fixed.
    """
    made: list[dict[str, str]] = [{} for _ in range(number)]
    for name, cells in (quotas.divisions if quotas else {}).items():
        rng = random.Random(f"quotas:{seed}:{name}")
        dealt: list[dict[str, str]] = []
        for cell, part in zip(cells, counts([cell.share for cell in cells], number, rng), strict=True):
            ages = [{"age": str(age)} for age in cell.ages.drawn(part, rng)] if cell.ages else [{}] * part
            dealt += [age | dict(cell.fixed) for age in ages]
        rng.shuffle(dealt)
        for person, fixed in zip(made, dealt, strict=True):
            person |= fixed
    return made
