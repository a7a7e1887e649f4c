from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from persimchat.models.naming import parse_model_name
from persimchat.models.usage import LIST_PRICES, Tally, cost_usd

TOKENS = st.integers(0, 10_000_000)


@pytest.mark.parametrize(
    ("name", "prices", "expected"),
    [
        ("offline", {}, 0.0),
        ("openai:gpt-4o-mini", {}, 0.15 + 0.60),
        ("openai:gpt-4o-mini-2024-07-18", {}, 0.15 + 0.60),
        ("openai:gpt-4o", {"openai:gpt-4o": (1.0, 1.0)}, 2.0),
        ("openai:gpt-4o", {"gpt-4o": (3.0, 1.0)}, 4.0),
        ("openai:unheard-of", {}, None),
        ("ollama:llama3.2", {}, None),
        ("ollama:llama3.2", {"llama3.2": (0.0, 0.0)}, 0.0),
        ("gpt-4o@http://localhost:8000/v1", {}, None),
        ("llamacpp:x.gguf", {}, None),
        ("azure:gpt-4o", {}, None),
    ],
)
def test_costs(name: str, prices: dict[str, tuple[float, float]], expected: float | None) -> None:
    cost = cost_usd(parse_model_name(name), 1_000_000, 1_000_000, prices)
    assert cost == (None if expected is None else pytest.approx(expected))


@given(TOKENS, TOKENS, st.floats(0, 1000), st.floats(0, 1000))
def test_cost_is_linear_in_tokens(given_: int, made: int, price_in: float, price_out: float) -> None:
    name, prices = parse_model_name("acme:x"), {"acme:x": (price_in, price_out)}
    whole = cost_usd(name, given_, made, prices)
    parts = [cost_usd(name, given_, 0, prices), cost_usd(name, 0, made, prices)]
    assert whole == pytest.approx(sum(p for p in parts if p is not None))


def test_list_prices_are_pairs_of_usd_per_million() -> None:
    assert LIST_PRICES["gpt-4o"] == (2.5, 10.0)
    assert all(0 < given_ < made for given_, made in LIST_PRICES.values())


def test_what_is_reported_goes_before_estimates() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    tally = Tally()
    tally.add([HumanMessage("x" * 400)], AIMessage("y" * 40, usage_metadata=usage))
    assert (tally.input_tokens, tally.output_tokens, tally.estimated) == (10, 5, False)
    tally.add([HumanMessage("x" * 400)], AIMessage("y" * 40))
    assert (tally.input_tokens, tally.output_tokens, tally.estimated) == (110, 15, True)


def test_zeros_count_as_not_reported_and_raw_counts_are_read() -> None:
    tally = Tally()
    zeros = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    tally.add([HumanMessage("x" * 4)], AIMessage("y" * 4, usage_metadata=zeros))
    assert tally.estimated
    raw = Tally()
    raw.add([], AIMessage("", response_metadata={"token_usage": {"prompt_tokens": 7, "completion_tokens": 3}}))
    assert (raw.input_tokens, raw.output_tokens, raw.estimated) == (7, 3, False)
