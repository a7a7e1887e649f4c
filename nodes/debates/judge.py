"""The judge of a debate: whether there is consensus, and what the majority holds (thesis, 4.2.2; specification).

It never speaks. A sliding-window judge reads the last utterances word by word; a persona judge has its own mind, made
of the agents' modules, and decides from its memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...models.asking import ask
from ...prompts import blocks
from ...prompts.blocks import Block
from ...state.debates.verdict import (
    Conclusion,
    VerdictRecord,
    answer_description,
    has_positions_in_form,
    majority_schema,
    verdict_schema,
    with_conditions,
)
from ...state.minds.mind import Mind, Situation, Utterance, in_step
from ...state.plain_text import visible_form
from ...state.settings import Settings
from ..minds.context import common_blocks, shown_memories

JUDGE: Final = "Judge"
"""The name under which the judge's calls are counted, and the persona judge's memories are kept."""


def judge_name(participants: Sequence[str]) -> str:
    """The judge's name: "Judge", or a longer one if a participant has that name already."""
    name = JUDGE
    taken = {visible_form(participant) for participant in participants}
    while visible_form(name) in taken:
        name = f"{name} of the debate"
    return name


async def give_verdict(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> VerdictRecord:
    """Ask the judge whether the participants agree.

    Args:
        situation: the debate as the judge sees it, with the utterances of its window.
        minds: the participants', by name, in order of listing.
        judge: the persona judge's mind; None for a sliding-window judge.
        settings: of the simulation.

    Returns:
        The verdict. Consensus is not accepted while an agent's openness is 0.
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
    positions = [position.model_dump(exclude_none=True) for position in verdict.positions]
    record: VerdictRecord = {
        "turn": situation["turn"],
        "reasoning": verdict.reasoning,
        "consensus": agreed,
        "answer": (verdict.answer or "") if agreed else "",
        "positions": sorted(positions, key=lambda position: names.index(position["agent"])),
        "progress": verdict.progress,
        "overruled": overruled,
    }
    if agreed and verdict.conditional:
        record["conditional"] = verdict.conditional
    return record


def agreed_conclusion(verdict: VerdictRecord, said: Iterable[Utterance]) -> Conclusion:
    """The conclusion of a debate from a verdict of consensus.

    Args:
        verdict: the judge's.
        said: everything that was said, oldest first.
    """
    names = [position["agent"] for position in verdict["positions"]]
    conclusion: Conclusion = {
        "answer": verdict["answer"],
        "consensus": True,
        "reasoning": verdict["reasoning"],
        "supporters": names,
        "by": "judge",
    }
    return with_conditions(conclusion, verdict.get("conditional"), names, _positions(verdict), said)


async def word_majority(
    situation: Situation,
    minds: Mapping[str, Mapping[str, Any]],
    judge: Mind | None,
    settings: Settings,
    *,
    verdict: VerdictRecord | None,
    said: Iterable[Utterance],
) -> Conclusion:
    """Let the judge word the position of the majority after a debate without consensus.

    Args:
        situation: as for `give_verdict`.
        minds: as for `give_verdict`.
        judge: as for `give_verdict`.
        settings: of the simulation.
        verdict: the judge's last one; None if there is none.
        said: everything that was said, oldest first.
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
    return with_conditions(conclusion, answer.value.conditional, names, _positions(verdict), said)


def _positions(verdict: VerdictRecord | None) -> dict[str, str]:
    return {} if verdict is None else {held["agent"]: held["position"] for held in verdict["positions"]}


async def _question(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> dict[str, Any]:
    """The arguments of `models.asking.ask` for a question to the judge."""
    name = judge["name"] if judge is not None else judge_name(tuple(minds))
    return {
        "settings": settings,
        "agent": name,
        "module": "judge",
        "turn": situation["turn"],
        "blocks": await _blocks(situation, minds, judge, settings),
        "form": answer_description(settings.answer_format, settings.choices),
        "in_form": has_positions_in_form(settings.answer_format),
    }


async def _blocks(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], judge: Mind | None, settings: Settings
) -> list[Block]:
    standing = blocks.group(minds.values())
    if judge is None:
        return [blocks.environment(situation, ""), standing, blocks.observed(situation["recent"])]
    own = in_step(judge, situation=situation)
    return judge_blocks(common_blocks(own, await shown_memories(own, settings)), standing)


def judge_blocks(common: Mapping[str, Any], standing: Block) -> list[Block]:
    """A persona judge's blocks: first what stays the same in a run, then each participant's state, then its mind."""
    first = ("basic_information", "goals", "scene", "progress")
    last = ("needs_and_emotions", "plan", "short_term_memory", "memories")
    return [*(common[tag] for tag in first), standing, *(common[tag] for tag in last)]
