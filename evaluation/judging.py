"""Asks a model to judge recorded conversations: one question at a time, many side by side, within budgets."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Protocol

from langchain_core.runnables.config import set_config_context
from pydantic import BaseModel

from persimchat.graph.node import TRANSIENT
from persimchat.models.asking import RefusedAnswer, UselessAnswer, judgement
from persimchat.models.exchange import Exchange
from persimchat.models.failures import FilteredError, TransientModelError
from persimchat.models.ledger import ANSWER_TOKENS, LEDGER, Ledger
from persimchat.models.naming import ModelName, parse_model_name
from persimchat.models.recording import prompt_digest
from persimchat.models.registry import ready_model
from persimchat.models.usage import cost_usd
from persimchat.prompts.fitting import Question, prompt_size
from persimchat.state.errors import BudgetExhausted, InputError, PerSimChatError, PromptTooLong
from persimchat.state.plain_text import quoted, without_credentials
from persimchat.state.settings import Settings

MODULE: Final = "evaluation"
MANY_CALLS: Final = 1_000
"""More calls than these are made only after somebody has agreed."""
_FOLDERS: Final = 32
"""The most folders that are held at the same time."""
_SHOWN: Final = 60


@dataclass(frozen=True)
class Asked:
    """A question about a conversation.

    Attributes:
        template: of the prompt.
        schema: of the answer.
        values: for the template.
    """

    template: str
    schema: type[BaseModel]
    values: dict[str, Any]

    @property
    def question(self) -> Question:
        """The rendered question; not kept, because a study has thousands."""
        return Question.of(self.template, self.values)

    @cached_property
    def request(self) -> str:
        """The digest of the rendered question."""
        return prompt_digest(self.question.messages, self.schema.__name__)

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of the prompt."""
        return prompt_size(self.question.messages)


@dataclass(frozen=True)
class Reply:
    """What came of a question.

    Attributes:
        value: the valid answer; None if it is missing.
        missing: why it is missing; else empty.
        used: calls, tokens and cost, as `runs/folder/judgements.py` records them.
    """

    value: BaseModel | None
    missing: str
    used: dict[str, Any]


def judge_name(written: str) -> str:
    """A judge's name in records, from its name as a user writes it.

    Raises:
        InputError: it is no model's name.
    """
    return without_credentials(parse_model_name(written).written)


class Respondent(ABC):
    """Who is asked about recorded conversations.

    Attributes:
        settings: budgets, limits and seed count.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in records."""

    @property
    @abstractmethod
    def models(self) -> Sequence[str]:
        """The models that are asked, as users write them."""

    @abstractmethod
    def cost_of(self, asked: Iterable[Asked]) -> Cost:
        """What asking these questions will take, if every first answer is valid."""

    @abstractmethod
    async def ready(self) -> None:
        """Raises an InputError or a ModelError if it cannot be asked at all."""

    @abstractmethod
    def exchange(self, asked: Asked, about: str) -> Exchange:
        """The exchange in which a question is put."""

    def seed(self, *parts: str | int) -> int:
        """The seed of one request, from the settings' seed and what tells the request from all others."""
        text = "\0".join(map(str, (self.settings.seed, *parts)))
        return int.from_bytes(sha256(text.encode(errors="surrogatepass")).digest()[:4], "big") >> 1

    async def ask(self, asked: Asked, *, about: str, seed: int) -> Reply:
        """Put a question; an answer of no use is asked for once more, a server that fails for a while five times.

        Args:
            asked: the question.
            about: the run or pair that it is about, for errors.
            seed: of the request.

        Raises:
            BudgetExhausted: a request would have exceeded a budget, and was not made.
            InputError, ModelError: the model cannot be asked at all.
        """
        exchange = self.exchange(asked, about)
        exchange.seed = seed
        value, missing = None, ""
        for attempt in range(1, TRANSIENT.max_attempts + 1):
            try:
                value = await judgement(exchange, asked.question, asked.schema)
            except (RefusedAnswer, FilteredError):
                missing = "refused"
            except UselessAnswer:
                missing = "unparseable"
            except PromptTooLong:
                missing = "too long"
            except TransientModelError:
                if attempt == TRANSIENT.max_attempts:
                    raise
                await asyncio.sleep(_pause(attempt))
                continue
            break
        call = dict(exchange.call())
        names = ("calls", "input_tokens", "output_tokens", "estimated", "cost_usd")
        used = {name: call[name] for name in names} | {"cached_tokens": exchange.tally.cached_tokens}
        return Reply(value, missing, used)


