"""Asking a model: `ask` for a judgement in a schema, `speak` for free text.

Both are called inside LangGraph's nodes: callbacks, tags and metadata of the node's run are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from persimchat.models import ladder
from persimchat.models.answers import WrongAnswer, answer_text, read, stop_problem, was_cut
from persimchat.models.exchange import Exchange, wording
from persimchat.models.mending import mended, usable_parts
from persimchat.models.profiles import profile_of
from persimchat.models.schemas import prompt_schema
from persimchat.prompts.fitting import Question
from persimchat.state.errors import ModelError
from persimchat.state.judgement import in_parts
from persimchat.state.mind import Call
from persimchat.state.outcomes import Outcome
from persimchat.state.settings import Settings
from persimchat.state.speech import whole_sentences

T = TypeVar("T", bound=BaseModel)
Value = TypeVar("Value")

_REMEDY: Final = "Try again, or choose a model that follows instructions better."


class UselessAnswer(ModelError):
    """Both answers to a question were of no use, although the model answers."""


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """A validated judgement and its accounting."""

    value: Value
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

    An answer that does not fit is asked for once more, with the validator's words; one that was cut, with half again as
    many tokens and the word that it was cut. Where the prompt would not fit the model's context, memories are left out
    of it, then utterances.

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
        ModelError: the request failed for good, or both answers were wrong (UselessAnswer).
        PromptTooLong: the prompt does not fit the model's context, however much is left out, or nothing may be.
        BudgetExhausted: a request would have passed a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    value = await judgement(exchange, Question.of(template, values), schema)
    return Answer(value, exchange.call())


async def appraise(
    template: str, schema: type[T], /, *, settings: Settings, agent: str, module: str, turn: int, **values: Any
) -> Answer[T | None]:
    """Like `ask`, for a mind's own judgement, which a weak model cannot bring to an end.

    An answer that nearly fits is put right (`models/mending.py`). Where both answers were of no use, the value is None,
    and the module leaves things as they were. With `strict_answers` neither is done. The call says how it came out.

    Raises:
        ModelError: as `ask`, but for UselessAnswer only with `strict_answers`.
        BudgetExhausted, InputError, TransientModelError: as `ask`.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    value, outcome = await appraisal(exchange, Question.of(template, values), schema)
    return Answer(value, {**exchange.call(), "outcome": outcome})


async def appraisal(
    exchange: Exchange, messages: list[BaseMessage] | Question, schema: type[T]
) -> tuple[T | None, Outcome]:
    """A mind's judgement on a conversation, and how it came out; see `appraise`."""

    def put_right(wrong: WrongAnswer) -> T | None:
        return None if wrong.found is None or exchange.settings.strict_answers else mended(wrong.found, schema)

    answers = await _answers(exchange, messages, schema, is_enough=lambda wrong: put_right(wrong) is not None)
    last = answers[-1]
    if not isinstance(last, WrongAnswer):
        return last, "valid" if len(answers) == 1 else "again"
    value = put_right(last)
    if value is None and exchange.settings.strict_answers:
        raise _useless(exchange, last) from last
    return value, "failed" if value is None else "corrected"


async def appraise_in_parts(
    template: str, parts: Sequence[str], /, *, settings: Settings, agent: str, module: str, turn: int, **values: Any
) -> Answer[dict[str, Any]]:
    """Like `appraise`, for the judgements of several modules in one answer.

    Each part stands for itself: where the second answer has a wrong part, the one of the first answer counts if that
    was right; else the part is None, and the right ones are kept. The call says of each part how it came out.

    Args:
        template: as for `ask`.
        parts: the modules, of `state.judgement.PARTS`.
        settings: as for `ask`.
        agent: as for `ask`.
        module: under which the answer is asked for and counted.
        turn: as for `ask`.
        **values: as for `ask`.

    Returns:
        By module, its judgement or None.

    Raises:
        ModelError: as `appraise`.
        BudgetExhausted, InputError, TransientModelError: as `ask`.
    """
    exchange, schema = Exchange.on_behalf(settings, agent, module, turn), in_parts(*parts)

    def usable(wrong: WrongAnswer) -> dict[str, tuple[Any, Outcome]]:
        return {} if wrong.found is None or settings.strict_answers else usable_parts(wrong.found, parts)

    answers = await _answers(
        exchange, Question.of(template, values), schema, is_enough=lambda wrong: len(usable(wrong)) == len(parts)
    )
    found: dict[str, tuple[Any, Outcome]] = dict.fromkeys(parts, (None, "failed"))
    for tried, answer in enumerate(answers):
        if isinstance(answer, WrongAnswer):
            kept = usable(answer)
        else:
            kept = {part: (getattr(answer, part), "valid") for part in parts}
        again: dict[str, Outcome] = {"valid": "again"} if tried else {}
        found |= {part: (value, again.get(outcome, outcome)) for part, (value, outcome) in kept.items()}
    if isinstance(answers[-1], WrongAnswer) and settings.strict_answers:
        raise _useless(exchange, answers[-1]) from answers[-1]
    outcomes = {part: outcome for part, (_, outcome) in found.items()}
    return Answer({part: value for part, (value, _) in found.items()}, {**exchange.call(), "outcomes": outcomes})


