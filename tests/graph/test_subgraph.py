"""The conversation inside somebody else's graph: LangGraph itself, with another state and context than ours."""

from __future__ import annotations

import json
import operator
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from fixtures import Refused
from langchain_core.messages import AIMessageChunk, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send
from loopback.answering import Fault
from loopback.failing import Failing
from loopback.server import LoopbackServer
from pydantic import BaseModel
from typing_extensions import TypedDict

from persimchat import Persona, build_conversation, conversation_node
from persimchat.graph.kinds import graph_for
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

ADA, BO, LI = "Ada Lind", "Bo Říha", "李雷"
PEOPLE: list[dict[str, Any]] = [
    {"name": ADA, "description": "A baker who gets up at three.", "traits": ["talkative"]},
    {"name": BO, "description": "A bus driver near retirement.", "traits": ["reserved"]},
    {"name": LI, "description": "A student of chemistry.", "traits": ["curious"]},
]
ONE_PERSON = [*PEOPLE[:2], {"name": LI, "human": True}]
SETTINGS = Settings(model="offline", max_messages=4, closing="off")
IN_TURN = SETTINGS.model_copy(update={"pattern": "round_robin"})
LONG = SETTINGS.model_copy(update={"max_messages": 9})
TEAS = ("Green tea", "Black tea", "Mint tea")
DEBATE = Settings(model="offline", mode="debate", max_messages=3)
THREAD: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
ASKED = {"messages": [HumanMessage("Tea or coffee?", id="asked")]}


@dataclass
class Tenant:
    """Another application's context."""

    user: str = "x"


class Report(TypedDict, total=False):
    """Another application's state; `topic` and `turn` mean something else in it than in a conversation."""

    question: str
    topic: str
    turn: int
    usage: str
    came_to: dict[str, Any] | None
    read: str
    log: Annotated[list[AnyMessage], operator.add]


class Typed(BaseModel):
    """A state that is no mapping."""

    question: str = ""
    read: str = ""


def around(node: Any, state: Any = MessagesState, *, saver: Any = None) -> Any:
    """A graph of one node."""
    parent: Any = StateGraph(state, context_schema=Tenant)
    parent.add_node("group", node)
    parent.add_edge(START, "group")
    parent.add_edge("group", END)
    return parent.compile(checkpointer=saver)


async def held(graph: Any, given: Any, asynchronous: bool, config: Any = THREAD) -> dict[str, Any]:
    """What a graph gives, either way of calling it."""
    if asynchronous:
        return await graph.ainvoke(given, config, context=Tenant())  # type: ignore[no-any-return]
    return graph.invoke(given, config, context=Tenant())  # type: ignore[no-any-return]


def added(settings: Settings = SETTINGS) -> Any:
    return build_conversation(settings=settings)


def adapted(settings: Settings = SETTINGS) -> Any:
    return conversation_node(settings, participants=PEOPLE)


def called(settings: Settings = SETTINGS) -> Any:
    group = build_conversation()

    async def node(state: MessagesState, config: RunnableConfig) -> Any:
        given = {"messages": state["messages"], "participants": PEOPLE}
        return {"messages": (await group.ainvoke(given, config, context=settings))["messages"]}

    return node


both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
every_node = pytest.mark.parametrize("node", [added, adapted])


@both_ways
@every_node
async def test_a_parent_has_its_own_context_and_recursion_limit(node: Callable[..., Any], asynchronous: bool) -> None:
    output = await held(around(node(LONG)), ASKED, asynchronous)
    assert output["messages"][0] == ASKED["messages"][0]
    assert len(output["messages"]) == 1 + 9
    assert len({m.id for m in output["messages"]}) == 10
    assert all(m.name for m in output["messages"][1:])


async def test_called_in_a_node_with_the_parents_config() -> None:
    output = await held(around(called(LONG), saver=InMemorySaver()), ASKED, True)
    assert [m.type for m in output["messages"]] == ["human", *["ai"] * 9]


def test_what_was_said_is_what_the_conversation_alone_would_say() -> None:
    alone = graph_for(SETTINGS).invoke({**ASKED, "participants": PEOPLE}, context=SETTINGS)
    inside = around(adapted()).invoke(ASKED)
    assert [m.text for m in inside["messages"]] == [m.text for m in alone["messages"]]


