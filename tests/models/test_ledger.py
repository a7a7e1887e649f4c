"""The ledger: budgets that hold, rows that tell what the server saw, and answers from a record without a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables.config import set_config_context
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from loopback.answering import Fault, Reply
from loopback.server import LoopbackServer
from typing_extensions import TypedDict

from persimchat.models.asking import ask, speak
from persimchat.models.exchange import Exchange
from persimchat.models.failures import TransientModelError, is_transient
from persimchat.models.ledger import ANSWER_TOKENS, LEDGER, Ledger, NotRecorded, current_ledger
from persimchat.models.recording import STOPPED, Record, Row, as_record, from_record, prompt_digest
from persimchat.models.usage import Amount, Spending
from persimchat.state.errors import BudgetExhausted, InputError, ModelError
from persimchat.state.judgement import NeedToTalk
from persimchat.state.settings import Settings

Serve = Callable[..., LoopbackServer]
RIGHT = {"reasoning": "because", "need_to_talk": 7}
WORDS = "Well, I would rather walk home."


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.vectors: dict[str, str] = {}

    def call(self, row: Row) -> None:
        self.rows.append(json.loads(json.dumps(row)))

    def embedding(self, text: str, vector: str) -> None:
        self.vectors[text] = vector


@contextlib.contextmanager
def running(ledger: Ledger) -> Iterator[Any]:
    """Inside a node of a run that has this ledger."""
    with set_config_context({"configurable": {LEDGER: ledger}}) as context:
        yield context


async def within(ledger: Ledger, work: Awaitable[Any]) -> Any:
    async def do() -> Any:
        return await work

    with running(ledger) as context:
        return await asyncio.create_task(do(), context=context)


def question(settings: Settings, *, agent: str = "Ann", turn: int = 3, schema: str = "S") -> Any:
    return ask(
        "json_answer",
        NeedToTalk,
        settings=settings,
        agent=agent,
        module="need_to_talk",
        turn=turn,
        schema=schema,
    )


def words(settings: Settings, *, agent: str = "Ann", turn: int = 3, schema: str = "S", **more: Any) -> Any:
    asked = {"settings": settings, "agent": agent, "module": "natural_language", "turn": turn, "schema": schema}
    return speak("json_answer", **asked, **more)


@pytest.fixture
def sink() -> Kept:
    return Kept()


async def test_a_budget_of_calls_is_exact_however_many_ask_at_once(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.02)
    settings = Settings(model=server.model(), budget_calls=7)
    ledger = Ledger(settings, sink=sink)
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
    ledger = Ledger(settings, sink=sink)
    asked = [within(ledger, question(settings, agent=f"Agent {n}")) for n in range(40)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    refused = [result for result in results if isinstance(result, BudgetExhausted)]
    assert refused and {error.budget for error in refused} == {budget}
    assert 0 < len(server.bodies()) == len(sink.rows) < 40
    spent = sum(row["input_tokens"] + row["output_tokens"] for row in sink.rows)
    # The server counts fewer tokens than are estimated here, so the budget is not passed at all.
    assert spent <= 900
    assert ledger.spending.reserved == Amount()


async def test_an_answer_that_is_longer_than_expected_is_the_last_one(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: "because " * 2000)
    settings = Settings(model=server.model(), budget_tokens=1000)
    ledger = Ledger(settings, sink=sink)
    await within(ledger, words(settings))
    with pytest.raises(BudgetExhausted, match=r"The budget of 1,000 tokens is used up: 2,0\d\d were used; the next"):
        await within(ledger, words(settings))
    assert len(server.bodies()) == 1


async def test_an_answer_is_expected_to_be_as_long_as_the_modules_were(serve: Serve) -> None:
    server = serve(lambda _: RIGHT)
    settings = Settings(model=server.model())
    ledger = Ledger(settings)
    exchange = Exchange.on_behalf(settings, "Ann", "need_to_talk", 3)
    prompt = [HumanMessage("x" * 400)]
    request = exchange._asked(prompt, prompt, "")
    with ledger.keeping(request):
        ledger.admit(request)
        assert ledger.spending.reserved.tokens == 100 + ANSWER_TOKENS
        request.answered(AIMessage("x" * 80))
    with ledger.keeping(request):
        ledger.admit(request)
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
    ledger = Ledger(settings, sink=sink)
    answer = await within(ledger, question(settings))
    with pytest.raises(TransientModelError):
        await within(ledger, words(settings))
    spoken = await within(ledger, words(settings))
    assert len(sink.rows) == len(server.bodies()) == 5
    assert [(row["module"], row["n"], row["failed"] is None) for row in sink.rows] == [
        ("need_to_talk", 0, False),
        ("need_to_talk", 1, True),
        ("need_to_talk", 2, True),
        ("natural_language", 0, False),
        ("natural_language", 0, True),
    ]
    assert "response_format is not supported" in str(sink.rows[0]["failed"])
    assert "something broke" in str(sink.rows[3]["failed"])
    for row in sink.rows:
        assert (row["answer"] is None) == (row["failed"] is not None)
        assert (row["turn"], row["agent"], row["model"]) == (3, "Ann", server.model())
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
    ledger = Ledger(settings, sink=sink)
    with pytest.raises(ModelError):
        await within(ledger, question(settings))
    await within(ledger, question(settings, schema="a prompt like no other"))
    written = json.dumps(sink.rows)
    assert "verysecret" not in written
    assert "like no other" not in written
    assert "\\u001b" not in written
    assert "wrong" in str(sink.rows[0]["failed"])


async def test_a_resumed_run_goes_on_counting(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT)
    settings = Settings(model=server.model(), budget_calls=3)
    before = Ledger(settings, sink=sink)
    for turn in (1, 2):
        await within(before, question(settings, turn=turn))
    after = Ledger(settings, earlier=sink.rows)
    assert after.rows() == before.rows()
    await within(after, question(settings))
    with pytest.raises(BudgetExhausted):
        await within(after, question(settings))
    assert after.rows()[0]["calls"] == 3 == len(server.bodies())


async def test_cancelled_requests_count_and_release_what_was_set_aside(serve: Serve, sink: Kept) -> None:
    server = serve(lambda _: RIGHT, delay_s=0.5)
    settings = Settings(model=server.model(), timeout_s=0.1)
    ledger = Ledger(settings, sink=sink)
    with pytest.raises(TransientModelError, match=r"no answer within 0\.1 seconds"):
        await within(ledger, question(settings))
    assert ledger.spending.reserved == Amount()
    assert ["no answer within 0.1 seconds" in str(row["failed"]) for row in sink.rows] == [True]


async def test_what_langgraph_cancels_is_waited_for_and_counted(serve: Serve, sink: Kept) -> None:
    came, over = threading.Event(), threading.Event()

    def answer(_: dict[str, Any]) -> Any:
        came.set()
        over.wait(20)
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
    ledger = Ledger(settings, sink=sink)
    with pytest.raises(BudgetExhausted):
        await graph.compile().ainvoke({"found": []}, {"configurable": {LEDGER: ledger}})
    assert await ledger.settled()
    over.set()
    assert [(row["agent"], row["failed"]) for row in sink.rows] == [("early", STOPPED)]
    assert ledger.rows()[0]["calls"] == 1 == len(server.bodies())
    assert ledger.spending.reserved == Amount()


async def record_of(serve: Serve, sink: Kept) -> tuple[Settings, list[Any]]:
    """A run's answers, one of every kind: a judgement that was asked for twice, words with thinking, words twice."""
    answers = [{"reasoning": "x", "need_to_talk": 11}, RIGHT, f"<think>hm</think>{WORDS}", None, WORDS]
    server = serve(answers, refuses={"json_schema"})
    settings = Settings(model=server.model())
    ledger = Ledger(settings, sink=sink)
    made = [
        await within(ledger, question(settings)),
        await within(ledger, words(settings, message_id="ann-4")),
        await within(ledger, words(settings, turn=4)),
    ]
    server.__exit__()
    return settings, made


