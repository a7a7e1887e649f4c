"""The store, against real Chroma: in the process, in a folder, and over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pytest

from persimchat.memory.store import MemoryStore, collection_name, held_store, release, store
from persimchat.state.errors import InputError, PerSimChatError

LONG = "Ž" + "x" * 298 + "李"
NAMES = ["李雷", "Lukáš Jelínek", LONG, "../..", "a b\n\"c'"]


@pytest.fixture(params=["ephemeral", "folder", "http"])
def kept(request, tmp_path):
    if request.param == "http":
        return store(request.getfixturevalue("chroma_server"))
    return store("ephemeral" if request.param == "ephemeral" else str(tmp_path / "memories"))


def unit(n, d=8, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("agent", NAMES)
def test_memories_come_back_exactly(kept, simulation, made, agent):
    theme = "théme – 主题\n“quoted” \\ {json}"
    leaf = made(theme, agent=agent, keywords=["klíč", "鍵", ""], emotion=[0, 1, 2, 3, 4, 10])
    insight = made("an insight", agent=agent, kind="reflection", evidence=[leaf], turn=7, index=3)
    vectors = unit(2)
    kept.save(simulation, agent, "lexical", [leaf, insight], vectors)
    found = kept.load(simulation, agent, "lexical", [insight.id, leaf.id, "nowhere"])
    assert set(found) == {leaf.id, insight.id}
    assert found[leaf.id][0] == leaf
    assert found[insight.id][0] == insight
    assert np.array_equal(found[leaf.id][1], vectors[0])
    assert np.array_equal(found[insight.id][1], vectors[1])
    assert found[leaf.id][1].dtype == np.float32
    assert kept.agents(simulation) == [agent]


def test_writing_twice_writes_once(kept, simulation, made):
    memories = [made(f"theme {i}") for i in range(3)]
    for _ in range(2):
        kept.save(simulation, "Eva", "lexical", [*memories, memories[0]], unit(4))
    assert kept.count(simulation, "Eva") == 3


def test_simulations_and_agents_are_apart_and_forgotten_apart(kept, simulation, made):
    other = simulation + "-other"
    for run, agent, theme in [(simulation, "Eva", "a"), (simulation, "Jan", "b"), (other, "Eva", "c")]:
        kept.save(run, agent, "lexical", [made(theme)], unit(1))
    assert kept.agents(simulation) == ["Eva", "Jan"]
    assert set(kept.load(simulation, "Eva", "lexical", [made("a").id, made("c").id])) == {made("a").id}
    kept.forget(simulation)
    assert kept.agents(simulation) == []
    assert kept.load(simulation, "Eva", "lexical", [made("a").id]) == {}
    assert kept.count(simulation, "Eva") == 0
    assert kept.count(other, "Eva") == 1
    kept.save(simulation, "Eva", "lexical", [made("new")], unit(1))
    assert kept.count(simulation, "Eva") == 1
    kept.forget(other)


def test_another_embedding_is_refused(kept, simulation, made):
    kept.save(simulation, "Eva", "lexical", [made("a")], unit(1))
    with pytest.raises(InputError, match=r"kept with the embedding 'lexical', not 'minilm'.*embedding=lexical"):
        kept.load(simulation, "Eva", "minilm", [made("a").id])


@pytest.mark.proof
def test_more_memories_than_one_page(kept, simulation, made):
    memories = [made(f"theme {i}") for i in range(2100)]
    vectors = unit(2100)
    kept.save(simulation, "Eva", "lexical", memories, vectors)
    found = kept.load(simulation, "Eva", "lexical", [m.id for m in memories])
    assert [found[m.id][0] for m in memories] == memories
    assert np.array_equal(np.stack([found[m.id][1] for m in memories]), vectors)


@pytest.mark.long
@pytest.mark.proof
def test_threads_at_the_same_time_lose_nothing(kept, simulation, made):
    failures = []

    def work(agent):
        try:
            for turn in range(8):
                memory = made(f"thought {turn}", agent=agent, turn=turn)
                kept.save(simulation, agent, "lexical", [memory], unit(1, seed=turn))
                assert memory.id in kept.load(simulation, agent, "lexical", [memory.id])
        except Exception as error:  # noqa: BLE001 - a thread's failure has to reach the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"agent {i % 4}",)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [kept.count(simulation, f"agent {i}") for i in range(4)] == [8] * 4


@pytest.mark.proof
def test_a_folder_is_read_by_another_process(tmp_path, made):
    memory = made("kept for later", agent="李雷")
    store(str(tmp_path)).save("run", "李雷", "lexical", [memory], unit(1))
    code = (
        "import json, sys; from persimchat.memory.store import store\n"
        "m, v = store(sys.argv[1]).load('run', '李雷', 'lexical', [sys.argv[2]])[sys.argv[2]]\n"
        "print(json.dumps([m.model_dump(), v.tolist()]))"
    )
    other = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, str(tmp_path), memory.id], capture_output=True, text=True, check=True
    )
    whole, vector = json.loads(other.stdout)
    assert whole == memory.model_dump()
    assert np.array_equal(np.asarray(vector, dtype=np.float32), unit(1)[0])


def test_one_store_for_each_location(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert store("ephemeral") is store(" ephemeral ")
    assert store("memories") is store(str(tmp_path / "memories"))
    assert store("memories") is not store("others")


def test_collection_names_are_safe_and_apart():
    names = {collection_name(s, a) for s in ("a", "b", LONG) for a in NAMES}
    assert len(names) == 3 * len(NAMES)
    assert all(len(name) <= 63 and name.isascii() for name in names)
    assert collection_name("a", "b c") != collection_name("a b", "c")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="folder cannot be made.*Choose a folder that you may write to"):
        store(str(tmp_path / "file" / "memories"))


def test_a_folder_that_holds_something_else(tmp_path):
    (tmp_path / "chroma.sqlite3").write_text("this is no database" * 100)
    with pytest.raises(InputError, match="cannot be opened.*Choose an empty folder"):
        store(str(tmp_path))


def test_a_server_that_does_not_answer():
    with pytest.raises(InputError, match=r"no Chroma server answers.*chroma run --host 127.0.0.1 --port 9"):
        store("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("ephemerl", "Did you mean 'ephemeral'"),
        ("", "unknown memory store"),
        ("ftp://x", "An address looks like"),
        ("http://me:secret@127.0.0.1:9", "credentials"),
    ],
)
def test_locations_that_make_no_sense(location, words):
    with pytest.raises(InputError, match=words) as caught:
        store(location)
    assert "secret" not in str(caught.value)


def test_a_failing_database_is_reported_in_one_line(tmp_path, simulation, made):
    kept = MemoryStore(str(tmp_path))
    kept.save(simulation, "Eva", "lexical", [made("a")], unit(1, d=8))
    with pytest.raises(PerSimChatError, match="memory store failed.*agent Eva") as caught:
        kept.save(simulation, "Eva", "lexical", [made("b")], unit(1, d=9))
    assert "\n" not in str(caught.value)


@pytest.mark.proof
def test_a_server_that_goes_away(chroma_process, simulation, made):
    with chroma_process() as url:
        kept = store(url)
        kept.save(simulation, "Eva", "lexical", [made("a")], unit(1))
    with pytest.raises(PerSimChatError, match="does not answer.*agent Eva.*still running"):
        kept.save(simulation, "Eva", "lexical", [made("b")], unit(1))


def test_a_run_without_a_folder_of_its_own_keeps_nothing():
    assert store("run") is store("ephemeral")


def _open_files(folder):
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH118, PTH208
    return [target for link in links if (target := os.path.realpath(link)).startswith(str(folder))]


def test_a_released_folder_can_be_deleted_and_made_again(tmp_path, simulation, made):
    folder = tmp_path / "memory"
    for round in range(3):
        with held_store(str(folder)) as kept:
            assert kept.count(simulation, "Eva") == 0
            kept.save(simulation, "Eva", "lexical", [made(f"theme {round}")], unit(1))
        if sys.platform == "linux":
            assert _open_files(folder) == []
        shutil.rmtree(folder)
    assert store(str(folder)) is not kept
    assert release(str(folder))


def test_what_was_kept_is_there_after_a_release(tmp_path, simulation, made):
    place, vectors = str(tmp_path / "memory"), unit(1)
    store(place).save(simulation, "Eva", "lexical", [made("a")], vectors)
    assert release(place)
    assert release(place)
    found = store(place).load(simulation, "Eva", "lexical", [made("a").id])
    assert np.array_equal(found[made("a").id][1], vectors[0])
    assert release(place)


def test_a_store_that_two_runs_use_is_closed_by_the_last(tmp_path, simulation, made):
    place = str(tmp_path / "memory")
    with held_store(place) as one:
        with held_store(place) as two:
            assert one is two
        assert not release(place)
        one.save(simulation, "Eva", "lexical", [made("a")], unit(1))
        assert store(place) is one
    assert store(place) is not one
    assert store(place).count(simulation, "Eva") == 1
    assert release(place)


def test_many_threads_hold_and_leave(tmp_path, simulation, made):
    place, failures = str(tmp_path / "memory"), []

    def work(number):
        try:
            for _ in range(5):
                with held_store(place) as kept:
                    kept.save(simulation, f"agent {number}", "lexical", [made("a")], unit(1))
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store(place).agents(simulation)) == 4
    assert release(place)


def test_what_is_ephemeral_survives_its_users(simulation, made):
    with held_store("ephemeral") as kept:
        kept.save(simulation, "Eva", "lexical", [made("a")], unit(1))
    assert not release("run")
    assert store("ephemeral").count(simulation, "Eva") == 1


def test_a_branch_gets_memories_as_they_were_to_the_bit(kept, tmp_path, simulation, made):
    other, branch = MemoryStore(str(tmp_path / "other")), simulation + "-branch"
    memories, vectors = [made(f"theme {i}") for i in range(5)], unit(5)
    kept.save(simulation, "Eva", "lexical", memories, vectors)
    wanted = [memories[3].id, "nowhere", memories[1].id, memories[3].id]
    for target in (other, kept, kept):
        assert kept.copy_to(target, simulation, branch, "Eva", "lexical", wanted) == ["nowhere"]
        assert target.count(branch, "Eva") == 2
        found = target.load(branch, "Eva", "lexical", [memory.id for memory in memories])
        assert found[memories[1].id][0] == memories[1]
        assert found[memories[3].id][1].tobytes() == vectors[3].tobytes()
    assert kept.copy_to(other, simulation, branch, "Jan", "lexical", ["x"]) == ["x"]
    kept.forget(branch)
    assert kept.count(simulation, "Eva") == 5
    other.close()


@pytest.mark.proof
def test_a_store_keeps_what_it_holds_once(tmp_path, simulation, made):
    location = str(tmp_path / "memories")
    memories, vectors = [made(f"theme {i}") for i in range(330)], unit(330, 512)
    keeping = MemoryStore(location)
    for start in range(0, 330, 30):
        keeping.save(simulation, "Eva", "lexical", memories[start : start + 30], vectors[start : start + 30])
    keeping.close()
    again = MemoryStore(location)
    found = again.load(simulation, "Eva", "lexical", [memory.id for memory in memories])
    assert all(np.array_equal(found[memory.id][1], vector) for memory, vector in zip(memories, vectors, strict=True))
    again.close()
    with closing(sqlite3.connect(tmp_path / "memories/chroma.sqlite3")) as database:
        (waiting,) = database.execute("SELECT count(*) FROM embeddings_queue").fetchone()
        (texts,) = database.execute("SELECT count(*) FROM embedding_fulltext_search").fetchone()
    assert (waiting < 130, texts) == (True, 0)
