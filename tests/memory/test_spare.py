"""The files of Chroma's index hold vectors and zeros, and nothing of what the process had in its memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from persimchat.memory.chroma_client import blank_spare
from persimchat.memory.store import MemoryStore
from persimchat.state.minds.memory import new_memory

WORD = b"a word of somebody"


def kept(folder: Path, count: int) -> Path:
    """A closed store with so many memories; the path of its index's vectors."""
    store = MemoryStore(str(folder))
    memories = [new_memory("Ada", n, "perception", f"Tea number {n}.", ["tea"], 3, [0] * 6) for n in range(count)]
    vectors = np.eye(count, 32, dtype=np.float32)
    store.save("s", "Ada", "lexical", memories, vectors)
    store.close()
    (values,) = folder.glob("*/data_level0.bin")
    return values


@pytest.mark.parametrize("count", [10, 25])
def test_spare_room_is_blank_after_a_store_is_closed(count: int, tmp_path: Path) -> None:
    values = kept(tmp_path, count)
    size = values.stat().st_size // 100
    whole = values.read_bytes()
    assert not any(whole[count * size :]) and all(any(whole[n * size : (n + 1) * size]) for n in range(count))


def test_vectors_stay_and_words_in_between_go(tmp_path: Path) -> None:
    values = kept(tmp_path, 12)
    whole = values.read_bytes()
    values.write_bytes(whole[: -len(WORD)] + WORD)
    assert blank_spare(tmp_path) == [] and values.read_bytes() == whole
    store = MemoryStore(str(tmp_path))
    found = store.load("s", "Ada", "lexical", store.ids("s", "Ada"))
    store.close()
    assert len(found) == 12 and all(vector.sum() == 1 for _, vector in found.values())


def test_an_index_of_another_form_stays_and_is_named(tmp_path: Path) -> None:
    values = kept(tmp_path, 10)
    values.write_bytes(values.read_bytes() + b"!")
    assert blank_spare(tmp_path) == [values.with_name("header.bin")] and values.read_bytes().endswith(b"!")
    values.with_name("header.bin").write_bytes(b"\x01")
    assert blank_spare(tmp_path) == [values.with_name("header.bin")]
