"""How much a trace takes, and that what is left out of it is of no use: requests to models are told whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from loopback.langsmith import LangSmithServer, Traced, tracing
from loopback.server import LoopbackServer

import persimchat
from persimchat.graph.redacting import told_input, told_output
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

PEOPLE = ["Jarmila", "Zeynep", "Inés"]
BOUND = 200_000
"""Bytes an utterance of three agents, before compression, in a discussion."""
STEPS = 80_000
"""Of these, what is no request to a model, in any kind of conversation."""


def told(server: LangSmithServer) -> dict[str, int]:
    """Bytes by kind of run: requests to models and everything else."""
    kinds: Counter[str] = Counter()
    for run, size in server.sizes.items():
        kinds[server.runs[run]["run_type"]] += size
    return dict(kinds)


@pytest.mark.parametrize("mode", ["discussion", "debate"])
def test_a_trace_takes_200_kb_an_utterance_of_three_at_the_most(mode: str) -> None:
    with tracing() as server:
        result = persimchat.simulate("Tea or coffee?", PEOPLE, model="offline", max_messages=6, seed=1, mode=mode)
    kinds = told(server)
    said = len(result.utterances)
    assert kinds["chain"] / said <= STEPS, kinds
    assert kinds["llm"] > kinds["chain"], "most of it is what was asked and answered"
    if mode == "discussion":  # a debate has four requests more, and ends when it wants
        assert sum(kinds.values()) / said <= BOUND, kinds


def test_requests_and_answers_are_told_whole() -> None:
    with LoopbackServer() as llm, tracing() as server:
        persimchat.simulate("Tea or coffee?", PEOPLE, model=llm.model(), max_messages=3, seed=1)
    (tree,) = server.trees()
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


def test_steps_say_who_did_what_and_what_changed_without_whole_minds() -> None:
    with tracing() as server:
        result = persimchat.simulate("Tea or coffee?", PEOPLE, model="offline", max_messages=3, seed=1)
    (tree,) = server.trees()
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


async def test_inside_somebody_elses_graph_it_takes_no_more() -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("group", persimchat.conversation_node(Settings(model="offline", max_messages=6, seed=1)))
    builder.add_edge(START, "group")
    with tracing() as server:
        await builder.compile(name="mine").ainvoke({"messages": [("user", "Tea or coffee?")]})
    (tree,) = server.trees()
    assert tree.name == "mine"
    assert tree.fields["inputs"]["messages"], "what is not ours is told as LangChain tells it"
    assert sum(told(server).values()) / 6 <= BOUND * 4 / 3, "four agents"
    conversation = next(run for run in tree.all() if run.name == "conversation" and run.fields["outputs"])
    assert len([line for line in conversation.fields["outputs"]["messages"] if ": " in line]) >= 6


def test_hidden_inputs_and_outputs_stay_hidden() -> None:
    with tracing(hide_inputs=True, hide_outputs=True) as server:
        result = persimchat.simulate("Tea or coffee?", PEOPLE, model="offline", max_messages=2, seed=1)
    (tree,) = server.trees()
    assert not any(run.fields.get("inputs") or run.fields.get("outputs") for run in tree.all())
    assert not any(said.text.encode() in server.raw for said in result.utterances)


KEYS = ["messages", "agents", "recalled", "stm", "alive", "unsaved", "participants", "persona", "heard"]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    )
)
def test_whatever_a_step_is_given_it_can_be_told(value: Any) -> None:
    assert isinstance(told_input(value), dict)
    assert isinstance(told_output({}, value), dict)


def test_messages_of_others_are_told_where_a_conversation_begins() -> None:
    begun = told_input({"messages": [HumanMessage("Tea or coffee?")], "participants": [{"name": "Ada"}, "Bo"]})
    assert begun == {"messages": ["Tea or coffee?"], "participants": ["Ada", "Bo"]}


def test_an_update_that_says_where_it_leads_is_told_as_any_other() -> None:
    update = {"agents": {"Ada": {"emotion": {"joy": 3}, "stm": {"theme": "Tea."}}}, "usage": [1]}
    assert told_output({}, {"output": Command(update=update, goto="end_check")}) == told_output({}, update) != {}
