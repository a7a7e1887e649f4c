"""The report's plots: emotions, need to talk, openness, scores, response times, messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from persimchat.runs.events import Judged
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.charts import Point, Scale, area, bin_size, binned, path, spread, step_for, ticks
from persimchat.runs.reports.report_people import Person, emotion_style
from persimchat.runs.reports.summary import SCORES, mean, minds_of
from persimchat.runs.reports.words import count, seconds
from persimchat.state.emotion import EMOTIONS

WIDTH: Final = 400
"""Width of every plot. A phone shows it about as large as it is, a desktop up to twice as large."""

MOST_POINTS: Final = 160
"""Points of a line; what has more is thinned to means."""

_MOST_DOTS: Final = 160
_LEFT, _TOP, _BOTTOM, _MARKS = 28.0, 10.0, 20.0, 14.0
_LABEL_GAP: Final = 12.0
_APART: Final = 1.3
"""Pixels between lines of equal value, so that none hides another."""


@dataclass(frozen=True)
class Series:
    """The data of one line.

    Attributes:
        name: in descriptions.
        label: at the line's end, short.
        style: class of the style sheet.
        points: of turn and value, in order of turns.
        strong: indices in `points` of those that are emphasised.
        what: the meaning of the emphasised ones, added to their titles.
    """

    name: str
    label: str
    style: str
    points: Sequence[Point]
    strong: frozenset[int] = frozenset()
    what: str = ""


@dataclass(frozen=True)
class Dot:
    """A point that is emphasised or has a title."""

    x: float
    y: float
    title: str
    style: str = ""


@dataclass(frozen=True)
class Line:
    """A drawn line."""

    style: str
    path: str
    area: str
    dots: list[Dot]
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True)
class Bar:
    """A drawn bar."""

    x: float
    y: float
    width: float
    height: float
    style: str
    title: str
    label: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot; see the module."""

    title: str
    description: str
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    marks: list[Dot] = field(default_factory=list)
    rule: float | None = None
    note: str = ""
    width: float = WIDTH


def turn_ticks(first: float, last: float, scale: Scale) -> list[tuple[float, str]]:
    """Ticks of an axis of turns: whole numbers."""
    return [(scale(value), f"{value:,.0f}") for value in ticks(first, last, 7, least_step=1)]


def course_in_words(name: str, values: Sequence[float]) -> str:
    """A line in words, for screen readers."""
    return f"{name}: from {values[0]:g} to {values[-1]:g}, lowest {min(values):g}, highest {max(values):g}."


def thinning_note(size: int) -> str:
    """The note on a thinned plot; empty if all points are drawn."""
    return f"Each point is the mean of {count(size, 'utterance')}." if size > 1 else ""


def _dot(series: Series, place: int, at: Point, axis: str) -> Dot:
    turn, value = series.points[place]
    strong = place in series.strong
    title = f"{series.name}, {axis} {turn:g}: {value:g}" + (f", {series.what}" if strong else "")
    return Dot(*at, title, "strong" if strong else "")


