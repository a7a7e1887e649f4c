"""A prompt as data: what its blocks and values tell of the agent, the conversation, the others, and the task.

Only the blocks that the prompt shows are read, so this model knows no more than any other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import signature
from typing import Any, Final, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage

from ...prompts.blocks import Block
from ...prompts.rendering import RenderedMessage, Source, neutralise, one_line
from ...state.debates.answers import AnswerFormat
from ...state.errors import ModelError
from ...state.intervention import MODERATOR
from .material import generator, read

MODEL_NAME: Final = "offline"
NUMBER: Final = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number in digits, with or without commas between thousands."""
STRANGER: Final = "the stranger"
"""How a person is called in prompts who is not introduced."""
_OF_COMPANIONS: Final = frozenset({"companion", "trust", "events", "reacting", "day_plan", "chunks", "consolidation"})
_ITEMS_OF_COMPANIONS: Final = ("bond", "now", "place_where", "companion_memory")
_STATE: Final = re.compile(r"(?P<name>.+?)(?::| is| are) (?P<state>.+)")
_HERE: Final = re.compile(r"Also here: (?P<name>[^,]+?)(?:, (?P<state>.+?))?\.?")

Values = Mapping[str, Any]
Answer = dict[str, Any]
"""The fields of a judgement."""
T = TypeVar("T")


class AnswerForm(NamedTuple):
    """The form of an answer; `choices` is empty unless the answer must be one of them."""

    kind: AnswerFormat = "free"
    choices: tuple[str, ...] = ()


class Relation(NamedTuple):
    """A participant's relationship to the prompt's agent; `valence` is -1, 0 or 1."""

    to: str
    role: str
    valence: int
    note: str = ""


class MemoryLine(NamedTuple):
    """One memory in a prompt; `number` is 0 if the prompt shows none."""

    kind: str
    theme: str
    keywords: tuple[str, ...]
    number: int = 0
    turn: int = 0
    importance: int = 5


class Member(NamedTuple):
    """One participant in an onlooker's view; openness is None if it is not shown."""

    name: str
    utterances: int
    last_spoke: int
    openness: int | None = None


@dataclass(frozen=True)
class Said:
    """An utterance; `addressed`: it speaks to the prompt's agent. What the prompt does not show is empty."""

    speaker: str
    text: str
    own: bool = False
    addressed: bool = False
    addressees: tuple[str, ...] = ()
    emotion: Mapping[str, int] = field(default_factory=dict)
    whispered: tuple[str, ...] = ()


class Answered(NamedTuple):
    """One answer of the last round, with its reasons; `side` is empty if there is none."""

    speaker: str
    own: bool
    answer: str
    text: str
    side: str = ""


class KnownFact(NamedTuple):
    """A fact in a companion's prompt; `number` is 0 if it is a recalled memory of a fact."""

    number: int = 0
    about: str = ""
    subject: str = ""
    statement: str = ""
    quote: str = ""
    when: str = ""
    source: str = ""


class Thing(NamedTuple):
    """Something or somebody in a companion's place, and its state or doing."""

    name: str
    state: str = ""


@dataclass(frozen=True)
class Known:
    """What only a companion's prompt tells; what it lacks is empty.

    Attributes:
        person: the person as the prompt names them: by name, or "the stranger"; empty for all but companions.
        introduced: whether the agent knows the name.
        type: of their relationship.
        talks: talks before this one.
        last_met: in words.
        summary: of the last talks.
        trust: 0 to 10; None if the prompt does not show it.
        manner: that trust allows.
        address: where the talk is.
        occasion: of the talk.
        things: in the place, with their states.
        others: who else is there, and what they do.
        facts: oldest first; recalled ones before those of the block.
        lines: of the talk, oldest first, as they were said, so that quotes can be exact.
        day: in words.
        time: HH:MM.
        activity: of the agent.
        emotion: of the agent, in one word.
    """

    person: str = ""
    introduced: bool = False
    type: str = "unknown"
    talks: int = 0
    last_met: str = ""
    summary: str = ""
    trust: int | None = None
    manner: str = "polite"
    address: str = ""
    occasion: str = ""
    things: tuple[Thing, ...] = ()
    others: tuple[Thing, ...] = ()
    facts: tuple[KnownFact, ...] = ()
    lines: tuple[Said, ...] = ()
    day: str = ""
    time: str = ""
    activity: str = ""
    emotion: str = ""

    @property
    def said(self) -> list[Said]:
        """The lines of the person."""
        return [line for line in self.lines if not line.own]


