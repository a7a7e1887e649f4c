"""Accounting: what one question cost in requests, tokens and money, and what a run may still spend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

import yaml
from langchain_core.messages import AIMessage, BaseMessage

from persimchat.models.answers import answer_text
from persimchat.models.naming import ModelName
from persimchat.prompts.blocks import estimated_tokens
from persimchat.state.errors import BudgetExhausted
from persimchat.state.mind import Call
from persimchat.state.settings import Settings

Prices = Mapping[str, tuple[float, float]]

_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass
class Tally:
    """All requests made for one question.

    Attributes:
        requests: requests made, refused ones included.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the answers.
        estimated: whether any of the counts is an estimate.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False

    def add(self, prompt: Iterable[BaseMessage], answer: AIMessage) -> None:
        """Count an answer's tokens: as the server reports them, else estimated from the texts' lengths."""
        reported = _reported(answer)
        self.estimated = self.estimated or bool(answer.response_metadata.get("estimated"))
        if reported is None:
            self.estimated = True
            reported = (prompt_tokens(prompt), estimated_tokens(answer_text(answer)))
        self.input_tokens += reported[0]
        self.output_tokens += reported[1]

    def call(self, name: ModelName, *, agent: str, module: str, turn: int, prices: Prices) -> Call:
        """The accounting row."""
        return Call(
            agent=agent,
            module=module,
            model=name.written,
            turn=turn,
            calls=self.requests,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            estimated=self.estimated,
            cost_usd=cost_usd(name, self.input_tokens, self.output_tokens, prices),
        )


@dataclass(frozen=True)
class Amount:
    """Tokens, read and written together, and US dollars."""

    tokens: int = 0
    usd: float = 0.0


@dataclass
class Spending:
    """What a run has spent, and what is set aside for its requests under way.

    Attributes:
        calls: requests made, those under way included.
        tokens: of requests that are over.
        usd: of requests that are over.
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
        """What is set aside for the requests under way."""
        # Summed anew each time: they are few, and nothing is left over when none is under way.
        held = self._reserved.values()
        return Amount(sum(amount.tokens for amount in held), sum(amount.usd for amount in held))

    def reserve(self, need: Amount, settings: Settings) -> int:
        """Count a request that is about to be made, and set aside what it is expected to take.

        Returns:
            What `settle` is to be given.

        Raises:
            BudgetExhausted: it would pass a budget; it is not counted, and must not be made.
        """
        if settings.budget_calls is not None and self.calls >= settings.budget_calls:
            raise BudgetExhausted("budget_calls", settings.budget_calls, self.calls)
        held = self.reserved
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
        """Put what a request took in the place of what was set aside for it."""
        del self._reserved[reservation]
        self._add(taken)

    def add(self, taken: Amount) -> None:
        """Count a request that is over and was not reserved for: an earlier one of the same run, or a recorded one."""
        self.calls += 1
        self._add(taken)

    def _add(self, taken: Amount) -> None:
        self.tokens += taken.tokens
        self.usd += taken.usd


def prompt_tokens(messages: Iterable[BaseMessage]) -> int:
    """Tokens of a prompt, estimated from the length of its texts."""
    return sum(estimated_tokens(str(message.text)) for message in messages)


def cost_usd(name: ModelName, input_tokens: int, output_tokens: int, prices: Prices) -> float | None:
    """US dollars that tokens cost, or None where the model's price is not known.

    Args:
        name: the model.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the answers.
        prices: the user's own prices, by the name as written or the model's bare name; they go first.
    """
    price = prices.get(name.written) or prices.get(name.model)
    if price is None and name.provider == "offline":
        return 0.0
    if price is None and name.provider == "openai":
        price = LIST_PRICES.get(name.model) or LIST_PRICES.get(_SNAPSHOT.sub("", name.model))
    if price is None:
        return None
    return (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000


def _list_prices() -> dict[str, tuple[float, float]]:
    text = (files("persimchat.models") / "prices.yaml").read_text(encoding="utf-8")
    return {
        model: (float(given), float(made)) for model, (given, made) in yaml.safe_load(text)["usd_per_million"].items()
    }


LIST_PRICES: Final = _list_prices()
"""Known list prices: model → USD per million tokens (input, output); date and source stand in `prices.yaml`.

Read once at import: no file is read in an event loop."""


def _reported(answer: AIMessage) -> tuple[int, int] | None:
    usage = answer.usage_metadata
    if usage and (usage["input_tokens"] or usage["output_tokens"]):
        return usage["input_tokens"], usage["output_tokens"]
    raw = answer.response_metadata.get("token_usage")
    if isinstance(raw, dict) and raw.get("prompt_tokens"):
        return int(raw["prompt_tokens"]), int(raw.get("completion_tokens") or 0)
    return None