@both_ways
async def test_only_what_is_asked_for_reaches_the_state(asynchronous: bool) -> None:
    into: Any = {"came_to": "conclusion", "read": "transcript", "log": "messages"}
    node = conversation_node(DEBATE, participants=PEOPLE, topic_from="question", into=into)
    old = HumanMessage("What we said before.")
    given = {"question": "Tea or coffee?", "topic": "invoices", "turn": 7, "usage": "mine", "log": [old]}
    output = await held(around(node, Report), given, asynchronous)
    assert {key: output[key] for key in ("question", "topic", "turn", "usage")} == {
        "question": "Tea or coffee?",
        "topic": "invoices",
        "turn": 7,
        "usage": "mine",
    }
    assert set(output) == set(given) | {"came_to", "read"}
    assert output["log"][0] is old
    assert [m.name for m in output["log"][1:]] == [line.partition(": ")[0] for line in output["read"].split("\n")]
    assert len(output["log"]) == 1 + 3, "a reducer that only appends gets no message twice"
    assert output["came_to"]["answer"]
    assert set(output["came_to"]["supporters"]) <= {ADA, BO, LI}


def test_a_typed_state_and_a_function_that_gives_the_topic() -> None:
    people = [Persona.model_validate(person) for person in PEOPLE]
    node = conversation_node(
        SETTINGS,
        participants=people,
        relationships=[{"from": ADA, "to": BO, "type": "friend"}],
        social_goals={ADA: ["Be heard."]},
        rules=["Nobody interrupts."],
        topic_from=lambda state: f"Why {state.question}?",
        into={"read": "stop_reason"},
    )
    assert around(node, Typed).invoke({"question": "tea"})["read"] == "message_limit"


@both_ways
async def test_a_person_is_asked_and_the_parent_is_resumed(asynchronous: bool) -> None:
    graph = around(conversation_node(IN_TURN, participants=ONE_PERSON), saver=InMemorySaver())
    output = await held(graph, ASKED, asynchronous)
    (question,) = output["__interrupt__"]
    assert question.value == {"agent": LI, "what": "utterance", "turn": 2, "problem": ""}
    assert [m.id for m in output["messages"]] == ["asked"]
    inner = graph.get_state(THREAD, subgraphs=True).tasks[0].state.values
    assert [u["speaker"] for u in utterances(inner["messages"])] == [ADA, BO]
    again = await held(graph, Command(resume="   "), asynchronous)
    assert "no words" in again["__interrupt__"][0].value["problem"]
    output = await held(graph, Command(resume="Water."), asynchronous)
    assert [m.name for m in output["messages"]] == [None, ADA, BO, LI, ADA]
    assert output["messages"][3].text == "Water."


@both_ways
async def test_what_a_person_said_is_no_topic_of_the_next_conversation(asynchronous: bool) -> None:
    graph = around(conversation_node(IN_TURN, participants=ONE_PERSON), saver=InMemorySaver())
    await held(graph, ASKED, asynchronous)
    await held(graph, Command(resume="Water."), asynchronous)
    await held(graph, {"messages": []}, asynchronous)
    inner = graph.get_state(THREAD, subgraphs=True).tasks[0].state.values
    assert inner["topic"] == "Tea or coffee?"


@both_ways
@every_node
async def test_tokens_stream_through_the_parent(node: Callable[..., Any], asynchronous: bool) -> None:
    graph, options = around(node(), saver=InMemorySaver()), {"stream_mode": "messages", "subgraphs": True}
    if asynchronous:
        parts = [part async for part in graph.astream(ASKED, THREAD, context=Tenant(), **options)]
    else:
        parts = list(graph.stream(ASKED, THREAD, context=Tenant(), **options))
    pieces: dict[str, str] = {}
    for namespace, (message, _) in parts:
        if isinstance(message, AIMessageChunk):
            assert namespace[0].startswith("group:")
            pieces[str(message.id)] = pieces.get(str(message.id), "") + str(message.text)
    said = graph.get_state(THREAD).values["messages"][1:]
    assert pieces == {m.id: m.text for m in said}


def test_without_subgraphs_a_parents_stream_has_its_own_steps_only() -> None:
    steps = list(around(adapted()).stream(ASKED, THREAD, stream_mode="updates"))
    assert [list(step) for step in steps] == [["group"]]
    assert list(steps[0]["group"]) == ["messages"]


