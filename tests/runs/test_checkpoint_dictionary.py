"""Values that are compressed with a file's dictionaries are read back, however many checkpoints are kept at once."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from persimchat.runs.folder.checkpoints import opened

NAMESPACES = 12
ROUNDS = 12


def checkpoint(draw: random.Random) -> Any:
    words = [draw.choice(["tea", "coffee", "water", "Brno", "town"]) * draw.randint(1, 9) for _ in range(200)]
    return {**empty_checkpoint(), "channel_values": {"words": words}}


async def test_checkpoints_that_are_kept_at_the_same_time_are_read_back(tmp_path: Path) -> None:
    draw, kept = random.Random(1), {}
    async with opened("run", tmp_path) as saver:
        assert saver is not None
        await saver.setup()

        async def put(namespace: str, value: Any) -> None:
            place: Any = {"configurable": {"thread_id": "run", "checkpoint_ns": namespace}}
            where = await saver.aput(place, value, {}, {})
            await saver.aput_writes(where, [("words", value["channel_values"])], "task")
            kept[namespace, where["configurable"]["checkpoint_id"]] = value["channel_values"]

        for _ in range(ROUNDS):
            await asyncio.gather(*(put(f"mind{n}" if n else "", checkpoint(draw)) for n in range(NAMESPACES)))
    assert len(kept) == ROUNDS * NAMESPACES
    async with opened("run", tmp_path) as saver:
        assert saver is not None
        await saver.setup()
        for (namespace, number), values in kept.items():
            place: Any = {"thread_id": "run", "checkpoint_ns": namespace, "checkpoint_id": number}
            found = await saver.aget_tuple({"configurable": place})
            assert found is not None and found.checkpoint["channel_values"] == values
            assert found.pending_writes == [("task", "words", values)]
