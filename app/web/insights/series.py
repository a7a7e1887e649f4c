"""What charts draw, as data: pure functions from a board's levels by turn to thinned lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from persimchat.runs.events import Judged
from persimchat.runs.recorded import RecordedUtterance
from persimchat.runs.report_charts import Point, bin_size, binned
from persimchat.state.emotion import EMOTIONS

MOST_POINTS: Final = 200
"""Points of a line or a cloud; what has more is thinned to means of neighbours."""

Levels = Mapping[int, Mapping[str, int]]
"""Levels by turn and name."""


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[list[float]]:
    """At most `most` points, as charts take them, rounded to hundredths."""
    return [[round(x, 2), round(y, 2)] for x, y in binned(points, bin_size(len(points), most))]


def longest(lines: Mapping[str, Sequence[Point]]) -> int:
    """Points of the longest line."""
    return max(map(len, lines.values()), default=0)


def levels_of(levels: Levels, name: str, turn: int) -> list[Point]:
    """Somebody's levels up to the end of a turn, in order of turns."""
    return [(at, levels[at][name]) for at in sorted(levels) if at <= turn and name in levels[at]]


def latest(levels: Levels, names: Iterable[str], turn: int) -> dict[str, int]:
    """Everybody's last level up to the end of a turn; whoever has none is left out."""
    found: dict[str, int] = {}
    missing = dict.fromkeys(names)
    for at in sorted((at for at in levels if at <= turn), reverse=True):
        if not missing:
            break
        for name in [name for name in missing if name in levels[at]]:
            found[name] = levels[at][name]
            del missing[name]
    return found


def emotions_over_time(
    emotions: Mapping[int, Mapping[str, Mapping[str, int]]], names: Sequence[str], turn: int
) -> dict[str, list[Point]]:
    """Each emotion's level up to the end of a turn, summed over `names`.

    A turn counts where everybody is known of whom anything is known at that turn at all; while a turn's minds are still
    coming in, it would look like a fall.
    """
    felt = {at: [emotions[at][name] for name in names if name in emotions[at]] for at in sorted(emotions) if at <= turn}
    most = max(map(len, felt.values()), default=0)
    whole = {at: minds for at, minds in felt.items() if len(minds) == most > 0}
    return {
        emotion: [(at, sum(mind.get(emotion, 0) for mind in minds)) for at, minds in whole.items()]
        for emotion in EMOTIONS
    }


def emotions_now(
    emotions: Mapping[int, Mapping[str, Mapping[str, int]]], names: Iterable[str], turn: int
) -> dict[str, list[int]]:
    """Everybody's last emotions up to the end of a turn, in the order of `EMOTIONS`; whoever has none is left out."""
    found: dict[str, list[int]] = {}
    turns = sorted((at for at in emotions if at <= turn), reverse=True)
    for name in names:
        felt = next((emotions[at][name] for at in turns if name in emotions[at]), None)
        if felt is not None:
            found[name] = [felt.get(emotion, 0) for emotion in EMOTIONS]
    return found


def verdict_kind(verdict: Judged) -> str:
    """How a verdict is marked: consensus, overruled, circling or progressing."""
    if verdict.consensus:
        return "consensus"
    if verdict.overruled:
        return "overruled"
    return "circling" if verdict.progress == "circling" else "progressing"


def verdict_marks(verdicts: Iterable[Judged], turn: int, most: int = MOST_POINTS) -> list[tuple[int, str]]:
    """Turns and kinds of the verdicts up to the end of a turn; of too many, those of consensus and the last ones."""
    marks = [(verdict.turn, verdict_kind(verdict)) for verdict in verdicts if verdict.turn <= turn]
    if len(marks) > most:
        marks = [mark for mark in marks if mark[1] in ("consensus", "overruled")] or marks
    return marks[-most:]


def response_times(said: Iterable[RecordedUtterance], name: str) -> list[Point]:
    """Somebody's response times in seconds, by turn; words that a person gave have none."""
    return [
        (one.turn, one.response_time_s)
        for one in said
        if one.speaker == name and one.response_time_s is not None and not one.is_given
    ]


def left(limit: float, used: float) -> float:
    """What is left of a budget; never less than nothing."""
    return max(0.0, limit - used)
