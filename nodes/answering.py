"""Answering: a participant of a debate baseline answers with reasons, in the form that was asked for.

Shared by the baselines mad (Du et al. 2023), mad_judge (Liang et al. 2023) and reconcile (Chen et al. 2023). Nobody has
a memory in them: what somebody is shown of a debate is the last round, so prompts do not grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from persimchat.models.asking import ask, judgement
from persimchat.models.exchange import Exchange
from persimchat.nodes.context import persona_of
from persimchat.nodes.judge import judge_name
from persimchat.prompts import answer_blocks, blocks, render
from persimchat.prompts.blocks import Block
from persimchat.state.answering import ConfidentAnswering, answering_schema, worded
from persimchat.state.decision import Decision, decision_schema
from persimchat.state.mind import Call, Mind, Situation, Utterance
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees
from persimchat.state.verdict import answer_description
from persimchat.state.voting import Vote, tallied

Method = Literal["mad", "mad_judge", "reconcile"]
"""A debate baseline, by its name in the settings."""


class Given(TypedDict):
    """What a participant is given for one answer."""

    method: Method
    mind: Mind
    situation: Situation
    number: int
    """The utterance's that the answer makes; those of one round are made at the same time."""
    answers: list[Utterance]
    """Of the last round, those that this participant is shown."""
    side: NotRequired[str]
    """mad_judge: "affirmative" or "negative"."""
    sides: NotRequired[dict[str, str]]
    """mad_judge: everybody's."""
    opposes: NotRequired[str]
    """mad_judge: the affirmative side's answer, for those who are asked to disagree with it."""


async def give_answer(given: Given, settings: Settings) -> tuple[Utterance, Call]:
    """Have a participant answer, with confidence in the reconcile baseline.

    Args:
        given: who answers, and what they are shown.
        settings: of the simulation.

    Returns:
        The utterance, its `text` the reasons and the answer, and the call it took.

    Raises:
        ModelError: the answer was twice not of the form that was asked for, or the request failed.
    """
    mind, situation = given["mind"], given["situation"]
    name, form, choices = mind["name"], settings.answer_format, tuple(settings.choices)
    confident = given["method"] == "reconcile"
    exchange = Exchange.on_behalf(settings, name, "answering", situation["turn"])
    messages = render(
        "answering",
        basic_information=blocks.basic_information(persona_of(mind), knowledge=True),
        relationships=blocks.relationships(situation),
        plan_and_identity=blocks.plan_and_identity(mind),
        environment=blocks.environment(situation, name, spoken=mind["utterances"]),
        answers=_shown(given, settings),
        side=given.get("side", ""),
        opposes=given.get("opposes"),
        confident=confident,
        form=answer_description(form, choices),
    )
    answer = await judgement(exchange, messages, answering_schema(form, choices, confident=confident))
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
    if isinstance(answer, ConfidentAnswering):
        utterance["confidence"] = answer.confidence
    return utterance, call


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
) -> tuple[Decision, Call]:
    """Ask the judge of mad_judge whether the round has shown which answer is right; after the last one it has to say.

    Args:
        situation: the debate as one finds it who takes no part.
        answers: of the round that is over.
        sides: who debates on which side.
        round: its number, from 1.
        rounds: how many there are at most.
        settings: of the simulation.
    """
    last = round == rounds
    form, choices = settings.answer_format, tuple(settings.choices)
    answer = await ask(
        "mad_judge",
        decision_schema(form, choices, last=last),
        settings=settings,
        agent=judge_name(situation["present"]),
        module="judge",
        turn=situation["turn"],
        environment=blocks.environment(situation, ""),
        answers=answer_blocks.answers(answers, "", sides),
        round=round,
        rounds=rounds,
        last=last,
        form=answer_description(form, choices),
    )
    return answer.value, answer.call
