"""A prompt's data as blocks of single items, so that items can be pruned one by one later.

Source: specification, *Speaking*; Chu et al., table 1. This file arranges data; the words around it are in
`templates/_item.jinja`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..state.debates.verdict import answer_description
from ..state.minds.emotion import EMOTIONS
from ..state.minds.memory import Memory
from ..state.minds.mind import Mind, Situation, Utterance
from ..state.person_answer import Put
from ..state.persona import Persona, field_levels, knowledge_level
from ..state.plain_text import shortened


@dataclass(frozen=True)
class Item:
    """One piece of information in a prompt.

    Attributes:
        kind: which words it gets (a branch of `templates/_item.jinja`).
        values: the data, as pairs of name and value; given as a mapping. Hashable, so that the same block is worded
            only once, even if it is in many prompts.
        prunable: whether pruning may remove it; the name, the topic and the last utterances stay.
    """

    kind: str
    values: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()
    prunable: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.values, Mapping):
            object.__setattr__(self, "values", _hashable(self.values))

    def __getitem__(self, name: str) -> Any:
        """The value of this name."""
        return dict(self.values)[name]


_PLAIN: Final = frozenset({str, int, type(None), bool, float})
"""The usual types of values, which are recognised fast."""


def _hashable(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return tuple([(key, item if type(item) in _PLAIN else _hashable(item)) for key, item in value.items()])
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Block:
    """A named sequence of items; the tag delimits it in the prompt."""

    tag: str
    items: tuple[Item, ...]


def basic_information(persona: Persona, *, knowledge: bool = False) -> Block:
    """Block b: who I am. With `knowledge`, also the subjects that fit this persona's knowledge level."""
    items = [Item("name", {"name": persona.name}, prunable=False), Item("description", {"text": persona.description})]
    items += [Item("characteristic", {"name": k, "value": v}) for k, v in persona.characteristics.items()]
    items += [Item("trait", {"text": trait}) for trait in persona.traits]
    if persona.speaking_style:
        items.append(Item("speaking_style", {"text": persona.speaking_style}))
    if knowledge:
        items.append(Item("knowledge", {"level": knowledge_level(persona)}))
        items += [Item("field_knowledge", {"field": f, "level": n}) for f, n in field_levels(persona).items()]
    return Block("basic_information", tuple(items))


def needs_and_emotions(mind: Mind) -> Block:
    """Block n: need to talk, emotional state, what modules of packages judged; without values not known yet."""
    items = []
    if "need_to_talk" in mind:
        items.append(Item("need_to_talk", {"score": mind["need_to_talk"]}))
    emotion = mind.get("emotion") or {}
    if "openness" in mind:
        items.append(Item("openness", {"score": mind["openness"]}))
    items += [Item("emotion", {"name": name, "level": emotion[name]}) for name in EMOTIONS if name in emotion]
    for judged in mind.get("own", {}).values():
        items += [
            Item("own", {"name": name.replace("_", " "), "value": value})
            for name, value in judged.items()
            if name != "reasoning"
        ]
    return Block("needs_and_emotions", tuple(items))


def relationships(situation: Situation) -> Block:
    """Block r: one item per relationship."""
    return Block("relationships", tuple(Item("relationship", dict(r)) for r in situation["relationships"]))


def memories(recalled: Iterable[Memory]) -> Block:
    """Block m: one item per memory, numbered from 1 in the order given (best first)."""
    return Block(
        "memories",
        tuple(
            Item(
                "memory",
                {"number": n, "kind": m.kind, "turn": m.turn, "importance": m.importance}
                | {"theme": m.theme, "keywords": m.keywords},
                prunable=m.kind != "topic",
            )
            for n, m in enumerate(recalled, start=1)
        ),
    )


def short_term_memory(stm: dict[str, Any] | None) -> Block:
    """The memory in short-term memory, which is always recalled."""
    return Block("short_term_memory", (Item("stm", dict(stm)),) if stm else ())


def goals(mind: Mind) -> Block:
    """Social goals, which stay the same in a run."""
    return Block("goals", tuple(Item("goal", {"text": goal}) for goal in mind.get("goals", [])))


