"""What the tests of LangGraph's server share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from studio.serving import Server, serving


@pytest.fixture(scope="package")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if find_spec("langgraph_api") is None or find_spec("langgraph_cli") is None:
        pytest.skip("needs LangGraph's server: pip install 'persimchat[studio]'")
    with serving(root, tmp_path_factory.mktemp("studio")) as started:
        yield started


@pytest.fixture
async def client(server: Server) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as found:
        yield found


@pytest.fixture
async def thread(client: LangGraphClient) -> str:
    """A new thread's id."""
    return str((await client.threads.create())["thread_id"])


@pytest.fixture
def topic() -> dict[str, Any]:
    """What most conversations are given."""
    return {"topic": "Tea or coffee?", "participants": ["Jarmila", "Inés"]}
