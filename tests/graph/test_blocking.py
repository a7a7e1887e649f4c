"""Nothing blocks the event loop: no file is read and no socket is waited for in it.

LangGraph's servers refuse such calls (`langgraph dev` without `--allow-blocking`). What is read at first use is read
once a process, so every conversation here is the first one of a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer

pytestmark = pytest.mark.proof

CONVERSATION = """
import asyncio, json, sys
from blockbuster import blockbuster_ctx
from persimchat.graph.conversation import graph
from persimchat.state.settings import Settings

async def main():
    with blockbuster_ctx():
        output = await graph.ainvoke({"topic": "Tea or coffee?"}, context=Settings(**json.loads(sys.argv[1])))
    print(output["turn"], output["stop_reason"])

asyncio.run(main())
"""

BLOCKING = """
import asyncio, pathlib, sys
from blockbuster import blockbuster_ctx

async def main():
    with blockbuster_ctx():
        pathlib.Path(sys.argv[1]).read_text()

asyncio.run(main())
"""


def run(code: str, argument: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, argument],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def converse(settings: dict[str, Any], **environment: str) -> str:
    done = run(CONVERSATION, json.dumps({"max_messages": 2, "memory_filtering": True, **settings}), **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_the_guard_itself_refuses_a_blocking_call() -> None:
    done = run(BLOCKING, __file__)
    assert done.returncode == 1
    assert "BlockingError" in done.stderr


def test_a_conversation_with_the_offline_model(tmp_path: Path) -> None:
    assert converse({"model": "offline", "store": str(tmp_path)}) == "2 message_limit"


@pytest.mark.long
def test_a_debate_with_everything_that_looks_on(tmp_path: Path) -> None:
    settings = {"mode": "debate", "judge": "persona", "analysis": True, "pattern": "selector", "store": str(tmp_path)}
    assert converse({"model": "offline", **settings}) == "2 message_limit"


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("provider", ["compatible", "openai"])
def test_a_conversation_with_a_server(provider: str) -> None:
    with LoopbackServer(answer=Scripted()) as server:
        address = server.model().partition("@")[2]
        model = server.model() if provider == "compatible" else "openai:gpt-4o-mini"
        settings = {"model": model, "embedding": f"e@{address}"}
        assert converse(settings, OPENAI_API_KEY="sk-none", OPENAI_BASE_URL=address) == "2 message_limit"


DOCUMENTED = """
import sys
import langgraph.graph, langgraph.prebuilt
from blockbuster import blockbuster_ctx

with blockbuster_ctx():
    for program in open(sys.argv[1], encoding="utf-8").read().split("```python\\n")[1:]:
        exec(compile(program.split("```")[0], "program", "exec"), {"__name__": "program"})
"""


@pytest.mark.long
def test_every_program_of_the_document(tmp_path: Path, root: Path) -> None:
    """tests/studio/test_embedded.py has more of them on LangGraph's server."""
    document = root / "docs" / "embedding.md"
    done = run(DOCUMENTED, str(document), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
