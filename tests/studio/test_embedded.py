"""Somebody's app on LangGraph's server, which refuses every call that blocks its event loop."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from studio.serving import EMBEDDED, Server

pytestmark = pytest.mark.proof


@pytest.mark.proof(cases="all")
@pytest.mark.parametrize("name", EMBEDDED)
async def test_what_an_app_embeds_works_twice(client: LangGraphClient, server: Server, name: str) -> None:
    """The first time makes what the second one finds: a folder, a world, a cell that is held already."""
    for _ in range(2):
        thread = (await client.threads.create())["thread_id"]
        given = {"topic": "My sister is called Mira. Tea or coffee?"}
        ended: Any = await client.runs.wait(thread, f"app_{name}", input=given, raise_error=False)
        log = server.log.read_text(encoding="utf-8")
        assert "BlockingError" not in log, log[log.index("BlockingError") - 4000 :]
        assert ended.get("told") or ended.get("messages"), ended
