"""The report's charts and bars, from the record of a run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..models.naming import OFFLINE
from ..runs.folder.answers import interviews
from ..runs.folder.lines import conclusion_heading, edited, stage_name
from ..runs.folder.parts import MindRecord
from ..runs.folder.reading import Record
from ..state.errors import InputError
from ..state.plain_text import clean, one_line
from ..state.stories.support import HIGHEST
from ..state.wording import LANGUAGES, in_language, language, listed, localised, t, t_or
from . import palette, words
from .charts.drawing import style_sheet, svg
from .charts.lines import Series, levels
from .charts.model import Chart, Point
from .charts.story import Cell, belief_lines, closeness, influence_courses, supports
from .charts.strips import Felt
from .charts.talk import (
    Talk,
    emotion_chart,
    levels_of,
    need_chart,
    openness_chart,
    own_chart,
    response_chart,
    score_chart,
    shown_positions,
    stance_chart,
    verdict_style,
)
from .guide import GroupSummary, summary_of
from .palette import PEOPLE, Person, emotion_style, people
from .pruning_figures import pruning_report
from .report_transcript import FACES, Mindful, asides, entries, folded, mindful
from .stances import Position, Stances, ledger, stances_of
from .story_course import BeliefNow, CharacterNow, StoryCourse, Update, recorded_course
from .summary import ending, minds_of, moderators_of, names_of, summarise

People = Mapping[str, Person]


def minds_by_agent(record: Record) -> dict[str, list[MindRecord]]:
    """The agents' minds in order of turns."""
    found: dict[str, list[MindRecord]] = {}
    for mind in minds_of(record):
        found.setdefault(mind.agent, []).append(mind)
    return found


def talk_of(record: Record, people: People, rows: Sequence[Position]) -> Talk:
    """The data of a recorded conversation's charts.

    Args:
        record: of the run.
        people: all participants and other speakers.
        rows: of the ledger of positions.
    """
    needs: dict[str, list[Point]] = {}
    openness: dict[str, list[Point]] = {}
    own: dict[tuple[str, str], list[Point]] = {}
    felt: dict[str, Felt] = {}
    for name, minds in minds_by_agent(record).items():
        needs[name] = [(mind.turn, mind.need_to_talk) for mind in minds if mind.need_to_talk is not None]
        openness[name] = [(mind.turn, mind.openness) for mind in minds if mind.openness is not None]
        for mind in minds:
            for field, level in levels_of(mind.own).items():
                own.setdefault((name, field), []).append((mind.turn, level))
        felt[name] = [(mind.turn, mind.emotion) for mind in minds if mind.emotion]
    models = record.manifest.models
    return Talk(
        people=people,
        last=max((said.turn for said in record.utterances), default=0),
        speakers={said.turn: said.speaker for said in record.utterances},
        needs=needs,
        openness=openness,
        own=own,
        felt=felt,
        verdicts=record.verdicts,
        scores=record.scores,
        response_times=[
            (said.turn, said.took_s, said.speaker)
            for said in record.utterances
            if said.took_s is not None and models.get(said.speaker, {}).get("natural_language") != OFFLINE
        ],
        positions=shown_positions(rows),
    )


def report_charts(talk: Talk) -> dict[str, Chart]:
    """The charts that there is data for, by the id of their section in the report."""
    found = {
        "positions": stance_chart(talk),
        "openness": openness_chart(talk),
        "needs": need_chart(talk),
        "own": own_chart(talk),
        "scores": score_chart(talk),
        "responses": response_chart(talk),
        "emotions": emotion_chart(talk, each=True, width=900),
    }
    return {key: chart for key, chart in found.items() if chart is not None}


def message_bars(utterances: Mapping[str, int], people: People) -> Sequence[tuple[Person, int, float]]:
    """Each participant's number of utterances, and its share of the greatest number (0–1)."""
    most = max([*utterances.values(), 1])
    return [(people[name], number, number / most) for name, number in utterances.items()]


# A story in the report: a heat map of closeness, beliefs and influence over rounds, resources, talks, ballots


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
        InputError: the section `story` of the scenario does not fit this version.
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
    return levels(
        t("report.influence_title"),
        lines,
        highest=most,
        axis=t("charts.round"),
        labels=56,
        values=(0, most / 2, most),
    )


def _beliefs(updates: Sequence[Update], last: CharacterNow, person: Person) -> Beliefs:
    legend = [(chr(ord("a") + place), f"p{place % len(PEOPLE)}", belief) for place, belief in enumerate(last.beliefs)]
    points = belief_lines(updates, last.name)
    lines = [Series(belief.text, letter, style, points[belief.text]) for letter, style, belief in legend]
    title = t("report.beliefs_of", who=person.name)
    plot = levels(title, lines, height=150, highest=HIGHEST, axis=t("charts.round"), labels=50, values=(0, 50, 100))
    return Beliefs(person, plot, legend)


# Makes the report of a run: one HTML file that needs neither a network nor scripts (`templates/`)


NAME: Final = "report.html"
"""The default name of the report's file, in the run's folder."""

_WORDS: Final = (
    words.cost,
    words.block_name,
    words.came_out,
    words.correction_name,
    words.corrections,
    words.count,
    words.decimal,
    words.emotion_name,
    words.from_to,
    words.module_name,
    listed,
    words.seconds,
    words.spaced,
    words.stance_name,
    words.trend,
    words.trend_in_words,
    words.when,
    words.whole,
)


