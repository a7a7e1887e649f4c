"""The arithmetic of the report's plots, and who is who in it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.runs.reports.charts.bars import bars
from persimchat.runs.reports.charts.drawing import picture, place_of, svg, table
from persimchat.runs.reports.charts.lines import Lane, Series, lanes, levels
from persimchat.runs.reports.charts.model import MOST_POINTS, Chart
from persimchat.runs.reports.charts.scales import Scale, area, bin_size, binned, path, spread, step_for, ticks
from persimchat.runs.reports.charts.strips import Felt, emotions, held, stances
from persimchat.runs.reports.report_people import initials, people
from persimchat.runs.reports.stances import Position
from persimchat.state.emotion import EMOTIONS


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_a_scale_keeps_order_and_ends(low: float, length: float, one: float, other: float) -> None:
    scale = Scale(low, low + length, 200.0, 10.0)
    assert (scale(low), scale(low + length)) == (200.0, 10.0)
    first, second = sorted((one, other))
    assert scale(low + first * length) >= scale(low + second * length)


def test_a_scale_of_one_value_has_it_in_the_middle() -> None:
    assert Scale(3, 3, 0, 100)(3) == 50


@given(st.floats(1e-6, 1e9), st.integers(1, 12))
def test_steps_are_round_and_few(length: float, most: int) -> None:
    step = step_for(length, most)
    assert length / step <= most * (1 + 1e-6)
    digits = round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6)
    assert digits in (1, 2, 5)


@given(st.integers(-500, 500), st.integers(0, 5000), st.integers(1, 12))
def test_ticks_lie_within(low: int, length: int, most: int) -> None:
    found = ticks(low, low + length, most, least_step=1)
    assert len(found) <= most + 1
    assert all(low <= value <= low + length and value == int(value) for value in found)
    assert found == sorted(set(found))


POINTS = st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 10)), min_size=1, max_size=400)


@given(POINTS, st.integers(1, 50))
def test_thinning_keeps_to_the_limit_and_to_the_mean(points: list[tuple[float, float]], most: int) -> None:
    size = bin_size(len(points), most)
    thin = binned(points, size)
    assert len(thin) <= most
    assert (thin == points) == (len(points) <= most) or size > 1
    if len(points) % size == 0:
        assert sum(y for _, y in thin) / len(thin) == pytest.approx(sum(y for _, y in points) / len(points))
    assert all(min(y for _, y in points) - 1e-9 <= y <= max(y for _, y in points) + 1e-9 for _, y in thin)


@given(st.lists(st.floats(0, 100), max_size=8))
def test_labels_do_not_overlap(places: list[float]) -> None:
    moved = spread(places, 12, 0, 100)
    order = sorted(range(len(places)), key=lambda n: places[n])
    assert all(moved[b] - moved[a] >= 12 - 0.11 for a, b in zip(order, order[1:], strict=False))
    assert all(-0.1 <= place <= 100 for place in moved)


def test_labels_that_are_apart_stay_where_they_are() -> None:
    assert spread([50, 10, 90], 12, 0, 100) == [50, 10, 90]


def test_paths() -> None:
    assert path([(0, 1.5), (2, 3)]) == "M0 1.5L2 3"
    assert area([(0, 1), (2, 3)], 9) == "M0 9L0 1L2 3L2 9Z"
    assert path([]) == area([], 9) == ""


def within(chart: Chart) -> None:
    for line in chart.lines:
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", line.path)]
        assert all(chart.left - 0.1 <= x <= chart.right + 0.1 for x in numbers[::2])
        assert all(chart.top - 5 <= y <= chart.bottom + 5 for y in numbers[1::2])
        assert chart.top <= line.label_y <= chart.height
    for cell in chart.cells:
        assert -0.1 <= cell.x <= cell.x + cell.width <= chart.width + 0.1
        assert 0 <= cell.y <= cell.y + cell.height <= chart.height


LEVELS = st.lists(st.integers(0, 10), min_size=1, max_size=500)


@given(LEVELS, st.integers(1, 24), st.floats(250, 1200))
def test_every_chart_stays_within_its_picture(heights: list[int], lines: int, width: float) -> None:
    series = [Series(f"S{n}", f"S{n}", "p0", list(enumerate(heights))) for n in range(lines)]
    within(levels("T", series))
    within(lanes("T", [Lane(one.name, one.style, [one]) for one in series], width=width))


@given(LEVELS, st.booleans(), st.integers(0, 600))
def test_emotions_stay_within_their_picture(heights: list[int], each: bool, last: int) -> None:
    felt = [(turn, {"happiness": value, "fear": 10 - value}) for turn, value in enumerate(heights)]
    named = {name: name for name in (*EMOTIONS, "calm")}
    person = people(["Eva"])["Eva"]
    chart = emotions("T", [(person, felt)], named, last=max(last, len(felt) - 1), each=each)
    within(chart)
    assert len(chart.cells) <= len(EMOTIONS) * (MOST_POINTS + 1)
    assert chart.table[1:] == [[turn, "Eva", at["happiness"], None, None, at["fear"], None, None] for turn, at in felt]


def test_emotions_of_turns_are_cells_in_the_colour_of_the_strongest() -> None:
    person = people(["Eva"])["Eva"]
    named = {name: name for name in (*EMOTIONS, "calm")}
    felt: Felt = [(0, {}), (1, {"happiness": 2, "anger": 7}), (2, {"happiness": 9})]
    chart = emotions("T", [(person, felt)], named, last=2)
    assert [cell.style for cell in chart.cells[:3]] == ["calm", "e2", "e0"]
    assert chart.cells[1].strength < chart.cells[2].strength
    assert chart.cells[1].title == "Eva, turn 1: happiness 2, anger 7"
    assert chart.cells[0].title == "Eva, turn 0: calm"
    assert [text.text for text in emotions("T", [(person, felt)], named, last=2, each=True).texts[:3]] == [
        "Eva",
        "happiness",
        "anger",
    ]


def position(turn: int, stance: str | None, before: str | None = None, **more: Any) -> Position:
    moved = None if before is None or stance is None else before != stance
    return Position("verdicts", "", "Eva", turn, stance, before, moved, **more)


def test_a_strip_shows_what_somebody_held_and_where_they_turned() -> None:
    rows = [position(1, "no"), position(3, "no", "no"), position(5, None), position(7, "yes", "no", candidates=(4,))]
    rows[-1] = replace(rows[-1], credit={"Bo": 1.0})
    assert [(one.turn, one.until, one.stance) for one in held(rows, 9)] == [(1, 4, "no"), (5, 6, None), (7, 9, "yes")]
    chart = stances("T", [(people(["Eva"])["Eva"], rows)], last=9)
    within(chart)
    assert [mark.turn for mark in chart.marks] == [7]
    assert chart.description == "Eva turned at 7 from “no” to “yes”, after Bo (4)."
    assert [cell.turn for cell in chart.cells[:3]] == [1, 5, 7]
    assert "A  no" in [text.text for text in chart.texts]
    assert len({cell.style for cell in chart.cells if cell.style.startswith("s")}) == 2


def test_bars_have_their_speakers_colours_until_they_are_thinned() -> None:
    who = people(["Eva", "Bo"])
    few = bars("T", [(1, 2.0, who["Eva"]), (2, 4.0, who["Bo"])], lambda value: f"{value:g} s")
    within(few)
    assert [cell.style for cell in few.cells] == [who["Eva"].style, who["Bo"].style]
    assert [cell.below for cell in few.cells] == ["E", "B"]
    assert few.description == "2 utterances, 3 s on average, at most 4 s."
    many = bars("T", [(n, 1.0, who["Eva"]) for n in range(1, 2001)], lambda value: f"{value:g} s")
    within(many)
    assert len(many.cells) <= MOST_POINTS
    assert {cell.style for cell in many.cells} == {"many"}


def test_a_line_that_is_compared_is_dashed_and_a_click_knows_its_turn() -> None:
    one = Series("Eva", "", "p0", [(0, 1), (1, 5), (2, 3)], frozenset({1}), "then spoke")
    other = Series("Eva in the branch", "", "p0", [(0, 1), (1, 2)])
    chart = lanes("T", [Lane("Eva", "p0", [one, other])], last=4)
    assert [line.style for line in chart.lines] == ["p0 solid", "p0 dashed"]
    assert [dot.turn for dot in chart.lines[0].dots] == [0, 1, 2]
    assert chart.lines[0].dots[1].title == "Eva, turn 1: 5, then spoke"
    assert chart.table[1:] == [[0, 1, 1], [1, 5, 2], [2, 3, None]]
    places = re.findall(r'data-(\w+)="([\d.]+)"', svg(chart, "k"))
    assert dict(places[:5]) == {"first": "0", "last": "4", "left": "20", "right": "374", "width": "400"}


@given(st.text(max_size=60))
def test_texts_in_a_chart_are_data(name: str) -> None:
    hostile = f"</text><script>alert(1)</script>\"' onclick=x {{{{ 7*7 }}}} {name}"
    series = Series(hostile, hostile, "p0", [(0, 1), (1, 5)])
    person = replace(people([hostile])[hostile], name=hostile)
    moves = [position(1, hostile), position(2, f"not {hostile}", hostile)]
    for chart in (
        lanes(hostile, [Lane(hostile, "p0", [series])], marks=[(1, "consensus", hostile)]),
        levels(hostile, [series], note=hostile),
        stances(hostile, [(person, moves)], last=2),
        emotions(hostile, [(person, [(0, {"fear": 3})])], dict.fromkeys((*EMOTIONS, "calm"), hostile), last=1),
        bars(hostile, [(1, 2.0, person)], lambda _: hostile),
    ):
        for drawn in (str(svg(chart, "k", slider=True)), picture(chart)):
            parsed = ElementTree.fromstring(drawn)
            tags = {one.tag.rpartition("}")[2] for one in parsed.iter()}
            assert tags <= {"svg", "title", "desc", "line", "rect", "text", "g", "path", "circle", "style"}
            assert not [name for one in parsed.iter() for name in one.attrib if name.startswith("on")]


def test_a_table_runs_no_formula() -> None:
    chart = lanes("T", [Lane("=1+1", "p0", [Series("=1+1", "", "p0", [(0, 1)])])])
    assert table(chart) == "turn,'=1+1\n0,1\n"


def test_a_picture_needs_nothing_else() -> None:
    drawn = picture(lanes("T", [Lane("Eva", "p0", [Series("Eva", "", "p0", [(0, 1)])])]))
    assert set(re.findall(r"var\((--[\w-]+)", drawn)) <= {*re.findall(r"(--[\w-]+):", drawn), "--at", "--span"}
    assert not re.findall(r"url\(|@import|href", drawn)
    assert "svg.chart { font-family: system-ui, sans-serif;" in drawn  # stronger than the page's `inherit`


@pytest.mark.parametrize(("turn", "place"), [(0, 0.05), (9, 0.95), (-3, 0.0), (40, 1.0)])
def test_the_place_of_a_turn_is_the_middle_of_its_column(turn: int, place: float) -> None:
    assert place_of(turn, 0, 9) == place


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Eva Horáková", "EH"), ("Bo", "B"), ("李雷", "李"), ("Anna Maria dos Santos", "AS"), ("*** !", "?"), ("", "?")],
)
def test_initials(name: str, expected: str) -> None:
    assert initials(name) == expected


@given(st.lists(st.text("ABab ", min_size=1, max_size=5), unique=True, max_size=20))
def test_everybody_has_initials_of_their_own(names: list[str]) -> None:
    found = people(names)
    assert len({person.initials for person in found.values()}) == len(names)
    assert [person.place for person in found.values()] == list(range(len(names)))
