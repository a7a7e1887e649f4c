"""The answers of a companion's modules: events, reactions, the day plan, consolidation.

As in state/minds/judgement.py, models read docstrings and descriptions as part of the JSON schema.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from ..minds.emotion import Level
from ..minds.judgement import Judgement, Keyword, Reason, Sentence, cut_to
from . import About

_Quote = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200), cut_to(200)]
_Subject = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80), cut_to(80)]


def _a_time(value: str) -> str:
    if not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", value):
        raise ValueError(f"{value!r} is no time of day; write it as 07:30")
    return value


_Clock = Annotated[str, StringConstraints(strip_whitespace=True, max_length=5), AfterValidator(_a_time)]


class RatedEvent(Judgement):
    """What one event means to an agent."""

    number: Annotated[int, Field(ge=1)] = Field(description="the event's number, as listed")
    importance: Level = Field(description="how important it is to the persona, 0 trivial to 10 life-changing")
    sentence: Sentence = Field(description="the event in one sentence, as the persona sees it")


class RatedEvents(Judgement):
    """What new events mean to an agent."""

    events: list[RatedEvent] = Field(min_length=1, max_length=20, description="one for each event listed")


class Reaction(Judgement):
    """What an agent does about an event."""

    reasoning: Reason = Field(description="one sentence: why this")
    react: Literal["none", "comment", "start_talk", "interrupt"] = Field(
        description="none; comment on it; start_talk with the person; interrupt the talk because of it"
    )
    words_about: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300), cut_to(300)] = Field(
        default="", description="what the words would be about, one sentence; empty for none"
    )


class DayEntry(Judgement):
    """One entry of a day plan."""

    start: _Clock = Field(description="when it begins, HH:MM")
    minutes: Annotated[int, Field(ge=15, le=960)] = Field(description="how long it takes")
    activity: Sentence = Field(description="what the persona does, a few words")
    place: Annotated[int, Field(ge=1)] = Field(description="the number of the place, as listed")


class DayPlan(Judgement):
    """What an agent does on one day."""

    wakes: _Clock = Field(description="when the persona gets up, HH:MM")
    sleeps: _Clock = Field(description="when the persona goes to bed, HH:MM")
    entries: list[DayEntry] = Field(min_length=5, max_length=8, description="five to eight entries, in order")


class Chunk(Judgement):
    """A part of an entry of the day plan."""

    minutes: Annotated[int, Field(ge=15, le=960)] = Field(description="15, 30, 45, …")
    activity: Sentence = Field(description="what the persona does, a few words")


class Chunks(Judgement):
    """The parts of one entry of the day plan."""

    chunks: list[Chunk] = Field(min_length=1, max_length=64, description="in order; together as long as the entry")


class FoundFact(Judgement):
    """Something that the person has said in a talk and that is worth keeping word for word."""

    about: About = Field(description="whom it is about: the person, the agent, or somebody or something else")
    subject: _Subject = Field(description="what of, one to four words: sister, job, home town")
    statement: Sentence = Field(description="the fact, one sentence with names")
    quote: _Quote = Field(description="the person's own words, copied exactly")
    importance: Level = Field(description="how important it is to the agent, 0–10")
    replaces: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=list, max_length=10, description="numbers of the known facts that are no longer true"
    )


class TalkDigest(Judgement):
    """What an agent keeps of a talk that is over."""

    summary: Sentence = Field(description="what the talk was about and how it went, at most 60 words")
    keywords: list[Keyword] = Field(min_length=1, max_length=8, description="keywords and standout words")
    importance: Level = Field(description="how important the talk was to the agent, 0–10")
    relationship: str = Field(max_length=40, description="how the agent stands to the person now, one of those listed")
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300), cut_to(300)] = Field(
        default="", description="anything more about it, at most 30 words"
    )
    promises: list[Sentence] = Field(default_factory=list, max_length=5, description="what the agent has promised")
    facts: list[FoundFact] = Field(default_factory=list, max_length=20, description="facts that the person has told")
