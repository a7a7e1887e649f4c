"""The charts of a conversation, from the data that a report and a page both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...runs.events import Analysed, Judged
from ...state.wording import t
from ..palette import Person
from ..stances import Position
from ..summary import SCORES
from ..words import is_number, number_of_words, seconds
from .bars import bars
from .lines import Lane, Mark, Series, lanes
from .model import MOST_POINTS, WIDTH, Chart, Point
from .strips import Felt, emotions, stances

_MOST_VERDICTS: Final = 70


@dataclass(frozen=True)
class Talk:
    """The data of a conversation up to its newest turn; every mapping is by name, in order of listing.

    Attributes:
        people: all participants, and those who spoke beside them.
        last: the newest turn.
        speakers: of the utterances, in order.
        needs: need to talk by turn.
        openness: openness to consensus by turn.
        own: levels that modules of installed packages judged, by turn; by name and the judgement's field.
        felt: emotions by turn.
        verdicts: of a judge, in order.
        scores: of the analysis, in order of turns.
        response_times: turn, seconds and speaker, where they are known.
        left_out: turn, words left out of the prompt, and speaker.
        positions: the rows of one source of the ledger, in order.
    """

    people: Mapping[str, Person]
    last: int
    speakers: Mapping[int, str] = field(default_factory=dict)
    needs: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    openness: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    own: Mapping[tuple[str, str], Sequence[Point]] = field(default_factory=dict)
    felt: Mapping[str, Felt] = field(default_factory=dict)
    verdicts: Sequence[Judged] = ()
    scores: Sequence[Analysed] = ()
    response_times: Sequence[tuple[int, float, str]] = ()
    left_out: Sequence[tuple[int, float, str]] = ()
    positions: Sequence[Position] = ()


def verdict_style(verdict: Judged) -> str:
    """How a verdict is marked: consensus, overruled, circling or progressing."""
    if verdict.consensus:
        return "consensus"
    return "overruled" if verdict.overruled else verdict.progress if verdict.progress == "circling" else "progressing"


def verdict_marks(verdicts: Sequence[Judged]) -> tuple[list[Mark], str]:
    """The marks of verdicts along the top of a chart, and the note that explains them; of very many, only some."""
    marks = [
        (one.turn, style, t("charts.verdict", turn=one.turn, said=t(f"charts.{style}")))
        for one in verdicts
        for style in [verdict_style(one)]
    ]
    if not marks:
        return [], ""
    if len(marks) <= _MOST_VERDICTS:
        return marks, t("charts.signs")
    return [mark for mark in marks if mark[1] in ("consensus", "overruled")], t("charts.some_verdicts")


def need_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Need to talk, a lane for each agent; filled points: spoke next. None if nobody's is known."""
    rows = []
    for name, points in _known(talk, talk.needs):
        person = talk.people[name]
        spoke = frozenset(n for n, (turn, _) in enumerate(points) if talk.speakers.get(int(turn) + 1) == name)
        rows.append(
            Lane(person.name, person.style, [Series(person.name, "", person.style, points, spoke, t("charts.spoke"))])
        )
    if not rows:
        return None
    dense = max(len(row.series[0].points) for row in rows) > MOST_POINTS
    note = t("charts.spoke_above") if dense else t("charts.filled")
    return lanes(t("charts.needs"), rows, last=talk.last, width=width, note=note)


def openness_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Openness to consensus, a lane for each agent, with the verdicts along the top; None outside debates."""
    rows = [
        Lane(person.name, person.style, [Series(person.name, "", person.style, points)])
        for name, points in _known(talk, talk.openness)
        for person in [talk.people[name]]
    ]
    marks, note = verdict_marks(talk.verdicts)
    return lanes(t("charts.openness"), rows, last=talk.last, width=width, marks=marks, note=note) if rows else None


def levels_of(own: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """The numbers from 0 to 10 among what modules of installed packages judged, by field."""
    fields = Counter(name for judged in own.values() for name in judged)
    return {
        (name if fields[name] == 1 else f"{module} {name}").replace("_", " "): value
        for module, judged in own.items()
        for name, value in judged.items()
        if is_number(value) and 0 <= value <= 10
    }


def own_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """What modules of installed packages judged, a lane for each field and agent; None if there is nothing."""
    fields = {name for _, name in talk.own}
    rows = []
    for (agent, name), points in sorted(talk.own.items(), key=lambda one: one[0][1]):
        if agent in talk.people and points:
            person = talk.people[agent]
            called = person.name if len(fields) == 1 else f"{person.name}: {name}"
            rows.append(Lane(called, person.style, [Series(called, "", person.style, points)]))
    note = t("charts.own_note", fields=", ".join(sorted(fields)))
    return lanes(t("charts.own"), rows, last=talk.last, width=width, note=note) if rows else None


def emotion_chart(
    talk: Talk,
    *,
    each: bool = False,
    width: float = WIDTH,
) -> Chart | None:
    """Emotions as heat; None if nobody's are known.

    Args:
        talk: the data.
        each: whether each emotion has a strip of its own.
        width: of the chart.
    """
    felt = [(talk.people[name], course) for name, course in talk.felt.items() if course and name in talk.people]
    if not felt:
        return None
    return emotions(t("charts.emotions"), felt, last=talk.last, each=each, width=width)


def score_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Coherence, sentiment and engagement, a lane each; None if nothing was analysed."""
    rows = []
    for place, name in enumerate(SCORES):
        points: list[Point] = [
            (score.turn, value) for score in talk.scores if (value := getattr(score, name)) is not None
        ]
        called = t(f"charts.{name}")
        rows.append(Lane(called, f"a{place}", [Series(called, "", f"a{place}", points)]))
    if not any(row.series[0].points for row in rows):
        return None
    return lanes(t("charts.scores"), rows, last=talk.last, width=width)


def response_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Response times as bars; None if none are known.

    Args:
        talk: the data.
        width: of the chart.
    """
    return _speakers(t("charts.responses"), talk, talk.response_times, seconds, width)


def left_out_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Words left out of the prompts of utterances as bars; None if no prompt was pruned.

    Args:
        talk: the data.
        width: of the chart.
    """
    return _speakers(t("charts.left_out"), talk, talk.left_out, number_of_words, width)


def stance_chart(talk: Talk, *, width: float = WIDTH) -> Chart | None:
    """Who held what when, with the verdicts along the top; None if no position is known."""
    rows = [
        (person, own)
        for name, person in talk.people.items()
        if (own := [row for row in talk.positions if row.agent == name])
    ]
    if not rows:
        return None
    marks, note = verdict_marks(talk.verdicts)
    return stances(t("charts.positions"), rows, last=talk.last, width=width, marks=marks, note=note)


def shown_positions(rows: Sequence[Position]) -> list[Position]:
    """Of the rows of a ledger, those of the source that a chart shows.

    That is whom a story's characters support, else the judge's verdicts, else own answers. Polls are left out.
    """
    sources = {row.source for row in rows}
    shown = next((source for source in ("supports", "verdicts", "answers") if source in sources), "")
    return [row for row in rows if row.source == shown]


def _known(talk: Talk, levels: Mapping[str, Sequence[Point]]) -> list[tuple[str, Sequence[Point]]]:
    return [(name, points) for name, points in levels.items() if points and name in talk.people]


def _speakers(
    title: str,
    talk: Talk,
    values: Sequence[tuple[int, float, str]],
    worded: Callable[[float], str],
    width: float,
) -> Chart | None:
    shown = [(turn, value, talk.people[name]) for turn, value, name in values if name in talk.people]
    return bars(title, shown, worded, last=talk.last, width=width) if shown else None
