"""Blocks for the baselines' prompts: the answers of a round, and all profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..state.baselines.rounds import Tally, reasons_of
from ..state.minds.mind import Mind, Situation, Utterance
from ..state.persona import Persona
from .blocks import Block, Item, basic_information, plan_and_identity, relationships


def answers(given: Sequence[Utterance], name: str, sides: Mapping[str, str] | None = None) -> Block:
    """The answers of the last round with their reasons, one item per answer, as `name` sees them.

    Args:
        given: the answers, in their order in the prompt.
        name: who sees them; their own answer is marked as such.
        sides: each participant's side, if there are sides.
    """
    return Block("answers", tuple(_answer(utterance, name, sides or {}) for utterance in given))


def grouped_answers(given: Sequence[Utterance], tallies: Sequence[Tally], name: str) -> Block:
    """The answers in groups of equal ones, each headed by its number of holders; in the order of the tallies."""
    by_agent = {utterance["speaker"]: utterance for utterance in given}
    items: list[Item] = []
    for tally in tallies:
        head = {"answer": tally.answer, "holders": len(tally.supporters), "all": len(given)}
        items.append(Item("answer_group", head, prunable=False))
        items += [_answer(by_agent[agent], name, {}) for agent in tally.supporters]
    return Block("answers", tuple(items))


def _answer(utterance: Utterance, name: str, sides: Mapping[str, str]) -> Item:
    speaker = utterance["speaker"]
    values: dict[str, Any] = {
        "speaker": speaker,
        "own": speaker == name,
        "side": sides.get(speaker, ""),
        "answer": utterance["answer"],
        "confidence": utterance.get("confidence"),
        "text": reasons_of(utterance),
    }
    return Item("answer", values, prunable=False)


def people(minds: Sequence[tuple[Mind, Situation]]) -> list[Block]:
    """All profiles, relationships and goals, for the model that writes all of them: blocks per participant, in order.

    Args:
        minds: each with its own situation, from which its relationships are taken.
    """
    found: list[Block] = []
    for mind, situation in minds:
        persona = Persona.model_validate(mind["persona"])
        found += [basic_information(persona, knowledge=True), relationships(situation), plan_and_identity(mind)]
    return found
