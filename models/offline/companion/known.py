"""What a companion's prompt tells: from blocks and values to plain data. It knows no more than the prompt shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from persimchat.prompts.blocks import Block
from persimchat.prompts.rendering import one_line

OF_COMPANIONS: Final = ("companion", "trust", "events", "reacting", "day_plan", "chunks", "consolidation")
"""The tasks that only companions have, by the names of their templates."""
_KINDS: Final = frozenset({"bond", "now", "place_where", "companion_memory"})
"""Items that only prompts of companions have."""
_VALUES: Final = (
    "closing", "hostile_end", "unasked", "candour", "types", "activity", "minutes", "lifestyle", "appointments",
    "promises", "may",
)  # fmt: skip
_STATE: Final = re.compile(r"(?P<name>.+?)(?::| is| are) (?P<state>.+)")
_HERE: Final = re.compile(r"Also here: (?P<name>[^,]+?)(?:, (?P<does>.+?))?\.?")
STRANGER: Final = "the stranger"
"""How a person is called in prompts who is not introduced."""


@dataclass(frozen=True)
class Line:
    """One line of a talk; `text` is as it was said, so that quotes can be exact."""

    speaker: str
    text: str
    own: bool


@dataclass(frozen=True)
class KnownFact:
    """A fact in a prompt; `number` is 0 if it is a recalled memory of a fact."""

    number: int
    about: str
    subject: str
    statement: str
    quote: str
    when: str
    source: str


@dataclass(frozen=True)
class Thing:
    """Something or somebody in the place, and its state or doing."""

    name: str
    state: str


@dataclass(frozen=True)
class Known:
    """A companion's prompt; what it lacks is empty.

    Attributes:
        person: the person as the prompt names them: by name, or "the stranger".
        introduced: whether the agent knows the name.
        type: of their relationship.
        talks: talks before this one.
        last_met: in words.
        trust: 0 to 10; None if the prompt does not show it.
        manner: that trust allows.
        summary: of the last talks.
        promises: of the agent.
        confided: what the agent may tell of itself at this trust.
        where: an address.
        occasion: of the talk.
        things: in the place, with their states.
        others: who else is there, and what they do.
        places: the addresses that a day plan may name, by number.
        facts: oldest first; recalled ones before those of the block.
        lines: of the talk, oldest first.
        day: in words.
        time: HH:MM.
        activity: of the agent.
        label: its emotion in one word.
        events: by number.
        words: the values of the template.
    """

    person: str = STRANGER
    introduced: bool = False
    type: str = "unknown"
    talks: int = 0
    last_met: str = ""
    trust: int | None = None
    manner: str = "polite"
    summary: str = ""
    promises: tuple[str, ...] = ()
    confided: tuple[str, ...] = ()
    where: str = ""
    occasion: str = ""
    things: tuple[Thing, ...] = ()
    others: tuple[Thing, ...] = ()
    places: Mapping[int, str] = field(default_factory=dict)
    facts: tuple[KnownFact, ...] = ()
    lines: tuple[Line, ...] = ()
    day: str = ""
    time: str = ""
    activity: str = ""
    label: str = ""
    events: Mapping[int, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def said(self) -> list[Line]:
        """The lines of the person."""
        return [line for line in self.lines if not line.own]

    def ticked(self, value: str) -> bool:
        """Whether a value of the template is set."""
        return bool(self.words.get(value, False))


def is_companions(task: str, blocks: Sequence[Block]) -> bool:
    """Whether a prompt is a companion's."""
    return task in OF_COMPANIONS or any(item.kind in _KINDS for block in blocks for item in block.items)