def level_plot(
    title: str,
    series: Sequence[Series],
    *,
    height: float = 200.0,
    labels: float = 84.0,
    filled: bool = False,
    axis: bool = True,
    axis_name: str = "turn",
    highest: float = 10,
    y_values: Sequence[float] = (0, 5, 10),
    marks: Sequence[tuple[float, str, str]] = (),
    note: str = "",
) -> Plot:
    """Lines of levels over turns, or over rounds.

    Args:
        title: of the plot.
        series: the lines; those without points are not drawn.
        height: of the plot, in pixels; it grows where the labels need more.
        labels: pixels kept free for labels at the lines' ends; 0 for no labels.
        filled: whether the area under the lines is tinted.
        axis: whether the turns are written along the bottom.
        axis_name: what is counted along the bottom.
        highest: the level at the top; 0 is at the bottom.
        y_values: where the vertical axis has ticks.
        marks: of turn, style and title, drawn along the top.
        note: text below the plot, before the note on thinning.
    """
    drawn = [one for one in series if one.points]
    top, below = _TOP + _MARKS * bool(marks), _BOTTOM if axis else 6.0
    height = max(height + _MARKS * bool(marks), top + below + _LABEL_GAP * len(drawn) * bool(labels))
    turns = [x for one in drawn for x, _ in one.points] or [0.0]
    right, bottom = WIDTH - max(labels, 8.0), height - below
    x, y = Scale(min(turns), max(turns), _LEFT, right), Scale(0, highest, bottom, top)
    size = bin_size(max((len(one.points) for one in drawn), default=1), MOST_POINTS)
    ends = spread([y(one.points[-1][1]) for one in drawn], _LABEL_GAP, top, bottom)
    lines = []
    for place, (one, end) in enumerate(zip(drawn, ends, strict=True)):
        shift = (place - (len(drawn) - 1) / 2) * min(_APART, 8 / len(drawn))
        points = [(x(turn), round(y(value) + shift, 1)) for turn, value in binned(one.points, size)]
        dots = []
        if size == 1 and len(points) * len(drawn) <= _MOST_DOTS:
            dots = [_dot(one, n, at, axis_name) for n, at in enumerate(points)]
        lines.append(
            Line(
                style=one.style,
                path=path(points),
                area=area(points, bottom) if filled else "",
                dots=dots,
                label=f"{one.label} {one.points[-1][1]:g}" if labels else "",
                label_x=right + 6,
                label_y=round(end + 3.5, 1),
            )
        )
    return Plot(
        title=title,
        description=" ".join(course_in_words(one.name, [value for _, value in one.points]) for one in drawn),
        height=height,
        left=_LEFT,
        right=right,
        top=top,
        bottom=bottom,
        x_ticks=turn_ticks(min(turns), max(turns), x) if axis else [],
        y_ticks=[(y(value), f"{value:g}") for value in y_values],
        lines=lines,
        marks=[Dot(x(turn), top - _MARKS, said, style) for turn, style, said in marks],
        note=" ".join(part for part in (note, thinning_note(size)) if part),
    )


People = Mapping[str, Person]

_LANE: Final = 62.0
_MOST_INITIALS: Final = 20
_MOST_VERDICTS: Final = 70


def minds_by_agent(record: Record) -> dict[str, list[MindRecord]]:
    """The agents' minds in order of turns."""
    found: dict[str, list[MindRecord]] = {}
    for mind in minds_of(record):
        found.setdefault(mind.agent, []).append(mind)
    return found


def emotion_plots(record: Record, people: People) -> list[tuple[Person, Plot]]:
    """Emotions over turns: one plot per agent, one line per emotion that was above 0."""
    plots = []
    for name, minds in minds_by_agent(record).items():
        known = [mind for mind in minds if mind.emotion]
        if not known or name not in people:
            continue
        felt = [emotion for emotion in EMOTIONS if any(mind.emotion.get(emotion) for mind in known)]
        series = [
            Series(emotion, emotion, emotion_style(emotion), [(m.turn, m.emotion.get(emotion, 0)) for m in known])
            for emotion in felt
        ]
        absent = [emotion for emotion in EMOTIONS if emotion not in felt]
        note = f"Not felt: {', '.join(absent)}." if felt and absent else "" if felt else "Calm throughout."
        plots.append((people[name], level_plot(f"Emotions of {people[name].name}", series, height=170, note=note)))
    return plots


def need_plots(record: Record, people: People) -> list[tuple[Person, Plot]]:
    """Need to talk over turns, one lane per agent; the points after which the agent spoke are emphasised."""
    speaker_after = {utterance.turn - 1: utterance.speaker for utterance in record.utterances}
    needs = {
        name: points
        for name, minds in minds_by_agent(record).items()
        if (points := [(m.turn, m.need_to_talk) for m in minds if m.need_to_talk is not None]) and name in people
    }
    plots = []
    for lane, (name, points) in enumerate(needs.items(), start=1):
        person = people[name]
        spoke = frozenset(n for n, (turn, _) in enumerate(points) if speaker_after.get(turn) == name)
        thinned = bin_size(len(points), MOST_POINTS) > 1
        last = lane == len(needs)
        plot = level_plot(
            f"Need to talk of {person.name}",
            [Series(person.name, "", person.style, points, spoke, "then spoke")],
            height=_LANE + 14 * last,
            labels=0,
            filled=True,
            axis=last,
            y_values=(0, 10),
            marks=[(points[n][0], "tick", "") for n in sorted(spoke)] if thinned else [],
        )
        plots.append((person, plot))
    return plots


