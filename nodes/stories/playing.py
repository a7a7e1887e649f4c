"""Playing: a person takes a character's part in a story, and speaks, chooses and votes (Gu et al. 2024, chapter 3).

A person takes no stock, plans nothing, sums nothing up and reviews nothing; beliefs and closeness stay as in the file.
"""

from __future__ import annotations

from typing import Any

from ...state.minds.mind import Silence, Step
from ...state.person_answer import Asked, PersonAnswer, StoryQuestion
from ...state.settings import Settings
from ..people import Given, answer_to, say, worded
from .acting import ballots_of
from .context import part_of_act

_PASSED = "passed"
"""Why a person who passes is silent."""


async def play_words(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person's words: in a room, for the room; before the group, known when the chat round is over."""
    question = mind["question"]
    answer = answer_to(mind, "utterance", question)
    told = {"carried_out": [_record(mind, "utterance", question, answer)]}
    if answer.get("passes"):
        step = "speak" if question["room"] is not None else "address"
        own = {"story": part_of_act(mind, None), "silent": _silence(mind, step)}
        return {"agents": {mind["name"]: own}, **told}
    room = question["room"]
    given: Given = {
        "situation": mind["situation"],
        "needs": {},
        "text": answer["text"],
        "heard_by": room["others"] if room is not None else None,
        "mind": mind,
    }
    if room is None:
        return {"agents": {mind["name"]: {"story": part_of_act(mind, {**worded(given)}), "silent": None}}, **told}
    said = await say(given, settings)
    return {**said, "agents": {mind["name"]: {**said["agents"][mind["name"]], "silent": None}}, **told}


async def person_decides(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person's choice of a partner, or their ballots, one question each."""
    question = mind["question"]
    if "asks" not in mind:
        answer = answer_to(mind, "choice", question)
        made = {"partner": answer["choice"], "plan": [], "reasoning": ""} if "choice" in answer else None
        return _decided(mind, "choose", made, [_record(mind, "choice", question, answer)])
    ballots: dict[str, Any] = {}
    records = []
    for kind, among in ballots_of(mind, question["candidates"]):
        asked: StoryQuestion = {**question, "ballot": kind, "candidates": among}
        answer = answer_to(mind, "ballot", asked)
        ballots[kind] = {"choice": answer["choice"], "reasoning": ""} if "choice" in answer else None
        records.append(_record(mind, "ballot", asked, answer))
    return _decided(mind, "ballot", ballots if any(ballots.values()) else None, records)


def _decided(mind: Step, step: str, made: dict[str, Any] | None, records: list[dict[str, Any]]) -> dict[str, Any]:
    silent = _silence(mind, step) if made is None else None
    return {"agents": {mind["name"]: {"story": part_of_act(mind, made), "silent": silent}}, "carried_out": records}


def _silence(mind: Step, step: str) -> Silence:
    turn = mind["situation"]["turn"] + (step == "speak")
    return {"turn": turn, "step": step, "why": _PASSED, "act": mind["act"]}


def _record(mind: Step, what: Asked, question: StoryQuestion, answer: PersonAnswer) -> dict[str, Any]:
    """The record of a person's answer for `carried_out`."""
    ballot = {"ballot": question["ballot"]} if question["ballot"] else {}
    about = {"agent": mind["name"], "what": what, "act": question["act"], **ballot}
    return {"turn": mind["situation"]["turn"], "do": "answer", **about, **answer}
