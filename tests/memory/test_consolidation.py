"""What long-term memory keeps when it is full."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.memory.consolidation import admit


def test_admits_while_there_is_room_and_changes_nothing_given():
    alive = {"a": 1}
    assert admit(alive, "b", 4, 10) == ({"a": 1, "b": 4}, [])
    assert alive == {"a": 1}


def test_the_oldest_last_access_goes_not_the_oldest_arrival():
    assert admit({"a": 7, "b": 2, "c": 5}, "d", 8, 3) == ({"a": 7, "c": 5, "d": 8}, ["b"])


def test_among_equals_the_older_arrival_goes():
    assert admit({"b": 2, "a": 2, "c": 2}, "d", 2, 3) == ({"a": 2, "c": 2, "d": 2}, ["b"])


def test_pinned_memories_never_go():
    now, gone = admit({"profile": 0, "topic": 0, "x": 3}, "y", 4, 3, ["profile", "topic"])
    assert (list(now), gone) == (["profile", "topic", "y"], ["x"])
    now, gone = admit({"profile": 0, "topic": 0}, "goals", 0, 2, ["profile", "topic", "goals"])
    assert (list(now), gone) == (["profile", "topic", "goals"], [])


def test_a_memory_that_is_there_keeps_its_place_and_is_accessed():
    assert admit({"a": 1, "b": 2}, "a", 9, 2) == ({"a": 9, "b": 2}, [])


@given(
    st.dictionaries(st.text(max_size=3), st.integers(0, 20), max_size=30),
    st.text(max_size=3),
    st.integers(1, 20),
    st.sets(st.text(max_size=3), max_size=5),
)
def test_capacity_order_and_pins_hold(alive, new, capacity, pinned):
    now, gone = admit(alive, new, 20, capacity, pinned)
    everything = {**alive, new: 20}
    assert set(now) | set(gone) == set(everything)
    assert not set(now) & set(gone)
    assert not set(gone) & pinned
    assert len(now) <= max(capacity, len(pinned & set(everything)))
    assert list(now) == [m for m in everything if m in now]
    free = [now[m] for m in now if m not in pinned]
    assert not gone or not free or max(everything[m] for m in gone) <= min(free)
