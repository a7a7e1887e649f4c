"""The blocks about a mind that all modules' prompts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...memory.recollection import memories_of
from ...prompts import blocks, companion_blocks, story_blocks
from ...prompts.blocks import Block
from ...state.minds.emotion import EMOTIONS, dominant
from ...state.minds.memory import PINNED, Memory, MemoryKind, new_memory
from ...state.minds.mind import Mind, Step
from ...state.persona import Persona
from ...state.settings import Settings
from ...state.visibility import heard_by


def persona_of(mind: Mind) -> Persona:
    """The agent's persona."""
    return Persona.model_validate(mind["persona"])


def made_now(
    mind: Step, kind: MemoryKind, theme: str, keywords: list[str], importance: int, *, calm: bool = False, **more: Any
) -> Memory:
    """A memory that a mind has made in this step.

    Args:
        mind: whose it is.
        kind: of the memory.
        theme: the overarching theme.
        keywords: keywords or standout words.
        importance: 0–10.
        calm: whether it is stored calmly, whatever the mind feels.
        **more: as for `new_memory`.
    """
    emotion = [0 if calm else mind["emotion"].get(name, 0) for name in EMOTIONS]
    return new_memory(mind["name"], mind["situation"]["turn"], kind, theme, keywords, importance, emotion, **more)


async def shown_memories(mind: Step, settings: Settings) -> list[Memory]:
    """The memories recalled last, best first, cut to the prompt's budget of tokens.

    Profile, topic and social goals are left out: they have their own blocks, word by word.
    """
    recalled = await memories_of(
        settings,
        mind["situation"]["simulation"],
        mind["name"],
        [r["id"] for r in mind.get("recalled", [])],
        mind.get("unsaved", []),
    )
    return blocks.within_budget([m for m in recalled if m.kind not in PINNED], settings.memory_tokens)


def common_blocks(mind: Step, shown: Sequence[Memory] = (), *, knowledge: bool = False) -> dict[str, Any]:
    """The blocks that every module may use, and whether the end is near, by their names in templates.

    A lean mind's are brief, and templates know it.

    Args:
        mind: the agent, with its situation.
        shown: recalled memories within budget, numbered in this order.
        knowledge: whether the persona's knowledge level is spelled out (for speaking).
    """
    situation, name, spoken = mind["situation"], mind["name"], mind.get("utterances", 0)
    heard = mind.get("heard")
    common = {
        "basic_information": blocks.basic_information(persona_of(mind), knowledge=knowledge),
        "needs_and_emotions": blocks.needs_and_emotions(mind),
        "relationships": blocks.relationships(situation),
        "memories": blocks.memories(shown),
        "short_term_memory": blocks.short_term_memory(mind.get("stm")),
        "plan_and_identity": blocks.plan_and_identity(mind),
        "goals": blocks.goals(mind),
        "plan": blocks.plan(mind),
        "environment": blocks.environment(situation, name, spoken=spoken, puts=mind.get("puts")),
        "scene": blocks.scene(situation, name),
        "progress": blocks.progress(situation, spoken=spoken),
        "last_utterances": blocks.last_utterances(heard_by(situation["recent"], name), name),
        "heard": blocks.heard(heard, name, situation["present"]) if heard else Block("heard", ()),
        "closing": situation["closing"],
    }
    companion = situation.get("companion")
    if companion is not None:
        return common | {
            "relationships": companion_blocks.bond(situation, companion),
            "scene": companion_blocks.place(situation, companion),
            "environment": companion_blocks.place(situation, companion),
            "memories": companion_blocks.memories(shown, companion),
            "short_term_memory": companion_blocks.short_term_memory(mind.get("stm"), companion),
            "progress": companion_blocks.now(companion, dominant(mind["emotion"])),
            "facts": companion_blocks.facts(companion),
            "events": companion_blocks.events(companion),
            "pair": True,
        }
    story = situation.get("story")
    if story is not None and "heard" in story:
        common |= story_blocks.blocks_of_mind(situation, story, name, shown, mind.get("stm"), heard, spoken)
    if "brief" not in situation:
        return common
    told = situation["brief"]
    briefly = {key: blocks.brief(it, **told) if isinstance(it, Block) else it for key, it in common.items()}
    return briefly | {"brief": told}


def question(mind: Step, settings: Settings, module: str) -> dict[str, Any]:
    """The arguments of `models.asking` that say who asks: settings, agent, module and turn."""
    return {"settings": settings, "agent": mind["name"], "module": module, "turn": mind["situation"]["turn"]}
