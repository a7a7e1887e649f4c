"""Balloting: a guess, and then an open and a closed ballot (Gu et al. 2024, the action *vote*)."""

from __future__ import annotations

import asyncio
from typing import Any

from persimchat.models.asking import Answer, appraise
from persimchat.nodes.story_context import asked, known_blocks, part_of_act, schema_of, story_of, words_heard
from persimchat.prompts import story_blocks
from persimchat.state.judgement import Judgement
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.person_answer import BallotKind
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import ballot_schema


async def vote(mind: Step, settings: Settings) -> Step:
    """Guess who will win, or vote: on the open ballot oneself may stand, on the closed one not.

    With outcomes as candidates there is no closed ballot. Two unusable answers are an abstention.
    """
    asks = ballots_of(mind, story_of(mind)["candidates"])
    found = await asyncio.gather(*(_ballot(mind, settings, kind, among) for kind, among in asks))
    answers = {kind: answer for (kind, _), answer in zip(asks, found, strict=True)}
    made: dict[str, Any] = {
        kind: answer.value.model_dump() if answer.value is not None else None for kind, answer in answers.items()
    }
    return {"story": part_of_act(mind, made), "outcomes": judged(answer.call for answer in answers.values())}


def ballots_of(mind: Step, candidates: list[str]) -> list[tuple[BallotKind, list[str]]]:
    """The ballots that a voter is asked for in this act, each with those who may stand on it.

    Args:
        mind: the voter's, with what the act asks for.
        candidates: who, or which outcome, may be voted for.
    """
    if mind["asks"] == "guess":
        return [("guess", candidates)]
    asks: list[tuple[BallotKind, list[str]]] = [("open", candidates)]
    if any(one in mind["story"]["closeness"] for one in candidates):
        asks.append(("closed", [one for one in candidates if one != mind["name"]]))
    return asks


async def _ballot(mind: Step, settings: Settings, kind: BallotKind, among: list[str]) -> Answer[Judgement | None]:
    own, story = mind["story"], story_of(mind)
    return await appraise(
        "ballot",
        schema_of(ballot_schema(tuple(among)), mind),
        **asked(mind, settings, "ballot", kind),
        mends=False,
        **known_blocks(mind),
        happened=story_blocks.happened(story),
        beliefs=story_blocks.beliefs(own),
        closeness=story_blocks.closeness(own),
        last_utterances=words_heard(mind),
        options=story_blocks.candidates({**story, "candidates": among}, own, mind["name"]),
        kind=kind,
        may_name_self=mind["name"] in among,
    )