async def test_a_replay_gives_the_same_answers_without_server_and_key(serve: Serve, sink: Kept) -> None:
    settings, made = await record_of(serve, sink)
    again = Kept()
    ledger = Ledger(settings, sink=again, answers=Record(sink.rows))
    assert await within(ledger, question(settings)) == made[0]
    assert await within(ledger, words(settings, message_id="ann-4")) == made[1]
    assert await within(ledger, words(settings, turn=4)) == made[2]
    assert made[1].message.id == "ann-4"
    assert made[2].message.id
    assert made[0].call["calls"] == 3
    assert again.rows == sink.rows
    assert ledger.differences == []


async def test_a_key_is_not_needed_for_a_replay(serve: Serve, sink: Kept) -> None:
    settings, made = await record_of(serve, sink)
    ledger = Ledger(settings, answers=Record(sink.rows))
    other = settings.model_copy(update={"model": "openai:gpt-4o-mini"})
    assert (await within(ledger, question(other))).value == made[0].value
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        await question(other)


async def test_exchanges_are_replayed_as_they_were_message_for_message(serve: Serve, sink: Kept) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "NeedToTalk", "arguments": json.dumps(RIGHT)}}
    broken = {**call, "function": {"name": "NeedToTalk", "arguments": '{"need_to_talk": 7,,'}}
    said = [Reply(None, [call], "tool_calls"), Reply(None, [broken], "tool_calls"), Reply(None, refusal="No.")]
    server = serve([*said, Reply("cut", finish_reason="length"), WORDS], refuses={"json_schema"})
    settings = Settings(model=server.model())

    async def exchange(ledger: Ledger) -> list[AIMessage]:
        asking = Exchange.on_behalf(settings, "Ann", "need_to_talk", 1)
        prompt = [HumanMessage("How much?")]
        judged = [(await within(ledger, asking.judge(prompt, NeedToTalk)))[0] for _ in range(4)]
        streamed, seconds = await within(ledger, asking.stream(prompt))
        return [*judged, streamed, AIMessage(str((seconds, asking.took_s, asking.tally)))]

    live = await exchange(Ledger(settings, sink=sink))
    server.__exit__()
    assert [message.model_dump() for message in live] == [
        message.model_dump() for message in await exchange(Ledger(settings, answers=Record(sink.rows)))
    ]
    assert live[0].tool_calls and live[1].invalid_tool_calls and live[2].additional_kwargs["refusal"] == "No."