def plain(value: Any) -> Any:
    """A value with its texts on one line each."""
    if isinstance(value, str):
        return one_line(value)
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


class Items:
    """The items of blocks by kind, as values with texts on one line."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.raw: dict[str, list[dict[str, Any]]] = {}
        """As they stand."""
        for item in (item for block in blocks for item in block.items):
            self.raw.setdefault(item.kind, []).append(dict(item.values))

    def every(self, kind: str) -> list[dict[str, Any]]:
        """Those of a kind, in their order."""
        return [{key: plain(value) for key, value in values.items()} for values in self.raw.get(kind, ())]

    def first(self, kind: str) -> dict[str, Any]:
        """The first of a kind; empty if there is none."""
        return next(iter(self.every(kind)), {})

    def text(self, kind: str, value: str = "text") -> str:
        """A value of the first of a kind."""
        return str(self.first(kind).get(value, ""))

    def texts(self, kind: str, value: str = "text") -> tuple[str, ...]:
        """A value of each of a kind."""
        return tuple(values[value] for values in self.every(kind))


@dataclass(frozen=True)
class Prompt:
    """The contents of a prompt. A field that the prompt lacks is empty, None or 0.

    Attributes:
        task: its name in `chat_model.TASKS`, "utterance", "group_chat" or "script".
        name: of the agent; empty for onlookers.
        seed: of the model.
        form: of the debate's answer; None in discussions.
        avoid: words that must not be said again.
        answers: the last round of a debate in rounds.
        people: the participants of a script, each as in a prompt of their own.
        later: text after the task.
        words: length of an utterance.
        moderator: of a focus group with a guide; empty without one.
        asked: the question of the guide that the group talks about; empty before the first.
        known: what only a companion's prompt tells.
        items: of all blocks, for what only one kind of prompt tells.
        values: of the template.
    """

    task: str
    name: str = ""
    seed: int = 0
    description: str = ""
    characteristics: Mapping[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    style: str = ""
    knowledge: int | None = None
    openness: int | None = None
    emotions: Mapping[str, int] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryLine, ...] = ()
    stm: MemoryLine | None = None
    identity: str = ""
    plan: str = ""
    goals: tuple[str, ...] = ()
    topic: str = ""
    present: tuple[str, ...] = ()
    turn: int = 0
    limit: int = 0
    spoken: int | None = None
    rules: tuple[str, ...] = ()
    form: AnswerForm | None = None
    closing: bool = False
    group: tuple[Member, ...] = ()
    recent: tuple[Said, ...] = ()
    heard: Said | None = None
    avoid: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    people: tuple[Prompt, ...] = ()
    later: tuple[str, ...] = ()
    register: str = "neutral"
    words: int = 25
    moderator: str = ""
    asked: str = ""
    known: Known = Known()
    items: Items = field(default_factory=Items)
    values: Values = field(default_factory=dict)

    def need(self, present: T | None, tag: str) -> T:
        """A section that the task needs.

        Raises:
            ModelError: the prompt lacks it.
        """
        if not present:
            remedy = "The offline model answers only prompts rendered from this package's templates."
            raise ModelError(f"the prompt has no <{tag}> section", model=MODEL_NAME, module=self.task, remedy=remedy)
        return present

    def draw(self, about: str) -> random.Random:
        """The random numbers of one decision of the agent at this turn."""
        return generator(self.seed, about, self.name, self.topic, self.turn)

    @property
    def participants(self) -> tuple[str, ...]:
        """All participants: the prompt's agent and the others; a judge takes no part."""
        if self.group:
            return tuple(member.name for member in self.group)
        return (self.name, *self.present) if self.name else self.present

    @property
    def recalled(self) -> tuple[MemoryLine, ...]:
        """All memories of the prompt, the one in short-term memory last."""
        return (*self.memories, *([self.stm] if self.stm else []))

    def leads(self, name: str) -> bool:
        """Whether this is the name of the moderator, who leads the conversation and takes no side in it."""
        return (name.startswith(MODERATOR) and name not in self.participants) or (name == self.moderator != "")

    def relation_to(self, name: str) -> Relation | None:
        """The relationship to `name`, if the prompt shows one."""
        return next((r for r in self.relations if r.to == name), None)