def _finalize(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    if value is None:  # unknown figures have words of their own; a bare None is a mistake in a template
        raise TypeError("None has no place in a report")
    return clean(str(value))


@cache
def _environment() -> Environment:
    environment = page_environment()
    environment.filters["edited"] = edited
    environment.filters["stage_name"] = stage_name
    environment.filters["emotion_style"] = emotion_style
    environment.filters["verdict_style"] = verdict_style
    return environment


def page_environment(*folders: Path) -> Environment:
    """What renders a report's templates: everything escaped and cleaned, nothing undefined, figures in words.

    Args:
        folders: with templates, beside those of this room, which may be included.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent / "templates"]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({word.__name__: word for word in _WORDS})
    environment.filters["one_line"] = one_line
    environment.globals["palette_style"] = palette.style
    environment.globals["chart_style"] = Markup(style_sheet())
    environment.globals["svg"] = svg
    environment.globals.update(t=t, t_or=t_or, localised=localised, language=language)
    environment.globals.update(module_name=words.module_name, correction_name=words.correction_name)
    return environment


def report_html(record: Record, tag: str | None = None) -> str:
    """A run's report as HTML.

    Args:
        record: of the run.
        tag: of the language of its headings, one of the catalogue's; by default, that of the run, where the catalogue
            has it, else English.

    Raises:
        InputError: there is no such language in the catalogue.
    """
    with headed(record.manifest.settings.language, tag):
        return _report(record)


def headed(own: str, tag: str | None) -> AbstractContextManager[None]:
    """Within this context, a report has the language that is asked for, else that of what it is about.

    Args:
        own: of what it is about.
        tag: as for `report_html`.

    Raises:
        InputError: there is no such language in the catalogue.
    """
    if tag is None:
        return in_language(own)
    if (code := tag.replace("_", "-").partition("-")[0].lower()) not in LANGUAGES:
        given, known = clean(tag), ", ".join(LANGUAGES)
        raise InputError(f"there are no reports in {given!r}", where="language", remedy=f"Choose one of: {known}.")
    return in_language(code)


def _report(record: Record) -> str:
    summary = summarise(record)
    who = people(names_of(record), _roles(record))
    minds = minds_by_agent(record)
    rows = ledger(record)
    story = story_report(record, who)
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            s=summary,
            people=who,
            ending=ending(summary),
            past=words.lineage(summary.branch, summary.resumed),
            alone=[] if record.utterances else asides(record),
            heading=conclusion_heading,
            story=story,
            pruning=pruning_report(minds, who),
            group=summary_of(record) if record.guide is not None else None,
            chunks=folded(
                entries(record, who), [update.turn for update in story.course.standings] if story is not None else ()
            ),
            faces=FACES,
            charts=report_charts(talk_of(record, who, rows)),
            messages=message_bars({agent.name: agent.speech.utterances for agent in summary.agents}, who),
            verdicts=record.verdicts,
            moved=_moved(rows, record),
            interviews=interviews(record.interviews),
            minds=[mindful(who[name], minds[name]) for name in who if name in minds] + _judge(record),
            settings={name: _shown(value) for name, value in record.manifest.settings.model_dump().items()},
            versions=record.manifest.versions,
            prompt_hash=record.manifest.prompt_hash,
        )
    )


def _roles(record: Record) -> dict[str, str]:
    """The roles of those who are not agents: people, and speakers who are not participants."""
    moderator, person = t("report.role_moderator"), t("report.role_person")
    return dict.fromkeys(moderators_of(record), moderator) | dict.fromkeys(record.manifest.people, person)


def _moved(rows: list[Position], record: Record) -> list[tuple[Stances, list[Position]]]:
    """The moves of each source in which anybody moved."""
    held = stances_of(rows, record.polls)
    found = [(one, [row for row in rows if (row.source, row.poll) == one.key]) for one in held]
    return [(one, [row for row in own if row.moved]) for one, own in found if one.moves]


def _judge(record: Record) -> list[Mindful]:
    """The mind of a persona judge."""
    minds = record.judge_minds
    return [mindful(person, minds) for person in people([mind.agent for mind in minds[:1]]).values()]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_report(record: Record, path: Path, *, force: bool = False, tag: str | None = None) -> None:
    """Write a run's report; raises as `report_html` and `write_page`."""
    write_page(path, lambda: report_html(record, tag), what="the report", force=force)


def write_page(path: Path, page: Callable[[], str], *, what: str, force: bool = False) -> None:
    """Write a page of HTML; a failure leaves no partial file.

    Args:
        path: the file.
        page: makes it.
        what: it is, for errors.
        force: whether an existing file is replaced.

    Raises:
        InputError: the file is there already, or cannot be written.
    """
    try:
        if path.is_dir():
            raise InputError("this is a folder", where=str(path), remedy=f"Name a file, for example {path / NAME}")
        if path.exists() and not force:
            raise InputError("the file exists already", where=str(path), remedy="Name another one, or add --force.")
        _replace(path, page())
    except OSError as error:
        raise InputError(
            f"{what} cannot be written: {error.strerror}",
            where=str(path),
            remedy="Name a file in an existing folder that you can write to.",
        ) from error


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


# The summary of a focus group as one page to print: HTML without scripts and without a network


def summary_page(record: Record, summary: GroupSummary, tag: str | None = None) -> str:
    """The page of a focus group's summary; its language as `report_html`."""
    with headed(record.manifest.settings.language, tag):
        return page_environment().get_template("guide.html.jinja").render(s=summary)


def write_summary(
    record: Record, summary: GroupSummary, path: Path, *, force: bool = False, tag: str | None = None
) -> None:
    """Write the page; raises as `summary_page` and `write_page`."""
    write_page(path, lambda: summary_page(record, summary, tag), what="the summary", force=force)
