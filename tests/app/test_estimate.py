"""`persimchat estimate`: what it says, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TOPIC = "Tea or coffee?"


def test_it_says_calls_tokens_and_cost_by_module_and_in_all(command: Run, tmp_path: Path) -> None:
    done = command("estimate", TOPIC, "-n", "3", "--messages", "6", "--model", "openai:gpt-4o-mini")
    assert (done.code, done.err) == (0, "")
    rows = {line.split("  ")[0]: line.split() for line in done.out.splitlines()}
    assert "3 participants, 6 utterances; model: openai:gpt-4o-mini" in done.out
    assert rows["perception"][1] == "18"
    total = rows["in all"]
    assert total[2] == "112"
    assert total[-1].startswith("$0.0")
    assert "if it ends after 3" in done.out
    assert "List prices as of " in done.out
    assert not list(tmp_path.iterdir())


@pytest.mark.proof
def test_a_debate_takes_so_much_at_most(command: Run) -> None:
    done = command("estimate", TOPIC, "--mode", "debate", "--choices", "tea,coffee", "--judge", "persona")
    assert done.code == 0, done.err
    assert "4 participants, at most 60 utterances" in done.out
    assert "openness" in done.out


def test_an_unknown_price_is_said_and_tokens_are_given(command: Run) -> None:
    done = command("estimate", TOPIC, "--messages", "2", "--model", "acme@http://127.0.0.1:9/v1")
    assert done.code == 0
    assert "No price is known for acme@http://127.0.0.1:9/v1: tokens only." in done.out
    assert "$" not in done.out


def test_own_prices_go_first(command: Run) -> None:
    prices = 'prices={"acme": [1000000, 0]}'
    done = command(
        "estimate", TOPIC, "--messages", "2", "--model", "acme@http://127.0.0.1:9/v1", "--set", prices, "--json"
    )
    total = json.loads(done.out)["at_most"]["total"]
    assert total["cost_usd"] == pytest.approx(total["input_tokens"], rel=1e-3)


def test_json_has_everything(command: Run) -> None:
    done = command("estimate", TOPIC, "--messages", "4", "--set", "budget_calls=5", "--model", "offline", "--json")
    found = json.loads(done.out)
    assert (found["at_most"]["utterances"], found["half"]["utterances"]) == (4, 2)
    assert found["reaches"] == ["budget_calls"]
    assert found["price_unknown"] == []
    assert found["at_most"]["module"].keys() >= {"perception", "natural_language", "emotion"}
    assert json.loads(command("estimate", TOPIC, "--messages", "1", "--model", "offline", "--json").out)["half"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no topic"),
        ((TOPIC, "--model", "nonsense"), "unknown model"),
        ((TOPIC, "--messages", "0"), "max_messages"),
        ((TOPIC, "--choices", "tea,,coffee"), "a choice is missing"),
        ((TOPIC, "--mode", "debate", "--baseline", "mad", "--messages", "2"), "no room"),
        ((TOPIC, "--participants", "Jarmila,Nobody At All"), "Nobody At All"),
        ((TOPIC, "--set", "nonsense=1"), "nonsense"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], said: str) -> None:
    done = command("estimate", *arguments)
    assert done.code == 2
    assert said in done.error
