"""Lines of minds.jsonl: what was recalled is told once, and filled in again whatever version wrote the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_folders import mind, recalled

from persimchat.runs.folder.checkpoint_values import Dictionaries
from persimchat.runs.folder.jsonl import Line
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.state.errors import InputError

MEMORIES = st.builds(
    lambda key, score: recalled(f"Tea {key}", key) | {"score": score},
    st.sampled_from("abcdef"),
    st.floats(0, 9).map(lambda number: round(number, 3)),
)
MINDS = st.lists(st.tuples(st.sampled_from(["Eva", "Bo"]), st.lists(MEMORIES, max_size=6)), max_size=12)


def minds(drawn: list[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    return [mind(turn, agent, recalled=memories) for turn, (agent, memories) in enumerate(drawn)]


def read(texts: list[str], lines: MindLines) -> list[dict[str, Any]]:
    return [lines.read(Line("here", text.encode(), json.loads(text))).value for text in texts]


@given(MINDS)
def test_what_is_written_is_read_back(drawn: list[tuple[str, list[dict[str, Any]]]]) -> None:
    lines = MindLines()
    written = [lines.written(one) for one in minds(drawn)]
    assert read(written, MindLines()) == minds(drawn)
    told = [(agent, key["id"]) for text in written for line in [json.loads(text)] for agent in [line["agent"]]
            for key in line.get("memories", [])]  # fmt: skip
    assert len(told) == len(set(told)), "each is told once an agent"
    again = MindLines()
    assert [again.written(one) for one in read(written, MindLines())] == written


@given(MINDS, st.integers(0, 12))
def test_going_on_with_a_file_is_as_if_it_had_been_one(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, list[dict[str, Any]]]], cut: int
) -> None:
    lines = MindLines()
    written = [lines.written(one) for one in minds(drawn)]
    path = Path(tmp_path_factory.mktemp("minds")) / "minds.jsonl"
    path.write_text("".join(written[:cut]), encoding="utf-8")
    after = MindLines.after(path)
    assert [after.written(one) for one in minds(drawn)[cut:]] == written[cut:]


def test_lines_of_earlier_versions_stay_as_they_are() -> None:
    old = mind(1, "Eva", recalled=[recalled("Tea")])
    assert read([json.dumps(old)], MindLines()) == [old]


def test_a_memory_of_which_nothing_is_told_is_damage() -> None:
    line = json.dumps(mind(1, "Eva", recalled=[[4, 0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]]))
    with pytest.raises(InputError, match=r"no earlier line has memory 4.*field recalled\.0"):
        read([line], MindLines())


@given(st.lists(st.binary(max_size=300), max_size=30))
def test_values_are_read_with_the_dictionary_of_then(values: list[bytes]) -> None:
    writing, reading, packed = Dictionaries(), Dictionaries(), []
    for number, value in enumerate(values):
        if number % 5 == 4:
            made = writing.made()
            writing.add(*made)
            reading.add(*made)
        packed.append((value, writing.pack(value)))
    assert [known is None for _, known in packed] == [number < 4 for number in range(len(values))]
    assert all(reading.unpack(known) == value for value, known in packed if known is not None)