class Judge(Respondent):
    """A model that judges conversations.

    Args:
        settings: `module_models.evaluation` names the model.
        offline: whether the offline model will do, which answers without sense.

    Raises:
        InputError: no model is named, or it is the offline model, or its price is not known and there is a budget.
    """

    def __init__(self, settings: Settings, *, offline: bool = False) -> None:
        super().__init__(settings)
        written = settings.module_models.get(MODULE)
        if not written:
            raise InputError("no judge is named", remedy="Name a model: --by openai:gpt-4o-mini, for example.")
        self.model: ModelName = parse_model_name(written)
        if self.model.provider == "offline" and not offline:
            raise InputError(
                "the offline model cannot judge: it would make numbers out of nothing",
                where="the judge",
                remedy="Name another model with --by, or by: in a file; persimchat models shows which there are.",
            )
        if settings.budget_usd is not None and self.price is None:
            raise InputError(
                f"budget_usd is set, and the price of {quoted(self.model.written, _SHOWN)} is not known",
                remedy=f"Set prices={{'{self.name}': [USD per million tokens in, out]}}, or budget_tokens.",
            )

    @property
    def name(self) -> str:
        """Its name in records."""
        return judge_name(self.model.written)

    @property
    def models(self) -> list[str]:
        """The model."""
        return [self.model.written]

    @property
    def price(self) -> float | None:
        """US dollars for a million tokens in and a million out together; None if the price is not known."""
        return cost_usd(self.model, 1_000_000, 1_000_000, self.settings.prices)

    async def ready(self) -> None:
        """Make the model's client, or start its server."""
        await ready_model(self.model.written, self.settings)

    def exchange(self, asked: Asked, about: str) -> Exchange:
        """An exchange with the model."""
        return Exchange.on_behalf(self.settings, about, MODULE, 0)

    def cost_of(self, asked: Iterable[Asked]) -> Cost:
        """What asking these questions will take, if every first answer is valid."""
        calls = given = 0
        for one in asked:
            calls, given = calls + 1, given + one.tokens
        made = calls * ANSWER_TOKENS
        return Cost(calls, given, made, cost_usd(self.model, given, made, self.settings.prices))


def _pause(attempt: int) -> float:
    longest = TRANSIENT.initial_interval * TRANSIENT.backoff_factor ** (attempt - 1)
    return min(TRANSIENT.max_interval, longest) * random.uniform(0.8, 1.2)


@dataclass(frozen=True)
class Cost:
    """What questions will take.

    Attributes:
        calls: requests.
        input_tokens: estimated.
        output_tokens: estimated.
        cost_usd: None if the price is not known.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    @property
    def must_be_agreed(self) -> bool:
        """Whether somebody has to agree before they are asked."""
        return self.calls > MANY_CALLS or bool(self.calls and self.cost_usd)


class Part(Protocol):
    """The questions whose answers go to one file."""

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer."""


class Unit(Protocol):
    """One question."""

    @property
    def asked(self) -> Asked:
        """The question."""


class Questions(Part, Protocol):
    """Questions with the answers that they have so far."""

    @property
    def units(self) -> Sequence[Unit]:
        """All questions."""

    def rows(self) -> Any:
        """The answers."""

    def left(self, judge: str, rows: Any) -> Sequence[Unit]:
        """The questions without an answer."""


@dataclass
class Asking:
    """Questions being asked.

    Attributes:
        judge: who is asked.
        ledger: counts requests, and keeps to the budgets.
        told: called after every answer.
        exhausted: why a budget ended it; empty while none has.
    """

    judge: Respondent
    ledger: Ledger
    told: Callable[[], None] = lambda: None
    exhausted: str = ""
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        settings = self.judge.settings
        self._slots = asyncio.Semaphore(settings.max_concurrency if settings.concurrent else 1)

    async def put(self, asked: Asked, *, about: str, seed: int) -> Reply | None:
        """The reply to a question; None if a budget is exhausted. Raises as `Judge.ask`."""
        async with self._slots:
            if self.exhausted:
                return None
            try:
                reply = await self.judge.ask(asked, about=about, seed=seed)
            except BudgetExhausted as error:
                self.exhausted = str(error)
                return None
        self.told()
        return reply


async def judge_all(
    judge: Respondent, parts: Sequence[Part], *, ledger: Ledger | None = None, told: Callable[[], None] = lambda: None
) -> Asking:
    """Ask everything that has no answer yet. What was answered before a failure is recorded.

    Args:
        judge: who is asked.
        parts: the questions, by the file of their answers.
        ledger: counts requests; a new one by default.
        told: called after every answer.

    Raises:
        InputError, ModelError: the model cannot be asked.
        MachineError: an answer cannot be written.
    """
    ledger = ledger or Ledger()
    await judge.ready()

    async def all_parts() -> Asking:
        asking, folders = Asking(judge, ledger, told), asyncio.Semaphore(_FOLDERS)

        async def one(part: Part) -> None:
            async with folders:
                if not asking.exhausted:
                    await part.judged(asking)

        await together(one(part) for part in parts)
        return asking

    with set_config_context({"configurable": {LEDGER: ledger}}) as context:
        return await asyncio.create_task(all_parts(), context=context)


async def together(work: Iterable[Any]) -> None:
    """Do all of it side by side; the first failure ends it and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failures:
        raise _first(failures) from failures


def _first(failures: BaseExceptionGroup[Any]) -> BaseException:
    """The failure to report: one that says what to do, if there is any."""
    own = failures.subgroup(PerSimChatError)
    found: BaseException = own or failures
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
