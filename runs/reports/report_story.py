"""A story in the report: a heat map of closeness, beliefs and influence over rounds, resources, talks, ballots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persimchat.runs.events import StoryOutcome
from persimchat.runs.folder.jsonl import checked
from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.run_folder import MANIFEST
from persimchat.runs.reports.charts_story import (
    Cell,
    Meeting,
    Update,
    Votes,
    belief_courses,
    closeness,
    influence_courses,
    meetings,
    supports,
    updates,
    votes,
)
from persimchat.runs.reports.report_insights import Plot, Series, level_plot
from persimchat.runs.reports.report_people import COLOURS, Person
from persimchat.state.standing import HIGHEST
from persimchat.state.story import Belief, Resource, Story


@dataclass(frozen=True)
class Beliefs:
    """A character's beliefs over the rounds; `legend` has each belief's letter, style, text and last strength."""

    person: Person
    plot: Plot
    legend: Sequence[tuple[str, str, Belief, float]]


@dataclass(frozen=True)
class StoryReport:
    """What the report shows of a story.

    Attributes:
        closeness: the heat map after the last update; empty before the first.
        rounds: the numbers of the updates.
        supports: by character, whom it stands behind after each update; None where it is not known.
        beliefs: of each character that has some.
        influence: over the rounds; None if nobody has any.
        resources: with their owners.
        meetings: the talks behind doors.
        votes: everybody's ballots.
        outcome: of the vote; None without one.
    """

    closeness: Sequence[Sequence[Cell]]
    rounds: Sequence[int]
    supports: Mapping[str, Sequence[str | None]]
    beliefs: Sequence[Beliefs]
    influence: Plot | None
    resources: Sequence[Resource]
    meetings: Sequence[Meeting]
    votes: Sequence[Votes]
    outcome: StoryOutcome | None


def story_report(record: Record, people: Mapping[str, Person]) -> StoryReport | None:
    """What the report shows of a story; None outside stories.

    Raises:
        InputError: the section `story` of run.json is damaged.
    """
    section = record.manifest.scenario.given.get("story")
    if section is None:
        return None
    story = checked(Story, section, f"{record.path / MANIFEST}, field scenario.story")
    names = [name for name in story.characters if name in people]
    found = updates(record.happenings)
    courses = influence_courses(found, names)
    most = max((value for points in courses.values() for _, value in points), default=0.0)
    lines = [Series(people[name].name, people[name].initials, people[name].style, courses[name]) for name in courses]
    return StoryReport(
        closeness=closeness(found, names),
        rounds=[update.round for update in found],
        supports=supports(found, names),
        beliefs=[shown for name in names if (shown := _beliefs(found, story, name, people[name])) is not None],
        influence=level_plot(
            "Influence over the rounds", lines, highest=most, axis_name="round", labels=56, y_values=(0, most / 2, most)
        )
        if lines
        else None,
        resources=story.resources,
        meetings=meetings(record.happenings),
        votes=votes(record.happenings),
        outcome=record.manifest.outcome,
    )


def _beliefs(found: Sequence[Update], story: Story, name: str, person: Person) -> Beliefs | None:
    courses = belief_courses(found, name)
    held = list(zip(story.characters[name].beliefs, courses, strict=False))
    if not held:
        return None
    letters = [chr(ord("a") + place) for place in range(len(held))]
    styles = [f"p{place % COLOURS}" for place in range(len(held))]
    series = [
        Series(one.text, letter, style, points)
        for (one, points), letter, style in zip(held, letters, styles, strict=True)
    ]
    plot = level_plot(
        f"Beliefs of {person.name}",
        series,
        height=150,
        highest=HIGHEST,
        axis_name="round",
        labels=44,
        y_values=(0, 50, 100),
    )
    legend = [
        (letter, style, one, points[-1][1]) for (one, points), letter, style in zip(held, letters, styles, strict=True)
    ]
    return Beliefs(person, plot, legend)
