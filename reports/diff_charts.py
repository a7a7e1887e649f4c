"""Two stories side by side: where the characters stand from the last update that both share, and the vote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic import ConfigDict, Field

from ..runs.events import Happened
from ..runs.folder.lines import BALLOTS
from ..runs.folder.parts import MindRecord
from ..runs.folder.reading import Record
from ..state.minds.emotion import EMOTIONS
from ..state.wording import t
from .charts.lines import Lane, Mark, Series, lanes
from .charts.model import WIDTH, Chart, Point
from .diff_parting import Part, shared
from .palette import people
from .pruning_figures import Wording, wordings
from .summary import minds_of, names_of
from .words import emotion_name


class Standpoint(Part):
    """Where a character stands after an update."""

    supports: str = Field(description="the main character supported; empty for nobody")
    influence: int
    beliefs: list[int] = Field(description="in the file's order")
    closeness: dict[str, int]


class Update(Part):
    """Where one character stands after one update in both runs; null where a run has no such update."""

    round: int = Field(description="0 before the first round")
    shared: bool = Field(description="whether this is the last update before the runs part")
    name: str
    a: Standpoint | None
    b: Standpoint | None


class Voted(Part):
    """What one voter put on one ballot in both runs; empty where a run has no such ballot."""

    name: str
    ballot: str = Field(description="guess, ballot (open) or closed_ballot")
    a: str
    b: str


def updates(a: Record, b: Record, shared: int) -> list[Update]:
    """The updates of two stories, from the last one that both share.

    Args:
        a: one run.
        b: the other.
        shared: how many utterances they share from the start.
    """
    then, now = a.standings, b.standings
    rounds = sorted({*then, *now})
    both = [n for n in rounds if n in then and then[n] == now.get(n) and _last_turn(then[n]) <= shared]
    names = list(dict.fromkeys([*names_of(a), *names_of(b)]))
    return [
        Update(round=n, shared=n in both, name=name, a=_stands(then, n, name), b=_stands(now, n, name))
        for n in rounds
        if not both or n >= both[-1]
        for name in names
        if name in then.get(n, {}) or name in now.get(n, {})
    ]


def votes(a: Record, b: Record) -> list[Voted]:
    """The ballots of two stories, in the order in which they are cast."""
    made = [{(one.do, one.speaker): one.choice for one in run.happenings if one.do in BALLOTS} for run in (a, b)]
    order = list(BALLOTS)
    cast = sorted(dict.fromkeys([*made[0], *made[1]]), key=lambda key: order.index(key[0]))
    return [Voted(name=who, ballot=do, a=made[0].get((do, who), ""), b=made[1].get((do, who), "")) for do, who in cast]


def _last_turn(standings: dict[str, Happened]) -> int:
    return max(one.turn for one in standings.values())


def _stands(found: dict[int, dict[str, Happened]], number: int, name: str) -> Standpoint | None:
    one = found.get(number, {}).get(name)
    if one is None:
        return None
    return Standpoint(
        supports=one.supports or "", influence=one.influence or 0, beliefs=one.beliefs, closeness=one.closeness
    )


# What the utterances of two runs were worded without, side by side, where it differs


class WordedWithout(Part):
    """What one utterance was worded without."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)

    agent: str
    strength: float = Field(alias="lambda")
    units: int = Field(description="removable pieces of information")
    removed: int = Field(description="how many of them went")
    words: int = Field(description="words of all removable pieces")
    words_removed: int
    share: float | None = Field(description="the share of the scores that went; null if nothing was scored")


class PrunedDifference(Part):
    """An utterance at which the runs differ in what was left out; null where a run left nothing out, or is over."""

    turn: int
    a: WordedWithout | None
    b: WordedWithout | None


def pruned_differences(a: Record, b: Record) -> list[PrunedDifference]:
    """The utterances at which two runs differ in what was left out, in order; none if neither was pruned."""
    then, now = _by_turn(a), _by_turn(b)
    return [
        PrunedDifference(turn=turn, a=_figures(then.get(turn)), b=_figures(now.get(turn)))
        for turn in sorted({*then, *now})
        if then.get(turn) != now.get(turn)
    ]


def _by_turn(record: Record) -> dict[int, Wording]:
    return {one.pruned.turn: one for one in wordings(record.minds)}


def _figures(one: Wording | None) -> WordedWithout | None:
    if one is None:
        return None
    figures = one.pruned.model_dump(include=WordedWithout.model_fields.keys() - {"agent"})
    return WordedWithout(agent=one.agent, **figures)


# The courses of two runs over each other: a lane for each participant, the first run solid, the second dashed


Course = Sequence[Point]
Value = Callable[[MindRecord], float | None]

_LETTERS: Final = ("A", "B")


def overlays(
    a: Record,
    b: Record,
    *,
    parts: str = "",
    width: float = WIDTH,
) -> list[Chart]:
    """Need to talk, openness and emotions of both runs; only charts in which any course differs.

    Of each participant's emotions, the one whose courses differ most is drawn.

    Args:
        a: one run.
        b: the other.
        parts: what is said at the mark of the utterance at which they part.
        width: of the charts.
    """
    names = list(dict.fromkeys([*names_of(a), *names_of(b)]))
    minds = [_by_agent(record) for record in (a, b)]
    needs = {name: _both(minds, name, lambda mind: mind.need_to_talk) for name in names}
    openness = {name: _both(minds, name, lambda mind: mind.openness) for name in names}
    felt = {name: _most_apart(minds, name) for name in names}
    shown = {name: f"{name}: {emotion_name(felt[name][0])}" for name in names}
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
        return [lanes(title, rows, last=last, width=width, marks=marks)]

    return [
        *drawn(t("charts.emotions"), {name: both for name, (_, both) in felt.items()}, shown),
        *drawn(t("charts.needs"), needs, {}),
        *drawn(t("charts.openness"), openness, {}),
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