@both_ways
@every_node
async def test_a_failed_conversation_goes_on_where_it_was(node: Callable[..., Any], asynchronous: bool) -> None:
    failing = Failing(Fault(status=401), after=2, tasks={"need_to_talk"})
    with LoopbackServer(answer=failing) as server:
        settings = SETTINGS.model_copy(update={"model": f"any@{server.url}"})
        graph = around(node(settings), saver=InMemorySaver())
        with pytest.raises(ModelError):
            await held(graph, ASKED, asynchronous)
        spoken = failing.asked.count("utterance")
        failing.heal()
        output = await held(graph, None, asynchronous)
    assert spoken == 2
    assert len(output["messages"]) == 1 + 4
    texts = Counter(request.text for request in server.requests if '<task name="utterance">' in request.text)
    assert (len(texts), max(texts.values())) == (4, 1), "what was said before was not said again"


@both_ways
@every_node
async def test_conversations_of_one_thread_do_not_mix(node: Callable[..., Any], asynchronous: bool) -> None:
    with LoopbackServer() as server:
        settings = SETTINGS.model_copy(update={"model": f"any@{server.url}", "max_messages": 3})
        graph = around(node(settings), saver=InMemorySaver())
        first = await held(graph, {"messages": [HumanMessage("Is the ZEBRA right?")]}, asynchronous)
        made = len(server.requests)
        second = await held(graph, {"messages": [HumanMessage("Cats or dogs?")]}, asynchronous)
    old = [m.text for m in first["messages"]]
    assert len(second["messages"]) == 2 * (1 + 3)
    assert [m.text for m in second["messages"][:4]] == old, "nothing of the first was written over"
    later = server.requests[made:]
    assert [r for r in server.requests[:made] if "ZEBRA" in r.text]
    assert [r for r in later if "ZEBRA" in r.text or any(text in r.text for text in old)] == []


async def test_two_conversations_at_once_and_one_after_the_other_in_one_run() -> None:
    parent: Any = StateGraph(MessagesState)
    for name in ("one", "two", "three"):
        parent.add_node(name, adapted(SETTINGS.model_copy(update={"max_messages": 2})))
    parent.add_edge(START, "one")
    parent.add_edge(START, "two")
    parent.add_edge(["one", "two"], "three")
    output = await parent.compile(checkpointer=InMemorySaver()).ainvoke(ASKED, THREAD)
    said = output["messages"][1:]
    assert len({m.id for m in said}) == len(said) == 6
    assert len({m.text for m in said}) == 2, "the same people, topic and seed"


def test_a_budget_ends_it_between_two_turns() -> None:
    into: Any = {"read": "stop_reason", "log": "messages"}
    frugal = Settings(model="offline", max_messages=9, budget_calls=30)
    node = conversation_node(frugal, participants=PEOPLE, topic_from="question", into=into)
    output = around(node, Report).invoke({"question": "Tea?"}, THREAD)
    assert output["read"] == "budget"
    assert 1 <= len(output["log"]) < 9


async def test_one_conversation_for_each_of_many_questions() -> None:
    node = conversation_node(SETTINGS, participants=PEOPLE, topic_from="question", into={"log": "messages"})
    parent: Any = StateGraph(Report)
    parent.add_node("group", node)
    parent.add_conditional_edges(START, lambda _: [Send("group", {"question": f"{n} or coffee?"}) for n in TEAS])
    output = await parent.compile().ainvoke({"topic": "tea"}, {"recursion_limit": 3})
    assert len({m.id for m in output["log"]}) == len(output["log"]) == 4 * len(TEAS)


async def test_from_an_earlier_state_of_the_parent_it_is_another_conversation() -> None:
    graph = around(adapted(), saver=InMemorySaver())
    first = await graph.ainvoke(ASKED, THREAD)
    before = next(kept for kept in graph.get_state_history(THREAD) if kept.next == ("group",))
    fork = graph.update_state(before.config, {"messages": [HumanMessage("Cats or dogs?")]})
    second = await graph.ainvoke(None, fork)
    assert [m.text for m in second["messages"][:2]] == ["Tea or coffee?", "Cats or dogs?"]
    assert {m.id for m in first["messages"][1:]}.isdisjoint({m.id for m in second["messages"][1:]})
    assert [m.text for m in first["messages"][1:]] != [m.text for m in second["messages"][2:]]


async def test_langchains_events_come_through() -> None:
    given = around(adapted(SETTINGS.model_copy(update={"max_messages": 1}))).astream_events(ASKED, version="v2")
    said = [event async for event in given if event["event"] == "on_chat_model_stream"]
    assert {event["metadata"]["langgraph_node"] for event in said} >= {"speak"}


