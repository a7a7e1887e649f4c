"""Thinking while another speaks: reflect, insights with their supporting memories, a tree over time; or plan.

Sources: thesis, 4.1.1 and 5.2.1; specification, step 5.
"""

from __future__ import annotations

from ...models.asking import appraise
from ...state.minds.judgement import BriefReflection, Plan, Reflection
from ...state.minds.memory import Memory
from ...state.minds.mind import Step
from ...state.outcomes import judged
from ...state.settings import Settings
from .context import common_blocks, made_now, question, shown_memories


async def reflect(mind: Step, settings: Settings) -> Step:
    """Draw five insights, a lean mind one to five, from short-term memory, always recalled, and what was recalled last.

    The model names the numbers of the memories that support an insight. Unknown numbers are ignored, and an insight
    without valid numbers is supported by all shown memories. An unusable answer gives no insights.
    """
    stm = mind.get("stm")
    recalled = await shown_memories(mind, settings)
    shown = [*([Memory.model_validate(stm)] if stm else []), *recalled]
    schema = BriefReflection if "brief" in mind["situation"] else Reflection
    answer = await appraise(
        "reflection", schema, **question(mind, settings, "reflection"), **common_blocks(mind, shown)
    )
    companion = mind["situation"].get("companion")
    # The model has read what this person has told, whatever evidence it names.
    hearers = [companion["person"]] if companion is not None and not companion["share"] else None
    insights = []
    for index, insight in enumerate(answer.value.insights if answer.value is not None else ()):
        named = [shown[number - 1] for number in dict.fromkeys(insight.evidence) if number <= len(shown)]
        insights.append(
            made_now(
                mind,
                "reflection",
                insight.theme,
                insight.keywords,
                insight.importance,
                evidence=named or shown,
                index=index,
                heard_by=hearers,
            )
        )
    made = [memory.model_dump() for memory in insights]
    digested: Step = {"undigested": 0} if "undigested" in mind else {}
    return {"arriving": made, "insights": made, "outcomes": judged([answer.call]), **digested}


async def plan(mind: Step, settings: Settings) -> Step:
    """Make a plan: theme and keywords are for short-term memory, the rest shapes what the agent says.

    After an unusable answer, the previous plan stays.
    """
    answer = await appraise(
        "planning",
        Plan,
        **question(mind, settings, "planning"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    made = answer.value
    if made is None:
        return {"arriving": [], "outcomes": judged([answer.call])}
    memory = made_now(mind, "plan", made.theme, made.keywords, made.importance)
    return {"arriving": [memory.model_dump()], "plan": made.model_dump(), "outcomes": judged([answer.call])}