def known_of(blocks: Sequence[Block], values: Mapping[str, Any], agent: str) -> Known:
    """What the blocks and values of a companion's prompt tell.

    Args:
        blocks: of the prompt.
        values: of its template.
        agent: the agent's name.
    """
    now, where = _first(blocks, "now"), _first(blocks, "place_where")
    bond = _first(blocks, "bond") or {**_first(blocks, "relationship"), "name": values.get("person", "")}
    lines = [_line(v, agent) for v in _every(blocks, "utterance", "observed")]
    heard = _first(blocks, "heard")
    if heard and not heard["own"] and not (lines and lines[-1].text == heard["text"] and not lines[-1].own):
        lines.append(_line(heard, agent))
    speaker = next((line.speaker for line in reversed(lines) if not line.own), "")
    person = one_line(bond.get("name", "")) or one_line(now.get("name", "")) or speaker or STRANGER
    recalled = [_recalled(v) for v in _every(blocks, "companion_memory") if v["kind"] == "fact"]
    told = [_fact(v) for v in _every([b for b in blocks if b.tag == _facts_tag(blocks)], "fact")]
    return Known(
        person=person,
        introduced=bool(bond.get("introduced", person.casefold() != STRANGER)),
        type=bond.get("type", "unknown"),
        talks=bond.get("talks", 0),
        last_met=one_line(bond.get("last_met", "")),
        trust=now.get("trust"),
        manner=now.get("manner", "polite"),
        summary=one_line(bond.get("summary", "")),
        promises=_texts(blocks, "promise"),
        confided=_texts(blocks, "confided"),
        where=one_line(where.get("address", "")),
        occasion=one_line(where.get("occasion", "")),
        things=tuple(_thing(v) for v in _every(blocks, "place_thing") if not _other(v)),
        others=tuple(one for v in _every(blocks, "place_thing") if (one := _other(v))),
        places={v["number"]: one_line(v["address"]) for v in _every(blocks, "known_place")},
        facts=tuple([one for one in recalled if all(one.statement != fact.statement for fact in told)][::-1] + told),
        lines=tuple(lines),
        day=one_line(now.get("day", "")),
        time=str(now.get("time", "")),
        activity=one_line(now.get("activity", "")),
        label=str(now.get("emotion", "")),
        events={v["number"]: one_line(v["text"]) for v in _every(blocks, "event")},
        words={key: values[key] for key in _VALUES if key in values},
    )


def _facts_tag(blocks: Sequence[Block]) -> str:
    """The block whose facts count: those that a consolidation numbers, else those of a talk."""
    return "known" if any(block.tag == "known" for block in blocks) else "facts"


def _every(blocks: Sequence[Block], *kinds: str) -> Iterator[dict[str, Any]]:
    return (dict(item.values) for block in blocks for item in block.items if item.kind in kinds)


def _first(blocks: Sequence[Block], kind: str) -> dict[str, Any]:
    return next(_every(blocks, kind), {})


def _texts(blocks: Sequence[Block], kind: str) -> tuple[str, ...]:
    return tuple(one_line(v["text"]) for v in _every(blocks, kind))


def _line(v: Mapping[str, Any], agent: str) -> Line:
    speaker = one_line(v["speaker"])
    return Line(speaker, v["text"], own=speaker == agent)


def _fact(v: Mapping[str, Any]) -> KnownFact:
    texts = {key: one_line(v.get(key) or "") for key in ("about", "subject", "statement", "quote", "when", "source")}
    return KnownFact(number=v["number"], **texts)


def _recalled(v: Mapping[str, Any]) -> KnownFact:
    subject = one_line(next(iter(v["keywords"]), ""))
    return KnownFact(0, "", subject, one_line(v["theme"]), "", one_line(v["when"] or ""), one_line(v["source"] or ""))


def _thing(v: Mapping[str, Any]) -> Thing:
    """A thing by its line: "stove: lit", "the stove is lit"."""
    text = one_line(v["text"])
    parted = _STATE.fullmatch(text)
    return Thing(parted["name"], parted["state"].rstrip(".")) if parted else Thing(text, "")


def _other(v: Mapping[str, Any]) -> Thing | None:
    """Somebody by their line: "Also here: the captain, reading the log"; None if it is of a thing."""
    found = _HERE.fullmatch(one_line(v["text"]))
    return Thing(found["name"], found["does"] or "") if found else None
