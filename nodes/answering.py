"""Answering: a participant of a debate baseline answers with reasons, in the requested form.

Shared by the baselines mad (Du et al. 2023), mad_judge (Liang et al. 2023) and reconcile (Chen et al. 2023). Their
participants have no memory and see only the last round of a debate, so prompts do not grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from persimchat.models.asking import ask, judgement
from persimchat.models.exchange import Exchange
from persimchat.nodes.context import persona_of
from persimchat.nodes.judge import judge_name
from persimchat.prompts import answer_blocks, blocks, render
from persimchat.prompts.blocks import Block
from persimchat.state.answering import ConfidentAnswering, answering_schema, worded
from persimchat.state.decision import Decision, decision_schema
from persimchat.state.mind import Mind, Situation, Utterance
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees
from persimchat.state.verdict import answer_description
from persimchat.state.voting import Vote, tallied

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
    utterance: Utterance = {
        "turn": given["number"],
        "speaker": name,
        "text": worded(answer.reasoning, answer.answer),
        "addressees": addressees(answer.reasoning, name, situation["present"]),
        "emotion": {},
        "need_to_talk": {},
        "response_time_s": round(exchange.took_s, 3),
        "tokens": {"input": call["input_tokens"], "output": call["output_tokens"]},
        "corrections": [],
        "answer": answer.answer,
    }
    if answer.conditional:
        utterance["conditional"] = answer.conditional
    if isinstance(answer, ConfidentAnswering):
        utterance["confidence"] = answer.confidence
    return utterance


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
