"""The palette: readable, distinguishable, without the accent's hue, and the same person always in the same colour."""

from __future__ import annotations

import colorsys
import math
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import DEFAULT_NUMBER, default_participants
from persimchat.reports import palette
from persimchat.reports.palette import ACCENT, DARK_GROUNDS, GROUPS, LIGHT_GROUNDS, NEUTRAL, PEOPLE, Tint

EVERY = [*(tint for group in GROUPS.values() for tint in group), NEUTRAL]


def linear(colour: str) -> list[float]:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours."""
    dark, light = sorted(
        sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))
        for colour in (one, other)
    )
    return (light + 0.05) / (dark + 0.05)


def oklab(colour: str) -> tuple[float, float, float]:
    r, g, b = linear(colour)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def difference(one: str, other: str) -> float:
    """The perceived difference of two colours (Oklab, 100 from black to white)."""
    return 100 * math.dist(oklab(one), oklab(other))


@pytest.mark.parametrize(
    ("dark", "grounds", "on"), [(False, LIGHT_GROUNDS, "#ffffff"), (True, DARK_GROUNDS, "#0b1120")]
)
def test_text_in_and_on_every_colour_is_readable(dark: bool, grounds: tuple[str, ...], on: str) -> None:
    low = {(tint[dark], ground) for tint in EVERY for ground in (*grounds, on) if contrast(tint[dark], ground) < 4.5}
    assert not low


@pytest.mark.parametrize("dark", [False, True])
def test_people_are_told_apart_from_each_other_the_accent_and_the_judge(dark: bool) -> None:
    alike = [
        (one, other)
        for one, other in combinations([tint[dark] for tint in (*PEOPLE, ACCENT, NEUTRAL)], 2)
        if difference(one, other) < 10
    ]
    assert not alike


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_six_people_are_told_apart_at_a_glance(dark: bool) -> None:
    alike = [
        (one, other)
        for one, other in combinations([tint[dark] for tint in PEOPLE[:6]], 2)
        if difference(one, other) < 15
    ]
    assert not alike


@pytest.mark.parametrize("tint", PEOPLE)
def test_nobody_is_indigo_or_violet(tint: Tint) -> None:
    for colour in tint:
        hue, _, _ = colorsys.rgb_to_hls(*(int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)))
        assert not 222 <= hue * 360 <= 310, colour


def test_all_shipped_personas_have_colours_of_their_own_and_the_first_ones_the_clearest() -> None:
    names = [persona.name for persona in shipped()]
    assert sorted(map(palette.preferred, names)) == list(range(len(PEOPLE)))
    first = [persona.name for persona in default_participants(DEFAULT_NUMBER)]
    assert {palette.preferred(name) for name in first} == {0, 1, 2, 3}


NAMES = some.lists(some.text(max_size=6), unique=True, max_size=25)


@given(NAMES, some.text(max_size=6))
def test_whoever_joins_changes_nobodys_colour(names: list[str], joining: str) -> None:
    before = palette.places(names)
    after = palette.places([*names, joining])
    assert before == {name: after[name] for name in names}


@given(NAMES)
def test_colours_repeat_only_when_all_are_taken(names: list[str]) -> None:
    found = list(palette.places(names).values())
    assert len(set(found)) == min(len(names), len(PEOPLE))
    if names:
        assert found[0] == palette.preferred(names[0])


def test_a_style_sheet_declares_every_colour_that_is_named() -> None:
    light, dark = palette.style(), palette.style(dark=True)
    declared = set(re.findall(r"(--\w+): #[0-9a-f]{6};", light))
    assert declared == set(re.findall(r"(--\w+): #[0-9a-f]{6};", dark))
    used = [*palette.EMOTION_STYLES.values(), *palette.BLOCK_STYLES.values(), *palette.PART_STYLES.values()]
    used += [palette.person_style("Eva", ["Eva"]), palette.person_style("nobody", ["Eva"])]
    assert {name.removeprefix("var(").removesuffix(")") for name in used} <= declared
