"""Several judgements in one answer: how an agent hears an utterance with compact or lean cognition.

The parts of an answer are the judgements of the modules, in the modules' words and order. Each part updates the mind as
its own module would, so that all later steps are the same as with full cognition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from persimchat.models.asking import appraise_in_parts
from persimchat.nodes.action import chosen
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.nodes.emotion import felt
from persimchat.nodes.focal_points import asked
from persimchat.nodes.need_to_talk import needed
from persimchat.nodes.openness import opened
from persimchat.nodes.perception import perceived
from persimchat.nodes.trust import trusted
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Module, Settings

_TAKEN_IN: Final[dict[str, Callable[[Step, Any], Step]]] = {
    "perception": perceived,
    "focal_points": asked,
    "emotion": felt,
    "need_to_talk": needed,
    "action": chosen,
    "openness": opened,
    "trust": trusted,
}
AT_ONCE: Final = ("hearing", "appraisal", "reaction")
"""The modules whose answers have several parts."""

_HEARD: Final = ("perception", "focal_points")
"""The parts of "hearing"."""

_BEFORE: Final = ("heard", "progress", "needs_and_emotions", "last_utterances")
_AFTER: Final = ("heard", "progress", "needs_and_emotions", "plan", "short_term_memory", "memories")
"""The blocks shown, before and after something was recalled."""


async def hear_at_once(mind: Step, settings: Settings) -> Step:
    """Compact cognition: percept and focal points in one answer."""
    return await _judged(mind, settings, "hearing")


async def appraise_at_once(mind: Step, settings: Settings) -> Step:
    """Compact cognition, and every awakening but the full one: emotion, need to talk, action, openness."""
    return await _judged(mind, settings, "appraisal")


async def react_at_once(mind: Step, settings: Settings) -> Step:
    """Lean cognition: percept, emotion, need to talk, action, openness; of a companion percept, emotion, trust."""
    return await _judged(mind, settings, "reaction")


def parts_of(module: str, mind: Step, settings: Settings) -> tuple[str, ...]:
    """The judgements that one answer has; a judge has no need to talk and no openness, a companion neither.

    Args:
        module: "hearing", "appraisal" or "reaction".
        mind: whose judgements, with its situation; before the first word it has heard nothing and chooses no action.
        settings: of the simulation.
    """
    if module == "hearing":
        return _HEARD
    if mind.get("role") == "companion":
        return ("perception", "emotion", "trust") if module == "reaction" else ("emotion", "trust")
    speaks = mind["name"] in mind["situation"]["present"]
    made = {
        "perception": module == "reaction",
        "emotion": True,
        "need_to_talk": speaks,
        "action": bool(mind.get("heard")) and settings.planning_and_reflection,
        "openness": speaks and mind["situation"]["debate"] is not None,
    }
    return tuple(name for name, is_made in made.items() if is_made)


def asked_as(module: str, settings: Settings) -> str:
    """The module whose answers contain a module's judgements: the module itself with full cognition."""
    if settings.cognition == "full" or module not in _TAKEN_IN:
        return module
    if settings.cognition == "lean":
        return "reaction"
    return "hearing" if module in _HEARD else "appraisal"


def prompt_values(module: str, parts: Sequence[str], common: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the template `parts`: the common blocks, and the parts to ask for."""
    tags = _BEFORE if module == "hearing" else _AFTER
    return {**common, "blocks": [common[tag] for tag in tags], "module_name": module, "parts": parts}


async def _judged(mind: Step, settings: Settings, module: Module) -> Step:
    parts = parts_of(module, mind, settings)
    common = common_blocks(mind, await shown_memories(mind, settings) if mind.get("heard") else [])
    answer = await appraise_in_parts(
        "parts", parts, **question(mind, settings, module), **prompt_values(module, parts, common)
    )
    update: Step = {"outcomes": judged([answer.call])}
    if not settings.planning_and_reflection:
        update["action"] = ""
    for part in parts:
        update |= _TAKEN_IN[part](mind, answer.value[part])
    return update