def plan(mind: Mind) -> Block:
    """Identity, intended reaction and plan; empty before there is a plan."""
    made = mind.get("plan")
    if not made:
        return Block("plan", ())
    return Block(
        "plan",
        (
            Item("identity", {"text": made["identity"]}),
            Item("reaction", {"text": made["reaction"], "react": made["react"]}),
            Item("plan", {"text": made["theme"]}),
        ),
    )


def plan_and_identity(mind: Mind) -> Block:
    """Block p: identity, intended reaction, plan, social goals."""
    return Block("plan_and_identity", (*plan(mind).items, *goals(mind).items))


def scene(situation: Situation, name: str) -> Block:
    """The constant part of the scene: topic, participants, the expected result, and the rules."""
    items = [
        Item("topic", {"text": situation["topic"]}, prunable=False),
        Item("present", {"others": [other for other in situation["present"] if other != name]}),
    ]
    debate = situation["debate"]
    if debate is not None:
        form = answer_description(debate["format"], debate["choices"])
        items.append(Item("debate", {"form": form, **debate}, prunable=False))
    items += [Item("rule", {"text": rule}, prunable=False) for rule in situation["rules"]]
    if (guide := situation.get("guide")) is not None:
        items.append(Item("moderator", {"name": guide["moderator"], "own": guide["moderator"] == name}, prunable=False))
        if "stimulus" in guide:
            items.append(Item("stimulus", {"title": "", "text": "", "image": ""} | guide["stimulus"], prunable=False))
    return Block("scene", tuple(items))


def progress(situation: Situation, *, spoken: int | None = None, puts: Put | None = None) -> Block:
    """The progress of the conversation: utterances so far, one's own utterances, whether the end is near.

    In a focus group, also the question put last, and for its moderator the one to be put now.
    """
    items = [Item("progress", {"turn": situation["turn"], "limit": situation["max_messages"]})]
    if spoken is not None:
        items.append(Item("spoken", {"count": spoken}))
    if situation["closing"]:
        items.append(Item("closing", prunable=False))
    guide = situation.get("guide")
    if guide is not None and guide["number"]:
        text = shortened(guide["put"], LONGEST_UTTERANCE)
        items.append(Item("question", {"number": guide["number"], "of": guide["of"], "text": text}, prunable=False))
    if puts is not None:
        due = {"number": puts["number"], "of": puts["of"], "text": puts["ask"]}
        shown = {"title": "", "text": "", "image": ""} | puts["stimulus"] if "stimulus" in puts else None
        items.append(Item("puts", due, prunable=False))
        items += [Item("stimulus", shown, prunable=False)] if shown is not None else []
    return Block("progress", tuple(items))


def environment(situation: Situation, name: str, *, spoken: int | None = None, puts: Put | None = None) -> Block:
    """Block e: the scene and the progress of the conversation."""
    items = (*scene(situation, name).items, *progress(situation, spoken=spoken, puts=puts).items)
    return Block("environment", items)


LONGEST_UTTERANCE = 8_000
"""The most characters of an utterance that a mind sees, about 2,000 tokens: as many as a person may say at once."""


def last_utterances(recent: Sequence[Utterance], name: str = "") -> Block:
    """Block c: the last utterances word by word, oldest first; whispers are marked, as `name` hears them.

    One that is longer than `LONGEST_UTTERANCE` ends with an ellipsis.
    """
    return Block("last_utterances", tuple(_line(u, name) for u in recent))


_BRIEF: Final = frozenset({"memory", "stm", "heard", "progress"})


def brief(block: Block, *, counted: bool) -> Block:
    """A block as lean minds read it: feelings in words and only strong ones, memories without weight and keywords.

    The items keep all data.

    Args:
        block: as other minds read it.
        counted: whether it says how many utterances were made, because it will not be told that the end is near.
    """
    kinds = _BRIEF - {"progress"} if counted else _BRIEF
    emotions = {item["name"]: item["level"] for item in block.items if item.kind == "emotion"}
    items = [
        replace(item, values={**dict(item.values), "brief": True}) if item.kind in kinds else item
        for item in block.items
        if item.kind != "emotion"
    ]
    return Block(block.tag, (*items, *([Item("feelings", {"emotion": emotions})] if emotions else [])))


AVOIDED_CHARACTERS = 600
"""The number of characters of an utterance to avoid that are shown: enough to recognise it."""


