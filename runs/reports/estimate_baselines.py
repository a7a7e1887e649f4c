"""Tokens of a baseline's prompts: the real templates, rendered with answers of typical length."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from persimchat.nodes.answering import Given, Method, answering_prompt, decision_values
from persimchat.nodes.script import script_prompt
from persimchat.prompts import render
from persimchat.runs.reports.estimate_content import Typical, filler
from persimchat.runs.reports.estimate_prompts import tokens_of
from persimchat.state.answering import worded
from persimchat.state.decision import sides
from persimchat.state.persona import Persona

if TYPE_CHECKING:
    from persimchat.state.mind import Utterance

_BYTES_A_TOKEN = 4


def prompt_of_answer(typical: Typical, persona: Persona, turn: int) -> int:
    """Tokens of the prompt of one participant's answer.

    Args:
        typical: the conversation, with a debate baseline.
        persona: who answers.
        turn: number of the utterance that the answer makes, from 1.
    """
    settings, names = typical.settings, typical.names
    method = cast(Method, settings.baseline)  # the settings know no debate baseline but these
    before = _answers(typical, turn)
    given: Given = {
        "method": method,
        "mind": typical.mind(persona, 0),
        "situation": {**typical.situation(persona.name, turn - 1), "recent": []},
        "number": turn,
        "answers": before,
    }
    if method == "mad_judge":
        every = sides(names)
        side = every[persona.name]
        own = [said for said in before if said["speaker"] == persona.name]
        # The negative side answers the affirmative side of the same round, and so has answers in the first round, too.
        shown = before or (_answers(typical, turn + len(names)) if side == "negative" else [])
        against = [said for said in shown if every[said["speaker"]] != side]
        given |= {"side": side, "sides": dict(every), "answers": [*against, *own]}
        if side == "negative" and not before:
            given["opposes"] = against[0]["answer"]
    return tokens_of(answering_prompt(given, settings))


def prompt_of_decision(typical: Typical, turn: int) -> int:
    """Tokens of the prompt of mad_judge's judge after the round that ends with this utterance."""
    count, settings = len(typical.names), typical.settings
    values = decision_values(
        typical.situation("", turn),
        _answers(typical, turn + count),
        sides(typical.names),
        round=turn // count,
        rounds=settings.max_messages // count,
        settings=settings,
    )
    return tokens_of(render("mad_judge", **values))


def prompt_of_script(typical: Typical) -> int:
    """Tokens of the prompt of single_agent's one request."""
    people = [
        (typical.mind(persona, 0), typical.situation(persona.name, 0)) for persona in typical.scenario.participants
    ]
    return tokens_of(script_prompt(people, typical.settings))


def _answers(typical: Typical, turn: int) -> list[Utterance]:
    """The answers of the last whole round before an utterance; none in the first round."""
    names = typical.names
    if turn <= len(names):
        return []
    tokens = typical.lengths.answered("answering", participants=len(names), words=typical.settings.utterance_words)
    settings = typical.settings
    answer = {"number": "12", "choice": settings.choices[0] if settings.choices else ""}.get(
        settings.answer_format, "yes"
    )
    text = worded(filler(tokens * _BYTES_A_TOKEN), answer)
    confidence = {"confidence": 0.8} if settings.baseline == "reconcile" else {}
    said = [{**typical.utterance(number + 1), "text": text, "answer": answer} for number in range(len(names))]
    return [cast("Utterance", {**utterance, **confidence}) for utterance in said]
