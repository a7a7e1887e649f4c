"""Two real memory streams through the real store, against the specification's score computed by hand.

The streams have no emotional states. They are derived from each text's hash, so that they differ and repeat.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.memory.recollection import discard, recall, save
from persimchat.memory.store import store
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.minds.memory import new_memory
from persimchat.state.settings import Settings

WEIGHTS = dict.fromkeys(("recency", "importance", "relevance", "emotional", "stm_relevance"), 1.0)


def emotion_of(text):
    """Six numbers 0–10; for one text in eight all zeros, as in a calm agent."""
    digest = hashlib.sha256(text.encode()).digest()
    return [0] * 6 if digest[6] % 8 == 0 else [byte % 11 for byte in digest[:6]]


def stream(shared, name):
    """The nodes of a stream as memories, oldest first; the turn is the rank of the time at which a node was made."""
    nodes = list(json.loads((shared / "data" / "memory_streams" / f"{name}.json").read_text("utf-8")).values())
    nodes.sort(key=lambda node: (node["created"], node["node_count"]))
    turns = {created: turn for turn, created in enumerate(sorted({node["created"] for node in nodes}))}
    memories = [
        new_memory(
            name,
            turns[node["created"]],
            "reflection" if node["type"] == "thought" else "perception",
            node["description"],
            [str(word) for word in node["keywords"]],
            node["poignancy"],
            emotion_of(node["description"]),
            index=node["node_count"],
        )
        for node in nodes
    ]
    return nodes, memories, len(turns)


def questions(nodes):
    """Fifty texts to ask with: questions asked in the chats first, then what was thought."""
    lines = [line[1] for node in nodes if node["type"] == "chat" for line in node["filling"]]
    asked = [line for line in lines if "?" in line]
    thoughts = [node["description"] for node in nodes if node["type"] in ("thought", "chat")]
    return list(dict.fromkeys([*asked, *thoughts]))[:50]


@pytest.mark.long
@pytest.mark.parametrize("name", ["isabella_rodriguez", "maria_lopez"])
@pytest.mark.proof(cases=1)
async def test_recall_equals_a_computation_by_hand(shared, tmp_path, brute_force, same_recall, simulation, name):
    nodes, memories, turn = stream(shared, name)
    focal = questions(nodes)
    assert len(focal) == 50
    chosen = Settings(store=str(tmp_path / "memories"), ltm_capacity=1000)
    # Last accesses as they are after a while: some memories were recalled since, many at the same turn.
    alive = {m.id: max(m.turn, turn - 40) if i % 3 == 0 else m.turn for i, m in enumerate(memories)}
    await save(chosen, simulation, name, [m.model_dump() for m in memories])
    discard(simulation)
    kept = store(chosen.store).load(simulation, name, "lexical", list(alive))
    assert {i: m for i, (m, _) in kept.items()} == {m.id: m for m in memories}
    known = [
        {
            "id": m.id,
            "last": alive[m.id],
            "importance": m.importance,
            "emotion": m.emotion,
            "vector": kept[m.id][1].tolist(),
        }
        for m in memories
    ]
    stm, feeling = memories[-1], emotion_of("how it feels now")
    lexical = LexicalEmbeddings()
    for batch in [*([q] for q in focal), *(focal[i : i + 3] for i in (0, 20, 40))]:
        got = await recall(
            chosen,
            simulation,
            name,
            alive=alive,
            unsaved=[],
            stm=stm.model_dump(),
            focal_points=batch,
            emotion=dict(zip(EMOTIONS, feeling, strict=True)),
            turn=turn,
        )
        expected = brute_force(known, lexical.embed_documents(batch), kept[stm.id][1].tolist(), feeling, turn, WEIGHTS)
        assert len(got) == 30 or len(batch) == 3
        # Vectors are kept in single precision, focal points by hand are in double; three decimals are kept.
        same_recall(got, expected, tolerance=0.0005 + 1e-6)
