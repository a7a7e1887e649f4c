"""The ledger of a conversation, through which every request to a model passes.

It counts requests with their tokens and cost, failed ones included, enforces the budgets, and records each request. In
a replay it answers requests from a run's record, without a model.

LangGraph passes it down in `configurable` under `LEDGER`, also into child graphs; only plain values get from there into
checkpoints and traces. A run brings its own ledger (`runs/run/resources.py`); without one, a conversation's graph makes
a ledger (`graph/compiled.py`). Questions outside of conversations have none.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol

from langchain_core.messages import AIMessage
from langchain_core.runnables.config import ensure_config

from ..state.errors import InputError, ModelError, PerSimChatError
from ..state.plain_text import clean
from ..state.settings import Settings
from .failures import model_error
from .recording import (
    STOPPED,
    Asking,
    Record,
    Recorded,
    Request,
    Row,
    asking_of,
    ends_a_step,
    from_record,
    prompt_digest,
)
from .usage import Amount, Spending, Tally, cost_usd, prompt_tokens, summed

LEDGER: Final = "persimchat_ledger"
"""Key of the ledger in `configurable`."""

ANSWER_TOKENS: Final = 150
"""The expected tokens of a module's first answer."""


_SUMMED: Final = (
    "agent", "module", "model", "input_tokens", "output_tokens", "cached_tokens", "estimated", "cost_usd",
)  # fmt: skip
"""The fields of a request's row that are summed up."""

_REMEDY: Final = "The recorded run ended earlier, or had other settings; resume or branch it instead."


class NotRecorded(InputError):
    """A replay needs an answer that the run's record does not have."""


class Cut(NamedTuple):
    """Texts are too long for their embedding's server: on whose behalf one was, and the characters that it takes."""

    agent: str
    model: str
    characters: int


