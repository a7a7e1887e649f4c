"""A round of a debate baseline: participants answer with reasons in the requested form, and answers are counted.

Shared by the baselines mad (Du et al. 2023), mad_judge (Liang et al. 2023) and reconcile (Chen et al. 2023). Their
participants have no memory and see only the last round of a debate, so prompts do not grow. Answers in free text that
all differ in their words cannot be counted, so the judge reads them and words the position of the majority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from ...models.asking import ask, judgement
from ...models.exchange import Exchange
from ...prompts import answer_blocks, blocks, render
from ...prompts.blocks import Block
from ...state.baselines.rounds import (
    ConfidentAnswering,
    Decision,
    Tally,
    Vote,
    answering_schema,
    calibrated,
    decision_schema,
    in_words,
    tallied,
    worded,
)
from ...state.conversation import new_utterance
from ...state.debates.answers import joined, positions_of
from ...state.debates.verdict import Conclusion, answer_description, with_conditions
from ...state.language import told
from ...state.minds.mind import Mind, Situation, Utterance
from ...state.settings import Settings
from ..debates.judge import judge_name, word_majority
from ..minds.context import persona_of

Method = Literal["mad", "mad_judge", "reconcile"]
"""A debate baseline, by its name in the settings."""


class Given(TypedDict):
    """The input of one answer."""

    method: Method
    mind: Mind
    situation: Situation
    number: int
    """The number of the utterance that the answer makes; those of one round are made at the same time."""
    answers: list[Utterance]
    """The answers of the last round that this participant sees."""
    side: NotRequired[str]
    """mad_judge: "affirmative" or "negative"."""
    sides: NotRequired[dict[str, str]]
    """mad_judge: each participant's side."""
    opposes: NotRequired[str]
    """mad_judge: the affirmative side's answer, for the participants who are asked to disagree with it."""


async def give_answer(given: Given, settings: Settings) -> Utterance:
    """Have a participant answer, with confidence in the reconcile baseline.

    Args:
        given: who answers, and what they see.
        settings: of the simulation.

    Returns:
        The utterance, its `text` the reasons and the answer.

    Raises:
        ModelError: the answer twice did not have the requested form, or the request failed.
    """
    mind, situation = given["mind"], given["situation"]
    name, form, choices = mind["name"], settings.answer_format, tuple(settings.choices)
    confident = given["method"] == "reconcile"
    exchange = Exchange.on_behalf(settings, name, "answering", situation["turn"])
    schema = answering_schema(form, choices, confident=confident)
    answer = await judgement(exchange, answering_prompt(given, settings), schema)
    call = exchange.call()
    return new_utterance(
        given["number"],
        name,
        worded(answer.reasoning, answer.answer),
        situation["present"],
        called=situation.get("called"),
        addressing=answer.reasoning,
        response_time_s=round(exchange.took_s, 3),
        tokens={"input": call["input_tokens"], "output": call["output_tokens"]},
        answer=answer.answer,
        conditional=answer.conditional or None,
        confidence=answer.confidence if isinstance(answer, ConfidentAnswering) else None,
    )


def answering_prompt(given: Given, settings: Settings) -> list[BaseMessage]:
    """The request for one answer."""
    mind, situation = given["mind"], given["situation"]
    return render(
        "answering",
        basic_information=blocks.basic_information(persona_of(mind), knowledge=True),
        relationships=blocks.relationships(situation),
        plan_and_identity=blocks.plan_and_identity(mind),
        environment=blocks.environment(situation, mind["name"], spoken=mind["utterances"]),
        answers=_shown(given, settings),
        side=given.get("side", ""),
        opposes=given.get("opposes"),
        confident=given["method"] == "reconcile",
        form=answer_description(settings.answer_format, tuple(settings.choices)),
        **told(settings.language),
    )


def _shown(given: Given, settings: Settings) -> Block:
    name, answers = given["mind"]["name"], given["answers"]
    if given["method"] == "reconcile" and answers:
        groups = tallied([Vote(u["speaker"], u["answer"]) for u in answers], settings.answer_format)
        return answer_blocks.grouped_answers(answers, groups, name)
    return answer_blocks.answers(answers, name, given.get("sides"))


async def decide(
    situation: Situation,
    answers: Sequence[Utterance],
    sides: Mapping[str, str],
    *,
    round: int,
    rounds: int,
    settings: Settings,
) -> Decision:
    """Ask the judge of mad_judge whether the round has shown which answer is right; after the last one it must decide.

    Args:
        situation: the debate as an onlooker sees it.
        answers: of the finished round.
        sides: each participant's side.
        round: its number, from 1.
        rounds: the greatest number of rounds.
        settings: of the simulation.
    """
    answer = await ask(
        "mad_judge",
        decision_schema(settings.answer_format, tuple(settings.choices), last=round == rounds),
        settings=settings,
        agent=judge_name(situation["present"]),
        module="judge",
        turn=situation["turn"],
        **decision_values(situation, answers, sides, round=round, rounds=rounds, settings=settings),
    )
    return answer.value


def decision_values(
    situation: Situation,
    answers: Sequence[Utterance],
    sides: Mapping[str, str],
    *,
    round: int,
    rounds: int,
    settings: Settings,
) -> dict[str, Any]:
    """The values of the judge's prompt (`mad_judge`); arguments as for `decide`."""
    return {
        "environment": blocks.environment(situation, ""),
        "answers": answer_blocks.answers(answers, "", sides),
        "round": round,
        "rounds": rounds,
        "last": round == rounds,
        "form": answer_description(settings.answer_format, tuple(settings.choices)),
    }


def counted(answers: Sequence[Utterance], settings: Settings, *, weighted: bool) -> list[Tally]:
    """The answers and who holds them, the winner first; a tie goes to the earliest listed.

    Args:
        answers: one per participant, in order of listing.
        settings: the form of the answers.
        weighted: whether answers are weighted by confidence (Chen et al. 2023); otherwise all count the same.
    """
    votes = [Vote(u["speaker"], u["answer"], calibrated(u["confidence"]) if weighted else 1.0) for u in answers]
    return tallied(votes, settings.answer_format)


async def conclude(
    situation: Situation,
    minds: Mapping[str, Mapping[str, Any]],
    answers: Sequence[Utterance],
    settings: Settings,
    *,
    by: str,
    weighted: bool,
) -> Conclusion:
    """The conclusion of a debate, from the last round's answers.

    Args:
        situation: the debate as an onlooker sees it.
        minds: the participants', by name, in order of listing.
        answers: of the last round, one per participant, in order of listing.
        settings: of the simulation.
        by: the baseline's name.
        weighted: as for `counted`.

    Returns:
        The conclusion.
    """
    tallies = counted(answers, settings, weighted=weighted)
    if settings.answer_format == "free" and len(tallies) == len(answers):
        shown: Situation = {**situation, "recent": list(answers)}
        read = await word_majority(shown, minds, None, settings, verdict=None, said=answers)
        return {**read, "by": by, "consensus": len(read["supporters"]) == len(answers)}
    winner = tallies[0]
    conclusion: Conclusion = {
        "answer": winner.answer,
        "consensus": len(tallies) == 1,
        "reasoning": in_words(tallies, weights=weighted),
        "supporters": winner.supporters,
        "by": by,
    }
    conditions, names = joined(winner.supporters, answers), [u["speaker"] for u in answers]
    return with_conditions(conclusion, conditions, names, positions_of(answers), answers)
