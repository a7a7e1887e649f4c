"""Every number among the settings has bounds, and true is no number."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from offenders import check_each

from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.errors import InputError
from persimchat.state.settings import RetrievalWeights, Settings

NUMBERS = [
    *(n for n, f in Settings.model_fields.items() if {int, float} & {f.annotation, *get_args(f.annotation)}),
    *(f"weights.{name}" for name in RetrievalWeights.model_fields),
]
ABSURD: list[Any] = [
    True,
    False,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    10**40,
    10**400,
    "true",
    "nan",
    "inf",
    "abc",
]


def test_all_are_found() -> None:
    assert {"max_messages", "requests_per_second", "seed", "budget_usd", "weights.recency"} <= set(NUMBERS)


def test_an_absurd_number_is_refused() -> None:
    def check(name: str, value: Any) -> None:
        with pytest.raises(InputError) as caught:
            load_settings(environment={}, **{name: value})
        assert name in str(caught.value)
        assert len(str(caught.value)) < 500

    check_each(product(NUMBERS, ABSURD), check)


@pytest.mark.parametrize("name", ["requests_per_second", "timeout_s", "budget_usd", "selection_temperature"])
def test_a_number_next_to_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} should be greater than or equal to"):
        load_settings(environment={}, **{name: 1e-300})


@pytest.mark.parametrize("text", ["true", "1e-300", "-1", ".inf", "9" * 400])
def test_the_same_from_everywhere(text: str, tmp_path: Path) -> None:
    """A file in YAML or JSON, the environment, and `--set`."""
    (tmp_path / "s.yaml").write_text(f"requests_per_second: {text}\n", encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"requests_per_second": text == "true" or text}), encoding="utf-8")
    for ask in (
        lambda: load_settings(tmp_path / "s.yaml", environment={}),
        lambda: load_settings(tmp_path / "s.json", environment={}),
        lambda: load_settings(environment={"PERSIMCHAT_REQUESTS_PER_SECOND": text}),
        lambda: load_settings(environment={}, **dict([parse_assignment(f"requests_per_second={text}")])),
    ):
        with pytest.raises(InputError, match="requests_per_second"):
            ask()


@pytest.mark.parametrize("price", [True, -1, math.nan, math.inf, 1e300])
def test_prices_have_bounds(price: Any) -> None:
    with pytest.raises(InputError, match="prices"):
        load_settings(environment={}, prices={"a": [price, 1]})
