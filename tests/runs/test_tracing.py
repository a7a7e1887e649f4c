"""Traces of runs: one readable tree in LangSmith, in parts of bounded size, and OpenTelemetry."""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from langsmith import Client, traceable
from langsmith.run_helpers import tracing_context
from loopback.answering import Fault, natural_answer
from loopback.langsmith import LangSmithServer, Traced, tracing
from loopback.server import LoopbackServer

import persimchat
from persimchat.graph.redacting import told_input, told_output
from persimchat.runs.control import Control
from persimchat.runs.run import resources as told
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

KEY = "sk-proj-0123456789abcdefghij"

SMITH_KEY = "lsv2_pt_0123456789abcdef_0123456789"

PEOPLE = ["Jarmila", "Zeynep", "Inés"]


def talk(**more: Any) -> persimchat.Result:
    return persimchat.simulate("Tea or coffee?", PEOPLE, **{"model": "offline", "max_messages": 3, "seed": 1, **more})


def traced(**more: Any) -> tuple[persimchat.Result, Traced]:
    """A conversation, and the one tree that is told of it."""
    with tracing() as server:
        result = talk(**more)
    (tree,) = server.trees()
    return result, tree


def command(out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A conversation of two by the command line, in a process with no other settings of tracing than these."""
    left_out = ("OTEL_", "LANGCHAIN_", "LANGSMITH_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    given = ["run", "Tea?", "-n", "2", "--messages", "2", "--model", "offline", "--quiet", "--out", str(out)]
    made = [sys.executable, "-m", "persimchat", *given]
    return subprocess.run(made, env=inherited | environment, capture_output=True, text=True, check=True, timeout=200)


def below(run: Traced, *names: str) -> Traced:
    """The run that is reached by these names, one below the other."""
    for name in names:
        run = next(child for child in run.children if child.name == name)
    return run


@pytest.mark.proof
def test_a_run_is_one_readable_tree() -> None:
    result, tree = traced()
    assert (tree.name, [turn.name for turn in tree.children]) == (
        "conversation", ["awakening", "turn 1", "turn 2", "turn 3"]
    )  # fmt: skip
    assert {"persimchat", "discussion"} <= tree.tags
    assert tree.fields["inputs"]["topic"] == "Tea or coffee?"
    assert set(tree.fields["inputs"]["participants"]) == {mind.agent for mind in result.minds}
    assert tree.fields["outputs"]["reason"] == result.stop_reason
    assert tree.fields["outputs"]["totals"] == result.totals.model_dump()
    speaker = result.utterances[2].speaker
    said = below(tree.children[3], "speak", f"natural_language:{speaker}")
    assert said.metadata["agent"] == speaker
    hearing = [below(node, child.name) for node in tree.children[3].children if node.name == "hear" for child in
               node.children if child.name.startswith("hear:")]  # fmt: skip
    assert len(hearing) == 3
    name = hearing[0].name.removeprefix("hear:")
    asked = below(hearing[0], "perceive", f"perception:{name}")
    assert {"persimchat", "discussion", "perception"} <= asked.tags
    assert asked.metadata["module"] == "perception"
    assert all(not run.error and run.fields["end_time"] for run in tree.all())


@pytest.mark.proof
def test_every_run_says_what_it_belongs_to() -> None:
    result, tree = traced(mode="debate", judge="persona", max_messages=2)
    assert {"persimchat", "debate"} <= tree.tags
    for run in tree.all():
        told_of = run.metadata
        assert (told_of["run"], told_of["thread_id"]) == (result.run, result.run)
        assert re.fullmatch("[0-9a-f]{16}", told_of["settings"])
        assert re.fullmatch("[0-9a-f]{16}", told_of["prompts"])
    for number, turn in enumerate(tree.children[:3]):
        assert {run.metadata["turn"] for run in turn.all()} == {number}
    assert [run.name for run in tree.children[2].all()].count("hear:Judge") == 1
    assert any(run.name.startswith("judge:") for run in tree.models())
    assert {run.metadata["model"] for run in tree.models()} == {"offline"}


@pytest.mark.proof
def test_token_usage_is_that_of_the_accounting() -> None:
    with LoopbackServer() as llm:
        result, tree = traced(model=llm.model())
    used = [run.metadata["usage_metadata"] for run in tree.models()]
    assert sum(usage["input_tokens"] for usage in used) == result.totals.input_tokens > 0
    assert sum(usage["output_tokens"] for usage in used) == result.totals.output_tokens > 0
    assert len(used) == result.totals.calls == len(llm.bodies())


@pytest.mark.proof
@pytest.mark.parametrize("more", [{}, {"mode": "debate", "max_messages": 4}, {"baseline": "mad", "mode": "debate"}])
def test_tracing_changes_nothing_of_a_conversation(more: dict[str, Any]) -> None:
    untold = talk(**more)
    with tracing() as server:
        result = talk(**more)
    assert server.runs
    assert result.utterances == untold.utterances
    assert result.minds == untold.minds
    assert (result.stop_reason, result.conclusion, result.totals) == (
        untold.stop_reason, untold.conclusion, untold.totals
    )  # fmt: skip


@pytest.mark.proof
def test_a_failing_model_is_an_error_of_its_own_run_and_tells_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSIMCHAT_API_KEY", KEY)

    def answer(body: dict[str, Any]) -> Any:
        if "perception" in str(body["messages"]):
            return Fault(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
        return natural_answer(body)

    with LoopbackServer(answer=answer) as llm, tracing() as server, pytest.raises(ModelError):
        talk(model=llm.model())
    (tree,) = server.trees()
    failed = [run for run in tree.models() if run.error]
    assert failed
    assert {run.metadata["module"] for run in failed} == {"perception"}
    assert all("401" in str(run.error) for run in failed)
    assert tree.error
    assert tree.children[-1].error
    assert KEY.encode() not in server.raw


def in_a_node(settings: persimchat.Settings) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("group", persimchat.conversation_node(settings))
    builder.add_edge(START, "group")
    return builder.compile().invoke({"messages": [("user", "Tea or coffee?")]})


async def as_a_node(settings: persimchat.Settings) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("group", persimchat.build_conversation(settings=settings))
    builder.add_edge(START, "group")
    return await builder.compile(name="mine").ainvoke({"messages": [("user", "Tea or coffee?")]})


async def as_a_tool(settings: persimchat.Settings) -> Any:
    return await persimchat.as_tool(settings).ainvoke({"topic": "Tea or coffee?", "messages": 2})


@pytest.mark.proof
@pytest.mark.parametrize("hold", [in_a_node, as_a_node, as_a_tool])
async def test_inside_other_graphs_a_failing_model_tells_no_key_either(
    hold: Callable[[persimchat.Settings], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSIMCHAT_API_KEY", KEY)
    refusal = Fault(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with LoopbackServer(answer=lambda body: refusal) as llm, tracing() as server, pytest.raises(ModelError):
        done = hold(persimchat.Settings(model=llm.model(), max_messages=2))
        if asyncio.iscoroutine(done):
            await done
    (tree,) = server.trees()
    assert tree.error
    assert [run for run in tree.models() if "401" in str(run.error)]
    assert KEY.encode() not in server.raw


def test_nothing_is_sent_while_tracing_is_off() -> None:
    with LangSmithServer() as server:
        client = Client(api_url=server.url, api_key=SMITH_KEY)
        with tracing_context(enabled=False, client=client):
            talk(max_messages=1)
        client.flush(timeout=60)
        client.cleanup(timeout=60)
        assert [path for path in server.paths if path != "GET /info"] == []


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("on", ["true", "false"])
def test_the_environment_switches_it_and_a_process_that_ends_has_sent_everything(tmp_path: Path, on: str) -> None:
    secrets = {
        "OPENAI_API_KEY": KEY, "PERSIMCHAT_API_KEY": f"{KEY}other", "LANGSMITH_API_KEY": SMITH_KEY,
        "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef",
    }  # fmt: skip
    with LangSmithServer() as server:
        told_where = {"LANGSMITH_ENDPOINT": server.url, "LANGSMITH_PROJECT": "orchard"}
        done = command(tmp_path, **secrets, **told_where, LANGSMITH_TRACING=on)
    if on == "false":
        assert server.paths == []
        return
    assert KEY not in done.stderr
    (tree,) = server.trees()
    assert [turn.name for turn in tree.children] == ["awakening", "turn 1", "turn 2"]
    assert tree.fields["session_name"] == "orchard"
    assert all(run.fields.get("end_time") for run in tree.all())
    assert [name for name, secret in secrets.items() if secret.encode() in server.raw] == []


@pytest.mark.long
@pytest.mark.proof
def test_a_server_that_never_answers_does_not_keep_the_command(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = command(tmp_path, LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=endpoint, LANGSMITH_API_KEY=SMITH_KEY)
    assert "has not taken all traces within 10 seconds" in done.stderr
    assert SMITH_KEY not in done.stderr


@pytest.mark.proof
def test_without_a_server_the_conversation_goes_on() -> None:
    client = Client(api_url="http://127.0.0.1:9", api_key=SMITH_KEY, timeout_ms=200)
    with tracing_context(enabled=True, client=client):
        result = talk(max_messages=1)
    client.cleanup(timeout=0)
    assert len(result.utterances) == 1


@pytest.mark.proof
def test_long_runs_are_several_traces_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "turns_in_a_trace", lambda minds: minds - 1)
    with tracing() as server:
        result = talk(max_messages=4)
    trees = server.trees()
    assert [tree.name for tree in trees] == ["conversation", "conversation from turn 2", "conversation from turn 4"]
    assert [[turn.name for turn in tree.children] for tree in trees] == [
        ["awakening", "turn 1"], ["turn 2", "turn 3"], ["turn 4"]
    ]  # fmt: skip
    assert {tree.metadata["thread_id"] for tree in trees} == {result.run}
    assert len({tree.fields["trace_id"] for tree in trees}) == 3


@given(st.integers(0, 2000))
def test_no_trace_exceeds_the_cap(minds: int) -> None:
    turns = told.turns_in_a_trace(minds)
    assert turns >= 1
    of_a_turn = told.RUNS_OF_A_TURN + told.RUNS_OF_A_MIND * minds
    assert 1 + turns * of_a_turn <= told.TRACE_CAP or turns == 1
    assert 1 + (turns + 1) * of_a_turn > told.TRACE_CAP  # one more would not fit


@pytest.mark.proof
def test_a_turn_has_no_more_runs_than_was_reckoned_with() -> None:
    """Measured with everything on, and a server that takes no form of structured answer but the last."""
    refused = {"json_schema", "json_object", "tools", "seed", "stream_options"}
    with LoopbackServer(refuses=refused) as llm:
        _, tree = traced(model=llm.model("simple"), mode="debate", judge="persona", analysis=True)
    minds = len(PEOPLE) + 1
    most = max(sum(1 for _ in turn.all()) for turn in tree.children)
    assert 17 * minds < most <= told.RUNS_OF_A_TURN + told.RUNS_OF_A_MIND * minds


@pytest.mark.proof
async def test_people_and_their_interventions_stay_in_the_tree() -> None:
    control = Control()
    people = [*PEOPLE[:2], {"name": "Li", "human": True}]
    with tracing() as server:
        events = []
        options = {"model": "offline", "max_messages": 4, "pattern": "round_robin", "control": control}
        async for event in persimchat.astream_events("Tea or coffee?", people, **options):
            events.append(event)
            if event.event == "asked":
                control.answer("I would rather have water.")
            if event.event == "utterance" and event.turn == 1:
                control.say("Please be brief.")
    said = [event.text for event in events if event.event == "utterance"]
    assert "Please be brief." in said
    assert "I would rather have water." in said
    (tree,) = server.trees()
    names = [turn.name for turn in tree.children]
    assert set(names) >= {"awakening", "turn 1", "turn 2", "turn 3", "turn 4"}
    assert not tree.error
    assert [run.error for run in tree.children if run.error] == []


@pytest.mark.proof
def test_a_resumed_run_goes_on_in_its_thread(tmp_path: Path) -> None:
    first = talk(max_messages=2, out=tmp_path)
    with tracing() as server:
        persimchat.resume(first.folder or "", max_messages=4)
    (tree,) = server.trees()
    assert tree.name == "conversation from turn 3"
    # The first part looks once more whether the end has come, which with the new limit it has not.
    assert [turn.name for turn in tree.children] == ["turn 3", "turn 3", "turn 4"]
    assert tree.metadata["thread_id"] == first.run


@pytest.mark.proof
def test_a_run_inside_somebody_elses_trace_is_a_part_of_it() -> None:
    @traceable(name="my study")
    def study() -> int:
        return len(talk(max_messages=1).utterances)

    with tracing() as server:
        study()
    (tree,) = server.trees()
    assert tree.name == "my study"
    assert [child.name for child in tree.children] == ["conversation"]
    assert [turn.name for turn in tree.children[0].children] == ["awakening", "turn 1"]


@pytest.mark.proof
async def test_a_run_inside_another_graphs_node_is_told_without_stopping_it() -> None:
    async def group(state: dict[str, Any]) -> dict[str, Any]:
        result = await persimchat.asimulate(state["topic"], PEOPLE, model="offline", max_messages=2, seed=1)
        return {"said": len(result.utterances)}

    builder = StateGraph(dict)
    builder.add_node("group", group)
    builder.add_edge(START, "group")
    with tracing() as server:
        found = await builder.compile(name="parent").ainvoke({"topic": "Tea or coffee?"})
    assert found["said"] == 2
    (tree,) = server.trees()
    assert [run.name for run in below(tree, "group").children] == ["persimchat"]
    assert all(not run.error for run in tree.all())


@pytest.mark.proof
async def test_a_run_inside_a_chain_is_a_part_of_it() -> None:
    async def group(topic: str) -> int:
        return len((await persimchat.asimulate(topic, PEOPLE, model="offline", max_messages=1, seed=1)).utterances)

    with tracing() as server:
        assert await (RunnableLambda(group) | RunnableLambda(str)).ainvoke("Tea or coffee?") == "1"
    (tree,) = server.trees()
    assert [run.name for run in below(tree, "group").children] == ["persimchat"]


def test_the_hash_of_settings_is_of_those_that_change_a_conversation() -> None:
    settings = persimchat.Settings(seed=3).model_dump(mode="json")
    assert told.settings_hash(settings) == told.settings_hash({**settings, "store": "elsewhere"})
    assert told.settings_hash(settings) != told.settings_hash({**settings, "seed": 4})


pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs pip install 'langsmith[otel]'")

service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="needs pip install 'langsmith[otel]'"
)


class Collector:
    """A receiver of spans; `with Collector() as collector:` starts it."""

    def __enter__(self) -> Collector:
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                packed = self.headers.get("content-encoding") == "gzip"
                collector.paths.append(self.path)
                collector.bodies.append(gzip.decompress(body) if packed else body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def spans(self) -> list[Any]:
        """All spans, in order of their beginnings."""
        found = []
        for body in self.bodies:
            request = service.ExportTraceServiceRequest.FromString(body)
            found += [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


@pytest.mark.proof
def test_the_tree_reaches_a_collector_without_langsmith(tmp_path: Path) -> None:
    with Collector() as collector:
        to_it = {"LANGSMITH_TRACING_MODE": "otel", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        command(tmp_path, **to_it, LANGSMITH_TRACING="true", OPENAI_API_KEY=KEY)
    spans = collector.spans()
    assert set(collector.paths) == {"/v1/traces"}
    assert len({span.trace_id for span in spans}) == 1
    (root,) = [span for span in spans if not span.parent_span_id]
    assert root.name == "conversation"
    turns = [span for span in spans if span.parent_span_id == root.span_id]
    assert [span.name for span in turns] == ["awakening", "turn 1", "turn 2"]
    under = [span.name for span in spans if span.parent_span_id == turns[2].span_id]
    assert {"speak", "hear", "publish", "end_check"} <= set(under)
    spoken = next(span for span in spans if span.name.startswith("natural_language:"))
    told = {one.key: one.value for one in spoken.attributes}
    assert told["gen_ai.usage.input_tokens"].int_value > 0
    assert told["langsmith.metadata.agent"].string_value == spoken.name.partition(":")[2]
    assert not any(KEY.encode() in body for body in collector.bodies)
    assert sum(map(len, collector.bodies)) / 2 <= 200_000, "bytes an utterance of two agents, awakening included"


BOUND = 200_000
"""Bytes an utterance of three agents, before compression, in a discussion."""

STEPS = 80_000
"""Of these, what is no request to a model, in any kind of conversation."""


def told_size(server: LangSmithServer) -> dict[str, int]:
    """Bytes by kind of run: requests to models and everything else."""
    kinds: Counter[str] = Counter()
    for run, size in server.sizes.items():
        kinds[server.runs[run]["run_type"]] += size
    return dict(kinds)


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("mode", ["discussion", "debate"])
def test_a_trace_takes_200_kb_an_utterance_of_three_at_the_most(mode: str) -> None:
    with tracing() as server:
        result = persimchat.simulate("Tea or coffee?", PEOPLE, model="offline", max_messages=6, seed=1, mode=mode)
    kinds = told_size(server)
    said = len(result.utterances)
    assert kinds["chain"] / said <= STEPS, kinds
    assert kinds["llm"] > kinds["chain"], "most of it is what was asked and answered"
    if mode == "discussion":  # a debate has four requests more, and ends when it wants
        assert sum(kinds.values()) / said <= BOUND, kinds


@pytest.mark.proof
def test_requests_and_answers_are_told_whole() -> None:
    with LoopbackServer() as llm:
        _, tree = traced(model=llm.model())
    asked = Counter(tuple(str(m["content"]) for m in body["messages"]) for body in llm.bodies())
    seen = Counter(
        tuple(str(m["kwargs"]["content"]) for m in run.fields["inputs"]["messages"][0]) for run in tree.models()
    )
    assert seen == asked
    for run in tree.models():
        ((answer,),) = run.fields["outputs"]["generations"]
        assert answer["message"]["kwargs"]["content"]
        assert run.metadata["usage_metadata"]["output_tokens"] > 0
        assert run.fields["end_time"] > run.fields["start_time"]


@pytest.mark.proof
def test_steps_say_who_did_what_and_what_changed_without_whole_minds() -> None:
    result, tree = traced()
    steps = [run for run in tree.all() if run.fields["run_type"] == "chain"]
    by_name: dict[str, Traced] = {run.name: run for run in steps}
    last = result.utterances[-1]
    assert by_name["turn 3"].fields["outputs"]["messages"] == [f"{last.speaker}: {last.text}"]
    assert by_name["speak"].fields["outputs"]["messages"] == [f"{last.speaker}: {last.text}"]
    hearing = by_name[f"hear:{last.speaker}"]
    assert hearing.fields["inputs"]["agent"] == last.speaker
    assert hearing.fields["inputs"]["heard"].startswith(f"{last.speaker}: {last.text}"[:100])
    mind = next(mind for mind in result.minds if mind.agent == last.speaker and mind.turn == 3)
    below = {run.name: run.fields.get("outputs") for run in hearing.all()}
    assert below["feel"]["emotion"] == mind.emotion
    assert below["judge_need_to_talk"]["need_reasoning"] == mind.need_reasoning
    assert below["perceive"]["percept"] == mind.percept.model_dump()
    assert below["wonder"]["focal_points"] == mind.focal_points
    assert below["remember_utterance"]["recalled"]["memories"] == len(mind.recalled)
    assert max(len(str(run.fields.get("inputs"))) + len(str(run.fields.get("outputs"))) for run in steps) < 6000


@pytest.mark.long
@pytest.mark.proof
async def test_inside_somebody_elses_graph_it_takes_no_more() -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("group", persimchat.conversation_node(Settings(model="offline", max_messages=6, seed=1)))
    builder.add_edge(START, "group")
    with tracing() as server:
        await builder.compile(name="mine").ainvoke({"messages": [("user", "Tea or coffee?")]})
    (tree,) = server.trees()
    assert tree.name == "mine"
    assert tree.fields["inputs"]["messages"], "what is not ours is told as LangChain tells it"
    assert sum(told_size(server).values()) / 6 <= BOUND * 4 / 3, "four agents"
    conversation = next(run for run in tree.all() if run.name == "conversation" and run.fields["outputs"])
    assert len([line for line in conversation.fields["outputs"]["messages"] if ": " in line]) >= 6


@pytest.mark.proof
def test_hidden_inputs_and_outputs_stay_hidden() -> None:
    with tracing(hide_inputs=True, hide_outputs=True) as server:
        result = persimchat.simulate("Tea or coffee?", PEOPLE, model="offline", max_messages=2, seed=1)
    (tree,) = server.trees()
    assert not any(run.fields.get("inputs") or run.fields.get("outputs") for run in tree.all())
    assert not any(said.text.encode() in server.raw for said in result.utterances)


KEYS = ["messages", "agents", "recalled", "stm", "alive", "unsaved", "participants", "persona", "heard"]


@pytest.mark.proof
@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    )
)
def test_whatever_a_step_is_given_it_can_be_told(value: Any) -> None:
    assert isinstance(told_input(value), dict)
    assert isinstance(told_output({}, value), dict)


@pytest.mark.proof
def test_messages_of_others_are_told_where_a_conversation_begins() -> None:
    begun = told_input({"messages": [HumanMessage("Tea or coffee?")], "participants": [{"name": "Ada"}, "Bo"]})
    assert begun == {"messages": ["Tea or coffee?"], "participants": ["Ada", "Bo"]}


@pytest.mark.proof
def test_an_update_that_says_where_it_leads_is_told_as_any_other() -> None:
    update = {"agents": {"Ada": {"emotion": {"joy": 3}, "stm": {"theme": "Tea."}}}, "usage": [1]}
    assert told_output({}, {"output": Command(update=update, goto="end_check")}) == told_output({}, update) != {}
