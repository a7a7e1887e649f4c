"""Strips over turns: emotions as heat, and who held what when, with the turns at which somebody turned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ...state.minds.emotion import EMOTIONS
from ...state.wording import t
from ..palette import Person, emotion_style
from ..stances import Position
from ..words import emotion_name, plain_number, stance_name
from .lines import AXIS, HEAD, LEFT, MARKS, Mark, marked, notes, turn_texts
from .model import (
    LETTER,
    MOST_POINTS,
    WIDTH,
    Cell,
    Chart,
    Dot,
    Scale,
    Text,
    bin_size,
    over_turns,
    shortened,
)

Felt = Sequence[tuple[int, Mapping[str, float]]]
"""Turn and the emotions' intensities, 0–10, in order of turns."""

Thin = Sequence[tuple[int, int, Mapping[str, float]]]
"""The first turn, the last one and the mean intensities of each emotion."""

_ROW: Final = 16.0
_HIGHEST: Final = 10
_STYLES: Final = 6
"""Styles of stances, `s0` and so on; more stances share the last one, and are told apart by their letters."""


@dataclass(frozen=True)
class Held:
    """What somebody held from one turn on.

    Attributes:
        turn: from here on.
        until: to here; the last turn of the chart for the last one.
        stance: None if it is not clear.
        row: the ledger's, at `turn`.
    """

    turn: int
    until: int
    stance: str | None
    row: Position


def means(felt: Felt, size: int) -> Thin:
    """Feelings thinned to the means of `size` neighbours each: the first turn, the last one, and the intensities."""
    groups = [felt[start : start + size] for start in range(0, len(felt), size)]
    return [
        (
            group[0][0],
            group[-1][0],
            {name: round(sum(at.get(name, 0) for _, at in group) / len(group), 2) for name in EMOTIONS},
        )
        for group in groups
    ]


def _strongest(feelings: Mapping[str, float]) -> str:
    """The strongest emotion; "calm" if there is none."""
    name = max(feelings, key=lambda one: feelings[one])
    return name if feelings[name] else "calm"


def _felt_words(feelings: Mapping[str, float]) -> str:
    felt = [f"{emotion_name(name)} {plain_number(value)}" for name, value in feelings.items() if value]
    return ", ".join(felt) or emotion_name("calm")


def emotions(
    title: str,
    felt: Sequence[tuple[Person, Felt]],
    *,
    last: int,
    each: bool = False,
    width: float = WIDTH,
) -> Chart:
    """Emotions as heat: a strip for each agent in the colour of the strongest emotion, or one for each emotion felt.

    Args:
        title: of the chart.
        felt: what each agent felt.
        last: the last turn.
        each: whether each emotion that an agent felt at any turn has a strip of its own.
        width: of the chart.
    """
    size = bin_size(max((len(course) for _, course in felt), default=1), MOST_POINTS)
    left = LEFT if not each else 12 + LETTER * max(len(emotion_name(name)) for name in (*EMOTIONS, "calm"))
    right, y = width - 26, 0.0
    x = over_turns(0, max(last, 1), left, right)
    half = (right - left) / (max(last, 1) + 1) / 2
    texts, cells, told = list[Text](), list[Cell](), list[str]()
    for person, course in felt:
        texts.append(Text(left, y + 12, shortened(person.name, right - left), f"name {person.style}"))
        y += HEAD
        thin = means(course, size)
        ever = [name for name in EMOTIONS if any(at[name] for _, _, at in thin)]
        for name in ever or [""] if each else [""]:
            if name:
                texts.append(Text(left - 6, y + 12, emotion_name(name), "", "end"))
            place = _Row(person, x, half, y, _ROW - 2 * each)
            cells += _levels(place, thin, name) if name else _strongest_of(place, thin)
            y += _ROW
        y += 8
        told.append(
            t("charts.felt_in_words", name=person.name, first=_felt_words(thin[0][2]), last=_felt_words(thin[-1][2]))
            if thin
            else ""
        )
    top, bottom = 0.0, y
    legend = [] if each else list(EMOTIONS)
    more, samples, height = _legend(
        [(emotion_name(name), emotion_style(name)) for name in legend], bottom + AXIS, width
    )
    return Chart(
        title=title,
        description=" ".join(told),
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        last=max(last, 1),
        texts=[*texts, *turn_texts(0, max(last, 1), x, bottom + 12), *more],
        cells=[*cells, *samples],
        note=notes(size),
        table=[
            [t("charts.turn"), t("charts.speaker"), *(emotion_name(name) for name in EMOTIONS)],
            *([turn, person.name, *(at.get(name) for name in EMOTIONS)] for person, own in felt for turn, at in own),
        ],
    )


@dataclass(frozen=True)
class _Row:
    """The place of a strip: whose it is, the scale of turns, half a column, the upper edge, the height."""

    person: Person
    x: Scale
    half: float
    y: float
    height: float

    def cell(self, first: int, to: int, style: str, title: str, strength: float = 1.0) -> Cell:
        begin, end = self.x(first) - self.half, self.x(to) + self.half
        width = round(max(end - begin - 0.6, 0.6), 2)
        return Cell(round(begin, 2), self.y, width, self.height, style, title, strength, first)


def _strength(value: float) -> float:
    return round(0.12 + 0.88 * min(value, _HIGHEST) / _HIGHEST, 2)


def _strongest_of(row: _Row, thin: Thin) -> list[Cell]:
    """A cell for each turn in the colour of the strongest emotion."""
    cells = []
    for first, to, at in thin:
        shown = _strongest(at)
        said = t("charts.felt", name=row.person.name, turn=first, felt=_felt_words(at))
        cells.append(row.cell(first, to, emotion_style(shown), said, _strength(at[shown]) if shown in at else 1.0))
    return cells


