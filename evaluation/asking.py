"""Asks models about conversations that are over: a judge, or agents as they were at a turn, within budgets.

Whatever is asked is a `Question`: a prompt with the schema of its answer, and the event that the answer becomes.
Answers about a run are events of its log, others are lines of a file. Each is written at once, so that no question is
paid twice, and a kill costs the answers that were under way.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Generic

from langchain_core.runnables.config import set_config_context
from pydantic import BaseModel

from ..graph.node import TRANSIENT
from ..models.asking import RefusedAnswer, UselessAnswer, judgement
from ..models.exchange import Exchange
from ..models.failures import FilteredError, TransientModelError
from ..models.ledger import ANSWER_TOKENS, LEDGER, Ledger
from ..models.naming import ModelName, parse_model_name
from ..models.recording import prompt_digest
from ..models.registry import model_name, ready_model
from ..models.usage import cost_usd
from ..prompts import fitting
from ..runs.events import Totals
from ..runs.folder.answers import A, Answered, Key
from ..runs.folder.lock import held
from ..runs.folder.reading import answers_of
from ..runs.folder.run_folder import RUN
from ..runs.kinds import KINDS
from ..runs.log import Kind, Log
from ..state.errors import BudgetExhausted, InputError, PerSimChatError, PromptTooLong
from ..state.plain_text import quoted, without_credentials
from ..state.setting import Module
from ..state.settings import Settings

MODULE: Final = "evaluation"
MANY_CALLS: Final = 1_000
"""More calls than these are made only after somebody has agreed."""
NOT_ASKED: Final = "not asked"
"""The reason of an answer that is missing because a budget was exhausted first."""
AGAIN: Final = frozenset({"too long"})
"""Reasons for a missing answer that cost nothing to find, and may be gone with another setting: they are looked for
again."""

# A question


@dataclass(frozen=True)
class Asked:
    """What is asked, and of whom.

    Attributes:
        template: of the prompt.
        schema: of the answer.
        values: for the template.
        agent: who answers; empty for a judge.
        turn: utterances so far, when the agent was as it is asked.
        settings: with which the agent's model is found; None for a judge.
        module: as which the agent is asked.
    """

    template: str
    schema: type[BaseModel]
    values: dict[str, Any]
    agent: str = ""
    turn: int = 0
    settings: Settings | None = None
    module: Module = MODULE

    @property
    def question(self) -> fitting.Question:
        """The rendered question; not kept, because a study has thousands."""
        return fitting.Question.of(self.template, self.values)

    @cached_property
    def request(self) -> str:
        """The digest of the rendered question."""
        return prompt_digest(self.question.messages, self.schema.__name__)

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of the prompt."""
        return fitting.prompt_size(self.question.messages)

    @cached_property
    def by(self) -> str:
        """The name in records of the model that answers for the agent; empty for a judge."""
        return "" if self.settings is None else judge_name(model_name(self.settings, self.agent, self.module))


@dataclass(frozen=True)
class Question(Generic[A]):
    """One question, and the event that its answer becomes.

    Attributes:
        asked: what is asked.
        kind: of the event.
        fields: what the event says besides the answer.
        about: the run, pair or agent that it is about, for errors.
        seeded: what tells its seed from those of others.
        repeat: the number of the answer, from 1.
        read: what the event says of a valid answer; by default, all of the answer's own fields.
    """

    asked: Asked
    kind: type[A]
    fields: Mapping[str, Any]
    about: str
    seeded: Sequence[str | int]
    repeat: int = 1
    read: Callable[[Any], Mapping[str, Any]] = BaseModel.model_dump

    def key(self, judge: str) -> Key:
        """The key of its event, if this judge is asked; an agent's own model is known."""
        return self.kind.model_construct(**self._known(judge)).key

    def _known(self, judge: str) -> dict[str, Any]:
        asked = self.asked
        return {**self.fields, "judge": asked.by or judge, "request": asked.request, "repeat": self.repeat}

    async def event(self, asking: Asking) -> A | None:
        """Ask, and make an event of the answer; None if a budget is exhausted. Raises as `Respondent.ask`."""
        known = {"seed": asking.judge.seed(*self.seeded), **self._known(asking.judge.name)}
        reply = await asking.put(self.asked, about=self.about, seed=known["seed"])
        if reply is None:
            return None
        answer = self.read(reply.value) if reply.value is not None else {}
        return self.kind(**{**known, **answer, "missing": reply.missing, **reply.used})


