"""A world's stores: what is cancelled while it writes leaves nothing open that would refuse later writes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from langgraph.store.base import PutOp

from persimchat.runs.companion.stores import opened_stores


async def test_a_cancelled_write_is_written_to_its_end(tmp_path: Path) -> None:
    async with opened_stores(tmp_path) as (_, store):
        for turns in range(8):  # of the event loop, before it is cancelled
            task = asyncio.create_task(store.abatch([PutOp(("ties",), str(turns), {"turns": turns})]))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await store.abatch([PutOp(("ties",), "last", {"turns": -1})])
        kept = {item.key for item in await store.asearch(("ties",), limit=20)}
    assert kept >= {"last", "7"}
