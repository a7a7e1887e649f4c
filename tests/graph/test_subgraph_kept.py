"""A conversation inside a graph whose checkpoints outlive the process: another process goes on with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof

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


@pytest.mark.proof
def test_another_process_goes_on_with_everybodys_memories(tmp_path: Path) -> None:
    first = process(tmp_path, "begin")
    assert (first["said"], first["asked"]) == (["Tea or coffee?"], ["Petr"])
    second = process(tmp_path, "Water.")
    assert second["asked"] == []
    assert (len(second["said"]), second["said"][2]) == (4, "Water.")
    assert (tmp_path / "memories").is_dir()
