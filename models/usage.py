"""Accounting: requests, tokens and cost of one question, and the spending of a run within its budgets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from ..prompts.blocks import estimated_tokens
from ..state.document import table
from ..state.errors import BudgetExhausted
from ..state.minds.mind import Call
from ..state.settings import Settings
from .answers import answer_text
from .naming import ModelName

Price = tuple[float, ...]
"""USD per million tokens: of prompts, of answers, and optionally of cached prompt tokens."""
Prices = Mapping[str, Price]

_MOST_CHARACTERS: Final = 50
"""The most characters of a token, on average over a text; words have five."""
_MOST_TOKENS: Final = 4
"""The most tokens of a character, in scripts and signs that a model hardly knows."""
_FORM_TOKENS: Final = 20_000
"""The most tokens of a request besides its texts: schemas, the chat template."""
_THINKING_TOKENS: Final = 200_000
"""The most tokens of an answer besides its text: thinking."""
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass
class Tally:
    """All requests made for one question.

    Attributes:
        requests: requests made, refused ones included.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the answers.
        cached_tokens: the part of `input_tokens` that servers took from their caches, as they report it.
        estimated: whether any of the counts is an estimate.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False

    def add(self, prompt: Iterable[BaseMessage], answer: AIMessage) -> None:
        """Count an answer's tokens, as the server reports them if that is plausible, else estimated from the texts.

        An implausible count would let a run exceed its budget, or end it at once.
        """
        given, made, cached = _reported(answer)
        asked, said = list(prompt), answer_text(answer)
        self.estimated = self.estimated or bool(answer.response_metadata.get("estimated"))
        if given is None or not _believed(given, sum(len(str(message.text)) for message in asked), _FORM_TOKENS):
            self.estimated, given = True, prompt_tokens(asked)
        if made is None or not _believed(made, len(said), _THINKING_TOKENS):
            self.estimated, made = True, estimated_tokens(said)
        self.input_tokens += given
        self.output_tokens += made
        self.cached_tokens += cached if cached <= given else 0

    def sum(self, other: Tally) -> None:
        """Add the use of other requests."""
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cached_tokens += other.cached_tokens
        self.estimated = self.estimated or other.estimated

    def call(self, name: ModelName, *, agent: str, module: str, turn: int, prices: Prices) -> Call:
        """The accounting row."""
        call = Call(
            agent=agent,
            module=module,
            model=name.written,
            turn=turn,
            calls=self.requests,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            estimated=self.estimated,
            cost_usd=cost_usd(name, self.input_tokens, self.output_tokens, prices, cached_tokens=self.cached_tokens),
        )
        if self.cached_tokens:
            call["cached_tokens"] = self.cached_tokens
        return call


@dataclass(frozen=True)
class Amount:
    """Tokens, read and written together, and US dollars."""

    tokens: int = 0
    usd: float = 0.0


@dataclass
class Spending:
    """What a run has spent, and what is reserved for its requests under way.

    Attributes:
        calls: requests made, those under way included.
        tokens: of finished requests.
        usd: of finished requests.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    _reserved: dict[int, Amount] = field(default_factory=dict)

    @property
    def under_way(self) -> int:
        """Requests under way."""
        return len(self._reserved)

    @property
    def reserved(self) -> Amount:
        """The amount reserved for the requests under way."""
        # Summed each time: they are few, and no rounding error remains when none is under way.
        held = self._reserved.values()
        return Amount(sum(amount.tokens for amount in held), sum(amount.usd for amount in held))

    def reserve(self, need: Amount, settings: Settings) -> int:
        """Count a request before it is made, and reserve its expected use.

        Returns:
            The reservation, for `settle`.

        Raises:
            BudgetExhausted: the request would exceed a budget; it is not counted, and must not be made.
        """
        if settings.budget_calls is not None and self.calls >= settings.budget_calls:
            raise BudgetExhausted("budget_calls", settings.budget_calls, self.calls)
        held = self.reserved if (settings.budget_tokens, settings.budget_usd) != (None, None) else Amount()
        for budget, spent, needed in (
            ("budget_tokens", self.tokens, held.tokens + need.tokens),
            ("budget_usd", self.usd, held.usd + need.usd),
        ):
            limit = getattr(settings, budget)
            if limit is not None and spent + needed > limit:
                raise BudgetExhausted(budget, limit, spent, needed)
        self.calls += 1
        self._reserved[self.calls] = need
        return self.calls

    def settle(self, reservation: int, taken: Amount) -> None:
        """Replace a request's reservation by its actual use."""
        del self._reserved[reservation]
        self._add(taken)

    def add(self, taken: Amount, calls: int = 1) -> None:
        """Count finished requests without reservations: earlier ones of the same run, or recorded ones."""
        self.calls += calls
        self._add(taken)

    def _add(self, taken: Amount) -> None:
        self.tokens += taken.tokens
        self.usd += taken.usd


