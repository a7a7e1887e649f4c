"""Tests whether a model is good enough: a few questions of every module, the same for every model.

The questions are recorded from a short debate of the offline model, so they always have the current prompts and
schemas, and are the same every time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from ..graph.kinds import graph_for
from ..memory.recollection import discard
from ..models import ladder
from ..models.answers import answer_text, find_object, stop_problem
from ..models.asking import appraisal
from ..models.capacity import context_tokens
from ..models.exchange import Exchange
from ..models.failures import TransientModelError
from ..models.ledger import LEDGER, Ledger
from ..models.local.files import model_file
from ..models.local.gguf import read_header
from ..models.naming import ModelName, parse_model_name
from ..models.recording import Request
from ..models.registry import ready_model
from ..models.waiting import waiting_for
from ..personas.catalogue import shipped
from ..state.minds import judgement, mind
from ..state.scenario import Scenario
from ..state.settings import OUTSIDE, Settings, modules
from .run.simulation import input_of

_RUN: Final = "models-try"
_TOPIC: Final = "Should our town close its centre to cars?"
_MESSAGES: Final = 8
_CUT: Final = frozenset({"length", "max_tokens"})
_ENOUGH: Final = 0.98
_HARDLY: Final = 0.9
_CALLS_OF_THREE: Final = 18
"""Calls per utterance with three participants."""
_DEEP: Final = 3
_SMALL: Final = 1e9
"""Parameters below which a model writes sentences with little meaning."""


@dataclass(frozen=True)
class Question:
    """One question of a module.

    Attributes:
        module: which one.
        messages: the prompt.
        schema: the answer's schema; None if the answer is an utterance.
    """

    module: str
    messages: list[BaseMessage]
    schema: type[BaseModel] | None


@dataclass
class Row:
    """The results of one module's questions.

    Attributes:
        module: which one.
        asked: number of questions.
        valid: answers that were right at the first try.
        again: answers that were right at the second try.
        corrected: answers that were usable after a correction, at the first or second try.
        in_range: answers in which every number was within its bounds.
        cut: answers that stopped at a length limit.
        failed: questions without an answer, because it took too long or the server failed.
        seconds: duration of all questions together.
        read: tokens of the prompts.
        cached: of these, tokens that the server took from its cache.
        written: tokens of the answers.
    """

    module: str
    asked: int = 0
    valid: int = 0
    again: int = 0
    corrected: int = 0
    in_range: int = 0
    cut: int = 0
    failed: int = 0
    seconds: float = 0.0
    read: int = 0
    cached: int = 0
    written: int = 0


@dataclass
class Trial:
    """The results of a model.

    Attributes:
        model: its name.
        rows: one row per module, in the order of a mind's work.
        form: how its server gave structured answers: json_schema, function_calling, json_mode or text.
        context: the most tokens of a prompt and its answer together; None if there is no limit.
        parameters: number of the model's parameters; None if not known.
        at_once: number of requests that it answers at the same time.
    """

    model: str
    rows: list[Row] = field(default_factory=list)
    form: str = ""
    context: int | None = None
    parameters: float | None = None
    at_once: int = 1

    def total(self, what: str) -> float:
        """A column's sum."""
        return float(sum(getattr(row, what) for row in self.rows))

    def share(self, what: str, of: str = "asked") -> float:
        """The ratio of two columns' sums; 0 if the second sum is 0."""
        return self.total(what) / self.total(of) if self.total(of) else 0.0


@dataclass
class _Seen(Exchange):
    """An exchange that records its answers."""

    messages: list[AIMessage] = field(default_factory=list)

    async def judge(self, *asked: Any, **more: Any) -> tuple[AIMessage, ladder.Rung]:
        message, form = await super().judge(*asked, **more)
        self.messages.append(message)
        return message, form


