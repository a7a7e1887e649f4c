"""The requests of a world to models: what they are for, how many a day may have, and the bare model's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from ...models.answers import answer_text
from ...models.exchange import Exchange
from ...models.ledger import LEDGER, Ledger
from ...models.recording import Request, Row
from ...models.spoken import spoken_words
from ...state.errors import DayBudgetExhausted
from ...state.settings import Settings
from ..log import Log
from .events import Asked

UNASKED: Final = 0.8
"""The share of a day's requests after which agents say nothing unasked."""
_TOKENS, _MOST_TOKENS = 1_024, 8_192
"""The most tokens of the bare model's answer, unless the client says otherwise, and whatever it says."""
_KINDS: Final[dict[str, type[BaseMessage]]] = {
    "system": SystemMessage,
    "developer": SystemMessage,
    "assistant": AIMessage,
}
_ON: Final = "kind = 'asked_model' AND substr(body ->> '$.at', 1, 10)"
_MADE: Final = f"""
    SELECT count(*) - count(CASE WHEN body ->> '$.calls' = 0 THEN 1 END) FROM events WHERE {_ON} = ?1 AND number >
    coalesce((SELECT number FROM events WHERE {_ON} < ?1 ORDER BY number DESC LIMIT 1), 0)
"""

talking_with: ContextVar[str] = ContextVar("talking_with", default="")
"""The id of the person for whom requests are made."""


class LoggedRequests:
    """Writes the requests of a world to its log: when each was made, and for whom.

    Args:
        log: of the world.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def call(self, row: Row) -> None:
        """Write one request."""
        at = datetime.now().isoformat(timespec="seconds")
        self._log.append_soon([Asked.model_construct(**vars(row), at=at, person=talking_with.get())])

    def embedding(self, text: str, vector: str) -> None:
        """Nothing: a world is not made again from its log."""


def made_on(log: Log, day: str) -> int:
    """How many requests a world made on a day (ISO)."""
    ((made,),) = log.rows(_MADE, day)
    return int(made)


class DayLedger(Ledger):
    """The ledger of a world: refuses requests beyond `companion.calls_a_day`. A day ends at midnight, local time.

    Args:
        log: of the world.
        where: the world, for errors.
        now: the time of the machine; a game's clock does not count, because requests cost as much as ever.
    """

    def __init__(self, log: Log, where: str, now: Callable[[], datetime] = datetime.now) -> None:
        super().__init__(sink=LoggedRequests(log))
        self._where, self._now, self._day = where, now, now().date()
        self._made = made_on(log, self._day.isoformat())

    @property
    def made(self) -> int:
        """Requests made today."""
        today = self._now().date()
        if today != self._day:
            self._day, self._made = today, 0
        return self._made

    def may_speak_unasked(self, settings: Settings) -> bool:
        """Whether so little is used that agents may speak unasked."""
        return self.made < UNASKED * settings.companion.calls_a_day

    def admit(self, request: Request, settings: Settings) -> None:
        """Count a request before it is made.

        Raises:
            DayBudgetExhausted: today's requests are used up.
            BudgetExhausted: it would exceed another budget.
        """
        limit = settings.companion.calls_a_day
        if self.made >= limit:
            midnight = datetime.combine(self._day + timedelta(days=1), datetime.min.time())
            raise DayBudgetExhausted(limit, midnight.isoformat(sep=" ", timespec="minutes"), where=self._where)
        super().admit(request, settings)
        self._made += 1


async def plain_answer(
    ledger: Ledger,
    settings: Settings,
    said: Sequence[tuple[str, str]],
    *,
    person: str,
    tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
) -> str:
    """The answer of the model that words a world's utterances; counts in its budget, and no agent hears of it.

    Args:
        ledger: of the world.
        settings: of the world.
        said: role and text of each message.
        person: id of the person for whom it is asked, so that forgetting them forgets this request, too.
        tokens: the most tokens of the answer.
        temperature: of the answer; None: the settings'.
        seed: of the answer; None: the settings'.

    Raises:
        ModelError: the model failed.
        BudgetExhausted: the world's budget of the day is used up.
    """
    asked = [_KINDS.get(role, HumanMessage)(text) for role, text in said]
    limited = settings.model_copy(update={"answer_tokens": min(tokens or _TOKENS, _MOST_TOKENS)})
    exchange = Exchange.on_behalf(limited, "", "natural_language", 0, "plain")
    fields: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
    if seed is not None and exchange.takes_seed:
        fields["seed"] = seed

    async def answer(_: None) -> str:
        talking_with.set(person)
        message, _seconds = await exchange.stream(asked, quietly=True, **fields)
        return spoken_words(answer_text(message))

    return await RunnableLambda(answer).ainvoke(None, {"configurable": {LEDGER: ledger}})
