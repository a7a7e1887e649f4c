"""Likeness of a new utterance to what was said: right cosines, and nothing embedded twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from loopback.server import LoopbackServer

from persimchat.memory import utterance_vectors as module
from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.memory.utterance_vectors import COMPARED_BYTES, UtteranceVectors
from persimchat.state.settings import Settings

SAID = ["The station should become a library.", "Nobody has told us what it costs.", "Bo likes 李雷's idea."]
NEW = "So the station becomes a library?"


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The batches that were embedded."""
    batches: list[list[str]] = []
    real = module.embed

    async def embed(settings: Settings, texts: Sequence[str], *, agent: str = "") -> Any:
        batches.append(list(texts))
        return await real(settings, texts, agent=agent)

    monkeypatch.setattr(module, "embed", embed)
    return batches


async def likeness(vectors: UtteranceVectors, text: str, said: list[str], simulation: str = "s") -> list[float]:
    return await vectors.similarities(Settings(), simulation, text, said, agent="Ann")


async def test_cosines_with_each_earlier_utterance() -> None:
    rows = np.array(LexicalEmbeddings().embed_documents([*SAID, NEW]))
    assert await likeness(UtteranceVectors(), NEW, SAID) == pytest.approx((rows[:3] @ rows[3]).tolist(), abs=1e-6)
    assert await likeness(UtteranceVectors(), SAID[1], SAID) == [pytest.approx(n) for n in (rows[:3] @ rows[1])]


async def test_a_turn_embeds_only_what_is_new(embedded: list[list[str]]) -> None:
    vectors = UtteranceVectors()
    for end in (1, 2, 3):
        await likeness(vectors, f"{SAID[end - 1]}?!", SAID[:end])
    assert embedded == [[SAID[0], f"{SAID[0]}?!"], [SAID[1], f"{SAID[1]}?!"], [SAID[2], f"{SAID[2]}?!"]]
    await likeness(vectors, SAID[0], SAID)
    assert len(embedded) == 3


async def test_another_process_finds_the_same(embedded: list[list[str]]) -> None:
    kept, fresh = UtteranceVectors(), UtteranceVectors()
    await likeness(kept, SAID[2], SAID[:2])
    assert await likeness(kept, NEW, SAID) == await likeness(fresh, NEW, SAID)
    assert embedded[-2:] == [[NEW], [*SAID, NEW]]


async def test_what_left_the_window_is_not_kept(embedded: list[list[str]]) -> None:
    vectors = UtteranceVectors()
    await likeness(vectors, NEW, SAID)
    await likeness(vectors, NEW, SAID[1:])
    await likeness(vectors, NEW, SAID)
    assert embedded[1:] == [[SAID[0]]]


async def test_conversations_are_apart_and_bounded(embedded: list[list[str]]) -> None:
    vectors = UtteranceVectors(limit=2)
    for simulation in ("a", "b", "a", "c", "b"):
        await likeness(vectors, NEW, SAID, simulation)
    assert len(vectors) == 2
    assert len(embedded) == 4  # b had to go for c


async def test_conversations_at_the_same_time(embedded: list[list[str]]) -> None:
    vectors = UtteranceVectors()
    found = await asyncio.gather(*(likeness(vectors, text, SAID) for text in (NEW, *SAID)))
    assert found[0] == await likeness(UtteranceVectors(), NEW, SAID)


async def test_only_the_beginning_of_a_long_text_is_embedded(embedded: list[list[str]]) -> None:
    long = "李" * 100_000
    assert await likeness(UtteranceVectors(), long, [long + "!", "\ud800 half a sign"]) == [pytest.approx(1), 0]
    assert all(len(text.encode()) <= COMPARED_BYTES for text in embedded[0])
    assert len(embedded[0]) == 2


async def test_a_servers_embedding_is_asked_for_one_text_a_turn() -> None:
    with LoopbackServer() as server:
        settings = Settings(embedding=f"e@{server.url}")
        vectors = UtteranceVectors()
        for end in (1, 2, 3):
            await vectors.similarities(settings, "s", [*SAID, NEW][end], SAID[:end], agent="Ann")
        assert [b["input"] for b in server.bodies("/v1/embeddings")] == [SAID[:2], [SAID[2]], [NEW]]