_TASK: Final = re.compile(r'^<task name="(\w+)">', re.MULTILINE)


def prompt_of(messages: Sequence[BaseMessage], seed: int = 0) -> Prompt | None:
    """The prompt of the last rendered message, with the text after it; None if no message was rendered."""
    later: tuple[str, ...] = ()
    for message in reversed(messages):
        if isinstance(message, RenderedMessage) and message.source is not None:
            named = _TASK.findall(str(message.text))
            return _prompt(message.source, named[-1] if named else message.source.template, later, seed)
        if message.type == "human":
            later = (str(message.text), *later)
    return None


def _prompt(source: Source, task: str, later: tuple[str, ...], seed: int) -> Prompt:
    values = source.values
    if task == "persona_generation":
        return Prompt(task, seed=seed, later=later, values=values)
    items = Items({block.tag: block for block in source.blocks}.values())

    def under(tag: str) -> Items:
        return Items(block for block in source.blocks if block.tag == tag)

    name, progress = items.text("name", "name"), items.first("progress")
    debate = items.first("debate") or {key: plain(values.get(key)) for key in ("format", "choices")}
    companion = task in _OF_COMPANIONS or any(kind in items.raw for kind in _ITEMS_OF_COMPANIONS)
    known = _known(source.blocks, items, values, name) if companion else Known()
    present = (known.person,) if companion else items.first("present").get("others", ())
    heard, memories = items.first("heard"), items.every("memory") or under("memories").every("companion_memory")
    short = [*items.every("stm"), *under("short_term_memory").every("companion_memory")]
    felt = [(v["name"], v["level"]) for v in items.every("emotion")]
    whole = Prompt(
        task,
        seed=seed,
        **_person(items, present),
        **{key: plain(values[key]) for key in ("register", "words") if key in values},
        openness=items.first("openness").get("score"),
        emotions=dict(items.first("feelings").get("emotion", felt)),
        memories=tuple(map(_memory, memories)),
        stm=_memory(short[0]) if short else None,
        topic=known.occasion if companion else neutralise(items.raw.get("topic", [{}])[0].get("text", "")).strip(),
        present=present,
        turn=progress.get("turn", items.first("heard_so_far").get("count", 0)),
        limit=progress.get("limit", 0),
        spoken=items.first("spoken").get("count"),
        rules=items.texts("rule"),
        form=AnswerForm(debate["format"], debate["choices"]) if debate["format"] else None,
        closing="closing" in items.raw,
        group=tuple(_made(Member, v) for v in items.every("member")),
        recent=tuple(map(_said, items.every("utterance") or items.every("observed"))),
        heard=_said(heard) if heard else None,
        avoid=items.texts("avoid"),
        answers=tuple(_made(Answered, v, **({"speaker": name, "side": ""} if v["own"] else {}))
                      for v in items.every("answer")),
        later=later,
        moderator=items.text("moderator", "name"),
        asked=items.text("question"),
        known=known,
        items=items,
        values=values,
    )  # fmt: skip
    return replace(whole, people=_people(whole, source.blocks))


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(signature(kind).parameters)


def _made(kind: Callable[..., T], values: Values, **more: Any) -> T:
    """A value of a class from the values of an item that its fields name."""
    given = {key: value for key, value in {**values, **more}.items() if key in _names(kind) and value is not None}
    return kind(**given)


