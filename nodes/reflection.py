"""Reflection: five insights with their supporting memories, a tree over time (thesis, 4.1.1; specification, step 5)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.emotion import EMOTIONS
from persimchat.state.judgement import Reflection
from persimchat.state.memory import Memory, new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def reflect(mind: Step, settings: Settings) -> Step:
    """Draw five insights from short-term memory, which is always recalled, and from the memories recalled last.

    The model names the numbers of the memories that support an insight. Unknown numbers are ignored, and an insight
    without valid numbers is supported by all shown memories. An unusable answer gives no insights.
    """
    stm = mind.get("stm")
    recalled = await shown_memories(mind, settings)
    shown = [*([Memory.model_validate(stm)] if stm else []), *recalled]
    answer = await appraise(
        "reflection", Reflection, **question(mind, settings, "reflection"), **common_blocks(mind, shown)
    )
    emotion = [mind["emotion"][name] for name in EMOTIONS]
    companion = mind["situation"].get("companion")
    # The model has read what this person has told, whatever evidence it names.
    hearers = [companion["person"]] if companion is not None and not companion["share"] else None
    insights = []
    for index, insight in enumerate(answer.value.insights if answer.value is not None else ()):
        named = [shown[number - 1] for number in dict.fromkeys(insight.evidence) if number <= len(shown)]
        insights.append(
            new_memory(
                mind["name"],
                mind["situation"]["turn"],
                "reflection",
                insight.theme,
                insight.keywords,
                insight.importance,
                emotion,
                evidence=named or shown,
                index=index,
                heard_by=hearers,
            )
        )
    made = [memory.model_dump() for memory in insights]
    return {"arriving": made, "insights": made, "outcomes": judged([answer.call])}
