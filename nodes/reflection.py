"""Reflection: five insights with the memories they rest on, a tree over time (thesis, 4.1.1; specification, step 5)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.emotion import EMOTIONS
from persimchat.state.judgement import Reflection
from persimchat.state.memory import Memory, new_memory
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def reflect(mind: Mind, settings: Settings) -> Mind:
    """Draw five insights from short-term memory, which is always recalled, and from what was recalled last.

    An insight rests on the memories whose numbers the model names. Numbers that were not shown are passed over, and an
    insight that names none of those shown rests on all of them.
    """
    stm = mind.get("stm")
    recalled = await shown_memories(mind, settings)
    shown = [*([Memory.model_validate(stm)] if stm else []), *recalled]
    answer = await ask("reflection", Reflection, **question(mind, settings, "reflection"), **common_blocks(mind, shown))
    emotion = [mind["emotion"][name] for name in EMOTIONS]
    insights = []
    for index, insight in enumerate(answer.value.insights):
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
            )
        )
    made = [memory.model_dump() for memory in insights]
    return {"arriving": made, "insights": made, "calls": [answer.call]}