Row = Mapping[str, Any]


def summed(first: Row | None, second: Row) -> dict[str, Any]:
    """The sum of two accounting rows of one agent's module and model; an unknown cost makes the sum's unknown.

    Args:
        first: `calls`, tokens and `cost_usd`; None for nothing.
        second: the same.
    """
    if first is None:
        return dict(second)
    made = {**first, "estimated": first["estimated"] or second["estimated"]}
    for name in ("calls", "input_tokens", "output_tokens"):
        made[name] += second[name]
    if cached := first.get("cached_tokens", 0) + second.get("cached_tokens", 0):
        made["cached_tokens"] = cached
    costs = (first.get("cost_usd"), second.get("cost_usd"))
    made["cost_usd"] = None if None in costs else sum(costs)
    return made


def prompt_tokens(messages: Iterable[BaseMessage]) -> int:
    """The estimated tokens of a prompt, from the length of its texts."""
    return sum(estimated_tokens(str(message.text)) for message in messages)


def cost_usd(
    name: ModelName, input_tokens: int, output_tokens: int, prices: Prices, *, cached_tokens: int = 0
) -> float | None:
    """The cost of tokens in US dollars, or None if the model's price is not known.

    Args:
        name: the model.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the answers.
        prices: the user's own prices, by the name as written or the model's bare name; they override list prices.
        cached_tokens: the part of `input_tokens` that came from the server's cache; without a price of their own, they
            cost as much as the others.
    """
    price = prices.get(name.written) or prices.get(name.model) or list_price(name)
    if price is None:
        return None
    read, written, cached = (*price, price[0])[:3]
    return ((input_tokens - cached_tokens) * read + cached_tokens * cached + output_tokens * written) / 1_000_000


def list_price(name: ModelName) -> Price | None:
    """The list price of a model, in US dollars per million tokens (`LIST_PRICES`); None if it is not known."""
    if name.provider == "offline":
        return (0.0, 0.0)
    return (
        LIST_PRICES.get(name.model) or LIST_PRICES.get(_SNAPSHOT.sub("", name.model))
        if name.provider == "openai"
        else None
    )


_PRICES: Final = table(__file__, "prices.yaml")
PRICES_AS_OF: Final = str(_PRICES["as_of"])
"""Year and month of the list prices."""
LIST_PRICES: Final[dict[str, Price]] = {
    model: tuple(map(float, price)) for model, price in _PRICES["usd_per_million"].items()
}
"""Known list prices: model → USD per million tokens (input, output, cached input); `prices.yaml` has date and source.

Read once at import: no file is read in an event loop."""


def _reported(answer: AIMessage) -> tuple[int | None, int | None, int]:
    """The tokens of prompt and answer as the server counts them, and the cached tokens of the prompt.

    A count that the server does not report, or not as a number, is None; for cached tokens 0.
    """
    usage: Mapping[str, Any] = answer.usage_metadata or {}
    raw = answer.response_metadata.get("token_usage")
    told: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    return (
        _count(usage.get("input_tokens")) or _count(told.get("prompt_tokens")),
        _count(usage.get("output_tokens")) or _count(told.get("completion_tokens")),
        _part(usage, "input_token_details", "cache_read")
        or _part(told, "prompt_tokens_details", "cached_tokens")
        or _count(told.get("prompt_cache_hit_tokens"))
        or 0,
    )


def _part(usage: Mapping[str, Any], details: str, name: str) -> int | None:
    found = usage.get(details)
    return _count(found.get(name)) if isinstance(found, dict) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _believed(reported: int | None, length: int, unseen: int) -> bool:
    """Whether a reported count of tokens is plausible for a text.

    Args:
        reported: the count.
        length: characters of the text.
        unseen: the most additional tokens.
    """
    if reported is None or (reported == 0 and length):
        return False
    return length <= _MOST_CHARACTERS * (reported + 1) and reported <= _MOST_TOKENS * length + unseen