async def test_a_changed_prompt_gets_the_old_answer_and_is_noted(serve: Serve, sink: Kept) -> None:
    settings, made = await record_of(serve, sink)
    ledger = Ledger(settings, answers=Record(sink.rows))
    assert (await within(ledger, question(settings, schema="another"))).value == made[0].value
    assert ledger.differences == [(3, "Ann", "need_to_talk")]
    with pytest.raises(NotRecorded, match=r"no recorded answer \(agent Ben, module need_to_talk, turn 3\)") as caught:
        await within(ledger, question(settings, agent="Ben"))
    assert caught.value.exit_code == 2
    with pytest.raises(NotRecorded, match="turn 9"):
        await within(ledger, question(settings, turn=9))


async def test_of_an_exchange_that_was_begun_anew_the_last_answers_count(serve: Serve, sink: Kept) -> None:
    other = {"reasoning": "second thoughts", "need_to_talk": 2}
    server = serve([{"reasoning": "", "need_to_talk": 1}, Fault(503), other], refuses=set())
    settings = Settings(model=server.model())
    ledger = Ledger(settings, sink=sink)
    with pytest.raises(TransientModelError):
        await within(ledger, question(settings))
    live = await within(ledger, question(settings))
    replay = Ledger(settings, answers=Record(sink.rows))
    assert await within(replay, question(settings)) == live
    assert live.value.need_to_talk == 2
    assert live.call["calls"] == 1


async def test_a_failure_for_good_is_replayed_in_the_same_words_and_at_once(serve: Serve, sink: Kept) -> None:
    server = serve([{"reasoning": "x", "need_to_talk": 11}, Fault(503)] * 2)
    settings = Settings(model=server.model())
    ledger = Ledger(settings, sink=sink)
    for _ in range(2):
        with pytest.raises(TransientModelError) as live:
            await within(ledger, question(settings))
    replay = Ledger(settings, answers=Record(sink.rows))
    with pytest.raises(ModelError) as again:
        await within(replay, question(settings))
    assert str(again.value) == str(live.value)
    assert not is_transient(again.value)
    assert replay.rows() == ledger.rows()
    assert replay.rows()[0]["calls"] == 4


async def test_a_request_that_was_given_up_has_no_outcome() -> None:
    row = {"turn": 1, "agent": "A", "module": "m", "n": 0, "prompt": "p", "answer": None}
    first: Any = {**row, "failed": "busy"}
    assert Record([]).find((1, "A", "m", 0), "p") is None
    assert Record([{**first, "failed": STOPPED}]).find((1, "A", "m", 0), "p") is None
    found = Record([first, {**first, "failed": STOPPED}]).find((1, "A", "m", 0), "p")
    assert found and found.row["failed"] == "busy"


