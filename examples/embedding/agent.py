"""An agent with a tool: it asks a focus group, reads the transcript, and answers.

Shows `as_tool()` in LangGraph's `ToolNode`. The agent's first call is wrong on purpose: the error tells it what to
correct. Here a scripted chat model plays the agent; you can replace it by any LangChain chat model that calls tools,
and the graph by `langchain.agents.create_agent(model, [tool])`.

    python examples/embedding/agent.py "Should the library open on Sundays?"
"""

from __future__ import annotations

import os
import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from persimchat import Settings, as_tool

MODEL = os.environ.get("PERSIMCHAT_MODEL", "offline")
ask_focus_group = as_tool(Settings(model=MODEL, budget_calls=500), most_messages=8)


class ScriptedAgent(BaseChatModel):
    """Asks the group about the question, with too many messages; then with fewer; then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted-agent"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Its script knows the tool."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        told = [message for message in messages if isinstance(message, ToolMessage)]
        if not told or told[-1].status == "error":
            who = [{"name": "Zeynep"}, {"name": "Max Ruiz", "description": "Works on Sundays and hates queues."}]
            asked = {"topic": messages[0].text, "kind": "debate", "messages": 4 if told else 100, "who": who}
            call = {"name": "ask_focus_group", "args": asked, "id": f"call_{len(told)}"}
            answer = AIMessage("", tool_calls=[call])
        else:
            kept = [line for line in told[-1].text.split("\n") if line.startswith(("No consensus", "Everybody", "- "))]
            answer = AIMessage("\n".join(["I asked a simulated group, which is no survey.", *kept]))
        return ChatResult(generations=[ChatGeneration(message=answer)])


def agent(model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The usual loop: the model, then the tools it calls, until it calls none."""
    bound = model.bind_tools([ask_focus_group])

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("think", think)
    builder.add_node("tools", ToolNode([ask_focus_group]))
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", tools_condition)
    builder.add_edge("tools", "think")
    return builder.compile()


if __name__ == "__main__":
    import asyncio

    question = " ".join(sys.argv[1:]) or "Should the library open on Sundays?"
    done = asyncio.run(agent(ScriptedAgent()).ainvoke({"messages": [("user", question)]}))
    for message in done["messages"]:
        message.pretty_print()
