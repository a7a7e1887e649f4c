"""Converts the blocks and values of a rendered prompt to a `Prompt`.

It reads only the blocks that the prompt shows, so this model knows no more than any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.companion.known import is_companions, known_of
from persimchat.models.offline.persona_making.request import request_of
from persimchat.models.offline.prompt import Answered, Heard, Member, MemoryLine, Prompt, Relation, Said
from persimchat.models.offline.story.told import OF_STORIES, told_of
from persimchat.prompts.blocks import Block, Item
from persimchat.prompts.rendering import RenderedMessage, Source, neutralise, one_line

ROLES: Final = {
    "unknown": ("stranger", "stranger"),
    "known_by_name": ("stranger", "stranger"),
    "acquaintance": ("acquaintance", "acquaintance"),
    "friend": ("friend", "friend"),
    "close_friend": ("close friend", "close friend"),
    "ally": ("ally", "ally"),
    "admirer": ("idol", "admirer"),
    "romantic": ("love", "love"),
    "rival": ("rival", "rival"),
    "enemy": ("enemy", "enemy"),
    "annoyed": ("nuisance", "annoyed"),
    "betrayed": ("traitor", "betrayed"),
    "leader_follower": ("follower", "leader"),
    "authority_subordinate": ("subordinate", "superior"),
    "mentor_mentee": ("mentee", "mentor"),
    "parent_child": ("child", "parent"),
    "siblings": ("sibling", "sibling"),
    "grandparent_grandchild": ("child", "grandparent"),
    "aunt_uncle_niece_nephew": ("child", "aunt or uncle"),
    "cousins": ("cousin", "cousin"),
    "spouses": ("spouse", "spouse"),
    "stepparent_stepchild": ("child", "stepparent"),
    "adoptive_parent_child": ("child", "parent"),
}
"""By type of relationship, what the other is to me: if I am on its "from" side, and if I am on its "to" side."""
_BAD: Final = frozenset({"rival", "enemy", "nuisance", "annoyed", "traitor", "betrayed"})
_NEUTRAL: Final = frozenset({"stranger", "acquaintance", "follower", "leader", "subordinate", "superior", "stepparent"})

Values = Mapping[str, Any]


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt | None:
    """The prompt of the last rendered message, with the text after it; None if no message was rendered."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, RenderedMessage) and message.source is not None:
            return _prompt(message.source, tuple(str(m.text) for m in messages[index + 1 :] if m.type == "human"))
    return None


def _prompt(source: Source, later: tuple[str, ...]) -> Prompt:
    values = source.values
    task = source.template if source.template != "parts" else values["module_name"]
    if task == "persona_generation":
        return Prompt(task, later=later, request=request_of(values, later))
    items = _items(source.blocks)
    name = _text(items, "name", "name")
    debate, progress = _first(items, "debate"), _first(items, "progress")
    leaving, heard, opposes = values.get("leaving"), _first(items, "heard"), values.get("opposes")
    known = known_of(source.blocks, values, name) if is_companions(task, source.blocks) else None
    present = (
        tuple(one_line(other) for other in _first(items, "present").get("others", ()))
        if known is None
        else (known.person,)
    )
    return Prompt(
        task,
        **_person(items, present),
        need=_first(items, "need_to_talk").get("score"),
        openness=_first(items, "openness").get("score"),
        emotions={v["name"]: v["level"] for v in _every(items, "emotion")},
        memories=tuple(_memory(v) for v in _every(items, "memory")) or _recalled(source.blocks, "memories"),
        stm=next((_memory(v) for v in _every(items, "stm")), None)
        or next(iter(_recalled(source.blocks, "short_term_memory")), None),
        leaving=_memory(dict(leaving.values)) if task == "memory_filtering" and leaving else None,
        similarity=round(values.get("similarity", 0.0), 2),
        topic=known.occasion if known else neutralise(_first(items, "topic").get("text", "")).strip(),
        present=present,
        turn=progress.get("turn", _first(items, "heard_so_far").get("count", 0)),
        limit=progress.get("limit", 0),
        spoken=_first(items, "spoken").get("count"),
        rules=_texts(items, "rule"),
        form=_form(debate or {name: values.get(name) for name in ("format", "choices")}),
        closing=any(True for _ in _every(items, "closing")),
        group=tuple(_member(v) for v in _every(items, "member")),
        recent=tuple(_said(v) for v in _every(items, "utterance", "observed")),
        heard=_heard(heard) if heard else None,
        avoid=_texts(items, "avoid"),
        answers=tuple(_answered(v, name) for v in _every(items, "answer")),
        people=_people(task, source.blocks, present),
        later=later,
        register=values.get("register", "neutral"),
        words=values.get("words", 25),
        opposes=one_line(opposes) if opposes else "",
        confident=values.get("confident", False),
        last_round=values.get("last", False),
        candidates=tuple(map(one_line, values.get("candidates", ()))),
        question=one_line(values.get("question", "")),
        possible=tuple(values.get("possible", ())),
        parts=tuple(values.get("parts", ())),
        length=values.get("count", 0),
        takes_leave=task == "script" and values["closing"],
        story=told_of(items, values) if not known and (task in OF_STORIES or "place" in values) else None,
        companion=known,
        moderator=_text(items, "moderator", "name"),
        asked=_text(items, "question"),
        puts=_text(items, "puts"),
    )


