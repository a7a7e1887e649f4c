"""Consolidating: what an agent keeps of a talk with one person that is over.

One question for each part of the talk. An unusable answer loses nothing silently: the talk counts as consolidated, and
its first and last words stand in for a summary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from pydantic import ValidationError

from ...memory.embedding_texts import embed
from ...models.asking import appraise
from ...prompts import consolidation_blocks as blocks
from ...prompts.blocks import basic_information
from ...state.companion import STRANGER, Talk, Tie
from ...state.companion.facts import Alike, Line, Origin, compared, outdated_words, take, without_outdated
from ...state.companion.judgement import TalkDigest
from ...state.errors import PromptTooLong
from ...state.minds.emotion import EMOTIONS
from ...state.minds.memory import Circumstance, Memory, new_memory
from ...state.minds.mind import Call, Mind, Utterance
from ...state.outcomes import NEUTRAL
from ...state.persona import ONE_SIDED, RELATIONSHIP_TYPES, Relationship
from ...state.settings import Settings
from ..minds.appraising import as_heard
from ..minds.context import persona_of

PART: Final = 40
"""Exchanges in one question."""
_LETTERS: Final = 40_000
"""Characters in one question, about 10,000 tokens."""
_SUMMARIES, _PROMISES, _KEYWORDS = 3, 10, 8
"""How many summaries of talks, promises and keywords are kept."""


@dataclass(frozen=True)
class Consolidated:
    """What a talk has become.

    Attributes:
        tie: without the talk, with its summary and its facts.
        memories: new ones: the talk, then the facts in force.
        gone: ids of facts that are no longer in force; their memories are not recalled any more.
        summary: of the talk; empty if nothing was said in it.
        facts: the statements that are new.
        calls: what was asked, for accounting.
    """

    tie: Tie
    memories: list[Memory] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    summary: str = ""
    facts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


async def consolidate(
    mind: Mind,
    tie: Tie,
    talk: Talk,
    lines: Sequence[Line],
    settings: Settings,
    *,
    tick: int,
    place: str = "",
    shared: bool = False,
) -> Consolidated:
    """Look back on a talk that is over.

    The talk is taken from the tie's `over`, and counted. A talk without words leaves no memory, and asks no model.

    Args:
        mind: the agent's: name, persona and emotion count.
        tie: of the agent and the person.
        talk: the talk that is over.
        lines: its lines, oldest first.
        settings: of the simulation.
        tick: of the agent's memory clock.
        place: the address where they were.
        shared: whether what this person tells may be recalled with others.

    Raises:
        ModelError: the request failed, or, with `strict_answers`, the answers were unusable.
        BudgetExhausted, InputError, TransientModelError: as `models.asking.ask`.
    """
    emotion = tuple(mind["emotion"][name] for name in EMOTIONS)
    origin = Origin(mind["name"], tick, emotion, talk.id, talk.last, place, shared)
    told: list[TalkDigest] = []
    result = Consolidated(tie)
    waiting = deque(_parts(lines))
    number = 0
    while waiting:
        part = waiting.popleft()
        number += 1
        shown = result.tie.in_force
        try:
            found, call = await _asked(mind, result.tie, talk, part, settings, tick, number)
        except PromptTooLong:
            if len(part) > 1:
                middle = len(part) // 2
                waiting.extendleft([part[middle:], part[:middle]])
                continue
            found, call = None, None
        digest = found if found is not None else _as_heard(part, result.tie, mind["name"])
        alike = await _nearness(compared(result.tie, digest.facts), settings, mind["name"])
        taken = take(result.tie, digest.facts, lines, origin, shown=[fact.id for fact in shown], alike=alike)
        told.append(digest)
        result = Consolidated(
            _stands(taken.tie, digest),
            [*result.memories, *taken.memories],
            [*result.gone, *taken.gone],
            calls=[*result.calls, *([call] if call is not None else [])],
        )
    return _closed(result, talk, told, origin)


def relationship_type(words: str, before: str) -> str:
    """The type of relationship that a model names.

    Args:
        words: the model's.
        before: the type so far, which stays if the words are none, or if they are one whose direction they do not tell.
    """
    try:
        found = Relationship(from_="a", to="b", type=words).type
    except ValidationError:
        return before
    return found if found in _nameable() else before


def _nameable() -> list[str]:
    """The types that a model may name: where direction matters, only an agent's own feelings."""
    return [name for name, (_, directed) in RELATIONSHIP_TYPES.items() if not directed or name in ONE_SIDED]


