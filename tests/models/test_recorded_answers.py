"""Answers out of a record, without a server and a key, and what is kept of a ledger where."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from ledgers import RIGHT, WORDS, Kept, State, question, within, words
from loopback.answering import Fault, Reply

from persimchat.models.exchange import Exchange
from persimchat.models.failures import TransientModelError, is_transient
from persimchat.models.ledger import LEDGER, Ledger, NotRecorded, current_ledger
from persimchat.models.recording import STOPPED, Record, Row, as_record, from_record, prompt_digest
from persimchat.state.errors import InputError, ModelError
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings


async def record_of(serve: Serve, sink: Kept) -> tuple[Settings, list[Any]]:
    """A run's answers, one of every kind: a judgement that was asked for twice, words with thinking, words twice."""
    answers = [{"reasoning": "x", "need_to_talk": 11}, RIGHT, f"<think>hm</think>{WORDS}", None, WORDS]
    server = serve(answers, refuses={"json_schema"})
    settings = Settings(model=server.model())
    ledger = Ledger(sink=sink)
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
    ledger = Ledger(sink=again, answers=Record(sink.rows))
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
    ledger = Ledger(answers=Record(sink.rows))
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

    live = await exchange(Ledger(sink=sink))
    server.__exit__()
    assert [message.model_dump() for message in live] == [
        message.model_dump() for message in await exchange(Ledger(answers=Record(sink.rows)))
    ]
    assert live[0].tool_calls and live[1].invalid_tool_calls and live[2].additional_kwargs["refusal"] == "No."


async def test_a_changed_prompt_gets_the_old_answer_and_is_noted(serve: Serve, sink: Kept) -> None:
    settings, made = await record_of(serve, sink)
    ledger = Ledger(answers=Record(sink.rows))
    assert (await within(ledger, question(settings, schema="another"))).value == made[0].value
    assert ledger.differences == [(3, "Ann", "need_to_talk")]
    with pytest.raises(
        NotRecorded, match=r"record has no answer to a question \(agent Ben, module need_to_talk, turn 3\)"
    ) as caught:
        await within(ledger, question(settings, agent="Ben"))
    assert caught.value.exit_code == 2
    with pytest.raises(NotRecorded, match="turn 9"):
        await within(ledger, question(settings, turn=9))


async def test_of_an_exchange_that_was_begun_anew_the_last_answers_count(serve: Serve, sink: Kept) -> None:
    other = {"reasoning": "second thoughts", "need_to_talk": 2}
    server = serve([{"reasoning": "", "need_to_talk": 1}, Fault(503), other], refuses=set())
    settings = Settings(model=server.model())
    ledger = Ledger(sink=sink)
    with pytest.raises(TransientModelError):
        await within(ledger, question(settings))
    live = await within(ledger, question(settings))
    replay = Ledger(answers=Record(sink.rows))
    assert await within(replay, question(settings)) == live
    assert live.value.need_to_talk == 2
    assert live.call["calls"] == 1


async def test_a_failure_for_good_is_replayed_in_the_same_words_and_at_once(serve: Serve, sink: Kept) -> None:
    server = serve([{"reasoning": "x", "need_to_talk": 11}, Fault(503)] * 2)
    settings = Settings(model=server.model())
    ledger = Ledger(sink=sink)
    for _ in range(2):
        with pytest.raises(TransientModelError) as live:
            await within(ledger, question(settings))
    replay = Ledger(answers=Record(sink.rows))
    with pytest.raises(ModelError) as again:
        await within(replay, question(settings))
    assert str(again.value) == str(live.value)
    assert not is_transient(again.value)
    assert replay.rows() == ledger.rows()
    assert replay.rows()[0]["calls"] == 4


async def test_a_request_that_was_given_up_has_no_outcome() -> None:
    first = Row(
        turn=1, agent="A", module="m", model="m", n=0, prompt="p", seconds=0, input_tokens=0, output_tokens=0,
        failed="busy",
    )  # fmt: skip
    stopped = first.model_copy(update={"failed": STOPPED})
    assert Record([]).find((1, "A", "m", 0), "p") is None
    assert Record([stopped]).find((1, "A", "m", 0), "p") is None
    found = Record([first, stopped]).find((1, "A", "m", 0), "p")
    assert found and found.row.failed == "busy"


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
    assert [r.answer and r.answer["content"] for r in first.requests] == [None, "new"]
    assert [r.n for r in second.requests] == [2]
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
    ledger = Ledger()
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


ANSWERS = st.one_of(
    st.text(),
    st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.floats() | st.none())).map(json.dumps),
    st.dictionaries(st.text(), st.booleans()).map(lambda value: json.dumps(value, ensure_ascii=False)),
)


@given(ANSWERS, st.booleans(), st.none() | st.just(0.0))
def test_a_line_says_what_its_row_says(text: str, estimated: bool, cost: float | None) -> None:
    answer = {
        "id": "lc_run--1", "content": text,
        "usage_metadata": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        "response_metadata": {"estimated": estimated, "response_time_s": 0.5, "model_name": "offline"},
    }  # fmt: skip
    row = Row(
        turn=1, agent="Eva", module="action", model="offline", n=0, prompt="0" * 16, seconds=0.5, input_tokens=3,
        output_tokens=2, estimated=estimated, cost_usd=cost, failed=None, answer=answer,
    )  # fmt: skip
    assert Row.model_validate(json.loads(json.dumps(row.line()))) == row


def test_of_modules_that_fail_at_the_same_time_run_and_replay_report_the_same_one() -> None:
    def row(module: str, failed: str) -> Row:
        asked: Any = {"turn": 1, "agent": "Bo", "module": module, "model": "m", "n": 0, "prompt": module}
        return Row.model_validate({**asked, "seconds": 0.0, "input_tokens": 1, "output_tokens": 0, "failed": failed})

    rows = [row("perception", "perception failed"), row("focal_points", "focal points failed"), row("emotion", STOPPED)]
    for order in (rows, rows[::-1]):
        record = Record(order)
        for module in ("perception", "focal_points", "emotion"):
            found = record.find((1, "Bo", module, 0), module)
            assert found is not None and found.row.failed == "focal points failed"
        ledger = Ledger()
        for each in order:
            ledger.note_failure(each)
        reported = ModelError("perception failed", model="")
        reported.turn, reported.agent = 1, "Bo"
        assert ledger.failure_of(reported) == "focal points failed"
        assert ledger.failure_of(reported) == "perception failed"  # the next step's failures are its own