def _form(told: Values) -> AnswerForm | None:
    """The form of an answer; None where none is asked for."""
    return AnswerForm(told["format"], tuple(map(one_line, told["choices"]))) if told["format"] else None


def _items(blocks: Iterable[Block]) -> list[Item]:
    """The items of all blocks; of blocks with the same name, those of the last."""
    return [item for block in {block.tag: block for block in blocks}.values() for item in block.items]


def _every(items: Iterable[Item], *kinds: str) -> Iterable[dict[str, Any]]:
    return (dict(item.values) for item in items if item.kind in kinds)


def _first(items: Iterable[Item], kind: str) -> dict[str, Any]:
    """The values of the first item of a kind; empty if there is no such item."""
    return next(iter(_every(items, kind)), {})


def _text(items: Iterable[Item], kind: str, value: str = "text") -> str:
    return one_line(_first(items, kind).get(value, ""))


def _texts(items: Iterable[Item], kind: str) -> tuple[str, ...]:
    return tuple(one_line(v["text"]) for v in _every(items, kind))


def _person(items: Sequence[Item], others: Sequence[str]) -> dict[str, Any]:
    """The items about one person, as fields of `Prompt`."""
    told = [as_relation(v) for v in _every(items, "relationship")]
    facts = {one_line(v["name"]).casefold(): one_line(v["value"]) for v in _every(items, "characteristic")}
    return {
        "name": _text(items, "name", "name"),
        "description": _text(items, "description"),
        "characteristics": {name: value for name, value in facts.items() if value},
        "traits": _texts(items, "trait"),
        "style": _text(items, "speaking_style"),
        "knowledge": _first(items, "knowledge").get("level"),
        "relations": tuple(relation for relation in told if relation.to in others),
        "identity": _text(items, "identity"),
        "plan": _text(items, "plan"),
        "goals": _texts(items, "goal"),
    }


def _people(task: str, blocks: Sequence[Block], everybody: Sequence[str]) -> tuple[Prompt, ...]:
    """The persons that a prompt describes in sequence: the blocks of each begin with basic_information."""
    people: list[list[Item]] = []
    for block in blocks:
        if block.tag == "basic_information":
            people.append([])
        if people:
            people[-1].extend(block.items)
    return tuple(Prompt(task, **_person(items, everybody)) for items in people) if len(people) > 1 else ()


def as_relation(v: Values) -> Relation:
    """A relationship's item as data."""
    role = ROLES[v["type"]][0 if v["side"] == "from" else 1]
    valence = -1 if role in _BAD else 0 if role in _NEUTRAL else 1
    return Relation(one_line(v["to"]), role, valence, one_line(v["note"] or ""))


def _memory(v: Values) -> MemoryLine:
    keywords = tuple(keyword for k in v["keywords"] if (keyword := one_line(k)))
    turn, importance = v.get("turn", 0), v.get("importance", 5)
    return MemoryLine(v.get("number", 0), v["kind"], turn, importance, one_line(v["theme"]), keywords)


def _recalled(blocks: Iterable[Block], tag: str) -> tuple[MemoryLine, ...]:
    """The memories of a companion in a block."""
    items = [item for block in blocks if block.tag == tag for item in block.items]
    return tuple(_memory(v) for v in _every(items, "companion_memory"))


def _member(v: Values) -> Member:
    return Member(one_line(v["name"]), v.get("need_to_talk"), v.get("openness"), v["utterances"], v["last_spoke"])


def _said(v: Values) -> Said:
    felt = tuple((emotion, level) for emotion, level in v.get("emotion", ()) if level)
    return Said(one_line(v["speaker"]), one_line(v["text"]), felt, whispered=bool(v["whispered"]))


def _heard(v: Values) -> Heard:
    return Heard(
        speaker=one_line(v["speaker"]),
        own=v["own"],
        to_me=v["addressed"],
        addressees=", ".join(map(one_line, v["addressees"])) or "everybody",
        emotion=dict(v["emotion"]),
        words=one_line(v["text"]),
        whispered=bool(v["whispered"]),
    )


def _answered(v: Values, name: str) -> Answered:
    return Answered(
        speaker=name if v["own"] else one_line(v["speaker"]),
        own=v["own"],
        side="" if v["own"] else v["side"],
        answer=one_line(v["answer"]),
        confidence=v["confidence"],
        reasons=one_line(v["text"]),
    )