def avoid(texts: Iterable[str]) -> Block:
    """Earlier words that should not be said again; empty at a first request."""
    shown = (t if len(t) <= AVOIDED_CHARACTERS else f"{t[:AVOIDED_CHARACTERS]}…" for t in texts)
    return Block("avoid", tuple(Item("avoid", {"text": text}, prunable=False) for text in shown))


def _line(utterance: Utterance, name: str) -> Item:
    text = shortened(utterance["text"], LONGEST_UTTERANCE)
    values = {"speaker": utterance["speaker"], "text": text, "whispered": _whispered(utterance, name)}
    return Item("utterance", values, prunable=False)


def _whispered(utterance: Utterance, name: str) -> list[str]:
    """The hearers of a whisper, `name` first and as "me"; empty if all heard it."""
    hearers = [hearer for hearer in utterance.get("heard_by") or [] if hearer != utterance["speaker"]]
    return [*(["me"] if name in hearers else []), *(hearer for hearer in hearers if hearer != name)]


def observed(recent: Sequence[Utterance]) -> Block:
    """The last utterances word by word and whole with their speakers' emotional states, for onlookers."""
    return Block(
        "last_utterances",
        tuple(
            Item(
                "observed",
                {key: u[key] for key in ("speaker", "text", "emotion")} | {"whispered": _whispered(u, "")},
                prunable=False,
            )
            for u in recent
        ),
    )


def group(members: Iterable[Mapping[str, Any]]) -> Block:
    """The state of each participant, for onlookers: one item per participant.

    Args:
        members: minds; `name`, `need_to_talk`, `openness`, `utterances` and `last_spoke` are shown if known. People
            have no openness, and a need to talk only if they are asked for it.
    """
    shown = ("name", "need_to_talk", "openness")
    return Block(
        "group",
        tuple(
            Item(
                "member",
                {key: m[key] for key in shown if m.get(key) is not None}
                | {key: m.get(key, 0) for key in ("utterances", "last_spoke")},
                prunable=False,
            )
            for m in members
        ),
    )


def heard(utterance: Utterance, name: str, present: Sequence[str] = ()) -> Block:
    """The last utterance, as `name` hears it.

    Args:
        utterance: as it was made; a whisper speaks to those who hear it.
        name: who hears it; empty for onlookers, who see all of it, however long it is.
        present: all participants' names, to mark a speaker who is not a participant: the moderator.
    """
    speaker = utterance["speaker"]
    addressees = utterance.get("heard_by") or utterance["addressees"]
    values = {
        "speaker": speaker,
        "addressees": addressees,
        "emotion": utterance["emotion"],
        "text": shortened(utterance["text"], LONGEST_UTTERANCE) if name else utterance["text"],
        "own": speaker == name,
        "addressed": name in addressees,
        "whispered": _whispered(utterance, name),
        "moderator": bool(present) and speaker not in present and speaker != name,
    }
    return Block("heard", (Item("heard", values, prunable=False),))


def wording(speaker: str, text: str, addressees: Sequence[str]) -> Block:
    """What somebody is about to say, and to whom, for those who check it."""
    values = {"speaker": speaker, "addressees": addressees, "emotion": (), "text": text, "whispered": ()}
    return Block("wording", (Item("heard", values | dict.fromkeys(("own", "addressed", "moderator"), False)),))


LEAST_MEMORY_COST = 13
"""Estimated tokens of the shortest memory in a prompt: the words around its text, and one."""


def memory_cost(memory: Memory) -> int:
    """Estimated tokens of a memory's item in a prompt."""
    return estimated_tokens(memory.text) + LEAST_MEMORY_COST - 1


def estimated_tokens(text: str) -> int:
    """Tokens estimated from length: a quarter of the UTF-8 bytes, at least 1. Used if a server reports none."""
    return max(1, (len(text.encode()) + 3) // 4)


def within_budget(recalled: Sequence[Memory], tokens: int) -> list[Memory]:
    """The best memories that fit a token budget, best first; at least one if there is any."""
    kept: list[Memory] = []
    spent = 0
    for memory in recalled:
        spent += memory_cost(memory)
        if kept and spent > tokens:
            break
        kept.append(memory)
    return kept