def _person(items: Items, others: Sequence[str]) -> dict[str, Any]:
    """The items about one person, as fields of `Prompt`."""
    return {
        "name": items.text("name", "name"),
        "description": items.text("description"),
        "characteristics": {v["name"].casefold(): v["value"] for v in items.every("characteristic") if v["value"]},
        "traits": items.texts("trait"),
        "style": items.text("speaking_style"),
        "knowledge": items.first("knowledge").get("level"),
        "relations": tuple(_relation(v) for v in items.every("relationship") if v["to"] in others),
        "identity": items.text("identity"),
        "plan": items.text("plan"),
        "goals": items.texts("goal"),
    }


def _people(prompt: Prompt, blocks: Sequence[Block]) -> tuple[Prompt, ...]:
    """The persons that a prompt describes in sequence: the blocks of each begin with basic_information."""
    begins = [place for place, block in enumerate(blocks) if block.tag == "basic_information"]
    parts = [Items(blocks[start:end]) for start, end in zip(begins, [*begins[1:], len(blocks)], strict=False)]
    return tuple(replace(prompt, **_person(one, prompt.present)) for one in parts) if len(parts) > 1 else ()


def _relation(v: Values) -> Relation:
    """A relationship: what the other is to the agent, and whether that is good."""
    sides = read("words")["relations"][v["type"]].split(" | ")
    role, valence = sides[0 if v["side"] == "from" else -1].rsplit(maxsplit=1)
    return Relation(v["to"], role, int(valence), v["note"] or "")


def _memory(v: Values) -> MemoryLine:
    return _made(MemoryLine, v, keywords=tuple(filter(None, v["keywords"])))


def _said(v: Values) -> Said:
    return _made(Said, v, emotion=dict(v.get("emotion", ())))


def leaving_memory(prompt: Prompt) -> MemoryLine:
    """The memory that is about to leave short-term memory."""
    item = prompt.need(prompt.values.get("leaving"), "leaving_memory")
    return _memory({key: plain(value) for key, value in dict(item.values).items()})


def _known(blocks: Sequence[Block], items: Items, values: Values, agent: str) -> Known:
    now, bond = items.first("now"), items.first("bond")
    bond = bond or {**items.first("relationship"), "name": plain(values.get("person", ""))}
    said = items.raw.get("utterance") or items.raw.get("observed", [])
    heard = next(iter(items.raw.get("heard", ())), None)
    last = [(v["speaker"], v["text"]) for v in said[-1:]]
    if heard and not heard["own"] and last != [(heard["speaker"], heard["text"])]:
        said = [*said, heard]
    lines = tuple(Said(who := one_line(v["speaker"]), v["text"], own=who == agent) for v in said)
    speaker = next((line.speaker for line in reversed(lines) if not line.own), "")
    person = bond.get("name") or now.get("name") or speaker or STRANGER
    # The facts that a consolidation numbers count, else those of a talk.
    tag = "known" if any(block.tag == "known" for block in blocks) else "facts"
    facts = [_made(KnownFact, v) for v in Items(b for b in blocks if b.tag == tag).every("fact")]
    recalled = [
        _made(KnownFact, v, number=0, subject=next(iter(v["keywords"]), ""), statement=v["theme"])
        for v in items.every("companion_memory")
        if v["kind"] == "fact" and all(v["theme"] != fact.statement for fact in facts)
    ]
    around = [(text, _HERE.fullmatch(text), _STATE.fullmatch(text)) for text in items.texts("place_thing")]
    return _made(
        Known,
        {**bond, **now, **items.first("place_where")},
        person=person,
        introduced=bool(bond.get("introduced", person.casefold() != STRANGER)),
        things=tuple(_thing(state, text) for text, here, state in around if not here),
        others=tuple(_thing(here, text) for text, here, _ in around if here),
        facts=(*recalled[::-1], *facts),
        lines=lines,
    )


def _thing(parted: re.Match[str] | None, text: str) -> Thing:
    """A thing by its line ("stove: lit", "the stove is lit"), or somebody ("Also here: the captain, reading")."""
    return Thing(parted["name"], (parted["state"] or "").rstrip(".")) if parted else Thing(text)
