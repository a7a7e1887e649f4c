"""The ledger of a run: every request to a model passes through it.

It counts requests and what they take, holds them to the run's budgets, and has each of them recorded; or it answers
them from a run's record, without a model. What a step that failed has used counts too, which the graph's own channel
`usage` cannot know.

LangGraph hands it down in a run's `configurable` under `LEDGER`, also into child graphs; of that, only plain values
get into checkpoints and traces. Without one, requests are made as they come.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

from langchain_core.runnables.config import ensure_config

from persimchat.models.failures import model_error
from persimchat.models.recording import STOPPED, Asking, Record, Recorded, Request, Row, from_record, prompt_digest
from persimchat.models.usage import Amount, Spending, Tally, cost_usd, prompt_tokens
from persimchat.state.conversation import add_usage
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.plain_text import clean
from persimchat.state.settings import Settings

LEDGER: Final = "persimchat_ledger"
"""Key of a run's ledger in `configurable`."""

ANSWER_TOKENS: Final = 150
"""What an answer is expected to take before a module has had one."""


_REMEDY: Final = "The run ended before, or its settings are others now; resume or branch it instead."


class NotRecorded(InputError):
    """A run is to be answered from a record which does not have the answer."""


class Sink(Protocol):
    """Where a ledger has its records written."""

    def call(self, row: Row) -> None:
        """Write one request."""

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text: its digest, and float32 values as base64."""


class Ledger:
    """Counts, limits and records the requests of one run. Used from one thread at a time.

    Args:
        settings: budgets and prices count.
        sink: where records go; nothing is recorded where it is None.
        earlier: the rows of the same run's requests before it was resumed; they count as spent.
        vectors: texts that were embedded before that: digest → base64, as recorded.
        answers: a run's record, out of which everything is answered. Budgets do not count then: nothing is spent.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sink: Sink | None = None,
        earlier: Iterable[Mapping[str, Any]] = (),
        vectors: Mapping[str, str] | None = None,
        answers: Record | None = None,
    ) -> None:
        self.spending = Spending()
        self._settings, self._sink, self._answers = settings, sink, answers
        self._sums: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._lengths: dict[str, Tally] = defaultdict(Tally)
        self._differences: dict[tuple[int, str, str], None] = {}
        self._embedded = dict(vectors or {})
        self._retold: set[Asking] = set()
        self._reservations: dict[int, int] = {}
        self._over = asyncio.Event()
        self._over.set()
        for row in earlier:
            self._count(row)
            self.spending.add(_taken(row))

    @property
    def replays(self) -> bool:
        """Whether requests are answered from a record."""
        return self._answers is not None

    @property
    def differences(self) -> list[tuple[int, str, str]]:
        """Questions that are other ones than those whose recorded answers they got: turn, agent, module."""
        return list(self._differences)

    def rows(self) -> list[dict[str, Any]]:
        """What was used so far, one row a module, agent and model, in the order of their names."""
        return [dict(self._sums[key]) for key in sorted(self._sums)]

    async def settled(self, *, within_s: float = 5.0) -> bool:
        """Wait until no request is under way, so that what a cancelled one has used is known.

        LangGraph does not wait for the steps that it cancels when another one fails.

        Args:
            within_s: seconds to wait at most.

        Returns:
            Whether all are over.
        """
        try:
            await asyncio.wait_for(self._over.wait(), within_s)
        except TimeoutError:
            return False
        return True

    @contextmanager
    def keeping(self, request: Request) -> Iterator[None]:
        """Count and record a request, however it ends, if it was admitted."""
        failed: str | None = None
        try:
            yield
        except BaseException as error:
            failed = self._why(error, request)
            raise
        finally:
            reservation = self._reservations.pop(id(request), None)
            if reservation is not None:
                row = request.row(failed, self._settings.prices)
                self.spending.settle(reservation, _taken(row))
                if not self._reservations:
                    self._over.set()
                self._keep(row)
                if row["answer"] is not None:
                    # A run goes on with what its record holds, so that a replay cannot differ from it.
                    request.answer = from_record(row["answer"])

    def admit(self, request: Request) -> None:
        """Count a request that is about to be made, and set aside what it is expected to take.

        Raises:
            BudgetExhausted: it would pass a budget, and must not be made.
        """
        made = self._lengths[request.module]
        given = prompt_tokens(request.sent)
        expected = round(made.output_tokens / made.requests) if made.requests else ANSWER_TOKENS
        cost = cost_usd(request.name, given, expected, self._settings.prices)
        need = Amount(given + expected, cost or 0.0)
        self._reservations[id(request)] = self.spending.reserve(need, self._settings)
        self._over.clear()

    def recorded(self, request: Request, answers: int) -> Recorded:
        """What became of a question according to the record.

        All that the agent's module took in this turn is counted and recorded as it was then, failures too.

        Args:
            request: for the question.
            answers: how many answers the exchange has had.

        Raises:
            NotRecorded: it was not asked.
        """
        assert self._answers is not None
        asking: Asking = (request.turn, request.agent, request.module)
        found = self._answers.find((*asking, answers), prompt_digest(request.messages, request.schema))
        if found is None:
            who = f"agent {request.agent}, " if request.agent else ""
            raise NotRecorded(
                "there is no recorded answer",
                where=f"{who}module {request.module}, turn {request.turn}",
                remedy=_REMEDY,
            )
        if found.changed:
            self._differences[asking] = None
        for row in self._answers.rows_of(asking) if asking not in self._retold else ():
            self.spending.add(_taken(row))
            self._keep(row)
        self._retold.add(asking)
        return found

    def vector(self, text: str) -> str:
        """A recorded embedding: float32 values as base64.

        Args:
            text: the text's digest.

        Raises:
            NotRecorded: there is none.
        """
        assert self._answers is not None
        found = self._answers.vectors.get(text)
        if found is None:
            raise NotRecorded("there is no recorded embedding of a text", remedy=_REMEDY)
        return self.embedded(text, found)

    def embedded(self, text: str, vector: str) -> str:
        """Record an embedding, once a text.

        Args:
            text: the text's digest.
            vector: float32 values as base64.

        Returns:
            What is recorded of this text: a server may embed it a little differently every time.
        """
        if self._sink is None:
            return vector
        if text not in self._embedded:
            self._embedded[text] = vector
            self._sink.embedding(text, vector)
        return self._embedded[text]

    def _keep(self, row: Row) -> None:
        self._count(row)
        if self._sink is not None:
            self._sink.call(row)

    def _count(self, row: Mapping[str, Any]) -> None:
        """Add a request to the sums; the request itself is not kept."""
        key = (row["module"], row["agent"], row["model"])
        fields = ("agent", "module", "model", "input_tokens", "output_tokens", "estimated", "cost_usd")
        call = {"calls": 1, **{name: row[name] for name in fields}}
        known = {"": self._sums[key]} if key in self._sums else {}
        (self._sums[key],) = add_usage({}, [known, [call]]).values()
        if row["failed"] is None:
            made = self._lengths[row["module"]]
            made.requests += 1
            made.output_tokens += row["output_tokens"]

    def _why(self, error: BaseException, request: Request) -> str:
        """Why a request failed, as its user is told."""
        if not isinstance(error, Exception):
            return STOPPED
        if not isinstance(error, PerSimChatError):
            error = model_error(
                error,
                request.name,
                agent=request.agent,
                module=request.module,
                turn=request.turn,
                timeout_s=self._settings.timeout_s,
            )
        return clean(str(error))


def current_ledger() -> Ledger | None:
    """The ledger of the run whose node is being executed; None where the graph is used without one."""
    found = ensure_config().get("configurable", {}).get(LEDGER)
    return found if isinstance(found, Ledger) else None


def _taken(row: Mapping[str, Any]) -> Amount:
    return Amount(row["input_tokens"] + row["output_tokens"], row["cost_usd"] or 0.0)
