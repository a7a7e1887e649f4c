"""Remembering and recalling: the mirror may be lost at any moment, and nothing changes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from persimchat.memory import recollection
from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.memory.recollection import Mirrors, discard, forget, memories_of, recall, remember, save, similarity
from persimchat.memory.store import store
from persimchat.state.errors import InputError
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.settings import Settings

TOPICS = ["a swimming pool", "the town's budget", "a library", "winter roads", "李雷的公园", "Lukáš and music"]
QUESTIONS = ["Who wants a swimming pool?", "What does the budget allow?", "谁喜欢公园?"]
FEELING = dict(zip(EMOTIONS, [5, 0, 1, 0, 0, 2], strict=True))


@pytest.fixture
def mind(made):
    """Forty memories, the last of them in short-term memory."""
    memories = [
        made(
            f"{TOPICS[i % 6]} was discussed, part {i // 2}",
            turn=i,
            importance=i * 7 % 11,
            emotion=[i % 3, 0, i % 5, 0, 0, 1],
            keywords=[TOPICS[i % 6].split()[-1]],
        )
        for i in range(40)
    ]
    return memories[:-1], memories[-1]


def asked(mind, unsaved=()):
    memories, stm = mind
    return {
        "alive": {m.id: m.turn for m in memories},
        "unsaved": [m.model_dump() for m in unsaved],
        "stm": stm.model_dump(),
        "focal_points": QUESTIONS,
        "emotion": FEELING,
        "turn": 41,
    }


@pytest.fixture(params=["ephemeral", "folder", "http"])
def chosen(request, tmp_path):
    if request.param == "http":
        return Settings(store=request.getfixturevalue("chroma_server"))
    return Settings(store="ephemeral" if request.param == "ephemeral" else str(tmp_path / "memories"))


async def test_recall_is_the_exact_best(brute_force, same_recall, ephemeral, simulation, mind):
    memories, stm = mind
    await remember(ephemeral, simulation, "Eva", [*memories, stm])
    given = asked(mind, memories)
    before = json.dumps(given)
    got = await recall(ephemeral, simulation, "Eva", **given)
    assert json.dumps(given) == before
    lexical = LexicalEmbeddings()
    known = [
        {
            "id": m.id,
            "last": m.turn,
            "importance": m.importance,
            "emotion": m.emotion,
            "vector": lexical.embed_query(m.text),
        }
        for m in memories
    ]
    expected = brute_force(
        known,
        lexical.embed_documents(QUESTIONS),
        lexical.embed_query(stm.text),
        list(FEELING.values()),
        41,
        dict.fromkeys(("recency", "importance", "relevance", "emotional", "stm_relevance"), 1.0),
    )
    # The mirror keeps single precision, and three decimals are told.
    same_recall(got, expected, tolerance=6e-4)


async def test_a_lost_mirror_changes_nothing(chosen, simulation, mind, same_recall):
    memories, stm = mind
    await remember(chosen, simulation, "Eva", [*memories, stm])
    fresh = await recall(chosen, simulation, "Eva", **asked(mind, memories))
    await save(chosen, simulation, "Eva", [m.model_dump() for m in memories[:30]])
    discard(simulation)
    partly = await recall(chosen, simulation, "Eva", **asked(mind, memories[30:]))
    await save(chosen, simulation, "Eva", [m.model_dump() for m in memories])
    discard(simulation)
    whole = await recall(chosen, simulation, "Eva", **asked(mind))
    assert fresh == partly == whole
    assert len(fresh) >= 30


async def test_switches(simulation, mind):
    memories, stm = mind
    off = Settings(emotional_retrieval=False, stm_retrieval=False)
    rows = await recall(off, simulation, "Eva", **asked(mind, memories))
    assert {(r["emotional"], r["stm_relevance"]) for r in rows} == {(0.0, 0.0)}
    discard(simulation)
    rows = await recall(Settings(), simulation, "Eva", **asked(mind, memories))
    assert max(r["emotional"] for r in rows) == 1.0
    assert max(r["stm_relevance"] for r in rows) == 1.0


async def test_memories_in_the_order_asked(chosen, simulation, mind):
    memories, _ = mind
    await save(chosen, simulation, "Eva", [m.model_dump() for m in memories[:20]])
    discard(simulation)
    wanted = [memories[25], memories[3], memories[19]]
    got = await memories_of(chosen, simulation, "Eva", [m.id for m in wanted], [memories[25].model_dump()])
    assert got == wanted
    assert await memories_of(chosen, simulation, "Eva", [], []) == []


async def test_saving_twice_writes_once(chosen, simulation, mind):
    unsaved = [m.model_dump() for m in mind[0][:5]]
    await asyncio.gather(save(chosen, simulation, "Eva", unsaved), save(chosen, simulation, "Eva", unsaved))
    await save(chosen, simulation, "Eva", [])
    assert store(chosen.store).count(simulation, "Eva") == 5


async def test_simulations_do_not_know_each_other(ephemeral, simulation, mind):
    memories, _ = mind
    await save(ephemeral, simulation, "Eva", [m.model_dump() for m in memories])
    with pytest.raises(InputError, match="39 memories of Eva cannot be found.*store run.*folder"):
        await recall(ephemeral, simulation + "-other", "Eva", **asked(mind))
    with pytest.raises(InputError, match="1 memory of Jan"):
        await memories_of(ephemeral, simulation, "Jan", [memories[0].id], [])


async def test_similarity_is_the_greatest_to_any_other(ephemeral, simulation, mind, made):
    memories, _ = mind
    alive = {m.id: 0 for m in memories}
    unsaved = [m.model_dump() for m in memories]
    same = made(memories[7].theme, turn=99, keywords=memories[7].keywords)
    assert await similarity(ephemeral, simulation, "Eva", same, alive, unsaved) == pytest.approx(1, abs=1e-6)
    itself = await similarity(ephemeral, simulation, "Eva", memories[7], alive, unsaved)
    assert itself < 1 - 1e-6
    far = await similarity(ephemeral, simulation, "Eva", made("Zyxt"), alive, unsaved)
    assert far < 0.4
    assert await similarity(ephemeral, simulation, "Eva", same, {}, []) == 0.0


async def test_nothing_alive_recalls_nothing(ephemeral, simulation, mind):
    assert await recall(ephemeral, simulation, "Eva", **{**asked(mind), "alive": {}}) == []


async def test_forgetting_deletes_here_and_in_the_store(chosen, simulation, mind):
    await save(chosen, simulation, "Eva", [m.model_dump() for m in mind[0]])
    await forget(chosen, simulation)
    assert store(chosen.store).agents(simulation) == []
    with pytest.raises(InputError, match="cannot be found"):
        await recall(chosen, simulation, "Eva", **asked(mind))


def test_several_event_loops(ephemeral, simulation, mind):
    memories, stm = mind
    asyncio.run(remember(ephemeral, simulation, "Eva", [*memories, stm]))
    first = asyncio.run(recall(ephemeral, simulation, "Eva", **asked(mind, memories)))
    asyncio.run(save(ephemeral, simulation, "Eva", [m.model_dump() for m in memories]))
    assert asyncio.run(recall(ephemeral, simulation, "Eva", **asked(mind))) == first


async def test_a_vector_is_computed_once(embedding_server, simulation, mind):
    chosen = Settings(embedding=embedding_server.name)
    memories, stm = mind
    await remember(chosen, simulation, "Eva", [*memories, stm])
    await save(chosen, simulation, "Eva", [m.model_dump() for m in memories])
    for _ in range(2):
        await recall(chosen, simulation, "Eva", **asked(mind, memories))
    discard(simulation)
    await recall(chosen, simulation, "Eva", **asked(mind))
    asked_for = [body["input"] for _, body in embedding_server.requests]
    first = asked_for[0][0]  # by which another model behind the name is noticed
    texts = [[m.text for m in [*memories, stm]], QUESTIONS, QUESTIONS, [memories[0].text, stm.text], QUESTIONS]
    assert asked_for == [[first, *some] for some in texts]


async def test_the_mirror_is_cleared_of_what_nobody_needs(ephemeral, simulation, mind, made):
    memories, stm = mind
    forgotten = [made(f"long gone {i}") for i in range(500)]
    await remember(ephemeral, simulation, "Eva", [*forgotten, *memories, stm])
    before = await recall(ephemeral, simulation, "Eva", **asked(mind, memories))
    mirror = recollection._mirror(ephemeral, simulation, "Eva")
    assert len(mirror) == 40
    assert await recall(ephemeral, simulation, "Eva", **asked(mind, memories)) == before
    assert recollection._mirror(ephemeral, simulation, "Eva") is mirror


def test_mirrors_are_bounded_and_the_one_unused_for_longest_goes():
    mirrors = Mirrors(limit=3)
    keys = [("ephemeral", "lexical", "run", f"agent {i}") for i in range(4)]
    first = mirrors.of(keys[0])
    mirrors.of(keys[1])
    mirrors.of(keys[2])
    assert mirrors.of(keys[0]) is first
    newest = mirrors.of(keys[3])
    assert len(mirrors) == 3
    assert mirrors.of(keys[3]) is newest
    assert mirrors.of(keys[0]) is first
    mirrors.discard("run")
    assert len(mirrors) == 0


@pytest.mark.proof
async def test_many_agents_at_once(chosen, simulation, made):
    async def live(agent):
        alive, unsaved, recalled = {}, [], []
        for turn in range(1, 6):
            memory = made(f"{agent} heard about {TOPICS[turn % 6]}", agent=agent, turn=turn)
            await remember(chosen, simulation, agent, [memory])
            alive[memory.id] = turn
            unsaved.append(memory.model_dump())
            recalled = await recall(
                chosen,
                simulation,
                agent,
                alive=alive,
                unsaved=unsaved,
                stm=None,
                focal_points=QUESTIONS,
                emotion=FEELING,
                turn=turn,
            )
            await save(chosen, simulation, agent, unsaved)
            unsaved = []
        discard(simulation)
        return [m.theme for m in await memories_of(chosen, simulation, agent, [r["id"] for r in recalled], [])]

    themes = await asyncio.gather(*(live(f"agent {i}") for i in range(10)))
    for i, known in enumerate(themes):
        assert len(known) == 5
        assert all(theme.startswith(f"agent {i} ") for theme in known)


KILLED = """
import asyncio, json, os, sys
from persimchat.memory.recollection import remember, save
from persimchat.state.minds.memory import Memory
from persimchat.state.settings import Settings
given = json.load(sys.stdin)
settings, memories = Settings(store=given["store"]), [Memory(**m) for m in given["memories"]]
async def live():
    await remember(settings, "run", "Eva", memories)
    await save(settings, "run", "Eva", given["memories"][:20])
    os.kill(os.getpid(), 9)
