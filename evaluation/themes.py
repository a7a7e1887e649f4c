"""Themes of the answers to each question of a focus group's guide, found by a model, and positions of everybody.

Every quote is checked against what was said.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..models.offline.onlookers import BY_LOT
from ..prompts.blocks import Block, Item
from ..reports.guide import Section, guided, sections
from ..runs.events import Uttered
from ..runs.folder.answers import Quote, RecordedThemes, Theme
from ..runs.folder.lock import check_free
from ..runs.folder.reading import Record, read_run
from ..state.assessment import MOST_THEMES, FoundQuote, FoundTheme, FoundThemes
from .asking import Asked, Judge, Question, Questions, Respondent, everybody, judge_all
from .polls import positions_in
from .transcripts import has_words_of_people, refuse_words_of_people

MEASURE: Final = "themes"
_MARKS: Final = {"'": "['’‘]", "’": "['’‘]", "‘": "['’‘]", '"': '["“”„]', "“": '["“”„]', "”": '["“”„]'}
_OUTSIDE: Final = " \t\n\"'“”„’‘…."


def themes_of(record: Record) -> Questions[RecordedThemes]:
    """The questions about a focus group: the themes of each section in which somebody answered."""
    run, topic = record.manifest.run, record.manifest.scenario.topic
    units = []
    for part in (part for part in sections(record) if part.answers):
        fields, seeded = {"question": part.number, "turns": part.turns}, (MEASURE, run, part.number, 1)
        read = partial(_checked, part)
        units.append(Question(asked_about(part, topic), RecordedThemes, fields, run, seeded, read=read))
    return Questions(record.path, RecordedThemes, units)


def _checked(section: Section, answer: FoundThemes) -> dict[str, Any]:
    found, invented = said(answer.themes, section)
    return {"themes": found, "invented": invented}


def asked_about(section: Section, topic: str) -> Asked:
    """The question to a model about one section."""
    put = section.question.ask if section.question else topic
    lines = [
        Item("numbered", {"number": one.turn, "speaker": one.speaker, "text": one.text}, prunable=False)
        for one in section.lines
    ]
    values = {
        "scene": Block("scene", (Item("topic", {"text": topic}, prunable=False),)),
        "asked": Block("question", (Item("topic", {"text": put}, prunable=False),)),
        "answers": Block("answers", tuple(lines)),
        "most_themes": MOST_THEMES,
        "most_quotes": 4,
    }
    return Asked("themes", FoundThemes, values)


def said(found: Iterable[FoundTheme], section: Section) -> tuple[list[Theme], int]:
    """Themes with the quotes that somebody said, in the speaker's own letters, and how many quotes nobody said.

    Spaces, case and the form of quotation marks do not count. A quote with a wrong number is looked for in all lines.
    The moderator's words are no answer, so quotes of them are left out; and so is a theme without a quote.
    """
    themes, invented = [], 0
    for theme in found:
        quotes = [_in_lines(quote, section.lines) for quote in theme.quotes]
        invented += quotes.count(None)
        kept = {
            (quote.turn, quote.words): quote
            for quote in quotes
            if quote is not None and quote.speaker != section.moderator
        }
        if kept:
            themes.append(Theme(name=theme.name, about=theme.about, quotes=list(kept.values())))
    return themes, invented


def _in_lines(quote: FoundQuote, lines: Sequence[Uttered]) -> Quote | None:
    """A quote as it was said; None if nobody said it."""
    words = quote.words.strip(_OUTSIDE).split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join("".join(_MARKS.get(c, re.escape(c)) for c in word) for word in words), re.I)
    for one in sorted(lines, key=lambda line: line.turn != quote.line):  # the line that is named comes first
        match = pattern.search(one.text)
        if match:
            return Quote(turn=one.turn, speaker=one.speaker, words=match.group())
    return None


# Asks everything about a focus group that has no answer yet: for pages and programs, without a terminal


@dataclass(frozen=True)
class ToAsk:
    """Questions to one respondent.

    Attributes:
        respondent: who is asked.
        part: the questions.
    """

    respondent: Respondent
    part: Questions[Any]

    @property
    def calls(self) -> int:
        """How many have no answer yet."""
        return len(self.part.left(self.respondent.name, self.part.rows()))


async def to_ask(
    folder: Path,
    *,
    judge: Judge | None = None,
    positions: bool = True,
    with_people: bool = False,
    changes: Mapping[str, Any] | None = None,
    budgets: Mapping[str, Any] | None = None,
) -> list[ToAsk]:
    """What is asked about a focus group.

    Args:
        folder: of the run.
        judge: finds themes; None if nobody looks for them.
        positions: whether everybody is asked where they stood, before the talk and after it.
        with_people: whether the judge may read words of people who took part.
        changes: settings of the agents' models that are others than in the run.
        budgets: of the positions; the run's own do not count.

    Raises:
        InputError: the run is going on, or followed no guide; or the judge may not read it.
        ModelError: an embedding failed.
    """
    record = await asyncio.to_thread(_over, folder)
    found: list[ToAsk] = []
    if judge is not None:
        refuse_words_of_people([record.manifest.run] * has_words_of_people(record), allowed=with_people)
    if positions and (part := await positions_in(record, changes=changes, budgets=budgets)) is not None:
        found.append(ToAsk(everybody(part.settings, (unit.asked for unit in part.units)), part))
    if judge is not None:
        found.append(ToAsk(judge, themes_of(record)))
    return found


def _over(folder: Path) -> Record:
    """The record of a focus group that is over."""
    check_free(folder)
    record = read_run(folder)
    guided(record)  # refuses a run without a guide before anybody is asked
    return record


async def ask(questions: Sequence[ToAsk]) -> list[str]:
    """Ask what has no answer yet; what was answered before a failure is kept.

    Returns:
        What a reader must know.

    Raises:
        InputError, ModelError, MachineError: as `judge_all`.
    """
    notes = []
    for one in questions:
        if one.calls:
            asking = await judge_all(one.respondent, [one.part])
            notes += [asking.exhausted] if asking.exhausted else []
    return notes + by_lot(questions)


def by_lot(questions: Iterable[ToAsk]) -> list[str]:
    """What a reader must know of positions that the offline model gave; empty if it gave none."""
    drawn = any(one.respondent.draws_lots for one in questions)
    return [BY_LOT.replace("This answer is", "Positions are")] if drawn else []
