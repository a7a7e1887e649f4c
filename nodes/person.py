"""Human participants: the conversation asks them and waits for their answer (LangGraph's `interrupt`)."""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt

from persimchat.nodes.saying import Given, say
from persimchat.state.errors import InputError
from persimchat.state.mind import Mind, Step
from persimchat.state.person_answer import (
    Asked,
    PersonAnswer,
    PositionQuestion,
    Question,
    StoryQuestion,
    answer_of,
)
from persimchat.state.settings import Settings


def answer_to(
    mind: Step, what: Asked, story: StoryQuestion | None = None, position: PositionQuestion | None = None
) -> PersonAnswer:
    """A person's answer; an invalid answer is asked for again, with what was wrong.

    Args:
        mind: the person's, with its situation; for a moderator, also with the question of the guide that is due.
        what: the question.
        story: in a story, the rest of the question.
        position: where the person is asked to stand; None for other questions.
    """
    situation, problem = mind["situation"], ""
    while True:
        question: Question = {"agent": mind["name"], "what": what, "turn": situation["turn"], "problem": problem}
        if story is not None:
            question["story"] = story
        if "puts" in mind:
            question["puts"] = mind["puts"]
        if position is not None:
            question["position"] = position
        given = interrupt(question)
        try:
            return answer_of(mind["name"], given, what, situation["present"], story, position)
        except InputError as error:
            problem = str(error)


async def person_speaks(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person's turn: they say something, or pass and are silent for this turn.

    What a focus group's moderator says to all when a question of the guide is due puts that question, in any words.
    """
    answer = answer_to(mind, "utterance")
    if answer.get("passes"):
        turn = mind["situation"]["turn"] + 1
        passed = {"turn": turn, "step": "speak", "why": "passed"}
        own = {"passed": turn, "hand": False, "need_to_talk": 0, "silent": passed}
        return {"agents": {mind["name"]: own}, **_answered(mind, "utterance", answer)}
    given: Given = {
        "situation": mind["situation"],
        "needs": mind["needs"],
        "text": answer["text"],
        "heard_by": answer.get("heard_by"),
        "mind": mind,
    }
    if "puts" in mind:
        given["question"] = mind["puts"]["number"]
    said = await say(given, settings)
    return {**said, **_answered(mind, "utterance", answer)}


async def person_appraises(mind: Step, settings: Settings) -> dict[str, Any]:
    """human_turns=need: a person says how much they need to talk; passing means no need."""
    answer = answer_to(mind, "need_to_talk")
    need = {"need_to_talk": answer.get("need_to_talk", 0)}
    return {"agents": {mind["name"]: need}, **_answered(mind, "need_to_talk", answer)}


async def person_takes_position(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person in a focus group says where they stand, before the talk or after it; nobody hears of it."""
    records: list[dict[str, Any]] = []
    for asked in mind["positions"]:
        answer = answer_to(mind, "position", position=asked)
        about = {"poll": asked["poll"], "when": asked["when"]}
        records += _answered(mind, "position", answer, **about)["carried_out"]
    return {"carried_out": records}


def _answered(mind: Step, what: Asked, answer: PersonAnswer, **about: str) -> dict[str, Any]:
    """The record of a person's answer for `carried_out`."""
    told = {"agent": mind["name"], "what": what, **about}
    return {"carried_out": [{"turn": mind["situation"]["turn"], "do": "answer", **told, **answer}]}


_RAISED_HAND = 10
_SPOKEN_TO = 8


def need_of_person(mind: Mind, addressed: bool, settings: Settings) -> int:
    """A person's need to talk, 0–10, without asking them.

    Args:
        mind: the person's; `hand` is read.
        addressed: whether the last utterance addresses them by name.
        settings: `human_turns`.
    """
    if mind.get("hand"):
        return _RAISED_HAND
    return _SPOKEN_TO if addressed and settings.human_turns != "hand" else 0
