"""Scripted persons: talks with planted facts, and questions about them, made by seed; and persons of four tempers.

The form follows LoCoMo and LongMemEval (facts in filler, questions of several kinds, abstention); the words are ours.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ...state.document import table

Kind = Literal["single", "two", "corrected", "when", "untold"]
"""What a question asks for: one fact, two facts, one that was corrected, when it was told, one that never was."""
Temper = Literal["friendly", "hostile", "apologising", "neutral"]
TEMPERS: Final[tuple[Temper, ...]] = get_args(Temper)
WORDS: Final[dict[str, Any]] = table(__file__, "scripts.yaml")
"""What they say: `tempers` has the lines of each temper."""
EXCHANGES: Final = 10
"""Exchanges of a talk with planted facts, without its goodbye."""
PLANTED: Final = 2
"""Facts told in such a talk."""


@dataclass(frozen=True)
class Planted:
    """A fact that the person tells.

    Attributes:
        subject: what of: "sister", "favourite colour".
        value: what the question asks for.
        sentence: the words that tell it.
        talk: the number of the talk in which it is told, from 1.
        old: the value that it corrects; empty for a fact told for the first time.
    """

    subject: str
    value: str
    sentence: str
    talk: int
    old: str = ""


@dataclass(frozen=True)
class Asked:
    """A question about what was told.

    Attributes:
        kind: of question.
        text: its words.
        wanted: what a right answer has, all of it.
        unwanted: what it must not have: values that were corrected.
        planted: the facts that it rests on.
    """

    kind: Kind
    text: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    planted: tuple[Planted, ...] = ()


@dataclass(frozen=True)
class Script:
    """What one scripted person says.

    Attributes:
        talks: the messages of each talk, each with its goodbye.
        planted: the facts told, in order; a corrected one comes twice.
        questions: asked in a talk of their own afterwards.
    """

    talks: tuple[tuple[str, ...], ...]
    planted: tuple[Planted, ...]
    questions: tuple[Asked, ...]


def make_script(talks: int, seed: int) -> Script:
    """A person who holds some talks of `EXCHANGES` exchanges, with `PLANTED` facts in each, and then asks.

    With two talks or more, every fifth fact, and one at least, is corrected in a later talk.

    Args:
        talks: how many, 1 to 20.
        seed: equal seeds give equal words.
    """
    draw = random.Random(f"companion/{talks}/{seed}")
    subjects = [*WORDS["relatives"], *(f"favourite {one}" for one in WORDS["favourites"])]
    draw.shuffle(subjects)
    names = [start + end for start in WORDS["starts"] for end in WORDS["ends"]]
    draw.shuffle(names)
    planted: list[Planted] = []
    for number in range(talks * PLANTED):
        subject, value = subjects[number], names.pop()
        planted.append(Planted(subject, value, _sentence(subject, value), 1 + number // PLANTED))
    corrections: list[Planted] = []
    if talks > 1:
        able = [fact for fact in planted if fact.talk < talks]
        for fact in draw.sample(able, max(1, len(able) // 5)):
            value = names.pop()
            words = _sentence(fact.subject, value)
            sentence = f"Actually, {words[0].lower()}{words[1:]}"
            corrections.append(Planted(fact.subject, value, sentence, draw.randint(fact.talk + 1, talks), fact.value))
    said = tuple(
        _talk([fact for fact in (*planted, *corrections) if fact.talk == number], draw)
        for number in range(1, talks + 1)
    )
    return Script(said, (*planted, *corrections), tuple(_questions(planted, corrections, draw)))


def _sentence(subject: str, value: str) -> str:
    return f"My {subject} is {'' if subject.startswith('favourite') else 'called '}{value}."


def _talk(facts: Sequence[Planted], draw: random.Random) -> tuple[str, ...]:
    lines = draw.sample(WORDS["filler"], EXCHANGES - len(facts))
    for fact in facts:
        lines.insert(draw.randint(0, len(lines)), fact.sentence)
    return (*lines, "Goodbye!")


def _questions(planted: Sequence[Planted], corrections: Sequence[Planted], draw: random.Random) -> list[Asked]:
    changed = {fact.subject for fact in corrections}
    steady = [fact for fact in planted if fact.subject not in changed]
    found = [
        Asked("single", _question(fact.subject), (fact.value,), planted=(fact,))
        for fact in draw.sample(steady, min(4, len(steady)))
    ]
    if len(steady) >= 2:
        two = draw.sample(steady, 2)
        text = f"{_question(two[0].subject)} And w{_question(two[1].subject)[1:]}"
        found.append(Asked("two", text, tuple(fact.value for fact in two), planted=tuple(two)))
    found += [
        Asked("corrected", _question(fact.subject), (fact.value,), (fact.old,), (fact,)) for fact in corrections[:3]
    ]
    if steady:
        fact = draw.choice(steady)
        found.append(Asked("when", f"When did I tell you about my {fact.subject}?", planted=(fact,)))
    untold = draw.sample(WORDS["untold"], 2)
    return [*found, *(Asked("untold", f"What is my {one} called?") for one in untold)]


def _question(subject: str) -> str:
    return f"What is my {subject}?" if subject.startswith("favourite") else f"What is my {subject} called?"
