"""Asks a model: `ask` for a judgement in a schema, `appraise` for a mind's own judgement, `speak` for free text.

LangGraph's nodes call them; requests keep the callbacks, tags and metadata of the node's run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from ..prompts.fitting import Question
from ..state.errors import ModelError
from ..state.language import told
from ..state.minds.judgement import in_parts
from ..state.minds.mind import Call
from ..state.minds.speech import whole_sentences
from ..state.outcomes import Outcome
from ..state.plain_text import shortened
from ..state.settings import Settings
from . import ladder
from .answers import (
    ALL_THINKING,
    EMPTY,
    REFUSALS,
    WrongAnswer,
    answer_text,
    read,
    remedy_of,
    shown_thinking,
    stop_problem,
    was_cut,
)
from .exchange import Exchange, wording
from .failures import FILTERED
from .mending import mended, usable_parts
from .schemas import prompt_schema
from .spoken import UNWRAPPED, spoken_words

T = TypeVar("T", bound=BaseModel)
Value = TypeVar("Value")

_REMEDY: Final = "Try again, or choose a model that follows instructions better."
_QUOTED: Final = 4_000
"""The most characters of a wrong answer that its model reads again; a longer one would not fit the context."""
_TWICE: Final = "wrong answer twice"


class UselessAnswer(ModelError):
    """Both answers of a model to one question were unusable."""


class RefusedAnswer(UselessAnswer):
    """The model, or its server's filter, refused to answer a question, twice."""


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """A validated judgement and its accounting."""

    value: Value
    call: Call


@dataclass(frozen=True)
class Spoken:
    """Free text that a model spoke.

    Attributes:
        text: the words (`spoken.spoken_words`).
        message: the message with the id under which its tokens were streamed.
        response_time_s: seconds until it was complete, as the model reports it, else measured.
        call: its accounting.
        unwrapped: whether thinking, marks or a wrapper around the words were removed.
    """

    text: str
    message: AIMessage
    response_time_s: float
    call: Call
    unwrapped: bool = False


def _question(template: str, values: Mapping[str, Any], settings: Settings) -> Question:
    """What a template asks, in the language of the conversation."""
    return Question.of(template, {**values, **told(settings.language)})


async def ask(
    template: str, schema: type[T], /, *, settings: Settings, agent: str, module: str, turn: int, **values: Any
) -> Answer[T]:
    """Put a template's question to the model of an agent's module, and get a validated answer.

    If the answer does not fit the schema, the model is asked once more and told the validator's message. If it was cut,
    the second answer may have half again as many tokens. If the prompt does not fit the model's context, memories are
    left out of it, then utterances.

    Args:
        template: the prompt template's name.
        schema: the answer's schema.
        settings: of the simulation.
        agent: the agent that asks, or another name for accounting.
        module: the cognitive module, one of `state.settings.modules()`.
        turn: utterances so far.
        **values: what the template needs.

    Raises:
        InputError: the model's name, key or file is wrong.
        TransientModelError: the request failed for a reason that may pass.
        ModelError: the request failed permanently, or both answers were unusable (UselessAnswer).
        PromptTooLong: the prompt does not fit the model's context, and no more may be left out.
        BudgetExhausted: a request would have exceeded a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn)
    value = await judgement(exchange, _question(template, values, settings), schema)
    return Answer(value, exchange.call())


async def appraise(
    template: str,
    schema: type[T],
    /,
    *,
    settings: Settings,
    agent: str,
    module: str,
    turn: int,
    part: str = "",
    mends: bool = True,
    **values: Any,
) -> Answer[T | None]:
    """Like `ask`, for a mind's own judgement: unusable answers of a weak model do not end the run.

    An answer that nearly fits is corrected (`models/mending.py`). If both answers are unusable, the value is None, and
    the mind stays as it was. `strict_answers` switches both off. The call contains the outcome.

    Args:
        template: as for `ask`.
        schema: as for `ask`.
        settings: as for `ask`.
        agent: as for `ask`.
        module: as for `ask`.
        turn: as for `ask`.
        part: what distinguishes the question from others of the same turn, agent and module.
        mends: whether an answer that nearly fits is corrected; for choices and votes it is not.
        **values: as for `ask`.

    Raises:
        ModelError: as `ask`; UselessAnswer only with `strict_answers`.
        BudgetExhausted, InputError, TransientModelError: as `ask`.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn, part)
    value, outcome = await appraisal(exchange, _question(template, values, settings), schema, mends=mends)
    return Answer(value, {**exchange.call(), "outcome": outcome})