async def judgement(exchange: Exchange, messages: list[BaseMessage] | Question, schema: type[T]) -> T:
    """The validated answer to a conversation, asked for at most twice; see `ask` for what it raises."""
    answer = (await _answers(exchange, messages, schema))[-1]
    if isinstance(answer, WrongAnswer):
        raise _useless(exchange, answer) from answer
    return answer


async def _answers(
    exchange: Exchange,
    messages: list[BaseMessage] | Question,
    schema: type[T],
    *,
    is_enough: Callable[[WrongAnswer], bool] = lambda _: False,
) -> list[T | WrongAnswer]:
    """The answers to a question: one, or two where the first one was wrong and not good enough all the same."""
    message, form = await exchange.judge(messages, schema)
    first = _read(message, schema)
    if not isinstance(first, WrongAnswer) or is_enough(first):
        return [first]
    # A server that takes a schema or a tool and answers in prose ignores it, so from now on the prompt says the shape.
    if first.prose and not form.needs_schema_in_prompt:
        for unheeded in (rung for rung in ladder.Rung if not rung.needs_schema_in_prompt):
            ladder.refuse(exchange.name, unheeded)
    question = messages if isinstance(messages, Question) else Question(messages)
    again = _with_correction(question, message, first.problem, schema)
    message, _ = await exchange.judge(again, schema, more_room=was_cut(message))
    return [first, _read(message, schema)]


def _read(message: AIMessage, schema: type[T]) -> T | WrongAnswer:
    try:
        return read(message, schema)
    except WrongAnswer as wrong:
        return wrong


def _useless(exchange: Exchange, wrong: WrongAnswer) -> ModelError:
    return exchange.error(f"wrong answer twice: {wrong.problem}", remedy=_REMEDY, kind=UselessAnswer)


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

    An answer without words is asked for once more; so is one that was cut, with half again as many tokens and the word
    that it was cut. Of an answer that is cut then, too, the whole sentences count: babble ends no run.

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
        PromptTooLong: the prompt does not fit the model's context, however much is left out.
        BudgetExhausted: a request would have passed a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    question = Question.of(template, values)
    # The same seed and prompt would give the same answer again.
    other = {"seed": settings.seed + 1} if _takes_seed(exchange) else {}
    again = f"{message_id}-again" if message_id else None
    cut = False
    unfinished: tuple[AIMessage, str, float] | None = None
    for id_, more in ((message_id, {}), (again, other)):
        message, seconds = await exchange.stream(question, message_id=id_, more_room=cut, **more)
        text = answer_text(message)
        problem = stop_problem(message) or (None if text else "the answer was empty")
        if problem is None:
            return _spoken(exchange, message, text, seconds)
        cut = was_cut(message)
        if cut and text:
            unfinished = message, whole_sentences(text), seconds
        question = question.followed(wording("cut")) if cut else question
    if unfinished is not None:
        return _spoken(exchange, *unfinished)
    raise exchange.error(f"no words twice: {problem}", remedy=_REMEDY)


def _spoken(exchange: Exchange, message: AIMessage, text: str, seconds: float) -> Spoken:
    return Spoken(text, message.model_copy(update={"content": text}), seconds, exchange.call())


def _takes_seed(exchange: Exchange) -> bool:
    return profile_of(exchange.name).seed and "seed" not in ladder.refused_fields(exchange.name)


def _with_correction(question: Question, answer: AIMessage, problem: str, schema: type[BaseModel]) -> Question:
    """The conversation so far, the wrong answer, and what was wrong with it.

    The answer goes back as text, also where it was a tool call: a tool call would need a tool's answer after it.
    """
    text = answer_text(answer).strip()
    return question.followed(wording("correction", problem=problem, schema=prompt_schema(schema)), text)