class _Listening(Ledger):
    """A ledger that records the questions."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Request] = []

    @contextmanager
    def keeping(self, request: Request, settings: Settings) -> Iterator[None]:
        if not request.n:
            self.asked.append(request)
        with super().keeping(request, settings):
            yield


async def recorded_questions(each: int) -> list[Question]:
    """The first questions of every module of a mind, the same each time.

    Args:
        each: the most questions per module.
    """
    settings = Settings(
        mode="debate", model="offline", max_messages=_MESSAGES, memory_filtering=True, store="ephemeral", closing="off"
    )
    ledger = _Listening()
    scenario = Scenario(topic=_TOPIC, participants=shipped()[:2])
    try:
        await graph_for(settings).ainvoke(
            cast(Any, input_of(scenario, _RUN)), {"configurable": {LEDGER: ledger}}, context=settings
        )
    finally:
        await asyncio.to_thread(discard, _RUN)
    found: dict[str, list[Question]] = {module: [] for module in modules() if module not in OUTSIDE}
    # Requests of one turn come in any order.
    for request in sorted(ledger.asked, key=lambda request: (request.turn, request.agent)):
        questions = found.get(request.module)
        schema = _schema(request.schema) if request.schema else None
        if questions is not None and len(questions) < each and (schema or not request.schema):
            questions.append(Question(request.module, list(request.messages), schema))
    return [question for questions in found.values() for question in questions]


async def try_model(name: str, settings: Settings, questions: Sequence[Question]) -> Trial:
    """Ask a model the questions, one after another.

    Args:
        name: the model's name.
        settings: with which it is asked.
        questions: from `recorded_questions`.

    Raises:
        InputError: the model's name, key or file is wrong.
        ModelError: the model did not answer the first question.
    """
    parsed = parse_model_name(name)
    await ready_model(name, settings)
    trial = Trial(parsed.written)
    settings = settings.model_copy(update={"strict_answers": False})  # wrong answers are counted, not raised
    rows = {question.module: Row(question.module) for question in questions}
    for number, question in enumerate(questions):
        row = rows[question.module]
        row.asked += 1
        exchange = _Seen(settings, "", question.module, 0, parsed)
        started = asyncio.get_running_loop().time()
        try:
            with waiting_for(trial.model):
                await _ask(exchange, question, row)
        except TransientModelError:
            if number == 0:
                raise
            row.failed += 1
            continue
        finally:
            row.seconds += asyncio.get_running_loop().time() - started
        _judge(row, question, exchange.messages)
    trial.rows = list(rows.values())
    trial.form = str(ladder.rung(parsed))
    trial.context = await context_tokens(parsed, await ready_model(name, settings), settings)
    await asyncio.to_thread(_of_the_file, trial, parsed, settings)
    return trial


def verdict(trial: Trial) -> str:
    """What the model is good for, on one line."""
    usable, asked = int(trial.total("valid")), int(trial.total("asked"))
    if trial.share("valid") < _HARDLY:
        return f"Not good for conversations of minds: {usable} of {asked} answers were right."
    kept = "follows instructions" if trial.share("valid") >= _ENOUGH else f"{usable} of {asked} answers were right"
    seconds = trial.share("seconds") * max(_DEEP, _CALLS_OF_THREE / trial.at_once)
    pace = f"an utterance with three participants takes about {max(1, round(seconds))} s"
    if trial.parameters is not None and trial.parameters < _SMALL:
        return f"Good for trying out and for tests ({kept}; {pace}): the text of so small a model has little meaning."
    return f"Good for conversations ({kept}; {pace}). Read some to judge the quality of its text."


async def _ask(exchange: _Seen, question: Question, row: Row) -> None:
    """Ask as a mind does, and count whether the answer was valid, corrected or failed."""
    if question.schema is None:
        message, _ = await exchange.stream(question.messages)
        exchange.messages.append(message)
        row.valid += stop_problem(message) is None and bool(answer_text(message).strip())
        return
    _, outcome = await appraisal(exchange, question.messages, question.schema)
    if outcome != "failed":
        setattr(row, outcome, getattr(row, outcome) + 1)


def _judge(row: Row, question: Question, messages: Sequence[AIMessage]) -> None:
    """Count the tokens of all answers to a question, and check the first one."""
    for message in messages:
        usage: Any = message.usage_metadata or {}
        row.read += usage.get("input_tokens", 0)
        row.written += usage.get("output_tokens", 0)
        row.cached += usage.get("input_token_details", {}).get("cache_read") or 0
    first = messages[0]
    row.cut += first.response_metadata.get("finish_reason") in _CUT
    if question.schema is None:
        row.in_range += 1
        return
    found = find_object(answer_text(first), question.schema.model_fields)
    row.in_range += found is not None and within(found, question.schema.model_json_schema())


def within(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Whether every number in an answer is within the bounds that its schema sets."""
    root = root or schema
    if "$ref" in schema:
        schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return all(within(value[name], known[name], root) for name in known if name in value)
    if isinstance(value, list):
        return all(within(item, schema.get("items", {}), root) for item in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    # Pydantic writes a bound that follows a validator as `ge` or `le`.
    least, most = schema.get("minimum", schema.get("ge")), schema.get("maximum", schema.get("le"))
    return (least is None or value >= least) and (most is None or value <= most)


def _schema(name: str) -> type[BaseModel] | None:
    """The answer's schema by its name; None for a schema that is made during a debate."""
    for module in (judgement, mind):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            return found
    return None


def _of_the_file(trial: Trial, name: ModelName, settings: Settings) -> None:
    """Add what the model's file says: its parameters and how many requests it takes at once."""
    trial.at_once = settings.max_concurrency
    if name.provider == "llamacpp":
        header = read_header(model_file(name))
        trial.at_once = 1  # slots share the processor, so several are hardly faster
        size = re.fullmatch(r"([\d.]+)([MB])", header.size_label)
        trial.parameters = float(size[1]) * {"M": 1e6, "B": 1e9}[size[2]] if size else None