async def appraisal(
    exchange: Exchange, messages: list[BaseMessage] | Question, schema: type[T], *, mends: bool = True
) -> tuple[T | None, Outcome]:
    """The answer to a mind's question, and its outcome; see `appraise`."""

    def put_right(wrong: WrongAnswer) -> T | None:
        able = mends and wrong.found is not None and not exchange.settings.strict_answers
        return mended(wrong.found, schema) if able and wrong.found is not None else None

    def is_enough(wrong: WrongAnswer) -> bool:
        return not wrong.cut and put_right(wrong) is not None

    answers = await _answers(exchange, messages, schema, is_enough=is_enough)
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

    Parts are independent: if the second answer has an unusable part, that of the first answer is taken; if both are
    unusable, the part is None, and the other parts are kept. Of an answer that was cut off, the whole parts count. The
    call contains the outcome of each part.

    Args:
        template: as for `ask`.
        parts: the modules, as for `state.judgement.in_parts`.
        settings: as for `ask`.
        agent: as for `ask`.
        module: the module that asks, for accounting: "hearing", "appraisal" or "reaction".
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
        if wrong.found is None or settings.strict_answers:
            return {}
        # What follows the cut is missing, which else would say that nothing has changed.
        return usable_parts(wrong.found, [part for part in parts if part in wrong.found or not wrong.cut])

    answers = await _answers(
        exchange,
        _question(template, values, settings),
        schema,
        is_enough=lambda wrong: len(usable(wrong)) == len(parts),
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


async def judgement(
    exchange: Exchange, messages: list[BaseMessage] | Question, schema: type[T], *, alone: bool = False
) -> T:
    """The validated answer to a conversation, after at most two requests; `alone` as for `read`. Raises as `ask`."""
    answer = (await _answers(exchange, messages, schema, alone=alone))[-1]
    if isinstance(answer, WrongAnswer):
        raise _useless(exchange, answer) from answer
    return answer


async def _answers(
    exchange: Exchange,
    messages: list[BaseMessage] | Question,
    schema: type[T],
    *,
    is_enough: Callable[[WrongAnswer], bool] = lambda _: False,
    alone: bool = False,
) -> list[T | WrongAnswer]:
    """The answers to a question: one, or two if the first is wrong and `is_enough` does not accept it."""
    message, form = await exchange.judge(messages, schema)
    first = _read(message, schema, alone=alone)
    if not isinstance(first, WrongAnswer) or is_enough(first):
        return [first]
    # A server that accepts a schema or a tool but answers in prose ignores it; from now on, the prompt has the schema.
    if first.prose and not form.needs_schema_in_prompt:
        for ignored in (rung for rung in ladder.Rung if not rung.needs_schema_in_prompt):
            ladder.refuse(exchange.name, ignored)
    question = messages if isinstance(messages, Question) else Question(messages)
    again = _with_correction(question, message, first.problem, schema)
    message, _ = await exchange.judge(again, schema, more_room=was_cut(message))
    return [first, _read(message, schema, alone=alone)]


def _read(message: AIMessage, schema: type[T], *, alone: bool) -> T | WrongAnswer:
    try:
        return read(message, schema, alone=alone)
    except WrongAnswer as wrong:
        return wrong


def _useless(exchange: Exchange, wrong: WrongAnswer) -> ModelError:
    kind = RefusedAnswer if wrong.refused else UselessAnswer
    return exchange.error(f"{_TWICE}: {wrong.problem}", remedy=wrong.remedy or _REMEDY, kind=kind)


def uselessness(detail: str) -> Literal["unparseable", "refused"] | None:
    """What a recorded error, of which only the words are left, says of a model's answers; None where it is another.

    Args:
        detail: the words of the error.
    """
    if detail.startswith((FILTERED, *(f"{_TWICE}: {problem}" for problem in REFUSALS))):
        return "refused"
    return "unparseable" if detail.startswith(_TWICE) else None


async def all_asked(questions: Iterable[Coroutine[Any, Any, Value]]) -> list[Value]:
    """The answers to questions that are put at the same time, in their order; raises the first error.

    All come to their ends before an error is raised, so that none is asked twice at a time, and the requests of a run
    and of its replay are the same.
    """
    found = await asyncio.gather(*questions, return_exceptions=True)
    answers: list[Value] = []
    for answer in found:
        if isinstance(answer, BaseException):
            raise answer
        answers.append(answer)
    return answers


async def speak(
    template: str,
    /,
    *,
    settings: Settings,
    agent: str,
    module: str,
    turn: int,
    message_id: str | None = None,
    part: str = "",
    quietly: bool = False,
    begun: Callable[[], None] | None = None,
    sampling: Mapping[str, Any] | None = None,
    **values: Any,
) -> Spoken:
    """Put a template's question to the model of an agent's module, and get its words, which stream as they come.

    If the answer has no words or was cut, the model is asked once more; after a cut, with half again as many tokens. If
    the second answer is cut, too, its whole sentences are taken, so that a babbling model does not end the run.

    Args:
        template: the prompt template's name.
        settings: of the simulation.
        agent: the speaker.
        module: the cognitive module, "natural_language", "pruning", or another with words.
        turn: utterances so far.
        message_id: the id of the message and its tokens, so that a run is repeatable; a second message has the same id
            with "-again" added. If None, LangChain makes an id.
        part: what distinguishes the exchange from others of the same turn, agent and module.
        quietly: whether the words do not stream.
        begun: called at the first piece of an answer.
        sampling: `seed` and `temperature` of this answer, in place of the settings'.
        **values: what the template needs.

    Raises:
        InputError: the model's name, key or file is wrong.
        TransientModelError: the request failed for a reason that may pass.
        ModelError: the request failed permanently, or both answers had no words.
        PromptTooLong: the prompt does not fit the model's context, and no more may be left out.
        BudgetExhausted: a request would have exceeded a budget, and was not made.
    """
    exchange = Exchange.on_behalf(settings, agent, module, turn, part)
    question = _question(template, values, settings)
    # The same seed and prompt would give the same answer again.
    own = {name: value for name, value in (sampling or {}).items() if name != "seed" or exchange.takes_seed}
    other = {**own, "seed": own.get("seed", settings.seed) + 1} if exchange.takes_seed else own
    again = f"{message_id}-again" if message_id else None
    cut = False
    unfinished: tuple[AIMessage, str, float] | None = None
    for id_, more in ((message_id, own), (again, other)):
        message, seconds = await exchange.stream(
            question, message_id=id_, more_room=cut, quietly=quietly, begun=begun, **more
        )
        text = spoken_words(answer_text(message))
        problem = stop_problem(message) or (None if text else ALL_THINKING if shown_thinking(message) else EMPTY)
        if problem is None:
            return _spoken(exchange, message, text, seconds)
        cut = was_cut(message)
        if cut and text:
            unfinished = message, whole_sentences(text), seconds
        question = question.followed(wording("cut")) if cut else question
    if unfinished is not None:
        return _spoken(exchange, *unfinished)
    raise exchange.error(f"no words twice: {problem}", remedy=remedy_of(message) or _REMEDY)


def _spoken(exchange: Exchange, message: AIMessage, text: str, seconds: float) -> Spoken:
    whole = str(message.text).strip()
    unwrapped = bool(message.additional_kwargs.get(UNWRAPPED)) or spoken_words(whole) != whole
    return Spoken(text, message.model_copy(update={"content": text}), seconds, exchange.call(), unwrapped)


def _with_correction(question: Question, answer: AIMessage, problem: str, schema: type[BaseModel]) -> Question:
    """The question, followed by the wrong answer and what was wrong with it.

    The answer is sent back as text even if it was a tool call, because a tool's answer would have to follow a call.
    """
    text = shortened(answer_text(answer).strip(), _QUOTED)
    return question.followed(wording("correction", problem=problem, schema=prompt_schema(schema)), text)
