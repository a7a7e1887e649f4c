"""The courses of two runs over each other: a lane for each participant, the first run solid, the second dashed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.charts.lines import Lane, Mark, Series, lanes
from persimchat.runs.reports.charts.model import ENGLISH, WIDTH, Chart, Words
from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.charts.talk import IN_ENGLISH
from persimchat.runs.reports.diff_parting import shared
from persimchat.runs.reports.report_people import people
from persimchat.runs.reports.summary import minds_of, names_of
from persimchat.state.emotion import EMOTIONS

Course = Sequence[Point]
Value = Callable[[MindRecord], float | None]

_LETTERS: Final = ("A", "B")


def overlays(
    a: Record,
    b: Record,
    *,
    named: Mapping[str, str] = IN_ENGLISH,
    parts: str = "",
    width: float = WIDTH,
    words: Words = ENGLISH,
) -> list[Chart]:
    """Need to talk, openness and emotions of both runs; only charts in which any course differs.

    Of each participant's emotions, the one whose courses differ most is drawn.

    Args:
        a: one run.
        b: the other.
        named: emotions in words.
        parts: what is said at the mark of the utterance at which they part.
        width: of the charts.
        words: the texts.
    """
    names = list(dict.fromkeys([*names_of(a), *names_of(b)]))
    minds = [_by_agent(record) for record in (a, b)]
    needs = {name: _both(minds, name, lambda mind: mind.need_to_talk) for name in names}
    openness = {name: _both(minds, name, lambda mind: mind.openness) for name in names}
    felt = {name: _most_apart(minds, name) for name in names}
    shown = {name: f"{name}: {named[felt[name][0]]}" for name in names}
    last = max([said.turn for record in (a, b) for said in record.utterances], default=0)
    marks = _parting(a, b, parts)

    def drawn(title: str, courses: Mapping[str, Sequence[Course]], called: Mapping[str, str]) -> list[Chart]:
        if all(one == other for one, other in courses.values()):
            return []
        styles = {name: person.style for name, person in people(names).items()}
        rows = [
            Lane(
                called.get(name, name),
                styles[name],
                [
                    Series(f"{called.get(name, name)}, {letter}", letter, styles[name], course)
                    for letter, course in zip(_LETTERS, both, strict=True)
                ],
            )
            for name, both in courses.items()
        ]
        return [lanes(title, rows, last=last, width=width, marks=marks, words=words)]

    return [
        *drawn(words.emotions, {name: both for name, (_, both) in felt.items()}, shown),
        *drawn(words.needs, needs, {}),
        *drawn(words.openness, openness, {}),
    ]


def _by_agent(record: Record) -> dict[str, list[MindRecord]]:
    found: dict[str, list[MindRecord]] = {}
    for mind in minds_of(record):
        found.setdefault(mind.agent, []).append(mind)
    return found


def _both(minds: Sequence[Mapping[str, Sequence[MindRecord]]], name: str, value: Value) -> list[Course]:
    """An agent's courses in both runs."""
    return [[(mind.turn, found) for mind in run.get(name, ()) if (found := value(mind)) is not None] for run in minds]


def _most_apart(minds: Sequence[Mapping[str, Sequence[MindRecord]]], name: str) -> tuple[str, list[Course]]:
    """The emotion of an agent whose courses differ most, with them; the first of several."""

    def felt(emotion: str) -> Value:
        return lambda mind: mind.emotion.get(emotion) if mind.emotion else None

    courses = {emotion: _both(minds, name, felt(emotion)) for emotion in EMOTIONS}
    most = max(EMOTIONS, key=lambda emotion: _distance(*courses[emotion]))
    return most, courses[most]


def _distance(one: Course, other: Course) -> float:
    """The sum of differences at the turns that both courses have."""
    there = dict(other)
    return sum(abs(value - there[turn]) for turn, value in one if turn in there)


def _parting(a: Record, b: Record, said: str) -> list[Mark]:
    together = shared(a, b)
    longest = max(len(a.utterances), len(b.utterances))
    return [(together + 1, "neutral turned", said)] if 0 < together < longest else []
