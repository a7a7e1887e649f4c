"""Themes of the answers to each question of a guide, found by a model; every quote is checked against what was said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from persimchat.evaluation.judging import Asked, Asking, together
from persimchat.evaluation.record import is_answered, opened
from persimchat.prompts.blocks import Block, Item
from persimchat.runs.events import Uttered
from persimchat.runs.folder.judgements import Key, answers_in
from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.themes import THEMES, Quote, RecordedThemes, Theme
from persimchat.runs.reports.guide import Section, sections
from persimchat.state.themes import MOST_THEMES, FoundQuote, FoundTheme, FoundThemes

MEASURE: Final = "themes"
MOST_QUOTES: Final = 4
"""Quotes of a theme that are asked for."""
_MARKS: Final = {"'": "['’‘]", "’": "['’‘]", "‘": "['’‘]", '"': '["“”„]', "“": '["“”„]', "”": '["“”„]'}
_OUTSIDE: Final = " \t\n\"'“”„’‘…."


@dataclass(frozen=True)
class Unit:
    """One question to the model: the themes of one section.

    Attributes:
        section: the guide's question with its answers.
        asked: the question to the model.
        repeat: always 1.
    """

    section: Section
    asked: Asked
    repeat: int = 1

    def key(self, judge: str) -> Key:
        """Its key in the record."""
        return (MEASURE, self.section.number, judge, self.asked.request, self.repeat)


@dataclass(frozen=True)
class JudgedThemes:
    """The questions about one focus group; their answers go to its folder.

    Attributes:
        folder: the run's.
        run: its id.
        topic: of the conversation.
        parts: the conversation by the questions of its guide.
    """

    folder: Path
    run: str
    topic: str
    parts: Sequence[Section]

    @classmethod
    def of(cls, record: Record) -> JudgedThemes:
        """The questions about a recorded run."""
        manifest = record.manifest
        return cls(record.path, manifest.run, manifest.scenario.topic, sections(record))

    @cached_property
    def units(self) -> list[Unit]:
        """One question for each section in which somebody answered."""
        return [Unit(part, asked_about(part, self.topic)) for part in self.parts if part.answers]

    def rows(self) -> dict[Key, RecordedThemes]:
        """The answers in the folder. Raises as `answers_in`."""
        return answers_in(self.folder / THEMES, RecordedThemes)

    def left(self, judge: str, rows: dict[Key, RecordedThemes]) -> list[Unit]:
        """The questions that have no answer."""
        return [unit for unit in self.units if not is_answered(rows, unit.key(judge))]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        judge = asking.judge
        if not self.left(judge.name, self.rows()):
            return
        with opened(self.folder / THEMES, RecordedThemes) as answers:

            async def one(unit: Unit) -> None:
                row = await self._answer(unit, asking)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left(judge.name, answers.rows))

    async def _answer(self, unit: Unit, asking: Asking) -> RecordedThemes | None:
        """The themes of a section; None if a budget is exhausted."""
        judge = asking.judge
        seed = judge.seed(MEASURE, self.run, unit.section.number, unit.repeat)
        reply = await asking.put(unit.asked, about=self.run, seed=seed)
        if reply is None:
            return None
        answer: Any = reply.value
        found, invented = said(answer.themes, unit.section) if answer else ([], 0)
        return RecordedThemes(
            question=unit.section.number,
            turns=unit.section.turns,
            judge=judge.name,
            request=unit.asked.request,
            repeat=unit.repeat,
            seed=seed,
            themes=found,
            invented=invented,
            missing=reply.missing,
            **reply.used,
        )


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
        "most_quotes": MOST_QUOTES,
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