def _parts(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The talk in parts of `PART` exchanges, fewer if they are very long."""
    part: list[Line] = []
    exchanges = letters = 0
    for line in lines:
        begins = not line.own or (bool(part) and part[-1].own)
        if begins and part and (exchanges >= PART or letters + len(line.text) > _LETTERS):
            yield part
            part, exchanges, letters = [], 0, 0
        part.append(line)
        exchanges += begins
        letters += len(line.text)
    if part:
        yield part


async def _asked(
    mind: Mind, tie: Tie, talk: Talk, part: Sequence[Line], settings: Settings, tick: int, number: int
) -> tuple[TalkDigest | None, Call]:
    person = _shown(tie)
    answer = await appraise(
        "consolidation",
        TalkDigest,
        settings=settings,
        agent=mind["name"],
        module="consolidation",
        turn=tick,
        part=talk.id if number == 1 else f"{talk.id}:{number}",
        basic_information=basic_information(persona_of(mind)),
        relationships=blocks.tie(tie, person),
        known=blocks.known(tie.in_force, person, talk.last),
        transcript=blocks.transcript(part, mind["name"], person),
        me=mind["name"],
        person=person,
        types=_nameable(),
        type=tie.type,
    )
    return answer.value, answer.call


def _as_heard(part: Sequence[Line], tie: Tie, agent: str) -> TalkDigest:
    """What is kept without a model: the first and the last words."""
    ends = [part[0], part[-1]] if len(part) > 1 else [part[0]]
    heard = [as_heard(_spoken(line, tie, agent)) for line in ends]
    return TalkDigest(
        summary=" … ".join(str(one["theme"]) for one in heard),
        keywords=list(dict.fromkeys(word for one in heard for word in one["keywords"]))[:_KEYWORDS] or ["talk"],
        importance=NEUTRAL,
        relationship=tie.type,
    )


def _spoken(line: Line, tie: Tie, agent: str) -> Utterance:
    speaker = agent if line.own else _shown(tie)
    return cast(Utterance, {"speaker": speaker, "text": line.text})


def _shown(tie: Tie) -> str:
    """The person as the agent knows them."""
    return tie.name if tie.introduced else STRANGER


async def _nearness(statements: Sequence[str], settings: Settings, agent: str) -> Alike:
    """The cosine of any two of these statements."""
    vectors = await embed(settings, statements, agent=agent) if statements else ()
    by_text = dict(zip(statements, vectors, strict=True))
    return lambda one, other: float(by_text[one] @ by_text[other])


def _stands(tie: Tie, digest: TalkDigest) -> Tie:
    """The tie with the relationship, the note and the promises of a part of a talk."""
    type_ = relationship_type(digest.relationship, tie.type)
    promises = list(dict.fromkeys([*tie.promises, *digest.promises]))[-_PROMISES:]
    changed = {"type": type_, "promises": promises, "note": digest.note or tie.note}
    return tie.model_copy(update=changed if type_ == tie.type else {**changed, "side": "from"})


def _closed(result: Consolidated, talk: Talk, told: Sequence[TalkDigest], origin: Origin) -> Consolidated:
    """The tie without the talk, and the memory of the talk before those of its facts."""
    tie = without_outdated(result.tie, outdated_words(result.tie, result.gone, origin.agent))
    summary = " ".join(dict.fromkeys(digest.summary for digest in told))
    memories = [memory for memory in result.memories if memory.id not in result.gone]
    if told:
        keywords = list(dict.fromkeys(word for digest in told for word in digest.keywords))[:_KEYWORDS]
        memories.insert(
            0,
            new_memory(
                origin.agent,
                origin.tick,
                "talk",
                summary,
                keywords,
                max(digest.importance for digest in told),
                list(origin.emotion),
                index=talk.number,
                circumstance=Circumstance(at=talk.last, person=tie.person, talk=talk.id, place=origin.place),
                heard_by=None if origin.shared else [tie.person],
            ),
        )
    over = {
        "over": [one for one in tie.over if one.id != talk.id],
        "talk": tie.talk if tie.talk is None or tie.talk.id != talk.id else None,
        "talks": tie.talks + 1,
        "first_met": tie.first_met or talk.begun,
        "last_met": talk.last,
        "summary": "\n".join([*tie.summary.splitlines(), *([summary] if summary else [])][-_SUMMARIES:]),
    }
    facts = [memory.theme for memory in memories if memory.kind == "fact"]
    return replace(result, tie=tie.model_copy(update=over), memories=memories, summary=summary, facts=facts)
