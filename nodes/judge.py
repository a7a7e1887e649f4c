"""The judge of a debate: whether there is consensus, and what the majority holds (thesis, 4.2.2; specification).

It speaks never. A sliding-window judge reads the last utterances word by word; a persona judge has a mind of its own,
made of the agents' own modules, and decides from its memories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, shown_memories
from persimchat.prompts import blocks
from persimchat.prompts.blocks import Block
from persimchat.state.mind import Call, Mind, Situation
from persimchat.state.settings import Settings
from persimchat.state.verdict import (
    Conclusion,
    VerdictRecord,
    answer_description,
    majority_schema,
    verdict_schema,
)

JUDGE: Final = "Judge"
"""Under this name the judge's calls are counted, and the persona judge's memories are kept."""


def judge_name(participants: Sequence[str]) -> str:
    """The judge's name: "Judge", or one like it where a participant has that name already."""
    name = JUDGE
    while name.casefold() in {participant.casefold() for participant in participants}:
        name = f"{name} of the debate"
    return name


async def give_verdict(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> tuple[VerdictRecord, list[Call]]:
    """Ask the judge whether the participants agree.

    Args:
        situation: the debate as the judge finds it, with the utterances of its window.
        minds: the participants', by name, in order of listing.
        judge: the persona judge's mind; None for a sliding-window judge.
        settings: of the simulation.

    Returns:
        The verdict, and the calls it took. Consensus is not accepted over the head of an agent whose openness is 0.
    """
    names = tuple(minds)
    schema = verdict_schema(names, settings.answer_format, tuple(settings.choices))
    answer = await ask("judge", schema, **await _question(situation, minds, judge, settings))
    verdict = answer.value
    against = [name for name, mind in minds.items() if mind.get("openness") == 0]
    overruled = ""
    if verdict.consensus and against:
        overruled = f"Openness is 0: {', '.join(against)}."
    agreed = verdict.consensus and not overruled
    record: VerdictRecord = {
        "turn": situation["turn"],
        "reasoning": verdict.reasoning,
        "consensus": agreed,
        "answer": (verdict.answer or "") if agreed else "",
        "positions": sorted((p.model_dump() for p in verdict.positions), key=lambda p: names.index(p["agent"])),
        "progress": verdict.progress,
        "overruled": overruled,
    }
    return record, [answer.call]


def agreed_conclusion(verdict: VerdictRecord) -> Conclusion:
    """What a debate came to by a verdict of consensus."""
    return {
        "answer": verdict["answer"],
        "consensus": True,
        "reasoning": verdict["reasoning"],
        "supporters": [position["agent"] for position in verdict["positions"]],
        "by": "judge",
    }


async def word_majority(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> tuple[Conclusion, list[Call]]:
    """Have the judge word the position of the majority, where a debate ended without consensus.

    Arguments as for `give_verdict`.
    """
    names = tuple(minds)
    schema = majority_schema(names, settings.answer_format, tuple(settings.choices))
    answer = await ask("majority", schema, **await _question(situation, minds, judge, settings))
    supporters = set(answer.value.supporters)
    conclusion: Conclusion = {
        "answer": answer.value.answer,
        "consensus": False,
        "reasoning": answer.value.reasoning,
        "supporters": [name for name in names if name in supporters],
        "by": "judge",
    }
    return conclusion, [answer.call]


async def _question(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> dict[str, Any]:
    """What `models.asking.ask` needs for a question to the judge."""
    name = judge["name"] if judge is not None else judge_name(tuple(minds))
    return {
        "settings": settings,
        "agent": name,
        "module": "judge",
        "turn": situation["turn"],
        "blocks": await _blocks(situation, minds, judge, settings),
        "form": answer_description(settings.answer_format, settings.choices),
    }


async def _blocks(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> list[Block]:
    standing = blocks.group(minds.values())
    if judge is None:
        return [blocks.environment(situation, ""), standing, blocks.observed(situation["recent"])]
    own: Mind = {**judge, "situation": situation}
    common = common_blocks(own, await shown_memories(own, settings))
    kept = ("basic_information", "needs_and_emotions", "memories", "short_term_memory", "plan_and_identity")
    return [*(common[tag] for tag in kept), blocks.environment(situation, judge["name"]), standing]
