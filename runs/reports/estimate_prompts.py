"""Tokens of one task's prompt after a number of utterances: the real templates, rendered with typical content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from persimchat.models import ladder
from persimchat.models.exchange import wording
from persimchat.models.naming import ModelName
from persimchat.models.schemas import prompt_schema
from persimchat.nodes.at_once import AT_ONCE, parts_of, prompt_values
from persimchat.nodes.context import common_blocks
from persimchat.nodes.judge import judge_blocks
from persimchat.nodes.natural_language import in_order
from persimchat.nodes.revision import question_of
from persimchat.nodes.selector import selection_schema
from persimchat.prompts import blocks, render
from persimchat.prompts.blocks import Item, estimated_tokens
from persimchat.prompts.spans import together, units_of
from persimchat.runs.reports.estimate_content import Typical
from persimchat.state import judgement
from persimchat.state.answering import answering_schema
from persimchat.state.decision import decision_schema
from persimchat.state.mind import Step, in_step
from persimchat.state.persona import Persona
from persimchat.state.pruning import select
from persimchat.state.verdict import answer_description, has_positions_in_form, majority_schema, verdict_schema

_SCHEMAS: Final[dict[str, type[BaseModel]]] = {
    "perception": judgement.Percept,
    "focal_points": judgement.FocalPoints,
    "memory_filtering": judgement.Consolidation,
    "need_to_talk": judgement.NeedToTalk,
    "openness": judgement.Openness,
    "action": judgement.Action,
    "emotion": judgement.Feeling,
    "reflection": judgement.Reflection,
    "planning": judgement.Plan,
    "analysis": judgement.Score,
    "inconsistency": judgement.Inconsistency,
}
_SPOKEN: Final = ("utterance", "first_response", "group_chat")
"""Tasks whose answer is an utterance, or words like one."""
_BEFORE_IT_IS_MADE: Final = (*_SPOKEN, "inconsistency", "reflection", "planning", "selector")
"""Tasks that run while an utterance is made, so their prompts have only the utterances before it."""
_RECALL_NOTHING: Final = ("perception", "focal_points", "hearing", "group_chat")
_SIMILARITY: Final = 0.5


def tokens_of(messages: list[BaseMessage]) -> int:
    """Tokens of a prompt, estimated as the accounting does if a server reports none."""
    return sum(estimated_tokens(str(message.text)) for message in messages)


def prompt_of_mind(typical: Typical, persona: Persona, task: str, turn: int, *, speaks: bool = True) -> int:
    """Tokens of the prompt of one task of a mind, or of a persona of the group_chat baseline, at one utterance.

    Args:
        typical: the conversation.
        persona: whose mind.
        task: by the name in its prompt.
        turn: number of the utterance that is made or heard; 0 at the awakening.
        speaks: False for the persona judge's mind.
    """
    known = turn - 1 if task in _BEFORE_IT_IS_MADE else turn
    mind = _mind(typical, persona, known, speaks=speaks)
    if turn and task not in _BEFORE_IT_IS_MADE:
        mind["heard"] = typical.utterance(turn)
    if turn == 0 and task == "emotion":
        mind["emotion"] = {}
    if turn == 0:
        mind.pop("need_to_talk", None)
        mind.pop("openness", None)
    shown = [] if task in _RECALL_NOTHING else typical.memories(known, persona if speaks else None)
    if task == "reflection" and turn:
        shown = [typical.memory("perception", known), *shown]
    common = common_blocks(mind, shown, knowledge=task in (*_SPOKEN, "inconsistency"))
    if task in AT_ONCE:
        parts = parts_of(task, mind, typical.settings)
        return tokens_of(render("parts", **prompt_values(task, parts, common)))
    if task in _SPOKEN:
        return tokens_of(_utterance("group_chat" if task == "group_chat" else "utterance", typical, mind, common))
    if task == "inconsistency":
        return tokens_of(_check(typical, mind, common, turn))
    more: dict[str, Any] = {}
    if task == "memory_filtering":
        more = {"leaving": Item("stm", typical.memory("perception", turn).model_dump()), "similarity": _SIMILARITY}
    return tokens_of(render(task, **common, **more))


def prompt_of_onlooker(typical: Typical, task: str, turn: int, *, judge: Persona | None = None) -> int:
    """Tokens of the prompt of one task of judge, selector or analysis at one utterance.

    Args:
        typical: the conversation.
        task: "judge", "majority", "selector" or "analysis".
        turn: number of the utterance.
        judge: the persona judge; None for a judge that sees a window.
    """
    return tokens_of(_ONLOOKERS[task](typical, turn, judge))


def judgements(typical: Typical, task: str) -> tuple[str, ...]:
    """The judgements in the answer to a task: several if the mind gives them in one answer."""
    if task not in AT_ONCE:
        return (task,)
    name = typical.names[0]
    mind: Step = {"name": name, "situation": typical.situation(name, 1), "heard": typical.utterance(1)}
    return parts_of(task, mind, typical.settings)


def schema_tokens(typical: Typical, task: str, model: ModelName) -> int:
    """Tokens of an answer's schema in the prompt; 0 if the model gets the schema outside the prompt, or none.

    Only a request shows what a server refuses; until then, the server is assumed to support all forms.
    """
    if task in (*_SPOKEN, "script") or model.provider == "offline" or not ladder.rung(model).needs_schema_in_prompt:
        return 0
    names, settings = tuple(typical.names), typical.settings
    made: dict[str, Callable[[], type[BaseModel]]] = {
        "judge": lambda: verdict_schema(names, settings.answer_format, tuple(settings.choices)),
        "majority": lambda: majority_schema(names, settings.answer_format, tuple(settings.choices)),
        "selector": lambda: selection_schema(names),
        "answering": lambda: answering_schema(
            settings.answer_format, tuple(settings.choices), confident=settings.baseline == "reconcile"
        ),
        "mad_judge": lambda: decision_schema(settings.answer_format, tuple(settings.choices)),
    }
    made |= dict.fromkeys(AT_ONCE, lambda: judgement.in_parts(*judgements(typical, task)))
    schema = _SCHEMAS[task] if task in _SCHEMAS else made[task]()
    return estimated_tokens(wording("json_answer", schema=prompt_schema(schema)))


def _mind(typical: Typical, persona: Persona, turn: int, *, speaks: bool = True) -> Step:
    return in_step(typical.mind(persona, turn, speaks=speaks), situation=typical.situation(persona.name, turn))


def _utterance(template: str, typical: Typical, mind: Step, common: dict[str, Any]) -> list[BaseMessage]:
    situation, settings = mind["situation"], typical.settings
    return render(
        template,
        blocks=[*in_order(common, settings.prompt_order), blocks.avoid(())],
        name=mind["name"],
        debate=situation["debate"] is not None,
        closing=situation["closing"],
        register=settings.speech_register,
        words=settings.utterance_words,
    )


def _check(typical: Typical, mind: Step, common: dict[str, Any], turn: int) -> list[BaseMessage]:
    """The question whether an utterance contradicts what was left out, as if the longest pieces of information were."""
    pruning, order = typical.settings.pruning, typical.settings.prompt_order
    units = units_of(in_order(common, order))
    whole = [unit for unit in units if order[unit.block] in pruning.remove]
    others = [unit for unit in units if order[unit.block] not in pruning.remove]
    gone = select([estimated_tokens(unit.text) for unit in others], pruning.strength, fill=pruning.fill)
    left_out = together([*whole, *(others[n] for n in gone)])
    return question_of(typical.utterance(turn)["text"], left_out, mind).messages


def _judging(task: str) -> Callable[[Typical, int, Persona | None], list[BaseMessage]]:
    def prompt(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
        settings = typical.settings
        situation = typical.situation("", turn, window=settings.judge_window)
        standing = blocks.group(_minds(typical, turn))
        if judge is None:
            shown = [blocks.environment(situation, ""), standing, blocks.observed(situation["recent"])]
        else:
            mind = in_step(typical.mind(judge, turn, speaks=False), situation=situation)
            common = common_blocks(mind, typical.memories(turn))
            shown = judge_blocks(common, standing)
        form = settings.answer_format
        described = answer_description(form, settings.choices)
        return render(task, blocks=shown, form=described, in_form=has_positions_in_form(form))

    return prompt


def _selector(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
    situation = typical.situation("", turn - 1)
    shown = ("name", "utterances", "last_spoke")
    return render(
        "selector",
        environment=blocks.environment(situation, ""),
        group=blocks.group({k: v for k, v in mind.items() if k in shown} for mind in _minds(typical, turn - 1)),
        last_utterances=blocks.observed(situation["recent"]),
        candidates=typical.names[1:] if turn > 1 and not typical.settings.allow_repeated_speaker else typical.names,
    )


def _analysis(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
    situation = typical.situation("", turn)
    return render(
        "analysis",
        environment=blocks.environment(situation, ""),
        last_utterances=blocks.observed(situation["recent"][:-1]),
        heard=blocks.heard(typical.utterance(turn), ""),
    )


def _minds(typical: Typical, turn: int) -> list[dict[str, Any]]:
    return [dict(typical.mind(persona, turn)) for persona in typical.scenario.participants]


_ONLOOKERS: Final = {
    "judge": _judging("judge"),
    "majority": _judging("majority"),
    "selector": _selector,
    "analysis": _analysis,
}
