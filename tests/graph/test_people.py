"""People in a conversation, by LangGraph's own means: `interrupt`, `Command(resume=…)`, checkpoints."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt
from typing_extensions import TypedDict

from persimchat.graph import build_conversation
from persimchat.state.conversation import Messages, utterances
from persimchat.state.settings import Settings

ADA, BO, LI = "Ada Lind", "Bo Říha", "李雷"
PEOPLE: list[dict[str, Any]] = [
    {"name": ADA, "description": "A baker who gets up at three.", "traits": ["talkative"]},
    {"name": BO, "description": "A bus driver near retirement.", "traits": ["reserved"]},
    {"name": LI, "human": True},
]
TWO_PEOPLE = [PEOPLE[0], {"name": BO, "human": True}, PEOPLE[2]]


class Calls(BaseCallbackHandler):
    """Counts what models are asked, by the words of the question: the same question twice is a call made twice."""

    run_inline = True

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        """Remember the question."""
        self.asked["\n".join(str(message.content) for message in messages[0])] += 1


class Held:
    """A conversation on a thread of its own."""

    def __init__(self, people: list[dict[str, Any]] = PEOPLE, **settings: Any) -> None:
        self.given = {"topic": "Tea or coffee?", "participants": people, "simulation": uuid4().hex}
        self.settings = Settings(**{"model": "offline", "max_messages": 4, "closing": "off", **settings})
        self.calls = Calls()
        self.config: Any = {"configurable": {"thread_id": uuid4().hex}, "callbacks": [self.calls]}
        self.graph = build_conversation(InMemorySaver())

    def go(self, given: Any = None) -> list[dict[str, Any]]:
        """Go on to the next question or the end, and give back what is asked."""
        self.graph.invoke(self.given if given is None else given, self.config, context=self.settings)
        return [interrupt.value for interrupt in self.interrupts()]

    def interrupts(self) -> tuple[Interrupt, ...]:
        """What is being asked."""
        return self.graph.get_state(self.config).interrupts

    @property
    def state(self) -> dict[str, Any]:
        """The conversation as it stands."""
        return dict(self.graph.get_state(self.config).values)

    @property
    def said(self) -> list[dict[str, Any]]:
        """The utterances so far."""
        return [dict(utterance) for utterance in utterances(self.state["messages"])]


def in_turn(people: list[dict[str, Any]] = PEOPLE, **settings: Any) -> Held:
    return Held(people, pattern="round_robin", **settings)


@pytest.mark.proof
def test_a_persons_turn_is_an_interrupt_and_words_resume_it() -> None:
    held = in_turn()
    assert held.go() == [{"agent": LI, "what": "utterance", "turn": 2, "problem": ""}]
    before = held.calls.asked.total()
    assert held.go(Command(resume="I would rather have water.")) == []
    assert [u["speaker"] for u in held.said] == [ADA, BO, LI, ADA]
    mine = held.said[2]
    assert mine["text"] == "I would rather have water."
    assert (mine["emotion"], mine["tokens"], mine["response_time_s"]) == ({}, {"input": 0, "output": 0}, 0.0)
    assert isinstance(held.state["messages"][2], HumanMessage)
    assert held.calls.asked.total() > before
    assert max(held.calls.asked.values()) == 1, "a question was put twice"


@pytest.mark.proof
def test_resuming_makes_no_call_again_and_none_for_the_person() -> None:
    whole = in_turn()
    whole.go()
    made = whole.calls.asked.copy()
    assert whole.go(Command(resume={"no": "such key"}))[0]["problem"]
    assert whole.calls.asked == made, "what the others thought meanwhile was thought again"
    whole.go(Command(resume="Water."))
    usage = whole.state["usage"].values()
    assert LI not in {row["agent"] for row in usage}
    assert sum(row["calls"] for row in usage) == whole.calls.asked.total()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "no words"),
        ("x" * 100_000, "100,000 characters are too many: at most 8,000"),
        (17, "it is not text"),
        ({"text": "Hi", "heard_by": [["Ada Lind"]]}, "does not take part"),
        ({"text": "Hi", "heard_by": [LI]}, "nobody but the speaker"),
    ],
)
def test_a_wrong_answer_is_asked_again_with_the_problem(given: Any, words: str) -> None:
    held = in_turn()
    held.go()
    (asked,) = held.go(Command(resume=given))
    assert words in asked["problem"]
    assert "\n" not in asked["problem"]
    assert len(asked["problem"]) < 400
    assert held.go(Command(resume="Water.")) == []
    assert held.said[2]["text"] == "Water."


@pytest.mark.proof
def test_a_person_whispers() -> None:
    held = in_turn()
    held.go()
    held.go(Command(resume={"text": "Bo, quietly: take the bus.", "heard_by": [BO]}))
    assert held.said[2]["heard_by"] == [BO]
    ada, bo = held.state["agents"][ADA], held.state["agents"][BO]
    assert bo["percept"] is not None
    assert ada["utterances"] == 2


@pytest.mark.proof
def test_a_person_passes_and_somebody_else_speaks() -> None:
    held = in_turn()
    held.go()
    held.go(Command(resume={"pass": True}))
    assert [u["speaker"] for u in held.said] == [ADA, BO, ADA, BO]
    assert [u["turn"] for u in held.said] == [1, 2, 3, 4]
    assert held.state["agents"][LI]["passed"] == 3
    assert max(held.calls.asked.values()) == 1


@pytest.mark.proof
def test_a_person_who_passes_for_ever_ends_nothing() -> None:
    held = in_turn([PEOPLE[0], PEOPLE[2]], max_messages=5)
    asked = held.go()
    for _ in range(20):
        if not asked:
            break
        asked = held.go(Command(resume={"pass": True}))
    assert [u["speaker"] for u in held.said] == [ADA] * 5
    assert held.state["stop_reason"] == "message_limit"


def test_two_people_are_asked_for_their_needs_at_once_and_answer_by_id() -> None:
    held = Held(TWO_PEOPLE, human_turns="need", max_messages=3)
    asked = held.go()
    assert [(a["agent"], a["what"], a["turn"]) for a in asked] == [(BO, "need_to_talk", 1), (LI, "need_to_talk", 1)]
    bo, li = held.interrupts()
    assert bo.id != li.id
    made = held.calls.asked.copy()
    (left,) = held.go(Command(resume={bo.id: 3}))
    assert left["agent"] == LI
    assert held.calls.asked == made, "one answer of two set the others thinking again"
    (again,) = held.go(Command(resume={li.id: 11}))
    assert "from 0 to 10" in again["problem"]
    (asked_next,) = held.go(Command(resume={held.interrupts()[0].id: "10"}))
    assert (asked_next["agent"], asked_next["what"]) == (LI, "utterance")
    assert held.state["agents"][BO]["need_to_talk"] == 3
    assert max(held.calls.asked.values()) == 1


@pytest.mark.proof
async def test_asynchronously_and_streamed() -> None:
    held = in_turn()
    found = [
        part["__interrupt__"][0].value
        async for part in held.graph.astream(
            held.given, held.config, context=held.settings, stream_mode="updates", durability="sync"
        )
        if "__interrupt__" in part
    ]
    assert [question["agent"] for question in found] == [LI]
    output = await held.graph.ainvoke(Command(resume="Water."), held.config, context=held.settings)
    other = in_turn()
    other.go()
    other.go(Command(resume="Water."))
    assert [m.text for m in output["messages"]] == [u["text"] for u in other.said]


def test_streamed_synchronously() -> None:
    held = in_turn()
    parts = list(held.graph.stream(held.given, held.config, context=held.settings, stream_mode="updates"))
    assert [part["__interrupt__"][0].value["agent"] for part in parts if "__interrupt__" in part] == [LI]


class Parent(TypedDict, total=False):
    topic: str
    participants: list[Any]
    simulation: str
    messages: Messages
    over: bool


@pytest.mark.proof
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_inside_a_parent_graph(asynchronous: bool) -> None:
    parent: Any = StateGraph(Parent, context_schema=Settings)
    parent.add_node("talk", build_conversation())
    parent.add_node("after", lambda state: {"over": True})
    parent.add_edge(START, "talk")
    parent.add_edge("talk", "after")
    parent.add_edge("after", END)
    held = in_turn()
    held.graph = parent.compile(checkpointer=InMemorySaver())

    async def go(given: Any) -> Any:
        if asynchronous:
            return await held.graph.ainvoke(given, held.config, context=held.settings)
        return held.graph.invoke(given, held.config, context=held.settings)

    output = await go(held.given)
    assert [i.value["agent"] for i in output["__interrupt__"]] == [LI]
    output = await go(Command(resume="Water."))
    assert output["over"] is True
    assert [m.name for m in output["messages"]] == [ADA, BO, LI, ADA]
    assert max(held.calls.asked.values()) == 1


@pytest.mark.proof
def test_a_hand_is_a_turn_and_speaking_lowers_it() -> None:
    held = Held(human_turns="hand", max_messages=3)
    assert held.go() == [], "nobody with a lowered hand is asked"
    first = next(
        s for s in held.graph.get_state_history(held.config) if s.values.get("turn") == 1 and "speak" in s.next
    )
    held.config = held.graph.update_state(
        first.config, {"interventions": [{"do": "hand", "agent": LI}]}, as_node="intervene"
    )
    held.config["callbacks"] = [held.calls]
    held.graph.invoke(None, held.config, context=held.settings)
    held.config = {"configurable": {"thread_id": held.config["configurable"]["thread_id"]}}
    (asked,) = [interrupt.value for interrupt in held.interrupts()]
    assert (asked["agent"], asked["turn"]) == (LI, 1)
    held.go(Command(resume="At last."))
    assert held.said[1]["speaker"] == LI
    assert held.state["agents"][LI]["hand"] is False


@pytest.mark.proof
def test_a_person_takes_leave_by_passing() -> None:
    held = Held(closing="near_limit", max_messages=12, human_turns="hand")
    asked = held.go()
    for _ in range(12):
        if not asked:
            break
        asked = held.go(Command(resume={"pass": True}))
    state = held.state
    assert state["stop_reason"] == "closed", state["stop_reason"]
    assert state["stop_detail"].startswith("Everybody took leave")
    leaving = [u["speaker"] for u in held.said if u["turn"] > state["closing_since"]]
    assert sorted(leaving) == [ADA, BO], "somebody took leave twice"
