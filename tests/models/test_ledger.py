"""The ledger: budgets that hold, and rows that tell what the server saw."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from typing import Any

import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from ledgers import RIGHT, WORDS, Kept, State, question, within, words
from loopback.answering import Fault, Reply

from persimchat.models.exchange import Exchange
from persimchat.models.failures import TransientModelError, is_transient
from persimchat.models.ledger import ANSWER_TOKENS, LEDGER, Ledger
from persimchat.models.recording import STOPPED
from persimchat.models.usage import Amount, Spending
from persimchat.state.errors import BudgetExhausted, ModelError
from persimchat.state.settings import Settings


async def test_a_budget_of_calls_is_exact_however_many_ask_at_once(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.02)
    settings = Settings(model=server.model(), budget_calls=7)
    ledger = Ledger(sink=sink)
    asked = [within(ledger, question(settings, agent=f"Agent {n}")) for n in range(20)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    refused = [result for result in results if isinstance(result, BudgetExhausted)]
    assert len(server.bodies()) == len(sink.rows) == 7
    assert len(refused) == 13
    assert (refused[0].budget, refused[0].limit, refused[0].spent) == ("budget_calls", 7, 7)
    assert str(refused[0]) == "The budget of 7 calls is used up: 7 were made and the next one was not."
    assert not is_transient(refused[0])
    assert not isinstance(refused[0], ModelError)


@pytest.mark.parametrize("budget", ["budget_tokens", "budget_usd"])
async def test_tokens_and_cost_pass_a_budget_by_no_more_than_the_estimates_error(
    budget: str, serve: Serve, sink: Kept
) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.01)
    limits = {"budget_tokens": 900, "budget_usd": 0.0009}
    prices = {server.model(): (1.0, 1.0)}
    settings = Settings.model_validate({"model": server.model(), "prices": prices, budget: limits[budget]})
    ledger = Ledger(sink=sink)
    asked = [within(ledger, question(settings, agent=f"Agent {n}")) for n in range(40)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    refused = [result for result in results if isinstance(result, BudgetExhausted)]
    assert refused and {error.budget for error in refused} == {budget}
    assert 0 < len(server.bodies()) == len(sink.rows) < 40
    spent = sum(row.input_tokens + row.output_tokens for row in sink.rows)
    # The server counts fewer tokens than are estimated here, so the budget is not passed at all.
    assert spent <= 900
    assert ledger.spending.reserved == Amount()


async def test_an_answer_that_is_longer_than_expected_is_the_last_one(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: "because " * 450)
    settings = Settings(model=server.model(), budget_tokens=400)
    ledger = Ledger(sink=sink)
    await within(ledger, words(settings))
    with pytest.raises(BudgetExhausted, match=r"The budget of 400 tokens is used up: 4\d\d were used; the next"):
        await within(ledger, words(settings))
    assert len(server.bodies()) == 1


async def test_an_answer_is_expected_to_be_as_long_as_the_modules_were(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    settings = Settings(model=server.model())
    ledger = Ledger()
    exchange = Exchange.on_behalf(settings, "Ann", "need_to_talk", 3)
    prompt = [HumanMessage("x" * 400)]
    request = exchange._asked(prompt, prompt, "")
    with ledger.keeping(request, settings):
        ledger.admit(request, settings)
        assert ledger.spending.reserved.tokens == 100 + ANSWER_TOKENS
        request.answered(AIMessage("x" * 80))
    with ledger.keeping(request, settings):
        ledger.admit(request, settings)
        assert ledger.spending.reserved.tokens == 100 + 20


COSTS = st.tuples(st.integers(0, 500), st.floats(0, 1), st.integers(0, 500), st.floats(0, 1))


@given(st.lists(COSTS, max_size=40), st.data())
def test_reservations_are_released_and_budgets_passed_by_errors_of_estimates_only(
    costs: list[tuple[int, float, int, float]], data: st.DataObject
) -> None:
    settings = Settings(budget_calls=25, budget_tokens=3000, budget_usd=5.0)
    spending = Spending()
    under_way: dict[int, tuple[int, float, int, float]] = {}
    error_tokens, error_usd, made = 0, 0.0, 0
    for cost in costs:
        while under_way and data.draw(st.booleans()):
            ended = data.draw(st.sampled_from(sorted(under_way)))
            need_tokens, need_usd, tokens, usd = under_way.pop(ended)
            spending.settle(ended, Amount(tokens, usd))
            error_tokens += max(0, tokens - need_tokens)
            error_usd += max(0.0, usd - need_usd)
        with contextlib.suppress(BudgetExhausted):
            under_way[spending.reserve(Amount(cost[0], cost[1]), settings)] = cost
            made += 1
        assert spending.reserved.tokens == sum(c[0] for c in under_way.values())
        assert spending.calls == made <= 25
        assert spending.tokens + spending.reserved.tokens <= 3000 + error_tokens
        assert spending.usd + spending.reserved.usd <= 5.0 + error_usd + 1e-9
    for ended, cost in under_way.items():
        spending.settle(ended, Amount(cost[2], cost[3]))
    assert spending.reserved == Amount()


def test_a_request_that_would_pass_a_budget_changes_nothing() -> None:
    spending = Spending()
    spending.reserve(Amount(60), Settings(budget_tokens=100))
    with pytest.raises(BudgetExhausted) as caught:
        spending.reserve(Amount(41), Settings(budget_tokens=100))
    assert (caught.value.limit, caught.value.spent) == (100, 0)
    assert "would have taken about 101" in str(caught.value)
    assert (spending.calls, spending.reserved) == (1, Amount(60))
    spending.reserve(Amount(40), Settings(budget_tokens=100))


async def test_rows_tell_what_the_server_saw_failures_and_refusals_too(serve: Serve, sink: Kept) -> None:
    server = serve([Reply('{"need_to_talk":11}'), RIGHT, Fault(500), WORDS], refuses={"json_schema"})
    settings = Settings(model=server.model(), prices={server.model(): (1.0, 2.0)})
    ledger = Ledger(sink=sink)
    answer = await within(ledger, question(settings))
    with pytest.raises(TransientModelError):
        await within(ledger, words(settings))
    spoken = await within(ledger, words(settings))
    assert len(sink.rows) == len(server.bodies()) == 5
    assert [(row.module, row.n, row.failed is None) for row in sink.rows] == [
        ("need_to_talk", 0, False),
        ("need_to_talk", 1, True),
        ("need_to_talk", 2, True),
        ("natural_language", 0, False),
        ("natural_language", 0, True),
    ]
    assert "response_format is not supported" in str(sink.rows[0].failed)
    assert "something broke" in str(sink.rows[3].failed)
    for row in sink.rows:
        assert (row.answer is None) == (row.failed is not None)
        assert (row.turn, row.agent, row.model) == (3, "Ann", server.model())
    first, second = ledger.rows()
    assert [first["module"], second["module"]] == ["natural_language", "need_to_talk"]
    assert {k: v for k, v in answer.call.items() if k != "turn"} == second | {"cost_usd": answer.call["cost_usd"]}
    assert second["cost_usd"] == pytest.approx(answer.call["cost_usd"])
    assert first == {k: v for k, v in spoken.call.items() if k != "turn"} | {"calls": 2}


async def test_no_prompt_and_no_secret_gets_into_a_record(
    serve: Serve, sink: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "sk-verysecret12345")
    said = {"error": {"message": "the key sk-verysecret12345 is \x1b[31mwrong"}}
    server = serve([Fault(401, said), RIGHT])
    settings = Settings(model=server.model())
    ledger = Ledger(sink=sink)
    with pytest.raises(ModelError):
        await within(ledger, question(settings))
    await within(ledger, question(settings, schema="a prompt like no other"))
    written = json.dumps([row.line() for row in sink.rows])
    assert "verysecret" not in written
    assert "like no other" not in written
    assert "\\u001b" not in written
    assert "wrong" in str(sink.rows[0].failed)


async def test_a_resumed_run_goes_on_counting(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT)
    settings = Settings(model=server.model(), budget_calls=3)
    before = Ledger(sink=sink)
    for turn in (1, 2):
        await within(before, question(settings, turn=turn))
    after = Ledger(earlier=sink.rows)
    assert after.rows() == before.rows()
    await within(after, question(settings))
    with pytest.raises(BudgetExhausted):
        await within(after, question(settings))
    assert after.rows()[0]["calls"] == 3 == len(server.bodies())


async def test_cancelled_requests_count_and_release_what_was_set_aside(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.5)
    settings = Settings(model=server.model(), timeout_s=0.1)
    ledger = Ledger(sink=sink)
    with pytest.raises(ModelError, match=r"no answer within 0\.1 seconds, twice"):
        await within(ledger, question(settings))
    assert ledger.spending.reserved == Amount()
    assert ["no answer within 0.1 seconds" in str(row.failed) for row in sink.rows] == [True, True]


async def test_what_langgraph_cancels_is_waited_for_and_counted(serve: Serve, sink: Kept) -> None:
    came, over = threading.Event(), threading.Event()

    def answer(_: dict[str, Any]) -> Any:
        came.set()
        over.wait(60)
        return RIGHT

    server = serve(answer)
    settings = Settings(model=server.model(), budget_calls=1)

    async def asking(state: State) -> State:
        if state["name"] == "late":
            assert await asyncio.to_thread(came.wait, 20)
        await question(settings, agent=state["name"])
        return {}

    graph = StateGraph(State).add_node("asking", asking).add_edge("asking", END)
    graph.add_conditional_edges(START, lambda _: [Send("asking", {"name": n}) for n in ("early", "late")], ["asking"])
    ledger = Ledger(sink=sink)
    with pytest.raises(BudgetExhausted):
        await graph.compile().ainvoke({"found": []}, {"configurable": {LEDGER: ledger}})
    assert await ledger.settled()
    over.set()
    assert [(row.agent, row.failed) for row in sink.rows] == [("early", STOPPED)]
    assert ledger.rows()[0]["calls"] == 1 == len(server.bodies())
    assert ledger.spending.reserved == Amount()
