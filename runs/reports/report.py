"""Makes the report of a run: one HTML file that needs neither a network nor scripts (`templates/`).

Text of people, personas and models is data: it is cleaned of control characters and escaped, and the page's own policy
forbids scripts and all loading.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from persimchat.runs.folder.interviews import interviews
from persimchat.runs.folder.lines import CONDITION, DISCLAIMER, conclusion_heading, edited
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports import palette, words
from persimchat.runs.reports.charts.drawing import style_sheet, svg
from persimchat.runs.reports.charts.talk import verdict_style
from persimchat.runs.reports.guide_summary import summary_of
from persimchat.runs.reports.report_insights import message_bars, minds_by_agent, report_charts, talk_of
from persimchat.runs.reports.report_people import emotion_style, people
from persimchat.runs.reports.report_pruning import pruning_report
from persimchat.runs.reports.report_story import story_report
from persimchat.runs.reports.report_transcript import FACES, Mindful, asides, entries, folded, mindful
from persimchat.runs.reports.stance_summary import Stances, stances_of
from persimchat.runs.reports.stances import AFTER_WHOM, Position, ledger
from persimchat.runs.reports.summary import moderators_of, names_of, summarise
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean, one_line

NAME: Final = "report.html"
"""The default name of the report's file, in the run's folder."""

_SOURCES: Final = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((files("persimchat.runs.reports") / "templates").iterdir(), key=lambda path: path.name)
    if path.name.endswith(".jinja")
}
_WORDS: Final = (
    words.cost,
    words.came_out,
    words.corrections,
    words.count,
    words.decimal,
    words.from_to,
    words.listed,
    words.seconds,
    words.spaced,
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
    environment = page_environment({})
    environment.filters["edited"] = edited
    environment.filters["emotion_style"] = emotion_style
    environment.filters["verdict_style"] = verdict_style
    return environment


def page_environment(templates: Mapping[str, str]) -> Environment:
    """What renders a report's templates: everything escaped and cleaned, nothing undefined, figures in words.

    Args:
        templates: by name, beside those of this folder, which may be included.
    """
    environment = Environment(
        loader=DictLoader({**_SOURCES, **templates}),
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
    return environment


def report_html(record: Record) -> str:
    """A run's report as HTML."""
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
            ending=words.ending(summary),
            past=words.lineage(summary.branch, summary.resumed),
            alone=[] if record.utterances else asides(record),
            heading=conclusion_heading,
            story=story,
            pruning=pruning_report(minds, who),
            group=summary_of(record) if record.guide is not None else None,
            condition=CONDITION,
            disclaimer=DISCLAIMER,
            chunks=folded(
                entries(record, who), [update.turn for update in story.course.standings] if story is not None else ()
            ),
            faces=FACES,
            charts=report_charts(talk_of(record, who, rows)),
            messages=message_bars({agent.name: agent.speech.utterances for agent in summary.agents}, who),
            verdicts=record.verdicts,
            moved=_moved(rows, record),
            after_whom=AFTER_WHOM,
            interviews=interviews(record.interviews),
            minds=[mindful(who[name], minds[name]) for name in who if name in minds] + _judge(record),
            settings={name: _shown(value) for name, value in record.manifest.settings.model_dump().items()},
            versions=record.manifest.versions,
            prompt_hash=record.manifest.prompt_hash,
        )
    )


def _roles(record: Record) -> dict[str, str]:
    """The roles of those who are not agents: people, and speakers who are not participants."""
    return dict.fromkeys(moderators_of(record), "moderator") | dict.fromkeys(record.manifest.people, "person")


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


def write_report(record: Record, path: Path, *, force: bool = False) -> None:
    """Write a run's report; raises as `write_page`."""
    write_page(path, lambda: report_html(record), what="the report", force=force)


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
