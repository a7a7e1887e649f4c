"""A graph of your own with a focus group in the middle: plan ─▶ focus group ─▶ report.

Shows `conversation_node()`: the graph has its own state, context and chat model, and it keeps two keys of the
conversation. With a checkpointer on the outer graph, you can stop and resume inside the conversation.

    python examples/embedding/report_graph.py "a shelf that folds into the wall"
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from persimchat import Settings, conversation_node

GROUP = Settings(mode="debate", max_messages=6, model=os.environ.get("PERSIMCHAT_MODEL", "offline"))


class Study(TypedDict, total=False):
    """The graph's own state; it gets nothing else of the conversation."""

    product: str
    question: str
    transcript: str
    conclusion: dict[str, Any]
    report: str


@dataclass
class Analyst:
    """The graph's own context."""

    model: BaseChatModel


async def plan(state: Study, runtime: Runtime[Analyst]) -> Study:
    """Turn a product into a question for the group."""
    asked = await runtime.context.model.ainvoke(f"Word one question for a focus group about {state['product']}.")
    return {"question": asked.text}


async def report(state: Study, runtime: Runtime[Analyst]) -> Study:
    """Sum up, and say that it is a simulation."""
    told = await runtime.context.model.ainvoke(f"Sum up this simulated conversation:\n{state['transcript']}")
    found = state["conclusion"]
    kind = "All agree" if found["consensus"] else "Most hold"
    return {"report": f"{told.text}\n{kind}: {found['answer']}\nSimulated people are not people."}


builder = StateGraph(Study, context_schema=Analyst)
builder.add_node("plan", plan)
builder.add_node(
    "focus_group",
    conversation_node(
        GROUP,
        participants=["Jarmila", "Zeynep", "Hà"],
        topic_from="question",
        into={"transcript": "transcript", "conclusion": "conclusion"},
    ),
)
builder.add_node("report", report)
builder.add_edge(START, "plan")
builder.add_edge("plan", "focus_group")
builder.add_edge("focus_group", "report")
builder.add_edge("report", END)
graph = builder.compile(checkpointer=InMemorySaver())

if __name__ == "__main__":
    import asyncio

    product = " ".join(sys.argv[1:]) or "a shelf that folds into the wall"
    model = FakeListChatModel(responses=[f"Would you buy {product}?", "They weighed use against trouble."])
    thread: Any = {"configurable": {"thread_id": "one study"}}
    done = asyncio.run(graph.ainvoke({"product": product}, thread, context=Analyst(model)))
    print(done["transcript"], done["report"], sep="\n\n")