@dataclass(frozen=True)
class AnswerFile:
    """A log in which answers are kept that are about no single run.

    Attributes:
        path: of the file, in a folder that is held while it is written.
        name: of the kind of its events; their table has an s more.
        kind: of the answers.
    """

    path: Path
    name: str
    kind: type[Answered]

    def log(self, *, read_only: bool = False) -> Log:
        """Open it. Raises as `Log`."""
        return Log(self.path, {self.name: Kind(self.kind, f"{self.name}s")}, read_only=read_only)

    def rows(self) -> dict[Key, Any]:
        """Its answers by their keys, the last of several to one question; none where there is no file.

        Raises:
            InputError: it is damaged.
        """
        if not self.path.is_file():
            return {}
        with self.log(read_only=True) as log:
            return {row.key: row for row in log.read(self.name)}


Place = Path | AnswerFile | dict[Key, Any]
"""Where answers are kept: a run's folder, a file of their own, or memory."""


@dataclass(frozen=True)
class Questions(Generic[A]):
    """Questions whose answers are kept in one place.

    Attributes:
        place: where.
        kind: of the answers' events.
        units: all of them.
    """

    place: Place
    kind: type[A]
    units: Sequence[Question[A]]

    def rows(self) -> dict[Key, A]:
        """The answers in the place, also to other questions. Raises as `read_answers`."""
        return read_answers(self.place, self.kind)

    def left(self, judge: str, rows: dict[Key, A]) -> Sequence[Question[A]]:
        """The questions that have no answer."""
        return [unit for unit in self.units if not is_answered(rows, unit.key(judge))]

    def answers(self, judge: str = "") -> list[A]:
        """The answers to these questions, in their order."""
        rows = self.rows()
        return [rows[key] for unit in self.units if (key := unit.key(judge)) in rows]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        judge = asking.judge.name
        if not self.left(judge, self.rows()):
            return
        with opened(self.place, self.kind) as answers:

            async def one(unit: Question[A]) -> None:
                row = await unit.event(asking)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left(judge, answers.rows))


# Who is asked


@dataclass(frozen=True)
class Reply:
    """What came of a question.

    Attributes:
        value: the valid answer; None if it is missing.
        missing: why it is missing; else empty.
        used: calls, tokens and cost, as events record them.
    """

    value: BaseModel | None
    missing: str
    used: dict[str, Any]


class Cost(Totals):
    """What questions will take, estimated; the cost is None if a price is not known."""

    @property
    def must_be_agreed(self) -> bool:
        """Whether somebody has to agree before they are asked."""
        return self.calls > MANY_CALLS or bool(self.calls and self.cost_usd)


def judge_name(written: str) -> str:
    """A model's name in records, from its name as a user writes it.

    Raises:
        InputError: it is no model's name.
    """
    return without_credentials(parse_model_name(written).written)


class Respondent:
    """Models that are asked about recorded conversations.

    Args:
        settings: budgets, limits and seed count.
        models: those that are asked, each with the settings that it is asked with.

    Raises:
        InputError: the price of a model is not known and there is a budget in US dollars.
    """

    def __init__(self, settings: Settings, models: Iterable[tuple[ModelName, Settings]]) -> None:
        self.settings = settings
        self._asked = {without_credentials(model.written): (model, own) for model, own in models}
        for name in self._asked:
            if settings.budget_usd is not None and self._cost(name, 1_000_000, 1_000_000) is None:
                raise InputError(
                    f"budget_usd is set, and the price of {quoted(name, 60)} is not known",
                    remedy=f"Set prices={{'{name}': [USD per million tokens in, out]}}, or budget_tokens.",
                )

    @property
    def name(self) -> str:
        """The models, as records name them."""
        return ", ".join(self._asked) or "nobody"

    @property
    def models(self) -> list[str]:
        """The models, as users write them."""
        return [model.written for model, _ in self._asked.values()]

    @property
    def draws_lots(self) -> bool:
        """Whether the offline model answers for somebody."""
        return any(model.provider == "offline" for model, _ in self._asked.values())

    def _cost(self, name: str, given: int, made: int) -> float | None:
        model, own = self._asked[name]
        return cost_usd(model, given, made, own.prices)

    def cost_of(self, asked: Iterable[Asked]) -> Cost:
        """What asking these questions will take, if every first answer is valid."""
        sizes: dict[str, list[int]] = {}
        for one in asked:
            sizes.setdefault(one.by or self.name, []).append(one.tokens)
        costs = [self._cost(name, sum(own), len(own) * ANSWER_TOKENS) for name, own in sizes.items()]
        calls = sum(map(len, sizes.values()))
        known = None if None in costs else sum(cost for cost in costs if cost is not None)
        given = sum(map(sum, sizes.values()))
        made = calls * ANSWER_TOKENS
        return Cost(calls=calls, input_tokens=given, output_tokens=made, estimated=True, cost_usd=known)

    async def ready(self) -> None:
        """Make the models' clients, or start their servers.

        Raises:
            InputError, ModelError: one cannot be asked at all.
        """
        for model, own in self._asked.values():
            await ready_model(model.written, own)

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
        who = (self.settings, about) if asked.settings is None else (asked.settings, asked.agent)
        exchange = Exchange.on_behalf(*who, asked.module, asked.turn)
        exchange.seed = seed
        value, missing = None, ""
        for attempt in range(1, TRANSIENT.max_attempts + 1):
            try:
                value = await judgement(exchange, asked.question, asked.schema, alone=True)
            except (RefusedAnswer, FilteredError):
                missing = "refused"
            except UselessAnswer:
                missing = "unparseable"
            except PromptTooLong:
                missing = "too long"
            except TransientModelError:
                if attempt == TRANSIENT.max_attempts:
                    raise
                longest = TRANSIENT.initial_interval * TRANSIENT.backoff_factor ** (attempt - 1)
                await asyncio.sleep(min(TRANSIENT.max_interval, longest) * random.uniform(0.8, 1.2))
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
        super().__init__(settings, [(self.model, settings)])


