"""Asking a model: `ask` for a judgement in a schema, `speak` for free text.

Both are called inside LangGraph's nodes: callbacks, tags and metadata of the node's run are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from persimchat.models import ladder
from persimchat.models.answers import WrongAnswer, answer_text, read, stop_problem
from persimchat.models.exchange import Exchange, followed_by, wording
from persimchat.models.schemas import prompt_schema
from persimchat.prompts import render
from persimchat.state.mind import Call
from persimchat.state.settings import Settings

T = TypeVar("T", bound=BaseModel)

_REMEDY: Final = "Try again, or choose a model that follows instructions better."
_SEEDED: Final = ("openai", "azure", "compatible", "ollama")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A validated judgement and its accounting."""

    value: T
    call: Call


@dataclass(frozen=True)
class Spoken:
    """Free text that a model spoke.

    Attributes:
        text: the words, without thinking.
        message: the message with the id under which its tokens were streamed.
        response_time_s: seconds until it was complete, as the model reports it, else measured.
        call: its accounting.
    """

    text: str
    message: AIMessage
    response_time_s: float
    call: Call


async def ask(
    template: str, schema: type[T], /, *, settings: Settings, agent: str, module: str, turn: int, **values: Any
) -> Answer[T]:
    """Put a template's question to the model of an agent's module, and get a validated answer.

    An answer that does not fit is asked for once more, with the validator's words.

    Args:
        template: the prompt template's name.
        schema: the answer's shape and ranges.
        settings: which model answers, and how it is used.
        agent: on whose behalf.
        module: the cognitive module, one of `state.settings.MODULES`.
        turn: utterances so far.
        **values: what the template needs.

    Raises:
        InputError: the model's name, key or file is wrong.
        TransientModelError: the request failed for a reason that may pass.
        ModelError: the request failed for good, or both answers were wrong.
        BudgetExhausted: a request would have passed a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    value = await judgement(exchange, render(template, **values), schema)
    return Answer(value, exchange.call())


async def judgement(exchange: Exchange, messages: list[BaseMessage], schema: type[T]) -> T:
    """The validated answer to a conversation, asked for at most twice; see `ask` for what it raises."""
    message, form = await exchange.judge(messages, schema)
    try:
        return read(message, schema)
    except WrongAnswer as wrong:
        first = wrong
    # A server that takes a schema or a tool and answers in prose ignores it, so from now on the prompt says the shape.
    if first.prose and not form.needs_schema_in_prompt:
        for unheeded in (rung for rung in ladder.Rung if not rung.needs_schema_in_prompt):
            ladder.refuse(exchange.name, unheeded)
    again = _with_correction(messages, message, first.problem, schema)
    message, _ = await exchange.judge(again, schema)
    try:
        return read(message, schema)
    except WrongAnswer as wrong:
        raise exchange.error(f"wrong answer twice: {wrong.problem}", remedy=_REMEDY) from wrong


async def speak(
    template: str,
    /,
    *,
    settings: Settings,
    agent: str,
    module: str,
    turn: int,
    message_id: str | None = None,
    **values: Any,
) -> Spoken:
    """Put a template's question to the model of an agent's module, and get words, streamed as they come.

    An answer without words, or one that was cut at the model's length limit, is asked for once more.

    Args:
        template: the prompt template's name.
        settings: which model answers, and how it is used.
        agent: who speaks.
        module: the cognitive module, "natural_language".
        turn: utterances so far.
        message_id: the id that the message and its tokens are to carry, so that a run is repeatable; a message that
            had to be asked for again carries it with "-again" added. LangChain makes one up where it is None.
        **values: what the template needs.

    Raises:
        InputError: the model's name, key or file is wrong.
        TransientModelError: the request failed for a reason that may pass.
        ModelError: the request failed for good, or both answers had no words.
        BudgetExhausted: a request would have passed a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    messages = render(template, **values)
    # The same seed and prompt would give the same answer again.
    other = {"seed": settings.seed + 1} if _takes_seed(exchange) else {}
    again = f"{message_id}-again" if message_id else None
    for id_, more in ((message_id, {}), (again, other)):
        message, seconds = await exchange.stream(messages, message_id=id_, **more)
        text = answer_text(message)
        problem = stop_problem(message) or (None if text else "the answer was empty")
        if problem is None:
            return Spoken(text, message.model_copy(update={"content": text}), seconds, exchange.call())
    raise exchange.error(f"no words twice: {problem}", remedy=_REMEDY)


def _takes_seed(exchange: Exchange) -> bool:
    return exchange.name.provider in _SEEDED and "seed" not in ladder.refused_fields(exchange.name)


def _with_correction(
    messages: list[BaseMessage], answer: AIMessage, problem: str, schema: type[BaseModel]
) -> list[BaseMessage]:
    """The conversation so far, the wrong answer, and what was wrong with it.

    The answer goes back as text, also where it was a tool call: a tool call would need a tool's answer after it.
    """
    text = answer_text(answer).strip()
    said = [*messages, AIMessage(text)] if text else messages
    return followed_by(said, wording("correction", problem=problem, schema=prompt_schema(schema)))
