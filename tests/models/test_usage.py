from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from persimchat.models.naming import parse_model_name
from persimchat.models.usage import LIST_PRICES, Tally, cost_usd, summed

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


def test_list_prices_are_usd_per_million_and_less_for_what_was_cached() -> None:
    assert LIST_PRICES["gpt-4o"] == (2.5, 10.0, 1.25)
    assert all(0 < cached < given_ < made for given_, made, cached in LIST_PRICES.values())


@pytest.mark.parametrize(
    ("name", "prices", "expected"),
    [
        ("openai:gpt-4o-mini", {}, 0.6 * 0.15 + 0.4 * 0.075 + 0.60),
        ("openai:gpt-4o-mini", {"gpt-4o-mini": (1.0, 1.0)}, 2.0),
        ("acme:x", {"acme:x": (1.0, 2.0, 0.5)}, 0.6 + 0.2 + 2.0),
    ],
)
def test_cached_tokens_cost_less_where_their_price_is_known(
    name: str, prices: dict[str, tuple[float, ...]], expected: float
) -> None:
    cost = cost_usd(parse_model_name(name), 1_000_000, 1_000_000, prices, cached_tokens=400_000)
    assert cost == pytest.approx(expected)


@given(TOKENS, TOKENS, st.floats(0, 1000), st.floats(0, 1000))
def test_without_a_price_of_their_own_cached_tokens_cost_as_much(
    tokens: int, cached: int, price_in: float, price_out: float
) -> None:
    name, prices = parse_model_name("acme:x"), {"acme:x": (price_in, price_out)}
    some = cost_usd(name, tokens, 1, prices, cached_tokens=min(cached, tokens))
    assert some == pytest.approx(cost_usd(name, tokens, 1, prices))


def _usage(**more: Any) -> Any:
    return {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, **more}


@pytest.mark.parametrize(
    ("answer", "cached"),
    [
        (AIMessage("y", usage_metadata=_usage(input_token_details={"cache_read": 60})), 60),
        (AIMessage("y", usage_metadata=_usage(input_token_details={"cache_read": 100})), 100),
        (AIMessage("y", usage_metadata=_usage(input_token_details={"cache_read": 101})), 0),
        (AIMessage("y", usage_metadata=_usage(input_token_details={})), 0),
        (AIMessage("y", usage_metadata=_usage()), 0),
        (AIMessage("y", usage_metadata=_usage(), response_metadata={"token_usage": {"prompt_cache_hit_tokens": 7}}), 7),
        (
            AIMessage("y", response_metadata={"token_usage": {"prompt_tokens_details": {"cached_tokens": 9}}}),
            9,
        ),
    ],
)
def test_cached_tokens_are_believed_up_to_those_of_the_prompt(answer: AIMessage, cached: int) -> None:
    tally = Tally()
    tally.add([HumanMessage("x" * 400)], answer)
    assert (tally.input_tokens, tally.cached_tokens) == (100, cached)


JSON_VALUE: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(JSON_VALUE, JSON_VALUE)
def test_whatever_a_server_says_of_its_cache_the_count_is_one_of_the_prompt(cached: Any, hit: Any) -> None:
    told = {"prompt_tokens_details": {"cached_tokens": cached}, "prompt_cache_hit_tokens": hit}
    tally = Tally()
    tally.add([HumanMessage("x" * 400)], AIMessage("y", response_metadata={"token_usage": told}))
    assert 0 <= tally.cached_tokens <= tally.input_tokens == 100


def test_an_accounting_row_says_nothing_of_caches_where_nothing_came_from_one() -> None:
    name, asked = parse_model_name("acme:x"), {"agent": "Ann", "module": "plan", "turn": 1}
    plain, cached = Tally(1, 10, 2), Tally(1, 10, 2, cached_tokens=8)
    assert "cached_tokens" not in plain.call(name, **asked, prices={})
    call = cached.call(name, **asked, prices={"acme:x": (1.0, 0.0, 0.5)})
    assert call["cached_tokens"] == 8
    assert call["cost_usd"] == pytest.approx(6e-6)


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


USED = st.lists(
    st.fixed_dictionaries(
        {
            "calls": st.integers(0, 9),
            "input_tokens": st.integers(0, 1000),
            "output_tokens": st.integers(0, 1000),
            "estimated": st.booleans(),
            "cost_usd": st.none() | st.integers(0, 100).map(float),
        },
        optional={"cached_tokens": st.integers(1, 50)},
    ),
    min_size=1,
    max_size=6,
)


@given(USED)
def test_rows_add_up_however_they_are_batched(rows: list[Any]) -> None:
    given_before = copy.deepcopy(rows)
    total = functools.reduce(summed, rows, None)
    assert total is not None
    half = len(rows) // 2
    if half:
        assert summed(functools.reduce(summed, rows[:half]), functools.reduce(summed, rows[half:])) == total
    for name in ("calls", "input_tokens", "output_tokens"):
        assert total[name] == sum(row[name] for row in rows)
    assert total.get("cached_tokens", 0) == sum(row.get("cached_tokens", 0) for row in rows)
    assert total["estimated"] == any(row["estimated"] for row in rows)
    costs = [row["cost_usd"] for row in rows]
    assert total["cost_usd"] == (None if None in costs else sum(costs))
    assert rows == given_before
