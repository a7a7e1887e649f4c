"""Memories: their ids, and the depth of reflections."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.state.memory import PINNED, Memory, memory_id, new_memory

CALM = [0] * 6
TEXT = st.text(min_size=1, max_size=20)


def made(theme: str = "t", *, agent: str = "Eva", turn: int = 1, kind="perception", keywords=("k",), **more) -> Memory:
    return new_memory(agent, turn, kind, theme, list(keywords), 5, CALM, **more)


@given(TEXT, st.integers(0, 99), TEXT, TEXT)
def test_an_id_depends_on_its_parts_alone(agent: str, turn: int, module: str, content: str):
    identity = memory_id(agent, turn, module, content)
    assert re.fullmatch(r"[0-9a-f]{24}", identity)
    assert identity == memory_id(agent, turn, module, content)
    others = [
        memory_id(agent + "x", turn, module, content),
        memory_id(agent, turn + 1, module, content),
        memory_id(agent, turn, module + "x", content),
        memory_id(agent, turn, module, content + "x"),
    ]
    assert len({identity, *others}) == 5


def test_parts_do_not_run_into_each_other():
    assert memory_id("a", 1, "bc", "d") != memory_id("a", 1, "b", "cd")
    assert memory_id("a", 1, "b", '","c') != memory_id("a", 1, 'b","', "c")


def test_what_makes_a_memory_another_one():
    assert made() == made()
    assert made().id != made(keywords=("k", "l")).id
    assert made().id != made(index=1).id, "two insights worded alike are two memories"
    assert made().id != made(kind="plan").id
    louder = new_memory("Eva", 1, "perception", "t", ["k"], 9, [1] * 6)
    assert louder.id == made().id, "judged again, it is the same memory"


def test_depth():
    leaf = made()
    first = made("r", kind="reflection", evidence=[leaf])
    second = made("s", kind="reflection", evidence=[leaf, first])
    assert [m.depth for m in (leaf, first, second)] == [0, 1, 2]
    assert second.evidence == [leaf.id, first.id]
    assert made("u", kind="reflection").depth == 1
    assert made("p", kind="plan", evidence=[second]).depth == 0, "only reflections have depth"


def test_form():
    assert made().text == "t (k)"
    assert made(keywords=()).text == "t"
    assert frozenset({"profile", "topic", "social_goals"}) == PINNED
    assert Memory.model_validate(made().model_dump()) == made()
    with pytest.raises(ValidationError):
        made("")
    with pytest.raises(ValidationError):
        new_memory("Eva", 1, "plan", "t", [], 5, [0] * 5)
    with pytest.raises(ValidationError, match="frozen"):
        made().theme = "x"  # type: ignore[misc]
