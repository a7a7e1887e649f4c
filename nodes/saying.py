"""Saying given words: a moderator's, a person's, or those that a branch gives to a participant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from persimchat.state.conversation import as_message, utterance_id
from persimchat.state.intervention import MODERATOR
from persimchat.state.mind import Mind, Situation, Utterance
from persimchat.state.normalise import visible_form
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees


class Given(TypedDict):
    """Words to be said."""

    situation: Situation
    needs: dict[str, int]
    """All needs to talk."""
    text: str
    heard_by: list[str] | None
    """The hearers besides the speaker; None for all."""
    mind: Mind | None
    """The participant who says them; None for the moderator."""
    edited_by: NotRequired[str]
    """"branch" if a branch begins with them."""
    question: NotRequired[int]
    """The number of the guide's question that they put; words that are whispered put none."""


def moderator_name(participants: Sequence[str]) -> str:
    """The moderator's name: "Moderator", or a longer one if a participant has that name already."""
    name = MODERATOR
    taken = {visible_form(participant) for participant in participants}
    while visible_form(name) in taken:
        name = f"{name} of the conversation"
    return name


async def say(given: Given, settings: Settings) -> dict[str, Any]:
    """Say the words; no model is asked.

    Returns:
        An update of the conversation: the message and, for a participant, how often and when they spoke.
    """
    situation, mind, utterance = given["situation"], given["mind"], worded(given)
    by_person = mind is None or bool(mind.get("human"))
    message = as_message(utterance, utterance_id(situation["simulation"], utterance["turn"]), by_person=by_person)
    speaks = {"agents": {mind["name"]: _spoken(mind, utterance["turn"])}} if mind is not None else {}
    return {"messages": [message], **speaks}


def worded(given: Given) -> Utterance:
    """The words as an utterance."""
    situation, mind = given["situation"], given["mind"]
    speaker = mind["name"] if mind is not None else moderator_name(situation["present"])
    turn = situation["turn"] + 1
    utterance: Utterance = {
        "turn": turn,
        "speaker": speaker,
        "text": given["text"],
        "addressees": addressees(given["text"], speaker, situation["present"]),
        "emotion": mind["emotion"] if mind is not None else {},
        "need_to_talk": given["needs"],
        "response_time_s": 0.0,
        "tokens": {"input": 0, "output": 0},
        "corrections": [],
    }
    if given["heard_by"] is not None:
        utterance["heard_by"] = [name for name in situation["present"] if name in given["heard_by"] and name != speaker]
    if "question" in given and given["heard_by"] is None:
        utterance["question"] = given["question"]
    own = mind is None or mind.get("human") or "question" in utterance  # the guide's words are the moderator's own
    if edited_by := given.get("edited_by") or ("" if own else "moderator"):
        utterance["edited_by"] = edited_by
    return utterance


def _spoken(mind: Mind, turn: int) -> dict[str, Any]:
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn}
    return {**own, "hand": False} if mind.get("human") else own
