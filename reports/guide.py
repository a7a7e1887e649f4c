"""What came of a focus group: who said what about each question, where everybody stood, and the summary. No model.

Pure functions of a recorded run; `evaluation/themes.py` adds the themes that a model finds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ..models.offline.material import content_words
from ..runs.events import Uttered
from ..runs.folder.answers import PollAnswer, Quote, RecordedThemes, Theme
from ..runs.folder.reading import Record, read_themes
from ..state.errors import InputError
from ..state.poll import Guide, GuideQuestion, Poll
from .summary import count_words, mean

MOST_WORDS: Final = 6
"""Shared words that are shown for a question."""
_STEM: Final = 6
_ALL_WORDS: Final = 10_000
_SENTENCE: Final = re.compile(r"(?<=[.!?…。！？])\s+")


@dataclass(frozen=True)
class Voice:
    """How much somebody said about a question.

    Attributes:
        name: the participant.
        utterances: of theirs.
        words: in them.
    """

    name: str
    utterances: int
    words: int


@dataclass(frozen=True)
class Section:
    """A question and everything that was said until the next one.

    Attributes:
        number: of the question, from 1; 0 for what was said before the first.
        question: as the guide has it; None for what was said before the first.
        lines: all utterances that all heard, the moderator's question first.
        moderator: who asks.
        people: the others, in order of listing.
    """

    number: int
    question: GuideQuestion | None
    lines: list[Uttered] = field(default_factory=list)
    moderator: str = ""
    people: Sequence[str] = ()

    @property
    def turns(self) -> list[int]:
        """The first turn and the last; empty if nothing was said."""
        return [self.lines[0].turn, self.lines[-1].turn] if self.lines else []

    @property
    def answers(self) -> list[Uttered]:
        """What the participants said, without the moderator."""
        return [said for said in self.lines if said.speaker in self.people]

    @property
    def voices(self) -> list[Voice]:
        """Everybody but the moderator, in order of listing; those who said nothing have 0."""
        own = {name: [said for said in self.answers if said.speaker == name] for name in self.people}
        return [Voice(name, len(said), sum(count_words(one.text) for one in said)) for name, said in own.items()]

    @property
    def silent(self) -> list[str]:
        """Those who said nothing about it."""
        return [voice.name for voice in self.voices if not voice.utterances]

    def shared_words(self) -> list[Theme]:
        """Words that two or more participants use, and the question does not, each with a sentence of each of them.

        Those that most participants use come first, then the most frequent. Words that begin with the same six letters
        count as one.
        """
        asked = self.question.ask if self.question else ""
        known = {
            _stem(word) for text in (asked, self.moderator, *self.people) for word in content_words(text, _ALL_WORDS)
        }
        quotes: dict[str, dict[str, Quote]] = {}
        counted: Counter[str] = Counter()
        shown: dict[str, str] = {}
        for said in self.answers:
            for sentence in _SENTENCE.split(said.text.strip()):
                for word in content_words(sentence, _ALL_WORDS):
                    stem = _stem(word)
                    if stem in known or len(word) < 4 and word.isascii():
                        continue
                    counted[stem] += 1
                    shown.setdefault(stem, word.lower() if word.isascii() else word)
                    quote = Quote(turn=said.turn, speaker=said.speaker, words=sentence)
                    quotes.setdefault(stem, {}).setdefault(said.speaker, quote)
        order = list(quotes)
        shared = [stem for stem in order if len(quotes[stem]) > 1]
        shared.sort(key=lambda stem: (-len(quotes[stem]), -counted[stem], order.index(stem)))
        found: dict[tuple[str, ...], Theme] = {}
        for stem in shared:  # of words that always stand together, the first is enough
            own = list(quotes[stem].values())
            found.setdefault(tuple(quote.words for quote in own), Theme(name=shown[stem], quotes=own))
        return list(found.values())[:MOST_WORDS]


def _stem(word: str) -> str:
    return word.casefold()[:_STEM]


def sections(record: Record) -> list[Section]:
    """The conversation by the questions of its guide, in the order in which they were put; empty without a guide.

    Whispers are left out: the group did not hear them.
    """
    guide = record.guide
    if guide is None:
        return []
    people = asked_in(record, guide)
    found = [Section(0, None, [], guide.moderator, people)]
    for said in record.utterances:
        if said.question is not None and 1 <= said.question <= len(guide.questions):
            number = said.question
            found.append(Section(number, guide.questions[number - 1], [], guide.moderator, people))
        if said.heard_by is None:
            found[-1].lines.append(said)
    return [section for section in found if section.lines and (section.number or section.answers)]


def fresh_themes(record: Record, parts: Sequence[Section]) -> list[RecordedThemes]:
    """The themes that models found in these parts of a run, in the file's order.

    Stale ones are left out: the conversation has gone on since.
    """
    turns = {part.number: part.turns for part in parts}
    return [row for row in read_themes(record.path) if row.turns == turns.get(row.question)]


def not_put(record: Record) -> list[GuideQuestion]:
    """The questions that the moderator did not come to."""
    guide = record.guide
    put = {said.question for said in record.utterances}
    return [one for n, one in enumerate(guide.questions, 1) if n not in put] if guide else []


def asked_in(record: Record, guide: Guide) -> list[str]:
    """Those who take part in a run beside the moderator, in order of listing."""
    return [name for name in record.manifest.names if name != guide.moderator]


@dataclass(frozen=True)
class Stand:
    """Where one participant stood on a question.

    Attributes:
        name: the participant.
        before: their answer before the talk; None if there is none.
        after: their answer after it; None if there is none.
    """

    name: str
    before: str | None
    after: str | None

    @property
    def moved(self) -> bool:
        """Whether both are known and differ."""
        return None not in (self.before, self.after) and self.before != self.after


@dataclass(frozen=True)
class Positions:
    """Where everybody stood on one question, before the talk and after it.

    Attributes:
        poll: the question.
        stands: of everybody but the moderator, in order of listing.
    """

    poll: Poll
    stands: list[Stand]

    @property
    def known(self) -> bool:
        """Whether anybody has answered."""
        return any(one.before is not None or one.after is not None for one in self.stands)

    @property
    def moved(self) -> int:
        """How many hold another position after the talk than before it."""
        return sum(one.moved for one in self.stands)

    def means(self) -> tuple[float | None, float | None]:
        """The mean before and after; None where the answers are no numbers, or there are none."""
        if not self.poll.is_ordered:
            return None, None
        before, after = ([one.before for one in self.stands], [one.after for one in self.stands])
        return _mean(before), _mean(after)


def _mean(answers: Iterable[str | None]) -> float | None:
    return mean(float(answer) for answer in answers if answer is not None)


def positions(record: Record) -> list[Positions]:
    """Where everybody but the moderator stood on the guide's questions, before the talk and after it.

    Agents' answers are those to the polls of `persimchat evaluate guide`; people answered when they took part.
    """
    guide = record.guide
    if guide is None:
        return []
    end = record.utterances[-1].turn if record.utterances else 0
    given: dict[tuple[str, str, int], PollAnswer] = {(row.poll, row.agent, row.turn): row for row in record.polls}
    people = asked_in(record, guide)

    told = _told_by_people(record)

    def at(poll: Poll, name: str, when: str, turn: int) -> str | None:
        if (poll.id, name, when) in told:
            return told[poll.id, name, when]
        row = given.get((poll.id, name, turn))
        return row.answer if row is not None else None

    return [
        Positions(poll, [Stand(name, at(poll, name, "before", 0), at(poll, name, "after", end)) for name in people])
        for poll in guide.positions
    ]


def _told_by_people(record: Record) -> dict[tuple[str, str, str], str]:
    """What people answered while they took part, by poll, name and "before" or "after"."""
    found = {}
    for more in (one.more for one in record.interventions if one.do == "answer"):
        poll, name, when, answer = (more.get(key) for key in ("poll", "agent", "when", "position"))
        if isinstance(poll, str) and isinstance(name, str) and isinstance(when, str) and isinstance(answer, str):
            found[poll, name, when] = answer
    return found


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