asyncio.run(live())
"""


@pytest.mark.proof
async def test_a_kill_between_remembering_and_saving_loses_nothing(tmp_path, ephemeral, simulation, mind):
    """The checkpoint holds `unsaved`; Chroma holds what was saved; together they are everything."""
    memories, _ = mind
    chosen = Settings(store=str(tmp_path / "memories"))
    given = json.dumps({"store": chosen.store, "memories": [m.model_dump() for m in memories]})
    killed = subprocess.run([sys.executable, "-c", KILLED], input=given, text=True, capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    resumed = await recall(chosen, "run", "Eva", **asked(mind, memories[20:]))
    assert resumed == await recall(ephemeral, simulation, "Eva", **asked(mind, memories))
    # Also where the process died after writing and before the checkpoint knew of it.
    discard("run")
    assert resumed == await recall(chosen, "run", "Eva", **asked(mind, memories))


@pytest.mark.parametrize("rows", [[1.0, 2.0], [-1.0, 5.0, 1.0]])
async def test_a_recall_that_comes_first_notices_another_model(embedding_server, simulation, mind, rows):
    chosen = Settings(embedding=embedding_server.name)
    memories, stm = mind
    await remember(chosen, simulation, "Eva", [*memories, stm])
    await save(chosen, simulation, "Eva", [m.model_dump() for m in [*memories, stm]])
    discard(simulation)
    await memories_of(chosen, simulation, "Eva", [stm.id], [])  # as a mind of then has it: nothing is embedded
    embedding_server.vectors = [rows] * (len(QUESTIONS) + 2)
    with pytest.raises(InputError, match="another one than the one that memories were kept with"):
        await recall(chosen, simulation, "Eva", **asked(mind))
