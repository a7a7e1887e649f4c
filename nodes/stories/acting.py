"""What a character does in a story: take stock, choose, sum up, review, vote (the actions of Gu et al. 2024).

A review has a change for each of the others and for each belief, within a bound. It is never corrected: one outside the
bound is asked for once more, and after a second one nothing changes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ...models.asking import Answer, appraise
from ...prompts import story_blocks
from ...prompts.blocks import Block
from ...state.minds.judgement import Judgement
from ...state.minds.mind import Step
from ...state.outcomes import NEUTRAL, judged
from ...state.person_answer import BallotKind
from ...state.settings import Module, Settings
from ...state.stories.judgement import Sentenced, Stock, Summary, ballot_schema, choice_schema, review_schema
from ..minds.context import made_now
from .context import AWAKENING, ablation_of, asked, known_blocks, part_of_act, schema_of, story_of, words_heard


async def _asked(
    mind: Step,
    settings: Settings,
    task: Module,
    schema: type[Judgement],
    part: str = "",
    *,
    mends: bool = False,
    **values: Any,
) -> Answer[Judgement | None]:
    """An answer of a character, who is told who it is and where its story stands."""
    own = schema_of(schema, mind)
    return await appraise(task, own, **asked(mind, settings, task, part), mends=mends, **known_blocks(mind), **values)


def _done(mind: Step, answer: Answer[Judgement | None]) -> Step:
    """What a character has answered in an act; None if its answers were unusable."""
    made = answer.value.model_dump() if answer.value is not None else None
    return {"story": part_of_act(mind, made), "outcomes": judged([answer.call])}


async def take_stock(mind: Step, settings: Settings) -> Step:
    """Take stock of characters, resources and what happened; after an unusable answer, the last one stays."""
    story = story_of(mind)
    answer = await _asked(
        mind,
        settings,
        "stocktaking",
        Stock,
        f"act {mind['act']}",
        mends=True,
        cast=story_blocks.cast(story),
        resources=story_blocks.resources(story),
        last_review=story_blocks.last_review(mind["story"]),
        happened=story_blocks.happened(story),
    )
    return _done(mind, answer)


async def choose_partner(mind: Step, settings: Settings) -> Step:
    """Choose a partner for a talk, and plan it; after two unusable answers the host passes."""
    story = story_of(mind)
    answer = await _asked(
        mind,
        settings,
        "choice",
        choice_schema(tuple(story["candidates"]), story["exchanges"]),
        f"act {mind['act']}",
        options=story_blocks.candidates(story, mind["story"], mind["name"]),
        names=story["candidates"],
        public=story["stage"] == "confidential",
        exchanges=story["exchanges"],
    )
    return _done(mind, answer)


async def sum_up(mind: Step, settings: Settings) -> Step:
    """Sum the talk up; the summary is on its way into short-term memory. An unusable answer leaves no memory."""
    story = story_of(mind)
    answer = await _asked(
        mind,
        settings,
        "summary",
        Summary,
        mends=True,
        room=story_blocks.room(story),
        last_utterances=words_heard(mind),
        stage=story["stage"],
    )
    done, found = _done(mind, answer), answer.value
    if found is None:
        return {**done, "arriving": []}
    told = found.model_dump()
    memory = made_now(mind, "summary", told["theme"], told["keywords"], told["importance"], calm=True)
    return {**done, "arriving": [memory.model_dump()]}


def sentence_of(mind: Step) -> Sentenced:
    """Where the review has its sentence, which is a reason before the changes and a reflection to be kept.

    Without reflection there is none. Without thinking it comes behind the changes, so that it is no reason for them.
    """
    ablation = ablation_of(mind)
    if "reflection" in ablation:
        return ""
    return "afterthought" if "thinking" in ablation else "reasoning"


async def review(mind: Step, settings: Settings) -> Step:
    """Review the round; before the first one, judge the others by what is known of them."""
    story, own = story_of(mind), mind["story"]
    first = story["stage"] == AWAKENING
    sentence = sentence_of(mind)
    answer = await appraise(
        "review",
        review_schema(tuple(own["closeness"]), 0 if first else len(own["beliefs"]), story["change"], sentence),
        **asked(mind, settings, "review", f"round {story['round']}"),
        mends=False,
        **known_blocks(mind),
        cast=story_blocks.cast(story),
        happened=story_blocks.happened(story),
        beliefs=Block("beliefs", ()) if first else story_blocks.beliefs(own),
        closeness=story_blocks.closeness(own),
        first=first,
        sentence=sentence,
        change=story["change"],
    )
    made = answer.value
    if made is None:
        return {"story": part_of_act(mind, None), "arriving": [], "outcomes": judged([answer.call])}
    near, beliefs = made.changes()
    arriving = []
    told = made.sentence()
    if told and not first:
        arriving = [made_now(mind, "review", told, [], NEUTRAL, calm=True).model_dump()]
    found = {"reasoning": told, "closeness": near, "beliefs": beliefs}
    return {"story": part_of_act(mind, found), "arriving": arriving, "outcomes": judged([answer.call])}


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
    return await _asked(
        mind,
        settings,
        "ballot",
        ballot_schema(tuple(among)),
        kind,
        happened=story_blocks.happened(story),
        beliefs=story_blocks.beliefs(own),
        closeness=story_blocks.closeness(own),
        last_utterances=words_heard(mind),
        options=story_blocks.candidates({**story, "candidates": among}, own, mind["name"]),
        kind=kind,
        may_name_self=mind["name"] in among,
    )
