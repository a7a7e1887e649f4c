"""Accounting: what one question cost in requests, tokens and money."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import yaml
from langchain_core.messages import AIMessage, BaseMessage

from persimchat.models.answers import answer_text
from persimchat.models.naming import ModelName
from persimchat.prompts.blocks import estimated_tokens
from persimchat.state.mind import Call

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
            reported = (
                sum(estimated_tokens(str(message.text)) for message in prompt),
                estimated_tokens(answer_text(answer)),
            )
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