async def test_a_refused_form_in_a_later_process_does_not_bring_an_older_answer_back(serve: Serve, sink: Kept) -> None:
    """The first process knew what the server refuses; the second one, which resumed the run, found out once more."""

    def row(n: int, said: str | None) -> Row:
        answer = None if said is None else as_record(AIMessage(said))
        return Row(
            turn=1, agent="Ann", module="action", model="m", n=n, prompt="p", seconds=1.0, input_tokens=1,
            output_tokens=1, estimated=False, cost_usd=None, failed=None if said else "refused", answer=answer,
        )  # fmt: skip

    record = Record([row(0, "old"), row(0, None), row(1, "new"), row(2, "second")])
    first, second = record.find((1, "Ann", "action", 0), "p"), record.find((1, "Ann", "action", 1), "p")
    assert first and second
    assert [r["answer"] and r["answer"]["content"] for r in first.requests] == [None, "new"]
    assert [r["n"] for r in second.requests] == [2]
    assert record.find((1, "Ann", "action", 2), "p") is None


@given(
    st.text(),
    st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.just(object()))),
    st.sampled_from(["stop", "length", "content_filter"]),
)
def test_answers_survive_json(text: str, extra: dict[str, Any], reason: str) -> None:
    message = AIMessage(text, additional_kwargs=extra, response_metadata={"finish_reason": reason, "secret": "x"})
    record = as_record(message)
    back = from_record(json.loads(json.dumps(record)))
    assert back.content == text
    assert as_record(back) == record
    assert back.response_metadata == {"finish_reason": reason}


@given(st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_a_digest_tells_texts_roles_and_schemas_apart(texts: list[str], schema: str) -> None:
    asked = [HumanMessage(text) for text in texts]
    digest = prompt_digest(asked, schema)
    assert len(digest) == 16
    assert digest == prompt_digest([HumanMessage(text) for text in texts], schema)
    assert digest != prompt_digest([AIMessage(text) for text in texts], schema)
    assert digest != prompt_digest(asked, schema + "x")
    other = ["".join(texts), ""]
    assert texts == other or digest != prompt_digest([HumanMessage(text) for text in other], schema)


class State(TypedDict, total=False):
    name: str
    found: list[str]


class Told(AsyncCallbackHandler):
    """Everything that a tracer is told of runs."""

    def __init__(self) -> None:
        self.metadata: list[Any] = []

    async def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        self.metadata.append(more)


@contextlib.asynccontextmanager
async def saver(kind: str, path: str) -> AsyncIterator[Any]:
    if kind == "memory":
        yield InMemorySaver()
    else:
        async with AsyncSqliteSaver.from_conn_string(path) as sqlite:
            yield sqlite


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_langgraph_hands_the_ledger_to_child_graphs_and_keeps_it_out_of_checkpoints(
    kind: str, tmp_path: Any
) -> None:
    seen: list[Any] = []

    async def inner(state: State) -> State:
        seen.append(current_ledger())
        return {"name": state["name"]}

    child = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").add_edge("inner", END).compile()

    async def outer(state: State) -> State:
        await child.ainvoke(state, {"run_name": "child"}, durability="exit")
        return {}

    parent = StateGraph(State).add_node("outer", outer)
    parent.add_conditional_edges(START, lambda _: [Send("outer", {"name": n}) for n in "abc"], ["outer"])
    parent.add_edge("outer", END)
    told, path = Told(), str(tmp_path / "checkpoint.sqlite")
    ledger = Ledger(Settings())
    config: Any = {"configurable": {"thread_id": "t", LEDGER: ledger}, "callbacks": [told]}
    async with saver(kind, path) as keeper:
        graph = parent.compile(checkpointer=keeper)
        await graph.ainvoke({"name": "all", "found": []}, config)
        kept = [saved async for saved in keeper.alist({"configurable": {"thread_id": "t"}})]
    assert seen == [ledger] * 3
    assert kept and LEDGER not in str([(saved.config, saved.metadata, saved.checkpoint) for saved in kept])
    assert told.metadata and "Ledger" not in str(told.metadata) and LEDGER not in str(told.metadata)
    if kind == "sqlite":
        assert LEDGER.encode() not in (tmp_path / "checkpoint.sqlite").read_bytes()
    assert current_ledger() is None