def openness_plot(record: Record, people: People) -> Plot | None:
    """Openness to consensus over turns with the verdicts along the top; None in discussions."""
    series = [
        Series(people[name].name, people[name].initials, people[name].style, points)
        for name, minds in minds_by_agent(record).items()
        if (points := [(m.turn, m.openness) for m in minds if m.openness is not None]) and name in people
    ]
    if not series:
        return None
    marks = [(verdict.turn, verdict_style(verdict), verdict_title(verdict)) for verdict in record.verdicts]
    note = ""
    if len(marks) > _MOST_VERDICTS:
        marks = [mark for mark in marks if mark[1] in ("consensus", "overruled")]
        note = "Only the verdicts of consensus are marked."
    return level_plot("Openness to consensus", series, labels=48, marks=marks, note=note)


def verdict_style(verdict: Judged) -> str:
    """How a verdict is marked: consensus, overruled, circling or progressing."""
    if verdict.consensus:
        return "consensus"
    return "overruled" if verdict.overruled else verdict.progress if verdict.progress == "circling" else "progressing"


def verdict_title(verdict: Judged) -> str:
    """A verdict in a few words."""
    said = "consensus" if verdict.consensus else "consensus overruled" if verdict.overruled else "no consensus"
    return f"Judge after utterance {verdict.turn}: {said}" + (f", {verdict.progress}" if verdict.progress else "")


def score_plot(record: Record) -> Plot | None:
    """Coherence, sentiment and engagement over turns; None if nothing was analysed."""
    if not record.scores:
        return None
    series = [
        Series(name, name, f"a{place}", [(score.turn, getattr(score, name)) for score in record.scores])
        for place, name in enumerate(SCORES)
    ]
    return level_plot("Scores of the analysis", series, labels=98)


def response_plot(record: Record, people: People) -> Plot | None:
    """Response times as bars in their speakers' colours, and their mean as a line; None if they are not known."""
    timed = [(u.turn, u.took_s, u.speaker) for u in record.utterances if u.took_s is not None]
    return speaker_bars("Response times", timed, people, seconds, " s") if timed else None


def speaker_bars(
    title: str,
    values: Sequence[tuple[int, float, str]],
    people: People,
    worded: Callable[[float], str],
    unit: str = "",
) -> Plot:
    """A value of each utterance as bars in their speakers' colours, and the mean as a line.

    Args:
        title: of the plot.
        values: turn, value and speaker, in order of turns; at least one.
        people: all participants.
        worded: a value in words, with its unit.
        unit: behind the numbers of the vertical axis.
    """
    size = bin_size(len(values), MOST_POINTS)
    groups = [values[start : start + size] for start in range(0, len(values), size)]
    heights = [mean(value for _, value, _ in group) or 0.0 for group in groups]
    high = max([*heights, 0.01])
    high = max(high, ticks(0, high, 4)[-1])
    left, right, top, bottom, height = 44.0, WIDTH - 8, 12.0, 166.0, 190.0
    y = Scale(0, high, bottom, top)
    slot = (right - left) / len(groups)
    bars = []
    for place, (group, value) in enumerate(zip(groups, heights, strict=True)):
        person = people[group[0][2]]
        one = size == 1
        about = f"Utterance {group[0][0]}, {person.name}: {worded(value)}"
        bars.append(
            Bar(
                x=round(left + place * slot + slot * 0.12, 2),
                y=y(value),
                width=round(slot * 0.76, 2),
                height=round(max(bottom - y(value), 0.5), 1),
                style=person.style if one else "many",
                title=about if one else f"Utterances {group[0][0]} to {group[-1][0]}: {worded(value)} on average",
                label=person.initials if one and len(groups) <= _MOST_INITIALS else "",
            )
        )
    average = mean(value for _, value, _ in values) or 0.0
    scale = Scale(0.5, len(values) + 0.5, left, right)
    decimals = 0 if step_for(high, 4) >= 1 else 2
    note = f"{count(size, 'utterance')} a bar. " if size > 1 else ""
    return Plot(
        title=title,
        description=f"{count(len(values), 'utterance')}, {worded(average)} on average, "
        f"at most {worded(max(value for _, value, _ in values))}.",
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        x_ticks=[] if bars[0].label else turn_ticks(1, len(values), scale),
        y_ticks=[(y(value), f"{value:,.{decimals}f}{unit}") for value in ticks(0, high, 4)],
        bars=bars,
        rule=y(average),
        note=f"{note}The dashed line is the average, {worded(average)}."
        + (" Colours are those of the speakers." if size == 1 else ""),
    )


def message_bars(utterances: Mapping[str, int], people: People) -> Sequence[tuple[Person, int, float]]:
    """Each participant's number of utterances, and its share of the greatest number (0–1)."""
    most = max([*utterances.values(), 1])
    return [(people[name], number, number / most) for name, number in utterances.items()]