@every_node
def test_the_parents_drawing_shows_the_conversation(node: Callable[..., Any]) -> None:
    drawn = around(node()).get_graph(xray=True).draw_mermaid()
    assert "subgraph group" in drawn
    for step in ("speak", "hear", "person_speaks"):
        assert f"group\\3a{step}" in drawn
    assert "speak" not in around(node()).get_graph().draw_mermaid()


@both_ways
@pytest.mark.parametrize("name", ["mad", "mad_judge", "reconcile"])
async def test_a_baseline_added_as_it_is_has_its_own_recursion_limit(name: str, asynchronous: bool) -> None:
    settings = Settings(model="offline", mode="debate", baseline=name, rounds=4, max_messages=20)
    parent: Any = StateGraph(MessagesState, context_schema=Settings)
    parent.add_node("group", graph_for(settings))
    parent.add_edge(START, "group")
    graph, config = parent.compile(), {"recursion_limit": 3}
    ran = graph.ainvoke(ASKED, config, context=settings) if asynchronous else None
    output = await ran if ran else graph.invoke(ASKED, config, context=settings)
    assert len(output["messages"]) > 1 + 4


def test_a_baseline_in_a_parent() -> None:
    settings = Settings(model="offline", baseline="single_agent", max_messages=3)
    output = around(conversation_node(settings, participants=PEOPLE)).invoke(ASKED, THREAD)
    assert len(output["messages"]) == 1 + 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"into": {"messages": "mesages"}}, ["'messages'", "into"]),
        ({"participants": [ADA, BO]}, [ADA, "Choose one of"]),
        ({"participants": PEOPLE[:1]}, ["two participants"]),
        ({"participants": [PEOPLE[0], {"persona": "/etc/passwd"}]}, ["names a file"]),
        ({"participants": PEOPLE, "social_goals": {"Nobody": ["x"]}}, ["Nobody"]),
    ],
)
def test_what_cannot_be_is_refused_when_the_graph_is_built(
    refused: Refused, options: dict[str, Any], words: list[str]
) -> None:
    refused(lambda: conversation_node(SETTINGS, **options), *words)


@pytest.mark.parametrize("given", [{}, {"question": " "}, {"log": []}])
def test_without_a_topic_it_says_where_one_was_looked_for(refused: Refused, given: dict[str, Any]) -> None:
    graph = around(conversation_node(SETTINGS, participants=PEOPLE, topic_from="question", into={}), Report)
    refused(lambda: graph.invoke({"turn": 1, **given}), "no topic", "question", "topic_from")


def test_messages_without_a_human_one_hold_no_topic() -> None:
    node = conversation_node(SETTINGS, participants=PEOPLE)
    with pytest.raises(InputError, match="no topic"):
        around(node).invoke({"messages": [("ai", "Hello.")]})
    assert around(node).invoke({"messages": [("user", "Tea?"), ("ai", "Hello.")]})["messages"][-1].name


# A conversation inside a graph whose checkpoints outlive the process: another process goes on with it


PROGRAM = """
import json, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from persimchat import Settings, conversation_node

people = [
    {"name": "Ada Lind", "description": "A baker who gets up at three."},
    {"name": "Petr", "human": True},
    {"name": "Bo Vik", "description": "A bus driver near retirement."},
]
settings = Settings(model="offline", max_messages=3, closing="off", pattern="round_robin", store=STORE)
builder = StateGraph(MessagesState)
builder.add_node("group", conversation_node(settings, participants=people))
builder.add_edge(START, "group")
builder.add_edge("group", END)
thread = {"configurable": {"thread_id": "t"}}
given = {"messages": [("user", "Tea or coffee?")]} if sys.argv[1] == "begin" else Command(resume=sys.argv[1])
with SqliteSaver.from_conn_string("checkpoints.sqlite") as saver:
    graph = builder.compile(checkpointer=saver)
    output = graph.invoke(given, thread)
    print(json.dumps({
        "said": [m.text for m in output["messages"]],
        "asked": [i.value["agent"] for i in output.get("__interrupt__", [])],
    }))
"""


def process(folder: Path, argument: str, store: str = "'memories'") -> dict[str, list[str]]:
    """What the program prints in a process of its own."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", PROGRAM.replace("STORE", store), argument]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.long
def test_another_process_goes_on_with_everybodys_memories(tmp_path: Path) -> None:
    first = process(tmp_path, "begin")
    assert (first["said"], first["asked"]) == (["Tea or coffee?"], ["Petr"])
    second = process(tmp_path, "Water.")
    assert second["asked"] == []
    assert (len(second["said"]), second["said"][2]) == (4, "Water.")
    assert (tmp_path / "memories").is_dir()