def _levels(row: _Row, thin: Thin, name: str) -> list[Cell]:
    """The levels of one emotion: a cell for each run of turns with the same level."""
    cells = [row.cell(thin[0][0], thin[-1][1], "calm", "")]
    for level, run in groupby(thin, key=lambda one: round(one[2][name])):
        group = list(run)
        if level:
            first, to = group[0][0], group[-1][1]
            felt = f"{emotion_name(name)} {level}"
            said = t("charts.felt", name=row.person.name, turn=first if first == to else f"{first}–{to}", felt=felt)
            cells.append(row.cell(first, to, emotion_style(name), said, _strength(level)))
    return cells


def _legend(entries: Sequence[tuple[str, str]], y: float, width: float) -> tuple[list[Text], list[Cell], float]:
    """A legend below a chart, in as many rows as it needs: texts, samples, and the height of all."""
    texts, cells, x = list[Text](), list[Cell](), LEFT
    for said, style in entries:
        needs = 16 + LETTER * len(said) + 10
        if x > LEFT and x + needs > width:
            x, y = LEFT, y + 17
        cells.append(Cell(round(x, 1), y + 4, 10, 10, style))
        texts.append(Text(round(x + 15, 1), y + 13, said))
        x += needs
    return texts, cells, y + (19 if entries else 2)


def held(rows: Sequence[Position], last: int) -> list[Held]:
    """What one person held, from the rows of the ledger: from each change to the next one."""
    runs = [list(group) for _, group in groupby(rows, key=lambda row: row.stance)]
    ends = [run[0].turn - 1 for run in runs[1:]] + [last]
    return [
        Held(run[0].turn, max(end, run[0].turn), run[0].stance, run[0]) for run, end in zip(runs, ends, strict=True)
    ]


def stances(
    title: str,
    rows: Sequence[tuple[Person, Sequence[Position]]],
    *,
    last: int,
    width: float = WIDTH,
    marks: Sequence[Mark] = (),
    note: str = "",
) -> Chart:
    """Who held what when: a strip for each person, with a mark where they turned.

    Args:
        title: of the chart.
        rows: of one source of the ledger, by person, each in order of turns.
        last: the last turn.
        width: of the chart.
        marks: in a row along the top.
        note: is shown below.
    """
    every = sorted(((row.turn, row.stance) for _, own in rows for row in own if row.stance is not None))
    letters = {stance: _letter(place) for place, stance in enumerate(dict.fromkeys(stance for _, stance in every))}
    styles = {stance: f"s{min(place, _STYLES - 1)}" for place, stance in enumerate(letters)}
    left, right, top = LEFT, width - 26, MARKS * bool(marks)
    x = over_turns(0, max(last, 1), left, right)
    half = (right - left) / (max(last, 1) + 1) / 2
    texts, cells, turned, told, y = list[Text](), list[Cell](), list[Dot](), list[str](), top
    for person, own in rows:
        texts.append(Text(left, y + 12, shortened(person.name, right - left), f"name {person.style}"))
        y += HEAD
        for one in held(own, last):
            cells.append(_held_cell(one, person, x, half, y, letters, styles))
        for row in own:
            if row.moved:
                after = _after(row)
                said = t(
                    "charts.turned",
                    name=person.name,
                    turn=row.turn,
                    before=stance_name(row.before),
                    stance=stance_name(row.stance),
                    after=after,
                )
                told.append(said)
                turned.append(Dot(round(x(row.turn) - half, 1), y + 10, said, f"turned {person.style}", row.turn))
        y += 20 + 8
    entries = [
        (shortened(f"{letter}  {stance_name(stance)}", width - LEFT - 20), styles[stance])
        for stance, letter in letters.items()
    ]
    more, samples, height = _legend(entries, y + AXIS, width)
    return Chart(
        title=title,
        description=" ".join(told) or t("charts.nobody_turned"),
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=y,
        last=max(last, 1),
        texts=[*texts, *turn_texts(0, max(last, 1), x, y + 12), *more],
        cells=[*cells, *samples],
        marks=[*marked(marks, x, MARKS / 2), *turned],
        note=note,
        table=[
            [t("charts.turn"), t("charts.speaker"), t("charts.stance")],
            *([row.turn, person.name, row.stance] for person, own in rows for row in own),
        ],
    )


def _held_cell(
    one: Held,
    person: Person,
    x: Scale,
    half: float,
    y: float,
    letters: Mapping[str, str],
    styles: Mapping[str, str],
) -> Cell:
    begin, width = round(x(one.turn) - half, 1), round((one.until - one.turn + 1) * half * 2 - 1, 1)
    said = stance_name(one.stance)
    title = t("charts.holds", name=person.name, first=one.turn, last=one.until, stance=said)
    if one.stance is None:
        return Cell(begin, y + 3, width, 14, "unclear", title, turn=one.turn)
    inside = f"{letters[one.stance]}  {said}"
    room = width - 14
    text = shortened(inside, room) if room >= 4 * LETTER else letters[one.stance] if room >= LETTER / 2 else ""
    return Cell(begin, y, width, 20, styles[one.stance], title, turn=one.turn, text=text)


def _letter(place: int) -> str:
    """The letters of stances in order: A to Z, then A2 to Z2."""
    letter, round_ = chr(ord("A") + place % 26), place // 26 + 1
    return letter if round_ == 1 else f"{letter}{round_}"


def _after(row: Position) -> str:
    """After whose utterances somebody turned; empty if it was nobody's."""
    if not row.candidates:
        return ""
    return t("charts.after", names=", ".join(row.credit), turns=", ".join(map(str, row.candidates)))
