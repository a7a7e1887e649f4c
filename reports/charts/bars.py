"""Bars over utterances, in their speakers' colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from ...state.wording import t
from ..palette import Person
from .lines import AXIS, turn_texts
from .model import MOST_POINTS, WIDTH, Cell, Chart, Scale, Text, bin_size, over_turns, step_for, ticks

Bar = tuple[int, float, Person]
"""The number of an utterance, a value, and who spoke."""

_MOST_INITIALS = 20


def bars(
    title: str,
    values: Sequence[Bar],
    worded: Callable[[float], str],
    *,
    last: int | None = None,
    width: float = WIDTH,
    height: float = 150.0,
    note: str = "",
) -> Chart:
    """A value of each utterance as a bar in its speaker's colour, and the mean of all as a dashed line.

    Args:
        title: of the chart.
        values: in order of turns; at least one.
        worded: a value in words, with its unit.
        last: the last turn of the axis; None for the last one that has a value.
        width: of the chart.
        height: of the chart.
        note: is shown below.
    """
    end = values[-1][0] if last is None else last
    size = bin_size(len(values), MOST_POINTS)
    groups = [values[start : start + size] for start in range(0, len(values), size)]
    heights = [fmean(value for _, value, _ in group) for group in groups]
    most = max([*heights, 0.01])
    steps = ticks(0, most, 3)
    left, right, top, bottom = 20.0, width - 26, 16.0, height - AXIS
    x, y = over_turns(0, max(end, 1), left, right), Scale(0, max(most, steps[-1]), bottom, top)
    column = (right - left) / (max(end, 1) + 1)
    initials = size == 1 and end <= _MOST_INITIALS
    average = fmean(value for _, value, _ in values)
    cells = []
    for group, value in zip(groups, heights, strict=True):
        (first, _, person), (to, _, _) = group[0], group[-1]
        start = x(first) - column * 0.38
        said = t("charts.bar", turn=first, name=person.name, value=worded(value))
        cells.append(
            Cell(
                x=round(start, 2),
                y=y(value),
                width=round(x(to) + column * 0.38 - start, 2),
                height=round(max(bottom - y(value), 0.5), 1),
                style=person.style if size == 1 else "many",
                title=said if size == 1 else t("charts.bars", first=first, last=to, value=worded(value)),
                turn=first,
                below=person.initials if initials else "",
            )
        )
    unit = worded(0.0).lstrip("0123456789.,") if values else ""
    decimals = 0 if step_for(max(most, steps[-1]), 3) >= 1 else 1 if step_for(max(most, steps[-1]), 3) >= 0.1 else 2
    return Chart(
        title=title,
        description=t(
            "charts.bars_in_words",
            n=len(values),
            mean=worded(average),
            high=worded(max(value for _, value, _ in values)),
        ),
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        last=max(end, 1),
        grid=[y(value) for value in steps],
        texts=[
            *(Text(left, y(value) - 4, f"{value:,.{decimals}f}{unit}", "tick") for value in steps[1:]),
            *([] if initials else turn_texts(0, max(end, 1), x, bottom + 14)),
        ],
        cells=cells,
        rule=y(average),
        note=" ".join(
            part
            for part in (note, t("charts.mean_line", mean=worded(average)), t("charts.thinned", n=size) * (size > 1))
            if part
        ),
        table=[
            [t("charts.turn"), t("charts.speaker"), title],
            *((turn, person.name, value) for turn, value, person in values),
        ],
    )
