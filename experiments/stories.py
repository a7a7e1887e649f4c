"""Measures of stories in an experiment: arithmetic on what each run has recorded (`evaluation/stories.py`).

A measure has a value of each run, or values of its parts: of candidates, rounds, characters or pairs of them. Those of
runs go where all measures go; parts have a table of their own, with their shares and means over runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Final

from ..evaluation.statistics.intervals import COSINE, COUNT, NUMBER, PERCENT, SHARE, Estimate, Kind, mean_over_tasks
from ..evaluation.stories import (
    FORMS,
    KINDS,
    PIECES,
    bigrams,
    changes_of_side,
    entropy,
    followers,
    forms,
    guesses_right,
    reciprocity,
    settled,
    shown_by,
    shown_to,
    stands,
    story_in,
    supported,
    supporters,
    talks,
    texts_in,
)
from ..runs.folder.reading import Record, read_run
from ..state.errors import InputError, suggestion
from ..state.stories.story import Story
from ..state.wording import t
from .axes import Label
from .comparing import OF_THE_TASK, Comparison, compare, spread, task_of
from .file import Compare, Experiment
from .measuring import DOES_NOT_APPLY, Held, Named, Value
from .place import Standing
from .plan import Cell, Plan

WON: Final = "won"
CEDED: Final = "ceded"
SUPPORTED: Final = "supported"
TALKS: Final = "talks"
COUNTED: Final = "counted"
"""The measure of how many answers or rounds a percentage rests on; its unit is a measure."""
DRAW: Final = "a draw"
NOBODY: Final = "nobody"
"""Results of a vote without one winner."""

Of = Callable[[Record, Story, Cell], Iterable[Value]]


@dataclass(frozen=True)
class StoryNumbers:
    """Measures that are computed together.

    Attributes:
        named: those that have a value of the run.
        parts: those that have values of its parts alone.
        of: gives the values that a story has; what it has none of does not apply to it.
    """

    named: Sequence[Named]
    parts: Sequence[Named]
    of: Of

    def values(self, held: Held, record: Record) -> list[Value]:
        """The values of one complete conversation; of one that is no story, all are missing."""
        story = story_in(record)
        found = list(self.of(record, story, held.cell)) if story is not None else []
        of_run, of_any = {value.measure for value in found if value.unit == "run"}, {value.measure for value in found}
        lacking = [one for one in self.named if one.name not in of_run]
        lacking += [one for one in self.parts if one.name not in of_any]
        return found + [Value(one.name, None, DOES_NOT_APPLY) for one in lacking]


def check_stories(plan: Plan) -> None:
    """Refuse measures of stories for conversations that are none.

    Raises:
        InputError: a conversation has no story, or the observed character is none of its participants.
    """
    experiment = plan.experiment
    wanted, axis = experiment.measures.story, experiment.measures.attitude
    field = "story" if wanted else "attitude"
    if not wanted and axis is None:
        return
    for each in plan.cells:
        if each.scenario.story is None:
            raise InputError(
                "measures of stories are wanted, and the conversations have no story",
                where=experiment.where("measures", field),
                remedy=f"Give the base a scenario with a story, or leave {field} out of the measures.",
            )
    if axis is None:
        return
    axes = {one.name: one for one in plan.axes}
    where = experiment.where("measures", "attitude")
    if axis not in axes:
        raise InputError(f"{axis!r} is no axis of the grid", where=where, remedy=suggestion(axis, list(axes)))
    people = {persona.name for each in plan.cells for persona in each.scenario.participants}
    if not people & {level.label for level in axes[axis].levels}:
        raise InputError(
            f"no level of the axis {axis} is a participant, so nobody is observed",
            where=where,
            remedy="Make one with each: participants.",
        )


def story_numbers(experiment: Experiment, standings: Mapping[str, Standing]) -> list[StoryNumbers]:
    """The measures of stories that an experiment wants.

    Args:
        experiment: its file.
        standings: how far each cell is, by its id: the entropy is also taken over as much as all runs have.
    """
    wanted, axis = experiment.measures.story, experiment.measures.attitude
    found = []
    for name in dict.fromkeys(wanted):
        if name == "entropy":
            found.append(_entropies(_smallest(standings.values())))
        else:
            found.append(_PLAIN[name])
    return found + ([_attitude(axis)] if axis is not None else [])


# ── what is measured ───────────────────────────────────────────────────────────────────────────────────────────────


def _winners(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    found = settled(record, story)
    if found is None:
        return
    for name in story.candidates:
        yield Value(WON, float(name == found.winner), unit="candidate", who=name)
    yield Value(WON, float(bool(found.drawn)), unit="result", who=DRAW)
    yield Value(WON, float(not found.winner and not found.drawn), unit="result", who=NOBODY)
    if found.ceded is not None and story.settlement is not None:
        yield Value(CEDED, float(found.ceded), unit="character", who=story.settlement.decider)


def _supporters(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    among, course = followers(story), stands(record)
    if not among or not course:
        return
    for stand in course:
        yield Value(SUPPORTED, supported(stand, among), unit="round", who=str(stand.round))
    yield Value(SUPPORTED, supported(course[-1], among))
    yield Value("side_changes", float(changes_of_side(course, among)))
    for main in story.mains:
        yield Value("supporters", float(supporters(course[-1], main, among)), unit="character", who=main)


def _guesses(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    found = settled(record, story)
    share = guesses_right(record, found.winner) if found is not None else None
    if share is not None:
        yield Value("guesses_right", share)


def _talks(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    counts = talks(record)
    yield Value(TALKS, float(counts.total()))
    for host in story.mains:
        for partner in story.characters:
            if partner != host:
                yield Value(TALKS, float(counts[host, partner]), unit="pair", who=f"{host} → {partner}")


def _reciprocity(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    course = stands(record)
    for stand in course:
        if (value := reciprocity(stand.closeness)) is not None:
            yield Value("reciprocity", value, unit="round", who=str(stand.round))
            if stand is course[-1]:
                yield Value("reciprocity", value)


def _form(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    for kind, form in forms(record, story).items():
        if form.percent is not None:
            yield Value(f"form_{kind}", form.percent)
        yield Value(COUNTED, float(form.n), unit="measure", who=f"form_{kind}")


BELIEF: Final = "belief"
CLOSENESS: Final = "closeness"
BALLOTS: Final = "open_ballots"
CLOSED: Final = "closed_ballots"
ENDS: Final = (
    Named(BELIEF, "By character and belief, how strong it is after the last update, 0 to 100.", PERCENT),
    Named(CLOSENESS, "By pair, how close the first is to the second after the last update, 0 to 100.", PERCENT),
    Named(BALLOTS, "By candidate, open ballots for it.", COUNT),
    Named(CLOSED, "By candidate, closed ballots for it, on which nobody names itself.", COUNT),
)
"""The measures, in their order."""


def ends(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    """The values of one story; those of a vote only if there was one."""
    last = record.last_standings
    for name, one in last.items():
        for belief, score in zip(story.characters[name].beliefs, one.beliefs, strict=False):
            yield Value(BELIEF, float(score), unit="belief", who=f"{name}: {belief.text}")
    for name, near in (stands(record)[-1].closeness if last else {}).items():
        for other, score in near.items():
            yield Value(CLOSENESS, float(score), unit="pair", who=f"{name} → {other}")
    if record.manifest.outcome is not None:
        for name in story.candidates:
            yield Value(BALLOTS, float(record.manifest.outcome.open.get(name, 0)), unit="candidate", who=name)
        for name in story.candidates:
            yield Value(CLOSED, float(record.manifest.outcome.closed.get(name, 0)), unit="candidate", who=name)


_COUNTED: Final = Named(COUNTED, "By measure, on how many answers (of T1: rounds) its percentage rests.")

_PLAIN: Final[Mapping[str, StoryNumbers]] = {
    "winners": StoryNumbers(
        [],
        [
            Named(
                WON, "By candidate, whether it won alone: 1 or 0; a draw and nobody are results of their own.", SHARE
            ),
            Named(CEDED, "Whether the decider, a main character, put another in its own place: 1 or 0.", SHARE),
        ],
        _winners,
    ),
    "supporters": StoryNumbers(
        [
            Named(
                SUPPORTED, "Share of the other characters who stand behind a main one at the end; also by round.", SHARE
            ),
            Named("side_changes", "How often another character went from one main character to another.", COUNT),
        ],
        [Named("supporters", "By main character, how many of the others stand behind it at the end.", COUNT)],
        _supporters,
    ),
    "guesses": StoryNumbers(
        [Named("guesses_right", "Share of the voters who, before the vote, expected the winner to win.", SHARE)],
        [],
        _guesses,
    ),
    "talks": StoryNumbers(
        [Named(TALKS, "Talks of two, private and confidential ones; also by pair, who chose the other first.", COUNT)],
        [],
        _talks,
    ),
    "reciprocity": StoryNumbers(
        [
            Named(
                "reciprocity",
                "Whether closeness is returned at the end: correlation of c_ij and c_ji over ordered pairs, "
                "−1 to 1; also by round.",
                COSINE,
            )
        ],
        [],
        _reciprocity,
    ),
    "ends": StoryNumbers([], ENDS, ends),
    "form": StoryNumbers(
        [
            Named(f"form_{kind}", f"Percent of first answers in which {about}.", PERCENT)
            for kind, about in KINDS.items()
        ],
        [_COUNTED],
        _form,
    ),
}


ATTITUDES: Final = {
    "attitude_T1": "Percent of rounds in which the observed character's mean answered change of closeness to all "
    "others was negative; where nobody is observed, by main character, as a control.",
    "attitude_T2": "Percent of its answered changes of closeness to other main characters that were negative.",
    "provocation_T1": "The check: percent of rounds in which the others' mean answered change of closeness to it was "
    "negative.",
    "provocation_T2": "The check: percent of other main characters' answered changes of closeness to it that were "
    "negative.",
}
"""The measures of attitude: what the observed character shows, and what is shown to it."""


def _attitude(axis: str) -> StoryNumbers:
    def of(record: Record, story: Story, cell: Cell) -> Iterator[Value]:
        observed = cell.axes.get(axis)
        if observed in story.characters:
            yield from _attitude_of(record, str(observed), story.mains)
        else:  # a control, in which nobody is provoked
            for name in story.mains:
                for value in _attitude_of(record, name, story.mains):
                    yield replace(value, unit="character", who=control(value.who, name))

    return StoryNumbers([Named(name, about, PERCENT) for name, about in ATTITUDES.items()], [_COUNTED], of)


def control(measure: str, name: str) -> str:
    """How the part of a control is called: by the character; of a count, by the measure and the character."""
    return f"{measure}, {name}" if measure else name


def _attitude_of(record: Record, observed: str, mains: Sequence[str]) -> Iterator[Value]:
    for name, find in (("attitude", shown_by), ("provocation", shown_to)):
        found = find(record, observed, mains)
        for key, value, n in (("T1", found.t1, found.rounds), ("T2", found.t2, found.answers)):
            if value is not None:
                yield Value(f"{name}_{key}", value)
            yield Value(COUNTED, float(n), unit="measure", who=f"{name}_{key}")


def _smallest(standings: Iterable[Standing]) -> dict[str, int]:
    """The smallest number of 2-grams of a complete run, by their pieces; nothing without a run."""
    least: dict[str, int] = {}
    for standing in standings:
        if standing.status == "done" and standing.folder is not None:
            texts = texts_in(read_run(standing.folder))
            for pieces in PIECES:
                n = len(bigrams(texts, pieces))
                least[pieces] = min(n, least.get(pieces, n))
    return least


def entropy_name(pieces: str, unit: str, *, at_n: bool = False) -> str:
    """The measure of one form of the entropy."""
    return f"entropy_{pieces}_{unit}{'_at_n' if at_n else ''}"


def _entropies(least: Mapping[str, int]) -> StoryNumbers:
    named = [
        *(
            Named(entropy_name(pieces, unit), f"Entropy-2 of {pieces}, in {unit}: disorder, not quality.")
            for pieces, unit in FORMS
        ),
        *(
            Named(
                entropy_name(pieces, unit, at_n=True),
                partial(t, "findings.entropy_at_n", n=least.get(pieces, 0)),
            )
            for pieces, unit in FORMS
        ),
        *(Named(f"bigrams_{pieces}", f"How many 2-grams of {pieces} were said.") for pieces in PIECES),
    ]
    return StoryNumbers(named, [], partial(_entropies_of, least))


def _entropies_of(least: Mapping[str, int], record: Record, story: Story, cell: Cell) -> Iterator[Value]:
    texts = texts_in(record)
    grams = {pieces: bigrams(texts, pieces) for pieces in PIECES}
    for pieces, unit in FORMS:
        for at_n in (False, True):
            value = entropy(grams[pieces], unit, least.get(pieces) if at_n else None)
            if value is not None:
                yield Value(entropy_name(pieces, unit, at_n=at_n), value)
    for pieces, found in grams.items():
        yield Value(f"bigrams_{pieces}", float(len(found)))


# ── parts over runs ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Part:
    """The values of one part over the conversations of a group.

    Attributes:
        measure: of what.
        levels: of the axes, those of the task apart.
        unit: what the part is: candidate, result, round, character, pair, measure.
        who: which one.
        n: conversations with a value.
        total: the sum of their values.
        estimate: the mean over them with its interval.
    """

    measure: str
    levels: Mapping[str, Label]
    unit: str
    who: str
    n: int
    total: float
    estimate: Estimate


Key = tuple[str, str, str]
"""Measure, unit and who."""


def parts_of(
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    values: Mapping[Key, Mapping[str, float]],
    kinds: Mapping[str, Kind],
) -> list[Part]:
    """Shares and means over tasks, by measure, group and part.

    Args:
        axes: the levels of every axis.
        cells: of the experiment.
        values: of parts, by the cell's id.
        kinds: of the measures.
    """
    names = [name for name in axes if name not in OF_THE_TASK]
    groups: dict[str, list[Cell]] = {}
    for cell in spread(cells):
        groups.setdefault(json.dumps([cell.axes[name] for name in names]), []).append(cell)
    found = []
    for measure in dict.fromkeys(measure for measure, _, _ in values):
        for members in groups.values():
            levels = {name: members[0].axes[name] for name in names}
            for (of, unit, who), by_cell in values.items():
                there = [cell for cell in members if cell.id in by_cell]
                if of == measure and there:
                    total = sum(by_cell[cell.id] for cell in there)
                    estimate = _mean(there, by_cell, kinds.get(measure, NUMBER))
                    found.append(Part(measure, levels, unit, who, len(there), total, estimate))
    return found


def _mean(cells: Sequence[Cell], by_cell: Mapping[str, float], kind: Kind) -> Estimate:
    tasks: dict[tuple[str, ...], list[float]] = {}
    for cell in cells:
        tasks.setdefault(task_of(cell), []).append(by_cell[cell.id])
    return mean_over_tasks([fmean(each) for each in tasks.values()], kind)


def ends_compared(
    wanted: Compare,
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    values: Mapping[Key, Mapping[str, float]],
    kinds: Mapping[str, Kind],
) -> list[Comparison]:
    """What differs at the end of stories: a comparison a measure and part, which are in its `measure`, one a line."""
    parts = {f"{of}\n{who}": (of, own) for (of, _, who), own in values.items() if of in (one.name for one in ENDS)}
    by_cell = {(cell, name): value for name, (_, own) in parts.items() for cell, value in own.items()}
    return compare(wanted, axes, cells, {name: kinds[of] for name, (of, _) in parts.items()}, by_cell)
