"""A story in the report: a heat map of closeness, beliefs and influence over rounds, resources, talks, ballots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.charts.lines import Series, levels
from persimchat.runs.reports.charts.model import Chart
from persimchat.runs.reports.charts.story import Cell, belief_lines, closeness, influence_courses, supports
from persimchat.runs.reports.palette import PEOPLE
from persimchat.runs.reports.report_people import Person
from persimchat.runs.reports.story_course import BeliefNow, CharacterNow, StoryCourse, Update, recorded_course
from persimchat.state.standing import HIGHEST


@dataclass(frozen=True)
class Beliefs:
    """A character's beliefs over the rounds; `legend` has each belief's letter, style, and where it stands now."""

    person: Person
    plot: Chart
    legend: Sequence[tuple[str, str, BeliefNow]]


@dataclass(frozen=True)
class StoryReport:
    """What the report shows of a story.

    Attributes:
        course: stages, rooms, owners, ballots.
        closeness: the heat map after the last update; empty before the first.
        supports: by character, whom it stands behind after each update; None where it is not known.
        beliefs: of each character that has some.
        influence: over the rounds; None if nobody has any.
        why: by voter, the reason of the open ballot.
    """

    course: StoryCourse
    closeness: Sequence[Sequence[Cell]]
    supports: Mapping[str, Sequence[str | None]]
    beliefs: Sequence[Beliefs]
    influence: Chart | None
    why: Mapping[str, str]


def story_report(record: Record, people: Mapping[str, Person]) -> StoryReport | None:
    """What the report shows of a story; None outside stories.

    Raises:
        InputError: the section `story` of run.json does not fit this version.
    """
    if not record.manifest.scenario.given.get("story"):
        return None
    course = recorded_course(record)
    names = [member.name for member in course.cast if member.name in people]
    last = {one.name: one for update in course.standings for one in update.characters}
    return StoryReport(
        course=course,
        closeness=closeness(course.standings, names),
        supports=supports(course.standings, names),
        beliefs=[_beliefs(course.standings, last[name], people[name]) for name in names if _has_beliefs(last, name)],
        influence=_influence(course.standings, names, people),
        why={one.speaker: one.text for one in record.happenings if one.do == "ballot"},
    )


def _has_beliefs(last: Mapping[str, CharacterNow], name: str) -> bool:
    return name in last and bool(last[name].beliefs)


def _influence(updates: Sequence[Update], names: Sequence[str], people: Mapping[str, Person]) -> Chart | None:
    courses = influence_courses(updates, names)
    if not courses:
        return None
    most = max(value for points in courses.values() for _, value in points)
    lines = [Series(people[name].name, people[name].initials, people[name].style, courses[name]) for name in courses]
    return levels("Influence", lines, highest=most, axis="round", labels=56, values=(0, most / 2, most))


def _beliefs(updates: Sequence[Update], last: CharacterNow, person: Person) -> Beliefs:
    legend = [(chr(ord("a") + place), f"p{place % len(PEOPLE)}", belief) for place, belief in enumerate(last.beliefs)]
    points = belief_lines(updates, last.name)
    lines = [Series(belief.text, letter, style, points[belief.text]) for letter, style, belief in legend]
    title = f"Beliefs of {person.name}"
    plot = levels(title, lines, height=150, highest=HIGHEST, axis="round", labels=50, values=(0, 50, 100))
    return Beliefs(person, plot, legend)