class Sink(Protocol):
    """The destination of a ledger's records."""

    def call(self, row: Row) -> None:
        """Write one request."""

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text: its digest, and float32 values as base64."""


class Ledger:
    """Counts, limits and records the requests of one conversation. Used from one thread at a time.

    Attributes:
        spending: the requests, tokens and cost so far.
        shortened: the run's first request with a shortened prompt, because the model's context was too small; None
            before that, and if an earlier part of the run had one.

    Args:
        sink: the destination of records; None to record nothing.
        earlier: the rows of the same run's requests before it was resumed; they count as spent.
        vectors: the texts embedded before that: digest → base64, as recorded.
        answers: a run's record, which answers all requests (a replay). Budgets do not count then: nothing is spent.
        used: accounting rows of the same conversation so far, from its state; the conversation's nodes add later rows
            to the state (`news`). None if the state holds no such rows.
        told: of a replay: called with each question that is answered from the record.
    """

    def __init__(
        self,
        *,
        sink: Sink | None = None,
        earlier: Iterable[Row] = (),
        vectors: Mapping[str, str] | None = None,
        answers: Record | None = None,
        used: Mapping[str, Mapping[str, Any]] | None = None,
        told: Callable[[Request], None] | None = None,
    ) -> None:
        self.spending = Spending()
        self._sink, self._answers, self._told = sink, answers, told
        self._untold: dict[str, dict[str, Any]] | None = None
        self._sums: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._lengths: dict[str, Tally] = defaultdict(Tally)
        self._differences: dict[tuple[int, str, str], None] = {}
        self._embedded = dict(vectors or {})
        self._retold: set[Asking] = set()
        self._failures: dict[tuple[int, str], dict[str, str]] = {}
        self._reservations: dict[int, int] = {}
        self._over = asyncio.Event()
        self._over.set()
        self.shortened: Request | None = None
        self._told_of_shortening = False
        self.cut: Cut | None = None
        self._told_of_cut = False
        for row in earlier:
            self._told_of_shortening = self._told_of_shortening or bool(row.dropped)
            self._past(row)
        if used is not None:
            for sum_ in used.values():
                self._sum(sum_)
                taken = Amount(sum_["input_tokens"] + sum_["output_tokens"], sum_["cost_usd"] or 0.0)
                self.spending.add(taken, sum_["calls"])
            self._untold = {}

    @property
    def replays(self) -> bool:
        """Whether requests are answered from a record."""
        return self._answers is not None

    @property
    def differences(self) -> list[tuple[int, str, str]]:
        """Questions that differ from the recorded questions whose answers they got: turn, agent, module."""
        return list(self._differences)

    def rows(self) -> list[dict[str, Any]]:
        """The use so far, one row per module, agent and model, in the order of their names."""
        return [dict(self._sums[key]) for key in sorted(self._sums)]

    def news(self) -> dict[str, dict[str, Any]]:
        """The rows, by "module|agent|model", that have changed since the last call; for the state."""
        news = self._untold or {}
        self._untold = None if self._untold is None else {}
        return news

    async def settled(self, *, within_s: float = 30.0) -> bool:
        """Wait until no request is under way, so that the use of cancelled requests is known.

        LangGraph does not wait for the steps that it cancels when another step fails.

        Args:
            within_s: the most seconds to wait.

        Returns:
            Whether all requests are over.
        """
        try:
            await asyncio.wait_for(self._over.wait(), within_s)
        except TimeoutError:
            return False
        return True

    @contextmanager
    def preparing(self, request: Request, settings: Settings) -> Iterator[None]:
        """Record why a question was not put to its model; it does not count as a request."""
        request.started = time.perf_counter()
        try:
            yield
        except ModelError as error:
            row = request.row(_why(error, request, settings), settings.prices)
            self._write(row.model_copy(update={"calls": 0}))
            raise

    def worked_out(self, request: Request, answer: str, tokens: int, took_s: float, settings: Settings) -> None:
        """Record an answer that this machine worked out; it does not count as a request.

        Args:
            request: what was asked.
            answer: its text.
            tokens: how many it read.
            took_s: how long it took, in seconds.
            settings: of the simulation.
        """
        self._note_shortening(request)
        usage = {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}
        told = {"response_time_s": took_s, "model_name": request.name.written}
        request.answered(AIMessage(answer, usage_metadata=usage, response_metadata=told))
        row = request.row(None, settings.prices)
        self._write(row.model_copy(update={"calls": 0, "input_tokens": tokens, "output_tokens": 0, "estimated": False}))

    @contextmanager
    def keeping(self, request: Request, settings: Settings) -> Iterator[None]:
        """Count and record an admitted request, even if it fails; `settings` have prices and timeout."""
        failed: str | None = None
        try:
            yield
        except BaseException as error:
            failed = _why(error, request, settings)
            raise
        finally:
            reservation = self._reservations.pop(id(request), None)
            if reservation is not None:
                row = request.row(failed, settings.prices)
                self.spending.settle(reservation, _taken(row))
                if not self._reservations:
                    self._over.set()
                self._count(row)
                self._write(row)
                if row.answer is not None:
                    # The run uses the answer as recorded, so that a replay cannot differ from it.
                    request.answer = from_record(row.answer)

    def admit(self, request: Request, settings: Settings) -> None:
        """Count a request before it is made, and reserve its expected tokens and cost.

        Args:
            request: the request.
            settings: with the budgets and the prices.

        Raises:
            BudgetExhausted: the request would exceed a budget, and must not be made.
        """
        self._note_shortening(request)
        made = self._lengths[request.module]
        given = prompt_tokens(request.sent)
        expected = round(made.output_tokens / made.requests) if made.requests else ANSWER_TOKENS
        expected = min(expected, request.limit or expected)
        cost = cost_usd(request.name, given, expected, settings.prices)
        need = Amount(given + expected, cost or 0.0)
        self._reservations[id(request)] = self.spending.reserve(need, settings)
        self._over.clear()

    def recorded(self, request: Request, answers: int) -> Recorded:
        """The recorded requests and answer of a question.

        All recorded requests of the agent's module in this turn are counted and recorded again, failures too.

        Args:
            request: the request with the question.
            answers: the number of answers that the exchange has had.

        Raises:
            NotRecorded: the recorded run did not ask it.
        """
        assert self._answers is not None
        if self._told is not None:
            self._told(request)
        asking = asking_of(request)
        found = self._answers.find((*asking, answers), prompt_digest(request.messages, request.schema))
        if found is None:
            who = f"agent {request.agent}, " if request.agent else ""
            raise NotRecorded(
                "the run's record has no answer to a question",
                where=f"{who}module {request.module}, turn {request.turn}",
                remedy=_REMEDY,
            )
        if found.changed:
            self._differences[asking] = None
        for row in self._answers.rows_of(asking) if asking not in self._retold else ():
            self._past(row)
            self._write(row)
        self._retold.add(asking)
        return found

    def vector(self, text: str) -> str:
        """A recorded embedding: float32 values as base64.

        Args:
            text: the text's digest.

        Raises:
            NotRecorded: the record has none.
        """
        assert self._answers is not None
        found = self._answers.vectors.get(text)
        if found is None:
            raise NotRecorded("the run's record has no embedding of a text", remedy=_REMEDY)
        return self.embedded(text, found)

    def embedded(self, text: str, vector: str) -> str:
        """Record an embedding, once per text.

        Args:
            text: the text's digest.
            vector: float32 values as base64.

        Returns:
            The recorded embedding: a server may embed the same text slightly differently each time.
        """
        if self._sink is None:
            return vector
        if text not in self._embedded:
            self._embedded[text] = vector
            self._sink.embedding(text, vector)
        return self._embedded[text]

    def note_cut(self, cut: Cut) -> None:
        """Keep for the run's progress that texts are too long for their embedding's server; once."""
        if not self._told_of_cut:
            self.cut, self._told_of_cut = cut, True

    def _past(self, row: Row) -> None:
        """Count a finished request; a question that was not put to its model does not count."""
        if row.calls:
            self._count(row)
            self.spending.add(_taken(row))

    def failure_of(self, error: ModelError) -> str:
        """The failure of an agent's step in words: of an error, or of another module that failed at the same time.

        LangGraph reports any one of several errors. So that a run and its replay report the same one, it is the first
        in alphabetical order. The step's failures are then forgotten.

        Args:
            error: the one that LangGraph reported.
        """
        failures = self._failures.pop((error.turn or 0, error.agent), {}).values()
        return min(failures) if clean(str(error)) in failures else str(error)

    def note_failure(self, row: Row) -> None:
        """Keep a request's failure for `failure_of`, or forget the module's earlier one if it was answered."""
        key = (row.turn, row.agent)
        if row.failed is not None and row.failed != STOPPED:
            if ends_a_step(row.module):
                self._failures.setdefault(key, {})[row.module] = row.failed
        elif key in self._failures:
            self._failures[key].pop(row.module, None)

    def _note_shortening(self, request: Request) -> None:
        if any(request.dropped) and not self._told_of_shortening:
            self.shortened, self._told_of_shortening = request, True

    def _write(self, row: Row) -> None:
        self.note_failure(row)
        if self._sink is not None:
            self._sink.call(row)

    def _count(self, row: Row) -> None:
        """Add a request to the sums; the request itself is not kept."""
        taken = {name: getattr(row, name) for name in _SUMMED if name != "cached_tokens" or row.cached_tokens}
        self._sum({"calls": 1, **taken})
        if row.failed is None:
            made = self._lengths[row.module]
            made.requests += 1
            made.output_tokens += row.output_tokens

    def _sum(self, row: Mapping[str, Any]) -> None:
        key = (row["module"], row["agent"], row["model"])
        self._sums[key] = summed(self._sums.get(key), row)
        if self._untold is not None:
            self._untold["|".join(key)] = self._sums[key]


def _why(error: BaseException, request: Request, settings: Settings) -> str:
    """Why a request failed, in the words of the error."""
    if not isinstance(error, Exception):
        return STOPPED
    if not isinstance(error, PerSimChatError):
        error = model_error(
            error,
            request.name,
            agent=request.agent,
            module=request.module,
            turn=request.turn,
            timeout_s=settings.timeout_s,
        )
    return clean(str(error))


def current_ledger() -> Ledger | None:
    """The ledger of the conversation whose node is being executed; None outside of conversations."""
    found = ensure_config().get("configurable", {}).get(LEDGER)
    return found if isinstance(found, Ledger) else None


def _taken(row: Row) -> Amount:
    return Amount(row.input_tokens + row.output_tokens, row.cost_usd or 0.0)
