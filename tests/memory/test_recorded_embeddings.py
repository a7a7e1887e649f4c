"""Embeddings that a server computes: recorded once a text, and answered from the record without the server."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from langchain_core.runnables.config import set_config_context

from persimchat.memory.embedding_texts import embed
from persimchat.models.ledger import LEDGER, Ledger, NotRecorded
from persimchat.models.recording import Record, text_digest
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

TEXTS = ["banana", "x", "李雷 \ud800"]


class Kept:
    """A sink that keeps embeddings; no request to a model is expected."""

    def __init__(self) -> None:
        self.vectors: dict[str, str] = {}
        self.lines = 0

    def call(self, row: Any) -> None:
        raise AssertionError("embeddings are no calls")

    def embedding(self, text: str, vector: str) -> None:
        self.lines += 1
        self.vectors[text] = vector


async def within(ledger: Ledger, settings: Settings, texts: list[str]) -> Any:
    with set_config_context({"configurable": {LEDGER: ledger}}) as context:
        return await asyncio.create_task(embed(settings, texts), context=context)


async def test_what_a_server_embedded_is_answered_from_the_record_bit_by_bit(embedding_server: Any) -> None:
    sink, settings = Kept(), Settings(embedding=embedding_server.name)
    ledger = Ledger(sink=sink)
    live = await within(ledger, settings, TEXTS[:2])
    await within(ledger, settings, TEXTS[1:2])
    assert len(embedding_server.requests) == 2
    assert sink.lines == 2
    assert set(sink.vectors) == {text_digest(text) for text in TEXTS[:2]}
    again = Kept()
    replay = Ledger(sink=again, answers=Record([], sink.vectors))
    gone = Settings(embedding="openai:text-embedding-3-small")
    rows = await within(replay, gone, TEXTS[1::-1])
    assert rows.dtype == np.float32
    assert np.array_equal(rows, live[::-1])
    assert len(embedding_server.requests) == 2
    assert again.vectors == sink.vectors
    with pytest.raises(NotRecorded, match="record has no embedding"):
        await within(replay, gone, ["unheard of"])
    with pytest.raises(InputError, match="unknown embedding"):
        await within(replay, Settings(embedding="bert"), TEXTS[:1])


async def test_what_is_computed_here_is_not_recorded() -> None:
    sink = Kept()
    live = await within(Ledger(sink=sink), Settings(), TEXTS[:2])
    assert sink.lines == 0
    assert np.array_equal(await within(Ledger(answers=Record([])), Settings(), TEXTS[:2]), live)


async def test_a_failed_embedding_is_not_recorded(embedding_server: Any) -> None:
    sink, settings = Kept(), Settings(embedding=embedding_server.name)
    embedding_server.status = 500
    with pytest.raises(Exception, match="HTTP 500"):
        await within(Ledger(sink=sink), settings, TEXTS[:1])
    assert sink.lines == 0


def test_digests_take_every_text() -> None:
    assert len({text_digest(text) for text in TEXTS}) == 3