def everybody(settings: Settings, asked: Iterable[Asked]) -> Respondent:
    """Agents, each with its own model.

    Args:
        settings: give budgets, limits and seed.
        asked: the questions to them.

    Raises:
        InputError: a model's name is wrong, or its price is not known and there is a budget.
    """
    by_model = {one.by: one for one in asked}.values()
    own = [(model_name(one.settings, one.agent, one.module), one.settings) for one in by_model if one.settings]
    return Respondent(settings, [(parse_model_name(written), given) for written, given in own])


# Asking


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
        """The reply to a question; None if a budget is exhausted. Raises as `Respondent.ask`."""
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
    judge: Respondent,
    parts: Sequence[Questions[Any]],
    *,
    ledger: Ledger | None = None,
    told: Callable[[], None] = lambda: None,
) -> Asking:
    """Ask everything that has no answer yet. What was answered before a failure is recorded.

    Args:
        judge: who is asked.
        parts: the questions, by the place of their answers.
        ledger: counts requests; a new one by default.
        told: called after every answer.

    Raises:
        InputError, ModelError: the model cannot be asked.
        MachineError: an answer cannot be written.
    """
    await judge.ready()
    asking, places = Asking(judge, ledger or Ledger(), told), asyncio.Semaphore(32)

    async def one(part: Questions[Any]) -> None:
        async with places:
            if not asking.exhausted:
                await part.judged(asking)

    with set_config_context({"configurable": {LEDGER: asking.ledger}}) as context:
        await asyncio.create_task(together(one(part) for part in parts), context=context)
    return asking


async def together(work: Iterable[Any]) -> None:
    """Do all of it side by side; the first failure that says what to do, if there is any, ends it and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failures:
        first: BaseException = failures.subgroup(PerSimChatError) or failures
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from failures


# Answers on disk


class Answers(Generic[A]):
    """The answers in a place that is open for more.

    Attributes:
        rows: by the question's key.
    """

    def __init__(self, rows: dict[Key, A], write: Callable[[A], None]) -> None:
        self.rows, self._write = rows, write

    def add(self, row: A) -> None:
        """Write an answer, unless the place has the same.

        Raises:
            MachineError: it cannot be written.
        """
        if self.rows.get(row.key) != row:
            self.rows[row.key] = row
            self._write(row)


def is_answered(rows: dict[Key, A], key: Key) -> bool:
    """Whether a question has an answer that counts, so that it need not be asked."""
    return key in rows and rows[key].missing not in AGAIN


def read_answers(place: Place, kind: type[A]) -> dict[Key, A]:
    """The answers in a place, by their keys.

    Args:
        place: where they are.
        kind: of the answers.

    Raises:
        InputError: the place is damaged.
    """
    if isinstance(place, dict):
        return place
    return place.rows() if isinstance(place, AnswerFile) else answers_of(place, kind)


@contextmanager
def opened(place: Place, kind: type[A]) -> Iterator[Answers[A]]:
    """Hold a place's folder, and open the place to be added to; a file is made if it is missing. Blocks.

    Args:
        place: where answers are.
        kind: of the answers.

    Raises:
        InputError: somebody else works in the folder, or the place is damaged.
        MachineError: it cannot be written.
    """
    if isinstance(place, dict):
        yield Answers(place, lambda row: None)
        return
    with held(place if isinstance(place, Path) else place.path.parent):
        rows = read_answers(place, kind)
        with Log(place / RUN, KINDS) if isinstance(place, Path) else place.log() as log:
            yield Answers(rows, lambda row: log.append_soon([row]))
