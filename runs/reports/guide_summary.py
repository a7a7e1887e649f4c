"""The summary of a focus group: questions with answers and themes, positions before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.themes import RecordedThemes, Theme
from persimchat.runs.reports.guide import (
    Positions,
    Section,
    asked_in,
    fresh_themes,
    not_put,
    positions,
    sections,
)
from persimchat.state.errors import InputError
from persimchat.state.guide import Guide, GuideQuestion

MOST_QUOTES: Final = 3
"""Quotes of a theme that are shown."""


@dataclass(frozen=True)
class Answers:
    """One question with what came of it.

    Attributes:
        section: the question and all that was said about it.
        found: the newest themes that a model found; None if no model was asked.
        shared: words that several participants use; shown where no model was asked.
    """

    section: Section
    found: RecordedThemes | None
    shared: Sequence[Theme]

    @property
    def themes(self) -> Sequence[Theme]:
        """The themes that a model found; else the shared words."""
        return self.found.themes if self.found is not None else self.shared


@dataclass(frozen=True)
class GroupSummary:
    """What came of a focus group.

    Attributes:
        run: its id.
        topic: of the conversation.
        guide: that it followed.
        people: everybody but the moderator, in order of listing.
        answers: to each question, in the order in which they were put.
        not_put: questions that the moderator did not come to.
        positions: where everybody stood before and after.
        utterances: made.
        most_quotes: of a theme that are shown.
    """

    run: str
    topic: str
    guide: Guide
    people: Sequence[str]
    answers: Sequence[Answers]
    not_put: Sequence[GuideQuestion]
    positions: Sequence[Positions]
    utterances: int
    most_quotes: int = MOST_QUOTES

    @property
    def judges(self) -> list[str]:
        """The models that found themes, each once."""
        return list(dict.fromkeys(one.found.judge for one in self.answers if one.found is not None))

    @property
    def invented(self) -> int:
        """Quotes that models gave and nobody said."""
        return sum(one.found.invented for one in self.answers if one.found is not None)

    def data(self) -> dict[str, Any]:
        """The summary as JSON."""
        questions = [
            {
                "question": one.section.number,
                "ask": one.section.question.ask if one.section.question else None,
                "turns": one.section.turns,
                "voices": [asdict(voice) for voice in one.section.voices],
                "themes": [theme.model_dump(mode="json") for theme in one.themes],
                "found_by": one.found.judge if one.found else None,
            }
            for one in self.answers
        ]
        positions = [
            {
                "poll": one.poll.id,
                "ask": one.poll.ask,
                "moved": one.moved,
                "means": one.means(),
                "stands": [asdict(stand) for stand in one.stands],
            }
            for one in self.positions
        ]
        return {
            "run": self.run,
            "topic": self.topic,
            "moderator": self.guide.moderator,
            "people": list(self.people),
            "questions": questions,
            "not_put": [question.ask for question in self.not_put],
            "positions": positions,
            "invented_quotes": self.invented,
        }


def guided(record: Record) -> Guide:
    """The guide that a run followed.

    Raises:
        InputError: it followed none, or it cannot be read.
    """
    if record.guide is None:
        raise InputError(
            "this conversation followed no guide",
            where=f"run {record.manifest.run}",
            remedy="Give a run of a scenario with a section guide; examples/focus_group.yaml is one.",
        )
    return record.guide


def summary_of(record: Record, by: str | None = None) -> GroupSummary:
    """The summary of a recorded run.

    Args:
        record: of the run.
        by: only themes that this model found; None for the newest of any.

    Raises:
        InputError: as `guided`; or a file is damaged.
    """
    guide = guided(record)
    parts = sections(record)
    current = fresh_themes(record, parts)

    def newest(number: int) -> RecordedThemes | None:
        found = [row for row in current if row.question == number and not row.missing and by in (None, row.judge)]
        return found[-1] if found else None

    return GroupSummary(
        run=record.manifest.run,
        topic=record.manifest.scenario.topic,
        guide=guide,
        people=asked_in(record, guide),
        answers=[Answers(part, newest(part.number), part.shared_words()) for part in parts],
        not_put=not_put(record),
        positions=positions(record),
        utterances=len(record.utterances),
    )
