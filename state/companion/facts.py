"""Facts that a person has told: which are kept, which replace which, and what is done to one by hand. Pure.

A fact never changes and is not removed when it is no longer true: it is marked as replaced, and is not recalled. Only
forgetting removes one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..document import table
from ..errors import InputError
from ..minds.judgement import LONGEST_SENTENCE
from ..minds.memory import Circumstance, Memory, new_memory
from ..plain_text import folded, one_line, shortened, visible_form
from . import FACTS, Fact, Tie
from .judgement import FoundFact

DROPPED: Final = "dropped"
"""In place of the id of the fact that replaces it: too many facts were in force, and nothing replaces this one."""
ALIKE: Final = 0.9
"""Cosine of two statements from which one replaces the other, if several facts may have their subject."""

_LONGEST_SUBJECT: Final = 80
_DETERMINERS, _SEVERAL = (frozenset(table(__file__, "words.yaml")[name].split()) for name in ("determiners", "several"))
_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "…": " "})

Alike = Callable[[str, str], float]
"""The cosine of two statements."""


class Line(NamedTuple):
    """A line of a talk."""

    own: bool
    """Whether the agent said it."""
    text: str
    at: str = ""
    """When, ISO time; empty: when the talk ended."""
    exchange: str = ""
    """Id of the exchange."""


@dataclass(frozen=True)
class Origin:
    """Where memories of a talk come from.

    Attributes:
        agent: whose memories they are.
        tick: of the agent's memory clock.
        emotion: the agent's emotional state, order `EMOTIONS`.
        talk: id of the talk.
        at: when the talk ended, ISO time.
        place: the address where they were.
        shared: whether what this person tells may be recalled with others.
    """

    agent: str
    tick: int
    emotion: tuple[int, ...]
    talk: str
    at: str
    place: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Taken:
    """A tie after facts were taken in.

    Attributes:
        tie: the new tie.
        memories: the memories of new facts that are in force, in order.
        gone: ids of facts that were in force and are no longer: their memories are not recalled any more.
    """

    tie: Tie
    memories: list[Memory] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def take(
    tie: Tie,
    found: Sequence[FoundFact],
    said: Sequence[Line],
    origin: Origin,
    *,
    shown: Sequence[str],
    alike: Alike,
) -> Taken:
    """Take the facts that a talk has brought into a tie.

    A fact is kept if its quote stands in one of the person's own lines. One that is known already is not kept twice. It
    replaces the facts in force that it names, and besides those about the same with the same subject; if several may
    have that subject, only those whose statement says nearly the same.

    Args:
        tie: before.
        found: what the model has found, in its order; later ones replace earlier ones.
        said: the lines of the talk.
        origin: of the memories.
        shown: ids of the known facts in the order in which the model has seen them, from number 1.
        alike: the cosine of two statements; asked only for subjects that several facts may have.
    """
    result = Taken(tie)
    for one in found:
        line = _line_of(one.quote, said)
        if line is not None:
            result = _with(result, one, line, origin, shown, alike)
    result = _within_capacity(result, origin.at)
    return Taken(result.tie, [memory for memory in result.memories if memory.id not in result.gone], result.gone)


def edited(tie: Tie, fact: str, statement: str, by: str, origin: Origin) -> Taken:
    """Write another statement in place of a fact; the old one is kept as replaced.

    Args:
        tie: before.
        fact: id of a fact in force.
        statement: what is true instead, a sentence.
        by: who writes it.
        origin: of the new memory; the talk stays that of the old fact.

    Raises:
        InputError: there is no such fact in force, or the statement is empty.
    """
    old = _in_force(tie, fact)
    text = shortened(one_line(statement), LONGEST_SENTENCE)
    if not text:
        raise InputError("the new statement is empty", where="fact", remedy="Write a sentence, or forget the fact.")
    memory = _memory(tie, origin, text, old.subject, old.importance, Line(False, "", origin.at), "", old.talk)
    if any(one.id == memory.id for one in tie.facts):
        return Taken(tie)
    new = old.model_copy(
        update={
            "id": memory.id,
            "statement": text,
            "quote": "",
            "exchange": "",
            "at": origin.at,
            "edited_by": one_line(by),
        }
    )
    after = _replaced(tie, [fact], new.id, origin.at)
    return Taken(after.model_copy(update={"facts": [*after.facts, new]}), [memory], [fact])


def pinned(tie: Tie, fact: str, pin: bool = True) -> Tie:
    """Keep a fact when there are too many, or no longer.

    Raises:
        InputError: there is no such fact in force.
    """
    _in_force(tie, fact)
    facts = [one.model_copy(update={"pinned": pin}) if one.id == fact else one for one in tie.facts]
    return tie.model_copy(update={"facts": facts})


def forgotten(tie: Tie, fact: str) -> tuple[Tie, list[str]]:
    """Remove a fact, and those that it has replaced: they are earlier words for the same.

    Returns:
        The tie without them, and their ids, whose memories are to go too.

    Raises:
        InputError: there is no such fact.
    """
    gone = {_known(tie, fact).id}
    while more := {one.id for one in tie.facts if one.replaced_by in gone} - gone:
        gone |= more
    kept = [one for one in tie.facts if one.id not in gone]
    return tie.model_copy(update={"facts": kept}), [one.id for one in tie.facts if one.id in gone]


def may_be_several(subject: str) -> bool:
    """Whether several facts with this subject may be true at the same time: likes, friends, pets."""
    words = folded(subject).split()
    return bool(words) and words[-1] in _SEVERAL


def subject_key(subject: str, names: Sequence[str] = ()) -> str:
    """A subject for comparison: without case, accents, articles and possessives.

    Args:
        subject: one to four words.
        names: whose possessive ("Petr's sister") says nothing either: the person's and the agent's.
    """
    words = folded(subject.translate(_QUOTES)).split()
    nobody = _DETERMINERS | {f"{part}'s" for name in names for part in (*folded(name).split(), folded(name))}
    while len(words) > 1 and words[0] in nobody:
        words = words[1:]
    return " ".join(words)


def compared(tie: Tie, found: Sequence[FoundFact]) -> list[str]:
    """The statements that `take` may compare, each once; none if it will compare none."""
    new = [one.statement for one in found if may_be_several(one.subject)]
    known = [one.statement for one in tie.in_force if may_be_several(one.subject)]
    return list(dict.fromkeys([*known, *new])) if len(known) + len(new) > 1 and new else []


def outdated_words(tie: Tie, facts: Collection[str], agent: str) -> set[str]:
    """Names and numbers that only facts say which no longer hold: what else has one tells what was so once.

    Args:
        tie: with these facts.
        facts: ids of those that were replaced or forgotten; those that only made room still hold.
        agent: the agent's name, which is no sign.
    """
    now = {word for one in tie.in_force if one.id not in facts for word in _words(f"{one.statement} {one.quote}")}
    common = now.union(_words(f"{tie.name} {agent}"))
    old = [one for one in tie.facts if one.id in facts and one.replaced_by != DROPPED]
    # The first word of a sentence is written large whatever it is.
    named = [word for one in old for word in re.findall(r"\w+", one.statement)[1:]]
    marked = {word for word in named if word[0].isupper() or any(map(str.isdigit, word))}
    return {folded(word) for word in marked} - common


def has_any(text: str, words: Collection[str]) -> bool:
    """Whether a text has any of these words (`outdated_words`)."""
    return not _words(text).isdisjoint(words)


def without_outdated(tie: Tie, words: Collection[str]) -> Tie:
    """The tie without summaries of talks, promises and a note that have any of these words (`outdated_words`)."""
    told = {
        "summary": "\n".join(line for line in tie.summary.splitlines() if not has_any(line, words)),
        "promises": [text for text in tie.promises if not has_any(text, words)],
        "note": "" if has_any(tie.note, words) else tie.note,
    }
    return tie.model_copy(update=told)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", folded(text)))


def _with(taken: Taken, one: FoundFact, line: Line, origin: Origin, shown: Sequence[str], alike: Alike) -> Taken:
    tie, names = taken.tie, (taken.tie.name, origin.agent)
    key = (one.about, subject_key(one.subject, names))
    rivals = [known for known in tie.in_force if (known.about, subject_key(known.subject, names)) == key]
    same = next((known for known in rivals if folded(known.statement) == folded(one.statement)), None)
    named = {shown[number - 1] for number in one.replaces if number <= len(shown)}
    if same is None and may_be_several(one.subject):
        rivals = [known for known in rivals if alike(known.statement, one.statement) >= ALIKE]
    elif same is not None:
        rivals = []
    over = [known for known in tie.in_force if known is not same and (known.id in named or known in rivals)]
    if same is not None:
        after = _replaced(tie, [known.id for known in over], same.id, line.at or origin.at)
        return Taken(after, taken.memories, [*taken.gone, *(known.id for known in over)])
    memory = _memory(tie, origin, one.statement, one.subject, one.importance, line, one.quote, origin.talk)
    new = Fact(
        id=memory.id,
        about=one.about,
        subject=shortened(one.subject, _LONGEST_SUBJECT),
        statement=one.statement,
        quote=one.quote,
        importance=one.importance,
        at=line.at or origin.at,
        talk=origin.talk,
        exchange=line.exchange,
        pinned=any(known.pinned for known in over),
    )
    after = _replaced(tie, [known.id for known in over], new.id, new.at)
    return Taken(
        after.model_copy(update={"facts": [*after.facts, new]}),
        [*taken.memories, memory],
        [*taken.gone, *(known.id for known in over)],
    )


def _memory(
    tie: Tie, origin: Origin, statement: str, subject: str, importance: int, line: Line, quote: str, talk: str
) -> Memory:
    return new_memory(
        origin.agent,
        origin.tick,
        "fact",
        statement,
        [subject],
        importance,
        list(origin.emotion),
        index=len(tie.facts),
        circumstance=Circumstance(
            at=line.at or origin.at,
            person=tie.person,
            talk=talk,
            exchange=line.exchange,
            place=origin.place,
            quote=quote,
            subject=subject,
        ),
        heard_by=None if origin.shared else [tie.person],
    )


_QUOTED: Final = 12
"""Characters of an agent's line that counts as quoted; shorter ones ("Good morning.") are anybody's words."""


def _line_of(quote: str, said: Sequence[Line]) -> Line | None:
    """The person's own line in which a quote stands; None if there is none, or the quote has no word.

    What a person quotes of the agent's lines is not their own.
    """
    wanted = _plain(quote)
    if re.search(r"\w", wanted) is None:
        return None
    others = [text for line in said if line.own and len(text := _plain(line.text)) >= _QUOTED]

    def own(line: Line) -> str:
        text = _plain(line.text)
        for other in others:
            text = text.replace(other, "\n")
        return text

    return next((line for line in said if not line.own and wanted in own(line)), None)


def _plain(text: str) -> str:
    """A text for comparison: case, white space, kinds of quotation marks and those around it do not count."""
    return " ".join(visible_form(text.translate(_QUOTES)).split()).strip("\"' ")


def _replaced(tie: Tie, ids: Sequence[str], by: str, at: str) -> Tie:
    over = {"replaced_by": by, "replaced_at": at}
    facts = [one.model_copy(update=over) if one.id in ids and one.in_force else one for one in tie.facts]
    return tie.model_copy(update={"facts": facts})


def _within_capacity(taken: Taken, at: str) -> Taken:
    """Drop the least important facts that nobody has pinned, of equal ones the oldest, until few enough are left."""
    tie = taken.tie
    excess = len(tie.in_force) - FACTS
    if excess <= 0:
        return taken
    # sorted() is stable, and facts are in order of arrival.
    least = sorted((one for one in tie.in_force if not one.pinned), key=lambda one: one.importance)[:excess]
    gone = [one.id for one in least]
    return Taken(_replaced(tie, gone, DROPPED, at), taken.memories, [*taken.gone, *gone])


def _known(tie: Tie, fact: str) -> Fact:
    found = next((one for one in tie.facts if one.id == fact), None)
    if found is None:
        raise InputError(
            "there is no such fact", where=f"fact {shortened(fact, 40)!r}", remedy="See what is known: /memory."
        )
    return found


def _in_force(tie: Tie, fact: str) -> Fact:
    found = _known(tie, fact)
    if not found.in_force:
        raise InputError(
            "this fact has been replaced already", where=f"fact {shortened(fact, 40)!r}", remedy="Choose one in force."
        )
    return found
